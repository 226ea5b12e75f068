"""Repeats races and other contenders, and says what is typical: median, quartiles and n.

Knows no model: it is given callables. What is compared is always run in turn, within one process,
in an order that alternates, so that a machine that warms up or slows down does so for everybody.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from statistics import median, quantiles
from typing import Any, TypeVar

from specviz.errors import DecodingError
from specviz.trace.metrics import race_metrics
from specviz.trace.names import names_of
from specviz.trace.values import (
    LaneSpec,
    RaceFinished,
    RaceRequest,
    Rule,
    StartRace,
    StopReason,
    Trace,
)
from specviz.trace.verdict import Agreement, Verdict, race_verdicts

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Quartiles:
    """What repeated measurements say: the middle one, and the middle half of them."""

    median: float
    low: float
    """First quartile."""
    high: float
    """Third quartile."""
    n: int


@dataclass(frozen=True, slots=True)
class LaneSummary:
    """One lane in one line; the keys and order of the command line's JSON."""

    name: str
    method: str
    gamma: int
    num_emitted: int
    tokens_per_second: float | None
    speedup: float | None
    """Over the stretch in which lane and baseline both ran."""
    speedup_low: float | None
    """The interval from one race's own rounds; of several races the medians of its ends."""
    speedup_high: float | None
    alpha: float | None
    acceptance_rate: float | None
    tau: float | None
    draft_cost: float | None
    verify_cost: float | None
    predicted_speedup: float | None
    efficiency: float | None
    target_passes_saved: float | None
    stop_reason: str
    verdict: str | None
    """identical, near-tie or divergent; None for the baseline and where it does not apply. A lane
    with a wrong rule has `wrong-rule`, whatever it wrote."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One of our lanes beside somebody else's decoding of the same models and ids."""

    name: str
    reference: str
    gamma: int
    num_tokens: int
    """Tokens timed in each run: all but those of the first output, which prefill would blur."""
    is_same_text: bool
    ours: Quartiles
    """Tokens a second by the lane's own clock, as every race reports them."""
    ours_with_recording: Quartiles
    """Tokens a second by the clock on the wall, with the writing of the trace."""
    theirs: Quartiles
    """Tokens a second by the clock on the wall."""
    ratio: Quartiles
    """Ours over theirs, turn by turn."""


WRONG_RULE = "wrong-rule"
"""The verdict of a lane whose rule is wrong: no text that it did not harm makes it lossless."""
_SEVERITY = (Agreement.IDENTICAL, Agreement.NEAR_TIE, Agreement.DIVERGENT, WRONG_RULE)


def quartiles(values: Sequence[float]) -> Quartiles:
    """Return median and quartiles (the inclusive method) of at least one value."""
    if len(values) == 1:
        return Quartiles(values[0], values[0], values[0], 1)
    low, middle, high = quantiles(values, n=4, method="inclusive")
    return Quartiles(middle, low, high, len(values))


def finish_race(start_race: StartRace, request: RaceRequest) -> Trace:
    """Run a race to its end and return the trace."""
    for event in start_race(request):
        if isinstance(event, RaceFinished):
            return event.trace
    raise DecodingError("the race ended without a trace")


def repeat_race(start_race: StartRace, request: RaceRequest, num_races: int) -> Iterator[Trace]:
    """Run a race several times; every second time the drafting lanes come in reverse order.

    The baseline stays the first lane. Each trace holds its lanes in the order of the request.
    """
    baseline, *drafting = request.lanes
    for index in range(num_races):
        step = -1 if index % 2 else 1
        trace = finish_race(start_race, replace(request, lanes=(baseline, *drafting[::step])))
        first, *others = trace.lanes
        yield replace(trace, lanes=(first, *others[::step]))


def summarise(trace: Trace) -> tuple[LaneSummary, ...]:
    """Sum up every lane of a race."""
    taken_over = {field.name for field in fields(LaneSummary)}
    return tuple(
        LaneSummary(
            name=name,
            method=str(lane.spec.method),
            gamma=lane.spec.gamma,
            stop_reason=str(lane.stop_reason),
            verdict=_verdict_of(lane.spec, verdict),
            **{
                field.name: getattr(metrics, field.name)
                for field in fields(metrics)
                if field.name in taken_over
            },
        )
        for name, lane, metrics, verdict in zip(
            names_of(trace), trace.lanes, race_metrics(trace), race_verdicts(trace), strict=True
        )
    )


def _verdict_of(spec: LaneSpec, verdict: Verdict | None) -> str | None:
    if spec.rule is not Rule.RIGHT:
        return WRONG_RULE
    return None if verdict is None else str(verdict.agreement)


def median_summary(summaries: Sequence[LaneSummary]) -> LaneSummary:
    """Sum up one lane of several races: medians, the worst verdict, an error if there was any."""
    last = summaries[-1]
    medians: dict[str, Any] = {}
    for field in fields(LaneSummary):
        values = [getattr(summary, field.name) for summary in summaries]
        if measured := [value for value in values if isinstance(value, float)]:
            medians[field.name] = median(measured)
    verdicts = [summary.verdict for summary in summaries if summary.verdict is not None]
    failed = [summary for summary in summaries if summary.stop_reason == StopReason.ERROR]
    return replace(
        last,
        **medians,
        num_emitted=round(median(summary.num_emitted for summary in summaries)),
        verdict=max(verdicts, key=_SEVERITY.index, default=None),
        stop_reason=failed[0].stop_reason if failed else last.stop_reason,
    )


def take_turns(contenders: Mapping[str, Callable[[], T]], num_turns: int) -> dict[str, list[T]]:
    """Run every contender once to warm up, then each `num_turns` times, in an alternating order.

    Entry i of every list comes from the same turn, so entries can be compared in pairs.
    """
    for run in contenders.values():
        run()
    results: dict[str, list[T]] = {name: [] for name in contenders}
    order = list(contenders)
    for _ in range(num_turns):
        for name in order:
            results[name].append(contenders[name]())
        order.reverse()
    return results
