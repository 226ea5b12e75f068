"""Logits to the exact distribution that is sampled from, and the draws themselves."""

from dataclasses import dataclass
from typing import Protocol

import torch

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


def check_finite(logits: torch.Tensor) -> None:
    """Refuse logits of which no distribution can be made: argmax would silently return a NaN's id.

    Raises:
        DecodingError: A row has NaN or infinity as its largest value.
    """
    if not bool(logits.amax(dim=-1).isfinite().all()):
        raise DecodingError(message("refusal.no_numbers"))


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
        self.reset()

    def reset(self) -> None:
        """Start again from the seed."""
        self._generator.manual_seed(self._seed)

    def uniform(self) -> float:
        """Draw from [0, 1)."""
        return float(torch.rand((), generator=self._generator, dtype=torch.float64))

    def flip(self, prob: float) -> Flip:
        """Throw a coin; heads where the draw lies below `prob`."""
        draw = self.uniform()
        return Flip(draw < prob, draw)

    def choose(self, probs: torch.Tensor) -> int:
        """Invert the cumulative sum at one uniform draw; a token of probability zero is never
        chosen."""
        wide = torch.float32 if probs.device.type == "mps" else torch.float64
        cumulative = probs.to(wide).cumsum(dim=-1)
        total = cumulative[-1]
        index = torch.searchsorted(cumulative, total * self.uniform(), right=True)
        # Rounding can put the draw on the total itself; then the last token with any mass is meant.
        last = torch.searchsorted(cumulative, total)
        return int(torch.minimum(index, last))
