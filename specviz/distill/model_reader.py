"""Reads what a causal LM makes of many texts at once: its laws at chosen positions.

Most models end in a plain matrix over their last hidden states. Of those the hidden states are
taken as features and logits made of them block by block; a model that scales, caps or shifts its
logits is asked for the logits themselves. Either way only the ids that both tokenizers have count,
so that padded output layers of different size can be compared.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch.nn.functional import linear
from torch.nn.utils.rnn import pad_sequence

from specviz.distill.texts import Text
from specviz.distill.training_run import progress_bar

PROBE_LENGTH = 8
MAX_KEPT_BYTES = 2**30
BATCH_TOKENS = 2048
BATCH_LOGITS = 2**26
"""Largest number of logits of one batch where they are made all at once."""


def pad_texts(
    texts: Sequence[Text], device: torch.device
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Put texts of different length into one batch.

    Padding stands at the end, where no position that counts can see it.

    Returns:
        ids `[rows, length]` int64; wanted `[rows, length]` bool, True where the next id was written
        by the target; labels `[num_wanted]` int64, those next ids, row by row.
    """
    rows = [torch.tensor(text.ids) for text in texts]
    ids = pad_sequence(rows, batch_first=True).to(device)
    wanted = torch.zeros(ids.shape, dtype=torch.bool)
    for row, text in enumerate(texts):
        wanted[row, text.num_prompt - 1 : len(text.ids) - 1] = True
    wanted = wanted[:, :-1].to(device)
    return ids[:, :-1], wanted, ids[:, 1:][wanted]


class ModelReader:
    """One model, read at chosen positions over the first `vocab_size` ids."""

    def __init__(self, model: Any, vocab_size: int) -> None:
        self.model, self.vocab_size = model, vocab_size
        self._layer: Any = model.get_output_embeddings()
        self.is_plain = self._is_plain()

    @property
    def weight(self) -> torch.Tensor:
        """The output layer `[vocab, hidden]` of a plain model."""
        weight: torch.Tensor = self._layer.weight[: self.vocab_size]
        return weight.float()

    def features(self, ids: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
        """Hidden states of a plain model, else logits: `[num_wanted, features]` float32."""
        if self.is_plain:
            base = self.model.base_model(input_ids=ids, use_cache=False)
            hidden: torch.Tensor = base.last_hidden_state[wanted]
            return hidden.float()
        logits: torch.Tensor = self.model(input_ids=ids, use_cache=False).logits
        return logits[wanted][:, : self.vocab_size].float()

    def logits(self, features: torch.Tensor) -> torch.Tensor:
        """Make logits `[rows, vocab]` of features."""
        return features @ self.weight.T if self.is_plain else features

    @torch.inference_mode()
    def _is_plain(self) -> bool:
        """Whether the logits are the output layer times the last hidden states, and no more."""
        model, layer = self.model, self._layer
        if not isinstance(layer, torch.nn.Linear) or layer.bias is not None:
            return False
        count = min(PROBE_LENGTH, self.vocab_size)
        probe = torch.arange(count, device=model.device)[None]
        hidden = getattr(
            model.base_model(input_ids=probe, use_cache=False), "last_hidden_state", None
        )
        if hidden is None or hidden.shape[-1] != layer.in_features:
            return False
        logits = model(input_ids=probe, use_cache=False).logits
        plain = linear(hidden, layer.weight)
        return torch.allclose(plain.float(), logits.float(), rtol=1e-6, atol=1e-6)


class TargetReader:
    """What the target makes of texts; kept, once it was read, where it fits in memory."""

    def __init__(self, reader: ModelReader, texts: Sequence[Text]) -> None:
        self.reader, self.texts = reader, texts
        self._kept: list[torch.Tensor] = []

    def keep(self) -> "TargetReader":
        """Read all texts, with a bar of progress; gives this reader back."""
        with progress_bar() as progress:
            bar = progress.add_task("reading the target's laws", total=len(self.texts))
            for num_read in self.keeping():
                progress.update(bar, completed=num_read)
        return self

    def keeping(self) -> Iterator[int]:
        """Read all texts in short pieces; yields how many were read. None where that would not fit
        in memory: they are then read whenever they are asked for."""
        width = self.reader.weight.shape[1] if self.reader.is_plain else self.reader.vocab_size
        if 4 * width * sum(text.num_written for text in self.texts) > MAX_KEPT_BYTES:
            return
        kept: list[torch.Tensor] = []
        for rows in self.batches(range(len(self.texts))):
            lengths = [self.texts[row].num_written for row in rows]
            kept += torch.split(self._read(rows), lengths)
            yield len(kept)
        self._kept = kept

    def batches(self, rows: Sequence[int]) -> list[list[int]]:
        """Cut rows into batches that can be read at once."""
        per_batch = BATCH_TOKENS
        if not self.reader.is_plain:
            per_batch = min(per_batch, BATCH_LOGITS // self.reader.vocab_size)
        batches: list[list[int]] = []
        longest = 0
        for row in rows:
            longest = max(longest, len(self.texts[row].ids))
            if not batches or (len(batches[-1]) + 1) * longest > per_batch:
                batches.append([])
                longest = len(self.texts[row].ids)
            batches[-1].append(row)
        return batches

    def features(self, rows: Sequence[int]) -> torch.Tensor:
        """The target's features where it wrote, row by row."""
        if self._kept:
            return torch.cat([self._kept[row] for row in rows])
        return self._read(rows)

    @torch.no_grad()
    def _read(self, rows: Sequence[int]) -> torch.Tensor:
        ids, wanted, _ = pad_texts([self.texts[row] for row in rows], self.reader.model.device)
        return self.reader.features(ids, wanted)
