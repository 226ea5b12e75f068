"""A forecast of the final speedup, frozen after a lane's first rounds and judged at the end."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from specviz.trace.counts import Mark, RunningCounts
from specviz.trace.interval import (
    BLOCK_ROUNDS,
    HIGH_PERCENT,
    LOW_PERCENT,
    MIN_ROUNDS,
    NUM_RESAMPLES,
    block_sums,
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

    The rounds so far are known. Those to come are drawn from them in moving blocks, as many as the
    tokens that are left will take, and moved by the error of a mean of so few rounds, drawn the
    same way. The forecast is the speedup so far; the spread of what is drawn gives the interval.
    None where nothing is left, or a lane has fewer than 8 rounds in the common window.
    """
    window = common_window(lane, baseline)
    own = lane.marks[: window.num_lane_rounds]
    alone = baseline.marks[: window.num_baseline_rounds]
    left = max_new_tokens - lane.num_emitted
    speedup = window.speedup
    if speedup is None or left <= 0 or min(len(own), len(alone)) < MIN_ROUNDS:
        return None
    num_left = left * len(own) / own[-1].num_emitted
    ms_left = num_left * own[-1].ms / len(own)
    num_steps_left = ms_left * len(alone) / alone[-1].ms
    random = np.random.default_rng(_SEED)
    finals = _final_ms_per_token(alone, num_steps_left, random)
    finals /= _final_ms_per_token(own, num_left, random)
    low, high = np.percentile(finals, (LOW_PERCENT, HIGH_PERCENT))
    margin = _WIDENING * float(high - low) / 2
    return Forecast(lane.num_rounds, speedup, speedup - margin, speedup + margin)


def _final_ms_per_token(
    marks: Sequence[Mark], num_left: float, random: np.random.Generator
) -> NDArray[np.float64]:
    """Draw a lane's time per token at the end, [400] float64, with `num_left` rounds to come."""
    sums = block_sums(marks)
    so_far = np.array((marks[-1].ms, marks[-1].num_emitted))
    ahead = _draw(sums, num_left, random)
    error = _draw(sums, len(marks), random) - so_far
    final = so_far + ahead + error * (num_left / len(marks))
    # Whatever comes, the clock goes on and every round brings a token.
    ms = np.maximum(final[:, 0], so_far[0])
    per_token: NDArray[np.float64] = ms / np.maximum(final[:, 1], so_far[1] + num_left)
    return per_token


def _draw(
    sums: NDArray[np.float64], num_rounds: float, random: np.random.Generator
) -> NDArray[np.float64]:
    """Draw time and tokens of so many rounds in blocks, [400, 2] float64, scaled to the number."""
    num_blocks = max(1, round(num_rounds / BLOCK_ROUNDS))
    drawn = random.integers(0, len(sums), (NUM_RESAMPLES, num_blocks))
    total: NDArray[np.float64] = sums[drawn].sum(axis=1)
    return total * (num_rounds / (num_blocks * BLOCK_ROUNDS))
