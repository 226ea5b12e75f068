"""Logits to the exact distribution that is sampled from, and the draws themselves."""

from collections import deque
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

import torch
from torch.nn.functional import pad

from specviz.errors import DecodingError
from specviz.texts import message
from specviz.trace.values import Sampling


def to_probs(logits: torch.Tensor, sampling: Sampling) -> torch.Tensor:
    """Turn logits into the distribution that tokens are drawn from.

    Temperature first, then top-k, then top-p, as transformers orders its warpers. Ties at the k-th
    logit are all kept; top-p keeps the smallest set whose probability reaches top_p, never less
    than one token. Temperature 0 gives a one-hot row at the argmax (the lowest id among equals).

    Args:
        logits: `[num_rows, vocab]`, any float dtype.

    Returns:
        `[num_rows, vocab]`, float32 (float64 for float64 logits), rows sum to one.
    """
    logits = logits if logits.dtype == torch.float64 else logits.float()
    if sampling.temperature == 0:
        return torch.zeros_like(logits).scatter_(1, logits.argmax(dim=-1, keepdim=True), 1.0)
    logits = logits / sampling.temperature
    if 0 < sampling.top_k < logits.shape[-1]:
        kth = logits.topk(sampling.top_k, dim=-1).values[:, -1:]
        logits = logits.masked_fill(logits < kth, -torch.inf)
    probs = logits.softmax(dim=-1)
    if sampling.top_p < 1:
        ordered, ids = probs.sort(dim=-1, descending=True, stable=True)
        mass_before = ordered.cumsum(dim=-1) - ordered
        ordered = ordered.masked_fill(mass_before >= sampling.top_p, 0.0)
        probs = torch.zeros_like(probs).scatter_(1, ids, ordered)
        probs = probs / probs.sum(dim=-1, keepdim=True)
    return probs


def over_vocab(logits: torch.Tensor, vocab_size: int) -> torch.Tensor:
    """Cut logits `[num_rows, any]` to `vocab_size` ids, or fill them up with minus infinity."""
    num_extra = vocab_size - logits.shape[-1]
    return logits if num_extra == 0 else pad(logits, (0, num_extra), value=-torch.inf)


def are_finite(logits: torch.Tensor) -> torch.Tensor:
    """Say of each row `[num_rows, vocab]` whether its largest logit is a number: `[num_rows]`
    bool."""
    return logits.amax(dim=-1).isfinite()


def check_finite(logits: torch.Tensor) -> None:
    """Refuse logits of which no distribution can be made: argmax would silently return a NaN's id.

    Raises:
        DecodingError: A row has NaN or infinity as its largest value.
    """
    if not bool(are_finite(logits).all()):
        raise no_numbers()


def no_numbers() -> DecodingError:
    """Make the error of logits of which no distribution can be made."""
    return DecodingError(message("refusal.no_numbers"))


def invert(probs: torch.Tensor, draw: float | torch.Tensor) -> torch.Tensor:
    """Invert the cumulative sum of `probs` `[vocab]`, which may be unnormalised, at a number from
    [0, 1); a token of probability zero is never chosen.

    Nothing is read back from the device.

    Returns:
        `[]` int64. Of (.2, 0, .8) the numbers below .2 give 0 and all others 2.
    """
    wide = torch.float32 if probs.device.type == "mps" else torch.float64
    cumulative = probs.to(wide).cumsum(dim=-1)
    total = cumulative[-1]
    index = torch.searchsorted(cumulative, total * draw, right=True)
    # Rounding can put the draw on the total itself; then the last token with any mass is meant.
    return torch.minimum(index, torch.searchsorted(cumulative, total))


@dataclass(frozen=True, slots=True)
class Flip:
    """A coin that was thrown: `draw` is None where the probability left nothing to chance."""

    is_heads: bool
    draw: float | None


class Chance(Protocol):
    """Every random choice of a lane goes through here, so that tests can enumerate all of them."""

    def reset(self) -> None:
        """Start again, as for a new text."""

    def flip(self, prob: float) -> Flip:
        """Throw a coin that shows heads with probability `prob`."""

    def choose(self, probs: torch.Tensor) -> int:
        """Draw an index from the distribution `probs` `[vocab]`, which may be unnormalised."""


class SeededChance:
    """Choices from one `torch.Generator` on the CPU: a seed gives one run, whatever the device."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._generator = torch.Generator()
        self._ahead: deque[float] = deque()
        self.reset()

    def reset(self) -> None:
        """Start again from the seed."""
        self._generator.manual_seed(self._seed)
        self._ahead.clear()

    def uniform(self) -> float:
        """Draw from [0, 1)."""
        return self._ahead.popleft() if self._ahead else self._drawn()

    def peek(self, count: int) -> list[float]:
        """Return the next `count` numbers, which are still to be drawn."""
        while len(self._ahead) < count:
            self._ahead.append(self._drawn())
        return list(islice(self._ahead, count))

    def skip(self, count: int) -> None:
        """Draw `count` numbers that were looked at before."""
        for _ in range(count):
            self.uniform()

    def _drawn(self) -> float:
        return float(torch.rand((), generator=self._generator, dtype=torch.float64))

    def flip(self, prob: float) -> Flip:
        """Throw a coin; heads where the draw lies below `prob`."""
        draw = self.uniform()
        return Flip(draw < prob, draw)

    def choose(self, probs: torch.Tensor) -> int:
        """Invert the cumulative sum at one uniform draw."""
        return int(invert(probs, self.uniform()))
