"""The common window: the stretch of device time in which a lane and its baseline both ran.

Speeds are compared over this stretch alone. Outside of it the other lane no longer ran, so the
machine was another one: caches, clocks and neighbours differ, and a ratio over whole clocks moves
with them.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter

from specviz.trace.counts import Mark, RunningCounts, ratio

_clock = attrgetter("ms")


@dataclass(frozen=True, slots=True)
class CommonWindow:
    """What two lanes did in the rounds that began before the earlier of their clocks ended."""

    lane: RunningCounts
    baseline: RunningCounts
    num_lane_rounds: int
    """Rounds of the lane that began within the window: its first so many."""
    num_baseline_rounds: int

    @property
    def lane_sums(self) -> Mark | None:
        """The lane's sums over the window; None where no round began in it."""
        return _sums(self.lane, self.num_lane_rounds)

    @property
    def baseline_sums(self) -> Mark | None:
        """The baseline's sums over the window."""
        return _sums(self.baseline, self.num_baseline_rounds)

    @property
    def speedup(self) -> float | None:
        """The baseline's time per token over the lane's, both within the window."""
        lane, baseline = self.lane_sums, self.baseline_sums
        if lane is None or baseline is None:
            return None
        return ratio(baseline.ms_per_token, lane.ms_per_token)


def common_window(lane: RunningCounts, baseline: RunningCounts) -> CommonWindow:
    """Find the rounds of both that began before min(clock of the lane, clock of the baseline).

    Example: a baseline of 10 ms a step for 80 ms beside a lane that is done after 44 ms: the window
    holds the baseline's five rounds that began at 0, 10, 20, 30 and 40 ms, and all of the lane's.
    While both run, a race steps whoever is behind, so that every round lies within.
    """
    end = min(lane.ms, baseline.ms)
    return CommonWindow(
        lane, baseline, _num_begun(lane.marks, end), _num_begun(baseline.marks, end)
    )


def _num_begun(marks: Sequence[Mark], end: float) -> int:
    """Count the rounds that began before `end`: each begins where the one before it ended."""
    if not marks or end <= 0.0:
        return 0
    return bisect_left(marks, end, hi=len(marks) - 1, key=_clock) + 1


def _sums(counts: RunningCounts, num_rounds: int) -> Mark | None:
    return counts.marks[num_rounds - 1] if num_rounds else None
