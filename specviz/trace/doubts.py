"""Reasons to doubt a race's speedup, read off its own rounds."""

from enum import StrEnum
from statistics import median

from specviz.trace.window import CommonWindow

MAX_PARTING = 0.15
"""How far measured and predicted speedup may part before it is said."""
INTERRUPTED_FACTOR = 3.0
"""A round that took so many times the median of its lane was interrupted."""
MAX_INTERRUPTED_SHARE = 0.05
"""What interruptions may take of a lane's clock before it is said."""
MIN_ROUNDS = 8


class Doubt(StrEnum):
    """Why a speedup may be another one at the next press."""

    CHEAP_CHECK = "cheap-check"
    """Checking several tokens seemed cheaper than a plain step of one (v < 1)."""
    INTERRUPTED = "interrupted"
    """Some rounds of a lane took several times as long as its others."""
    PARTED = "parted"
    """Measured and predicted speedup part by more than 15 %."""


def doubts_of(
    window: CommonWindow, verify_cost: float | None, efficiency: float | None
) -> tuple[Doubt, ...]:
    """Name the reasons to doubt a lane's speedup; none before both lanes have 8 rounds.

    The first two are the machine's. The third need not be: the prediction takes c and v from the
    same rounds, so what parts the two is what it assumes (every guess fails independently of the
    others) and what it leaves out (the time between drafting and checking).
    """
    if min(window.num_lane_rounds, window.num_baseline_rounds) < MIN_ROUNDS:
        return ()
    doubts = []
    if verify_cost is not None and verify_cost < 1.0:
        doubts.append(Doubt.CHEAP_CHECK)
    if _is_interrupted(window):
        doubts.append(Doubt.INTERRUPTED)
    if efficiency is not None and abs(efficiency - 1.0) > MAX_PARTING:
        doubts.append(Doubt.PARTED)
    return tuple(doubts)


def _is_interrupted(window: CommonWindow) -> bool:
    lanes = (
        (window.lane, window.num_lane_rounds),
        (window.baseline, window.num_baseline_rounds),
    )
    return any(
        _interrupted_share(counts.round_times()[:num_rounds]) > MAX_INTERRUPTED_SHARE
        for counts, num_rounds in lanes
    )


def _interrupted_share(times: list[float]) -> float:
    """What rounds that took over 3 medians took beyond the median, as a share of the clock."""
    middle = median(times)
    lost = sum(time - middle for time in times if time > INTERRUPTED_FACTOR * middle)
    return lost / sum(times) if lost else 0.0
