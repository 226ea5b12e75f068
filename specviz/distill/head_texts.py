"""What an EAGLE-3 head learns from: texts that the target wrote, with the target's own states."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.nn.functional import linear
from torch.nn.utils.rnn import pad_sequence

from specviz.distill.head_loss import HeadBatch
from specviz.distill.model_reader import MAX_KEPT_BYTES
from specviz.distill.texts import Text
from specviz.models.eagle_form import default_taps

COVERED = 0.995
"""Share of what the target wrote that the draft vocabulary holds."""
MAX_SHARE = 0.5
"""Most of the target's ids that it holds."""


def choose_draft_ids(
    texts: Sequence[Text], vocab_size: int, always: frozenset[int]
) -> torch.Tensor:
    """Choose the ids that the target writes most often, and those of `always`; rising, int64."""
    counts = np.zeros(vocab_size, dtype=np.int64)
    for text in texts:
        np.add.at(counts, list(text.ids[text.num_prompt :]), 1)
    order = np.argsort(-counts, kind="stable")
    share = np.cumsum(counts[order]) / max(1, counts.sum())
    num_kept = min(int(np.searchsorted(share, COVERED)) + 1, int(MAX_SHARE * vocab_size))
    kept = {*order[:num_kept].tolist(), *(each for each in always if each < vocab_size)}
    return torch.tensor(sorted(kept))


@dataclass(frozen=True, slots=True)
class _Read:
    """What the target made of one batch, in its own dtype."""

    features: torch.Tensor
    """Tapped states side by side, `[rows, length, taps * hidden]`."""
    last: torch.Tensor
    """What its output layer reads, `[rows, length, hidden]`."""
    choices: torch.Tensor
    """`[rows, length]` int64."""


class HeadTexts:
    """Batches of texts; the target's states are kept where they fit into memory."""

    def __init__(
        self, model: Any, texts: Sequence[Text], draft_ids: torch.Tensor, batch_tokens: int
    ) -> None:
        self._model, self._draft_ids = model, draft_ids.to(model.device)
        output = model.get_output_embeddings()
        bias = getattr(output, "bias", None)
        self._rows_of_drafts = output.weight[self._draft_ids]
        self._bias_of_drafts = None if bias is None else bias[self._draft_ids]
        self._texts = sorted(texts, key=lambda text: len(text.ids))
        self._taps = default_taps(model.config.get_text_config().num_hidden_layers)
        self._rows: list[list[int]] = []
        for row, text in enumerate(self._texts):
            # Sorted by length, the newest is the longest of its batch.
            if not self._rows or (len(self._rows[-1]) + 1) * len(text.ids) > batch_tokens:
                self._rows.append([])
            self._rows[-1].append(row)
        width = 4 * model.config.get_text_config().hidden_size
        self._keeps = 4 * width * sum(len(text.ids) for text in texts) <= MAX_KEPT_BYTES
        self._kept: dict[int, _Read] = {}

    @property
    def num_texts(self) -> int:
        """How many texts there are."""
        return len(self._texts)

    @property
    def device(self) -> torch.device:
        """Where the batches are."""
        device: torch.device = self._model.device
        return device

    def __len__(self) -> int:
        return len(self._rows)

    def batch(self, number: int) -> HeadBatch:
        """Return one of the batches."""
        texts = [self._texts[row] for row in self._rows[number]]
        device = self._model.device
        rows = [torch.tensor(text.ids) for text in texts]
        ids = pad_sequence(rows, batch_first=True).to(device)
        wanted = torch.zeros(ids.shape, dtype=torch.bool)
        for row, text in enumerate(texts):
            wanted[row, text.num_prompt - 1 : len(text.ids) - 1] = True
        read = self._read(number, ids)
        with torch.no_grad():
            logits = linear(read.last, self._rows_of_drafts, self._bias_of_drafts)
        law = logits.float().softmax(dim=-1)
        is_known = torch.isin(read.choices, self._draft_ids)
        return HeadBatch(ids, read.features.float(), law, read.choices, is_known, wanted.to(device))

    def keeping(self) -> Iterator[int]:
        """Let the target read everything now, where it is kept, in short pieces; yields how many
        texts were read."""
        if not self._keeps:
            return
        for number in range(len(self)):
            self.batch(number)
            yield self._rows[number][-1] + 1

    @torch.no_grad()
    def _read(self, number: int, ids: torch.Tensor) -> "_Read":
        if number in self._kept:
            return self._kept[number]
        last = self._model.config.get_text_config().num_hidden_layers
        output = self._model(
            input_ids=ids,
            use_cache=False,
            output_hidden_states=sorted({*self._taps, last}),
            logits_to_keep=1,
        )
        states = output.hidden_states
        features = torch.cat([states[tap] for tap in self._taps], dim=-1)
        # Over the whole vocabulary once a text; the law over the drafted part is cheap.
        choices = self._model.get_output_embeddings()(states[last]).argmax(dim=-1)
        found = _Read(features, states[last], choices)
        if self._keeps:
            self._kept[number] = found
        return found
