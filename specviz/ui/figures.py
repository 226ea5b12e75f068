"""Key figures of a running or finished race, as the short texts that the page shows.

Every number comes from `specviz.metrics`; each rate carries the counts behind it.
"""

from dataclasses import dataclass
from typing import Any

from specviz.metrics import Agreement, RunningCounts, Verdict
from specviz.ui.view_models import MISSING

Figure = dict[str, str]
Figures = dict[str, Any]


@dataclass(frozen=True, slots=True)
class FigureHelp:
    """Name of one figure and what it means."""

    id: str
    label: str
    meaning: str


FIGURES: tuple[FigureHelp, ...] = (
    FigureHelp("speedup", "speedup", "Baseline time per token over this lane's time per token."),
    FigureHelp("alpha", "α accepted of judged", "Accepted / (accepted + rejected)."),
    FigureHelp(
        "rate", "acceptance rate", "Accepted / drafted; discarded guesses count against it."
    ),
    FigureHelp(
        "tau", "τ tokens a round", "Emitted tokens per target pass, correction and bonus in."
    ),
    FigureHelp("saved", "target passes saved", "1 − target passes / emitted tokens."),
    FigureHelp("lossless", "output", "Whether the text is the one the target writes alone."),
)


def live_figures(counts: RunningCounts) -> Figures:
    """Give what every lane shows, the baseline too: its speed, and how far it has come."""
    return {
        "speed": _speed(counts),
        "tokens": counts.num_emitted,
        "ms": round(counts.ms, 1),
    }


def compared_figures(lane: RunningCounts, baseline: RunningCounts, output: Figure) -> Figures:
    """Give the key figures of a lane that guesses, against the baseline."""
    judged = lane.num_accepted + lane.num_rejected
    speedup = lane.speedup_over(baseline)
    is_slower = speedup is not None and speedup < 1.0
    than = "slower than" if is_slower else "against"
    return {
        "speedup": _figure(_times(speedup), f"{than} the target alone"),
        "alpha": _figure(_percent(lane.alpha), f"{lane.num_accepted}/{judged} judged"),
        "rate": _figure(
            _percent(lane.acceptance_rate), f"{lane.num_accepted}/{lane.num_drafted} drafted"
        ),
        "tau": _figure(_plain(lane.tau), f"{lane.num_emitted} tokens, {lane.num_rounds} rounds"),
        "saved": _figure(
            _percent(lane.target_passes_saved),
            f"{lane.num_target_forwards} passes, {lane.num_emitted} tokens",
        ),
        "lossless": output,
        "is_slower": is_slower,
    }


def chart_point(
    counts: RunningCounts, before: RunningCounts, baseline: RunningCounts
) -> list[float | None]:
    """Give one round's numbers for the charts.

    Order: round, clock of the lane in ms, tokens so far, share of this round's judged tokens that
    was accepted, running alpha, running speedup.
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
    ]


def output_figure(verdict: Verdict | None, is_greedy: bool, is_running: bool) -> Figure:
    """Say in two short texts whether the output is the baseline's."""
    if not is_greedy:
        return _figure("same law", "sampled: the words may differ, their odds do not")
    if is_running:
        return _figure("…", "compared at the end")
    if verdict is None:
        return _figure(MISSING, "nothing to compare")
    compared = f"{verdict.num_compared} tokens compared"
    if verdict.agreement is Agreement.IDENTICAL:
        return _figure("identical ✓", compared)
    where = f"first difference at token {(verdict.first_difference or 0) + 1}"
    if verdict.agreement is Agreement.NEAR_TIE:
        return _figure("near-tie", f"{where}: rounding decides there")
    return _figure("differs ✗", f"{where}: a bug, please report it")


def _figure(value: str, detail: str) -> Figure:
    return {"value": value, "detail": detail}


def _times(number: float | None) -> str:
    return MISSING if number is None else f"{number:.2f}×"


def _percent(number: float | None) -> str:
    return MISSING if number is None else f"{100 * number:.0f} %"


def _plain(number: float | None) -> str:
    return MISSING if number is None else f"{number:.2f}"


def _speed(counts: RunningCounts) -> str:
    speed = counts.tokens_per_second
    return f"{MISSING} tok/s" if speed is None else f"{speed:.1f} tok/s"


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 4)
