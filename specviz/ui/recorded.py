"""Plays finished races: a trace becomes the same items that a live race sends, with their times."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from specviz.errors import TraceFormatError
from specviz.trace.files import loads, read_trace
from specviz.trace.metrics import race_metrics
from specviz.trace.replay import events_of
from specviz.trace.values import Method, RaceStarted, RoundFinished, Trace
from specviz.ui.assets import TRACES_FOLDER
from specviz.ui.measured import measured_of
from specviz.ui.options import PageLimits
from specviz.ui.race_view import RaceView
from specviz.ui.stream import State, standing, status_item
from specviz.ui.strings import PageError, message
from specviz.ui.view_models import Item, lane_text, law_text, place_text

Recording = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Timed:
    """Items that are shown together, and the clock of the race at which they are."""

    ms: float
    items: list[Item]


def recorded_names() -> tuple[str, ...]:
    """Return the names of the races that ship with the page."""
    return tuple(sorted(path.stem for path in TRACES_FOLDER.glob("*.json")))


def welcome_data() -> dict[str, Any]:
    """Say which races are there to be watched, without their packets."""
    races = []
    for name in recorded_names():
        recording = read_recorded(name)
        assert recording is not None
        about = {key: value for key, value in recording.items() if key != "packets"}
        races.append({"name": name, **about})
    return {"races": races}


@cache
def read_recorded(name: str) -> Recording | None:
    """Return a shipped race by its name, or None where there is none."""
    if name not in recorded_names():
        return None
    return recording_of(read_trace(Path(TRACES_FOLDER) / f"{name}.json"))


def open_trace(text: object, limits: PageLimits) -> Recording:
    """Read a trace that a visitor opened from a file.

    Raises:
        RequestError: it is too long, or a race that the page cannot show.
        TraceFormatError: it is not a trace.
    """
    if not isinstance(text, str) or not text.strip():
        raise TraceFormatError("The file is empty.")
    allowed = limits.max_trace_chars
    if len(text) > allowed:
        raise PageError("error.trace_too_long", chars=f"{len(text):,}", allowed=f"{allowed:,}")
    trace = loads(text)
    _check_showable(trace, limits.max_trace_guesses)
    return recording_of(trace)


def recording_of(trace: Trace) -> Recording:
    """Describe a finished race: where it ran, how long it takes, and its timed items."""
    speedups = [metrics.speedup for metrics in race_metrics(trace)[1:]]
    return {
        "date": trace.environment.recorded_at[:10],
        "place": place_text(trace.environment),
        "prompt": trace.request.prompt,
        "lanes": [lane_text(lane.spec) for lane in trace.lanes],
        "law": law_text(trace.request.sampling),
        "seconds": round(max(sum(r.ms for r in lane.rounds) for lane in trace.lanes) / 1000, 1),
        "speedups": [None if value is None else f"{value:.2f}" for value in speedups],
        "measured": measured_of(trace),
        "packets": [[timed.ms, timed.items] for timed in timed_items(trace)],
    }


def _check_showable(trace: Trace, max_guesses: int) -> None:
    """Refuse what would be shown wrongly, or grow with the square of its length when shown."""
    baselines = [lane.spec.method is Method.BASELINE for lane in trace.lanes]
    if not baselines[0] or any(baselines[1:]):
        raise PageError("error.trace_baseline")
    rounds = [round_ for lane in trace.lanes for round_ in lane.rounds]
    guesses = max((len(round_.drafted) for round_ in rounds), default=0)
    if guesses > max_guesses:
        raise PageError("error.trace_long_round", found=guesses, allowed=max_guesses)


def timed_items(trace: Trace) -> Iterator[Timed]:
    """Yield what a page shows of a race, in order, with the clock in ms at which it shows it.

    Figures follow each round of a lane that guesses; the end says how the race ended.
    """
    view = RaceView()
    now = 0.0
    clocks = [0.0] * len(trace.lanes)
    waiting: list[Item] = []
    for event in events_of(trace):
        item = view.take(event)
        waiting.extend([item] if item else [])
        if isinstance(event, RaceStarted):
            yield Timed(0.0, [*waiting, *standing(view)])
            waiting = []
        if isinstance(event, RoundFinished):
            clocks[event.lane] += event.round.ms
            now = max(now, clocks[event.lane])
            shown = standing(view) if event.lane else []
            yield Timed(round(now, 2), [*waiting, *shown])
            waiting = []
    state = State.ERROR if view.errors else State.FINISHED
    text = " ".join(view.errors) or view.closing_sentence()
    if view.is_cancelled:
        state, text = State.STOPPED, message("status.stopped_here")
    figures: Item = {"k": "figures", "lanes": view.figures()}
    yield Timed(round(now, 2), [*waiting, figures, status_item(state, text)])
