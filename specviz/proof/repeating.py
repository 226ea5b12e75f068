"""What lets one decoder write from one prompt again and again: one stream of chance, and caches
that go back to the prompt instead of reading it anew."""

from collections.abc import Sequence

import torch

from specviz.decoding.model_runner import ModelRunner
from specviz.decoding.sampling import SeededChance
from specviz.decoding.taps import Tapped


class OneStream(SeededChance):
    """Choices of one seed for all texts together: a new text goes on where the last one ended."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        super().reset()

    def reset(self) -> None:
        """Go on, as for one text more."""


class RewindingRunner(ModelRunner):
    """A runner that, asked to forget everything and to read the same prompt again, goes back to
    that prompt as it would go back to it after a rejection."""

    _is_new_text = False
    _prompt: tuple[list[int], torch.Tensor, Tapped] | None = None
    """The ids that were read first, the logits of their last ones, and what was tapped of them."""

    def reset(self) -> None:
        """Expect a text; what was read is forgotten only if that is another one."""
        if self._prompt is None:
            super().reset()
        self._is_new_text = True

    def forward(self, ids: Sequence[int], num_logits: int) -> torch.Tensor:
        """Read `ids`; of a prompt that was read before the logits are remembered."""
        if not self._is_new_text:
            return super().forward(ids, num_logits)
        self._is_new_text = False
        if self._prompt is not None:
            prompt_ids, logits, tapped = self._prompt
            if prompt_ids == list(ids) and len(logits) == num_logits:
                self._truncate(len(ids))
                self._tapped = tapped
                return logits
        super().reset()
        logits = super().forward(ids, num_logits).clone()
        self._prompt = list(ids), logits, self._tapped
        return logits
