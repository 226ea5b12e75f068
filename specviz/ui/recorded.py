"""Plays finished races: a trace becomes the packets that a live race sends.

A recorded race is a trace file and nothing else: where and when it ran stands in its first event.
"""

from collections.abc import Iterator
from functools import cache
from math import ceil
from pathlib import Path
from typing import Any

from specviz.trace.files import loads, read_trace
from specviz.trace.replay import events_of
from specviz.trace.values import Method, RaceStarted, RoundFinished, Trace
from specviz.ui.assets import TRACES_FOLDER
from specviz.ui.page_limits import PageLimits
from specviz.ui.prompt_guide import PromptGuide
from specviz.ui.race_log import RaceLog
from specviz.ui.stream import ending
from specviz.ui.strings import PageError
from specviz.ui.wire import EventJson, LaneFigures, Status

Parts = dict[str, Any]
"""A packet that belongs to no run: `events`, and `figures` and `status` where there are any."""


def recorded_names() -> tuple[str, ...]:
    """Return the names of the races that ship with the page."""
    return tuple(sorted(path.stem for path in TRACES_FOLDER.glob("*.json")))


def welcome_data() -> dict[str, Any]:
    """Say which races are there to be watched: how each begins, and how long it takes."""
    races = []
    for name in recorded_names():
        packets = read_recorded(name)
        assert packets is not None
        longest = max(figures["metrics"]["ms"] for figures in packets[-1]["figures"])
        started = packets[0]["events"][0]
        races.append({"name": name, "started": started, "seconds": longest / 1000})
    return {"races": races}


@cache
def read_recorded(name: str) -> list[Parts] | None:
    """Return a shipped race by its name, or None where there is none."""
    if name not in recorded_names():
        return None
    return list(packets_of(read_trace(Path(TRACES_FOLDER) / f"{name}.json")))


def open_trace(text: object, limits: PageLimits, guide: PromptGuide | None = None) -> list[Parts]:
    """Read a trace that a visitor opened from a file.

    Raises:
        RequestError: It is too long, or a race that the page cannot show.
        TraceFormatError: It is not a trace.
    """
    content, allowed = text if isinstance(text, str) else "", limits.max_trace_chars
    if len(content) > allowed:
        raise PageError("error.trace_too_long", chars=len(content), allowed=allowed)
    trace = loads(content)
    check_showable(trace, limits.max_trace_guesses)
    return list(packets_of(trace, guide))


def packets_of(
    trace: Trace, guide: PromptGuide | None = None, max_figures: int | None = None
) -> Iterator[Parts]:
    """Yield a finished race as packets, one a round.

    Figures follow each round of a lane that drafts, or rounds evenly apart where they shall be at
    most `max_figures` while the race runs; the last packet has them and says how the race ended.
    """
    log = RaceLog(guide)
    collected: list[EventJson] = []
    num_drafting = sum(len(lane.rounds) for lane in trace.lanes[1:])
    step = 1 if max_figures is None else max(1, ceil(num_drafting / max_figures))
    num_done = 0
    for event in events_of(trace):
        written = log.take(event)
        collected.extend([] if written is None else [written])
        if isinstance(event, RaceStarted | RoundFinished):
            drafts = isinstance(event, RaceStarted) or event.lane > 0
            has_figures = drafts and num_done % step == 0
            num_done += drafts
            yield _parts(collected, log.figures() if has_figures else None, {"state": "running"})
            collected = []
    yield _parts(collected, log.figures(), ending(log))


def _parts(events: list[EventJson], figures: list[LaneFigures] | None, status: Status) -> Parts:
    parts: Parts = {"events": events, "status": status}
    return parts if figures is None else parts | {"figures": figures}


def check_showable(trace: Trace, max_guesses: int) -> None:
    """Refuse what would be shown wrongly, or grow with the square of its length when shown.

    Raises:
        RequestError: Lane 0 alone does not draft nothing, or a round has more guesses than that.
    """
    baselines = [lane.spec.method is Method.BASELINE for lane in trace.lanes]
    if not baselines[0] or any(baselines[1:]):
        raise PageError("error.trace_baseline")
    rounds = [round_ for lane in trace.lanes for round_ in lane.rounds]
    guesses = max((len(round_.drafted) for round_ in rounds), default=0)
    if guesses > max_guesses:
        raise PageError("error.trace_long_round", found=guesses, allowed=max_guesses)
