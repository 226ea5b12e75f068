"""What an EAGLE-3 head learns from: texts that the target wrote, with the target's own states."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence

from specviz.distill.head_loss import HeadBatch
from specviz.distill.model_reader import MAX_KEPT_BYTES
from specviz.distill.texts import Text
from specviz.distill.training_run import progress_bar
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


class HeadTexts:
    """Batches of texts; the target's states are kept where they fit into memory."""

    def __init__(
        self, model: Any, texts: Sequence[Text], draft_ids: torch.Tensor, batch_tokens: int
    ) -> None:
        self._model, self._draft_ids = model, draft_ids
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
        self._kept: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}

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
        features, last = self._read(number, ids)
        with torch.no_grad():
            logits = self._model.get_output_embeddings()(last).float()
        choices = logits.argmax(dim=-1)
        own = logits[..., self._draft_ids.to(device)]
        return HeadBatch(ids, features.float(), own, choices, wanted.to(device))

    def read_all(self) -> None:
        """Let the target read everything now, where it is kept."""
        if not self._keeps:
            return
        with progress_bar() as progress:
            bar = progress.add_task("reading the target's states", total=len(self))
            for number in range(len(self)):
                self.batch(number)
                progress.update(bar, completed=number + 1)

    @torch.no_grad()
    def _read(self, number: int, ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Tapped states side by side, and the last ones, which the output layer reads."""
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
        found = torch.cat([states[tap] for tap in self._taps], dim=-1), states[last]
        if self._keeps:
            self._kept[number] = found
        return found
