"""Measures how far a model's logits move when tokens are read in a block instead of one by one."""

import math

import torch
from transformers import PreTrainedModel

from specviz.decoding.forms import MakeRunner
from specviz.decoding.model_runner import ModelRunner
from specviz.decoding.positions import context_of

NUM_READ_AT_ONCE = 160
NUM_COMPARED = 96
STRIDE = 37


class LogitNoise:
    """The rounding noise of one model on one device with one number of threads.

    A verification of gamma tokens reads a block of gamma + 1 and a plain step reads one; in
    floating point the two round differently, and what they round goes into the keys and values of
    all later tokens. Where the target's two best logits are closer than about twice the noise, two
    honest greedy runs may part.

    The text is a fixed run of ids as long as that of a race: its first part is read at once, as a
    prompt is, and the rest both ways. So there is one answer for each length of block. The single
    steps, which take most of the time, are done once for all lengths. Fixed buffers round otherwise
    than growing ones, so each form of a pass has a noise of its own.
    """

    def __init__(self, model: PreTrainedModel) -> None:
        self._model = model
        longest = NUM_READ_AT_ONCE + NUM_COMPARED
        length = min(longest, context_of(model) or longest)
        num_ids = model.get_output_embeddings().weight.shape[0]
        self._num_compared = min(NUM_COMPARED, length)
        self._text = [(STRIDE * index + 1) % num_ids for index in range(length)]
        self._alone: torch.Tensor | None = None
        self._found: dict[int, float] = {}

    def of_blocks(self, block_length: int, make_runner: MakeRunner | None = None) -> float:
        """Return the largest absolute difference of any logit between both ways of reading.

        0 where logits are not numbers: each lane that reads such ends with that reason, and a page
        can be told no other number.

        Args:
            make_runner: Makes a runner of the form whose noise this is, always the same; None: of
                the plain form.
        """
        if block_length not in self._found:
            runner = (make_runner or ModelRunner)(self._model, len(self._text))
            if self._alone is None:
                self._alone = torch.cat(self._read_in_blocks(1, runner))
            length = min(block_length, self._num_compared)
            together = torch.cat(self._read_in_blocks(length, runner))
            difference = (together - self._alone[: len(together)]).abs().max()
            found = float(difference)
            self._found[block_length] = found if math.isfinite(found) else 0.0
        return self._found[block_length]

    def _read_in_blocks(self, block_length: int, runner: ModelRunner) -> list[torch.Tensor]:
        """Logits `[block_length, vocab]` of the blocks behind the part that is read at once."""
        runner.reset()
        length = len(self._text)
        start = length - self._num_compared
        if start > 0:
            runner.forward(self._text[:start], 1)
        ends = range(start + block_length, length + 1, block_length)
        return [runner.forward(self._text[:end], block_length) for end in ends]
