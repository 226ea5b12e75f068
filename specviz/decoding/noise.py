"""Measures how far a model's logits move when tokens are read in a block instead of one by one."""

import torch
from transformers import PreTrainedModel

from specviz.decoding.model_runner import ModelRunner

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
    steps, which take most of the time, are done once for all lengths.
    """

    def __init__(self, model: PreTrainedModel) -> None:
        self._model = model
        runner = ModelRunner(model)
        longest = NUM_READ_AT_ONCE + NUM_COMPARED
        length = min(longest, runner.context or longest)
        self._num_compared = min(NUM_COMPARED, length)
        self._text = [(STRIDE * index + 1) % runner.vocab_size for index in range(length)]
        self._alone = torch.cat(self._read_in_blocks(1))
        self._found: dict[int, float] = {}

    def of_blocks(self, block_length: int) -> float:
        """Return the largest absolute difference of any logit between both ways of reading."""
        if block_length not in self._found:
            together = torch.cat(self._read_in_blocks(min(block_length, self._num_compared)))
            difference = (together - self._alone[: len(together)]).abs().max()
            self._found[block_length] = float(difference)
        return self._found[block_length]

    def _read_in_blocks(self, block_length: int) -> list[torch.Tensor]:
        """Logits `[block_length, vocab]` of the blocks behind the part that is read at once."""
        runner, length = ModelRunner(self._model), len(self._text)
        start = length - self._num_compared
        if start > 0:
            runner.forward(self._text[:start], 1)
        ends = range(start + block_length, length + 1, block_length)
        return [runner.forward(self._text[:end], block_length) for end in ends]
