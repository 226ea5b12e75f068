"""Key figures of a running or finished race, as the short texts that the page shows.

Every number comes from `specviz.trace.metrics`. A figure is a list: its value as a text, then the
counts and times behind it in the order of the placeholders {0}, {1}, … of the texts
`figure.ID_detail` (the counts in short) and `figure.ID_formula` (how it is computed, with this
run's own numbers).
"""

from typing import Any

from specviz.trace.metrics import Agreement, RunningCounts, Verdict
from specviz.ui.spread import time_shares
from specviz.ui.strings import Text, message

MISSING = "–"
MOST_DECIMALS = 6
"""Of a clock in ms, where a formula is written out."""
Figure = list[Any]
Figures = dict[str, Any]

FIGURES: tuple[str, ...] = ("speedup", "alpha", "rate", "tau", "saved", "wasted", "lossless")
"""Ids of the figures in the order they are shown."""


def live_figures(counts: RunningCounts) -> Figures:
    """Give what every lane shows, the baseline too: its speed, its time and its length."""
    speed = counts.tokens_per_second
    return {
        "speed": MISSING if speed is None else f"{speed:.1f}",
        "tokens": counts.num_emitted,
        "ms": round(counts.ms, 1),
        "shares": time_shares(counts),
    }


def compared_figures(lane: RunningCounts, baseline: RunningCounts, output: Figure) -> Figures:
    """Give the key figures of a lane that guesses, against the baseline."""
    judged = lane.num_accepted + lane.num_rejected
    thrown = lane.num_drafted - lane.num_accepted
    speedup = lane.speedup_over(baseline)
    return {
        "speedup": _speedup_figure(lane, baseline, _times(speedup)),
        "alpha": _share(lane.alpha, lane.num_accepted, judged, lane.num_rejected),
        "rate": _share(lane.acceptance_rate, lane.num_accepted, lane.num_drafted),
        "tau": [_plain(lane.tau), lane.num_emitted, lane.num_rounds],
        "saved": _share(lane.target_passes_saved, lane.num_target_forwards, lane.num_emitted),
        "wasted": _share(
            lane.wasted_fraction, thrown, lane.num_drafted, lane.num_rejected, lane.num_discarded
        ),
        "lossless": output,
        "is_slower": speedup is not None and speedup < 1.0,
    }


def chart_point(
    counts: RunningCounts, before: RunningCounts, baseline: RunningCounts
) -> list[float | None]:
    """Give one round's numbers for the charts.

    Order: round, clock of the lane in ms, tokens so far, share of this round's judged tokens that
    was accepted, running alpha, running speedup, guesses kept in this round.
    """
    accepted = counts.num_accepted - before.num_accepted
    judged = accepted + counts.num_rejected - before.num_rejected
    return [
        counts.num_rounds,
        round(counts.ms, 2),
        counts.num_emitted,
        round(accepted / judged, 4) if judged else None,
        _rounded(counts.alpha),
        _rounded(counts.speedup_over(baseline)),
        accepted,
    ]


def output_figure(verdict: Verdict | None, is_greedy: bool, is_running: bool) -> Figure:
    """Say whether the output is the baseline's: the verdict, on what it rests, and how it is known.

    All three are texts; the last one explains itself, for there is no formula to fill.
    """
    if not is_greedy:
        return _output("same_law")
    if is_running:
        return _output("running")
    if verdict is None:
        return _output("nothing")
    if verdict.agreement is Agreement.IDENTICAL:
        return _output("identical", n=verdict.num_compared)
    name = "near_tie" if verdict.agreement is Agreement.NEAR_TIE else "divergent"
    return _output(name, token=(verdict.first_difference or 0) + 1)


def _output(name: str, **values: object) -> list[Text]:
    return [
        message(f"output.{name}"),
        message(f"output.{name}_detail", **values),
        message(f"output.{name}_why", **values),
    ]


def _speedup_figure(lane: RunningCounts, baseline: RunningCounts, shown: str) -> Figure:
    """Write both clocks with the fewest decimals from which the value shown can be worked out."""
    clocks = [baseline.ms, lane.ms]
    if shown != MISSING:
        for decimals in range(1, MOST_DECIMALS + 1):
            clocks = [round(baseline.ms, decimals), round(lane.ms, decimals)]
            ratio = clocks[0] / baseline.num_emitted / (clocks[1] / lane.num_emitted)
            if _times(ratio) == shown:
                break
    return [
        shown,
        clocks[0],
        baseline.num_emitted,
        clocks[1],
        lane.num_emitted,
        _plain(baseline.ms_per_token),
        _plain(lane.ms_per_token),
    ]


def _share(share: float | None, *counts: int) -> Figure:
    """Give a share in whole percents, the counts behind it, and last the share to a tenth."""
    exact = MISSING if share is None else f"{100 * share:.1f} %"
    return [_percent(share), *counts, exact]


def _times(number: float | None) -> str:
    return MISSING if number is None else f"{number:.2f}×"


def _percent(number: float | None) -> str:
    return MISSING if number is None else f"{100 * number:.0f} %"


def _plain(number: float | None) -> str:
    return MISSING if number is None else f"{number:.2f}"


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 4)
