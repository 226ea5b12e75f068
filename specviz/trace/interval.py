"""How far a race's own rounds let its speedup be trusted: an interval by the block bootstrap.

Rounds are drawn anew in blocks, since neighbours resemble each other: a text has easy and hard
stretches, a machine has quick and slow ones. (Künsch 1989, "The Jackknife and the Bootstrap for
General Stationary Observations", Annals of Statistics 17(3): moving blocks.) Both lanes of a race
advance on the same device time, so a block takes what both did in it: a pause of the machine that
held up both is no doubt about their ratio. The interval says what this race can say, not what
another machine would.
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
    """Resample the rounds of a window and give the interval of the speedup.

    Every resample draws as many rounds of the lane as there are, in moving blocks of 4, each with
    the tokens that the baseline wrote meanwhile; its speedup is the quotient of the two sums. The
    whole is moved so that it lies around the measured speedup, from which the sums differ by the
    rounds at the window's end. None below 8 rounds in one of the lanes, or without any time.
    """
    blocks = paired_blocks(window)
    speedup = window.speedup
    if blocks is None or speedup is None:
        return None
    random = np.random.default_rng(_SEED)
    num_blocks = -(-window.num_lane_rounds // BLOCK_ROUNDS)
    drawn = random.integers(0, len(blocks), (NUM_RESAMPLES, num_blocks))
    totals = blocks[drawn].sum(axis=1)
    resampled = totals[:, 0] / totals[:, 1]
    resampled *= speedup / float(np.median(resampled))
    low, high = np.percentile(resampled, (LOW_PERCENT, HIGH_PERCENT))
    return Interval(float(low), float(high))


def paired_blocks(window: CommonWindow) -> NDArray[np.float64] | None:
    """Give the tokens that lane and baseline wrote in each 4 rounds of the lane in a row.

    [rounds - 3, 2] float64; the baseline's tokens are those of the same stretch of device time,
    parts of a step included. None below 8 rounds in one of the lanes, or without any time.
    """
    lane = window.lane.marks[: window.num_lane_rounds]
    baseline = window.baseline.marks[: window.num_baseline_rounds]
    if min(len(lane), len(baseline)) < MIN_ROUNDS or not baseline[-1].ms:
        return None
    clock, written = _cumulated(lane)
    alone = np.interp(clock, *_cumulated(baseline))
    both = np.stack((written, alone), axis=1)
    # A lane's last round may end after the baseline did.
    within = both[clock <= baseline[-1].ms]
    blocks: NDArray[np.float64] = within[BLOCK_ROUNDS:] - within[:-BLOCK_ROUNDS]
    return blocks


def _cumulated(marks: Sequence[Mark]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Clock and tokens from the start of a lane on, [rounds + 1] float64 each."""
    clock = np.array([0.0, *(mark.ms for mark in marks)])
    return clock, np.array([0.0, *(float(mark.num_emitted) for mark in marks)])
