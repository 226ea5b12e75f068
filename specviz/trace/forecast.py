"""A forecast of the final speedup, frozen after a lane's first rounds and judged at the end."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from specviz.trace.counts import RunningCounts
from specviz.trace.interval import (
    BLOCK_ROUNDS,
    HIGH_PERCENT,
    LOW_PERCENT,
    NUM_RESAMPLES,
    paired_blocks,
)
from specviz.trace.window import common_window

NUM_ROUNDS = 20
"""Rounds of the lane after which a forecast is made."""
_SEED = 2023
_WIDENING = 2.13 / 1.645 * (5 / 4) ** 0.5
"""Of the middle nine tenths of the resamples: 20 rounds are 5 blocks, so Student's t at 4 degrees
of freedom takes the place of the normal law's, and the root makes the variance of a resample that
of a sample."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """Where a lane's speedup will end, with an interval meant to hold nine times out of ten."""

    num_rounds: int
    """Rounds of the lane that it was made from."""
    speedup: float
    low: float
    high: float
    held: bool | None = None
    """Whether the finished race ended within; None as long as it has not."""

    def judged(self, speedup: float | None) -> "Forecast":
        """Return the forecast with what became of it."""
        held = None if speedup is None else self.low <= speedup <= self.high
        return replace(self, held=held)


def forecast_speedup(
    lane: RunningCounts, baseline: RunningCounts, max_new_tokens: int
) -> Forecast | None:
    """Forecast the speedup at which a running lane will end, if its text goes on to the length.

    What both lanes wrote so far is known. The rounds to come are drawn from those so far in moving
    blocks, as many as the tokens that are left will take, and moved by the error of a mean of so
    few rounds, drawn the same way. The forecast is the speedup so far; the spread of what is drawn
    gives the interval. None where nothing is left, or a lane has fewer than 8 rounds in the common
    window.
    """
    window = common_window(lane, baseline)
    blocks, speedup = paired_blocks(window), window.speedup
    left = max_new_tokens - lane.num_emitted
    if blocks is None or speedup is None or left <= 0:
        return None
    num_rounds = window.num_lane_rounds
    num_left = left * num_rounds / lane.num_emitted
    random = np.random.default_rng(_SEED)
    so_far = blocks.mean(axis=0) * (num_rounds / BLOCK_ROUNDS)
    ahead = _draw(blocks, num_left, random)
    error = _draw(blocks, num_rounds, random) - so_far
    final = so_far + ahead + error * (num_left / num_rounds)
    # Whatever comes, no token is taken back, and every round of the lane brings one.
    written = np.maximum(final[:, 0], so_far[0] + num_left)
    ratios = written / np.maximum(final[:, 1], so_far[1])
    low, high = np.percentile(ratios, (LOW_PERCENT, HIGH_PERCENT))
    margin = _WIDENING * float(high - low) / 2
    return Forecast(lane.num_rounds, speedup, speedup - margin, speedup + margin)


def _draw(
    blocks: NDArray[np.float64], num_rounds: float, random: np.random.Generator
) -> NDArray[np.float64]:
    """Draw what both lanes write in so many rounds, [400, 2] float64, scaled to the number."""
    num_blocks = max(1, round(num_rounds / BLOCK_ROUNDS))
    drawn = random.integers(0, len(blocks), (NUM_RESAMPLES, num_blocks))
    total: NDArray[np.float64] = blocks[drawn].sum(axis=1)
    return total * (num_rounds / (num_blocks * BLOCK_ROUNDS))
