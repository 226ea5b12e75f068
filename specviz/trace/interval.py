"""How far a race's own rounds let its speedup be trusted: an interval by the block bootstrap.

Rounds are drawn anew in blocks, since neighbours resemble each other: a text has easy and hard
stretches, a machine has quick and slow ones. (Künsch 1989, "The Jackknife and the Bootstrap for
General Stationary Observations", Annals of Statistics 17(3): moving blocks.) It says what this race
can say, not what another machine would.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from specviz.trace.counts import Mark
from specviz.trace.window import CommonWindow

BLOCK_ROUNDS = 4
NUM_RESAMPLES = 400
MIN_ROUNDS = 2 * BLOCK_ROUNDS
"""Of each lane; with fewer there is nothing to resample."""
LOW_PERCENT, HIGH_PERCENT = 5.0, 95.0
_SEED = 2022


class Interval(NamedTuple):
    """The middle nine tenths of what resampling gives."""

    low: float
    high: float


def speedup_interval(window: CommonWindow) -> Interval | None:
    """Resample both lanes' rounds of a window, each on its own, and give the speedup's interval.

    Every resample draws as many rounds as there are, in moving blocks of 4, and takes the ratio of
    the times per token. None below 8 rounds in one of the lanes, or without any time.
    """
    lane = window.lane.marks[: window.num_lane_rounds]
    baseline = window.baseline.marks[: window.num_baseline_rounds]
    if min(len(lane), len(baseline)) < MIN_ROUNDS:
        return None
    random = np.random.default_rng(_SEED)
    own, alone = (resampled_ms_per_token(marks, random) for marks in (lane, baseline))
    if not own.all():
        return None
    low, high = np.percentile(alone / own, (LOW_PERCENT, HIGH_PERCENT))
    return Interval(float(low), float(high))


def resampled_ms_per_token(
    marks: Sequence[Mark], random: np.random.Generator
) -> NDArray[np.float64]:
    """Give a lane's time per token in each of `NUM_RESAMPLES` resamples, [400] float64."""
    sums = block_sums(marks)
    num_blocks = -(-len(marks) // BLOCK_ROUNDS)
    drawn = random.integers(0, len(sums), (NUM_RESAMPLES, num_blocks))
    totals = sums[drawn].sum(axis=1)
    per_token: NDArray[np.float64] = totals[:, 0] / totals[:, 1]
    return per_token


def block_sums(marks: Sequence[Mark]) -> NDArray[np.float64]:
    """Give time and tokens of every block of 4 rounds in a row, [rounds - 3, 2] float64."""
    sums = [(0.0, 0.0), *((mark.ms, float(mark.num_emitted)) for mark in marks)]
    totals: NDArray[np.float64] = np.array(sums)
    return totals[BLOCK_ROUNDS:] - totals[:-BLOCK_ROUNDS]
