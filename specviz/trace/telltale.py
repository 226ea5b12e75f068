"""Which bar of a proof shows best that a lane does not follow its target's law."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from specviz.trace.proofs import ContinuationBar, ProofProgress, TokenBar

LEAST_DEVIATIONS = 4.0
"""How many standard deviations a bar must lie off before it is pointed at. Of the twenty that are
looked at, one does so by chance in about a thousand proofs."""


@dataclass(frozen=True, slots=True)
class Telltale:
    """A bar that is too high or too low."""

    kind: Literal["next", "continuation"]
    """Among which bars it stands."""
    index: int
    text: str
    is_rest: bool
    """Whether it stands for all other ways to go on behind `text`."""
    share: float
    """How often the lane wrote it."""
    target_prob: float
    """How often it should have."""


def find_telltale(progress: ProofProgress) -> Telltale | None:
    """Find the bar that lies farthest off, in standard deviations; None where each may be luck.

    Of n draws a bar of probability p holds n p on average, with the deviation √(n p (1 - p)); where
    that is less than one draw, one draw is taken for it. Next tokens come first: they say most to
    a reader.

    Example: 100 draws, p = .5, 80 of them in the bar: (80 - 50) / 5 = 6 deviations.
    """
    num_draws = progress.num_done
    return _among("next", progress.bars, progress.num_done) or _among(
        "continuation", progress.continuations, progress.num_done
    )


def _among(
    kind: Literal["next", "continuation"],
    bars: Sequence[TokenBar | ContinuationBar],
    num_draws: int,
) -> Telltale | None:
    found = [(abs(_deviations(bar, num_draws)), index) for index, bar in enumerate(bars)]
    deviations, index = max(found, default=(0.0, 0))
    if deviations < LEAST_DEVIATIONS:
        return None
    bar = bars[index]
    is_rest = isinstance(bar, ContinuationBar) and bar.is_rest
    return Telltale(kind, index, bar.text, is_rest, bar.num_lane / num_draws, bar.target_prob)


def _deviations(bar: TokenBar | ContinuationBar, num_draws: int) -> float:
    expected = num_draws * bar.target_prob
    spread = math.sqrt(max(1.0, expected * (1 - bar.target_prob)))
    return (bar.num_lane - expected) / spread
