"""Streams a race to one page as packets: compact JSON with scene, run id, number and deltas only.

Events that arrive within 50 ms, or longer where the page asks for it, share a packet. A packet is
built between two rounds, while no clock runs.
"""

import json
import logging
import time
from collections.abc import Generator, Iterator
from contextlib import closing
from enum import StrEnum
from typing import Protocol, cast

from specviz.errors import SpecvizError
from specviz.trace.values import (
    Event,
    ModelLoading,
    RaceFinished,
    RaceRequest,
    RaceStarted,
    RoundFinished,
    StartRace,
)
from specviz.ui.options import PageLimits
from specviz.ui.race_view import RaceView
from specviz.ui.runs import Run
from specviz.ui.strings import PageError, Text, message
from specviz.ui.view_models import Item

PACKET_SECONDS = 0.05
FIGURES_SECONDS = 0.2
# Sending a packet needs the interpreter that the next round runs in. This pause, between two rounds
# and so outside of every clock, lets the packet go first; without it the page slows what it shows.
SEND_SECONDS = 0.008
_log = logging.getLogger(__name__)


class State(StrEnum):
    """What the status strip says about the page's race."""

    WAITING = "waiting"
    LOADING = "loading"
    RUNNING = "running"
    FINISHED = "finished"
    STOPPED = "stopped"
    ERROR = "error"


class _Closable(Protocol):
    def close(self) -> None: ...


def status_item(state: State, text: Text) -> Item:
    """Tell the status strip what to show."""
    return {"k": "status", "state": state.value, "text": text}


def write_packet(run: Run, items: list[Item]) -> str | None:
    """Number a packet, keep it for replays and return it as JSON; None once the run is closed."""
    with run.lock:
        if run.is_closed:
            return None
        number = len(run.packets)
        body = {"scene": run.scene.value, "run": run.id, "seq": number, "items": items}
        packet = json.dumps(body, separators=(",", ":"), ensure_ascii=False)
        run.packets.append(packet)
        return packet


def close_run(run: Run, state: State, text: Text, items: list[Item] | None = None) -> str | None:
    """Write the run's last packet."""
    packet = write_packet(run, [*(items or []), status_item(state, text)])
    with run.lock:
        run.is_closed = True
    return packet


class Deadline:
    """Says when a race that has started has taken too long; loading and pauses do not count."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._ends_at: float | None = None

    def start(self) -> None:
        """Let the time run from now on."""
        self._ends_at = time.monotonic() + self._seconds

    def is_over(self) -> bool:
        """Whether the time allowed has passed."""
        return self._ends_at is not None and time.monotonic() > self._ends_at

    def extend(self, seconds: float) -> None:
        """Allow this much more."""
        if self._ends_at is not None:
            self._ends_at += seconds


def stream_race(
    start_race: StartRace, request: RaceRequest, run: Run, limits: PageLimits
) -> Generator[str]:
    """Run a race and yield its packets; the last one always says how it ended.

    An error meant for the user becomes the last packet. Any other is logged, shown in general words
    and raised. Closing the iterator stops the race.
    """
    run.has_begun = True
    try:
        loading = status_item(State.LOADING, message("status.loading_models"))
        yield from _present(write_packet(run, [loading]))
        yield from _packets(start_race, request, run, limits)
    except SpecvizError as error:
        yield from _present(close_run(run, State.ERROR, sentence(error)))
    except Exception:
        _log.exception("a race failed")
        yield from _present(close_run(run, State.ERROR, message("status.broken")))
        raise
    finally:
        close_run(run, State.STOPPED, message("status.was_stopped"))
        run.finish()


def sentence(error: SpecvizError) -> Text:
    """Give an error's message as a sentence: a capital first, a full stop last."""
    if isinstance(error, PageError):
        return error.message
    text = str(error).strip()
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith((".", "!", "?")) else ".")


class _Referee:
    """Is asked between two rounds whether the race ends, and holds it while it is paused."""

    def __init__(self, run: Run, limits: PageLimits) -> None:
        self._run = run
        self._pause_seconds = limits.pause_seconds
        """How much longer the race may be held; all pauses count together."""
        self.deadline = Deadline(limits.deadline_seconds)
        self.cause = "here"
        """Why the race was ended: a key among the texts `status.stopped_*`."""

    def should_stop(self) -> bool:
        began = time.monotonic()
        if not self._run.wait_while_paused(self._pause_seconds):
            self.cause = "paused"
            return True
        held = time.monotonic() - began
        self._pause_seconds -= held
        self.deadline.extend(held)
        if self.deadline.is_over() and not self._run.should_stop():
            self.cause = "deadline"
            return True
        return self._run.should_stop()


def _packets(
    start_race: StartRace, request: RaceRequest, run: Run, limits: PageLimits
) -> Iterator[str]:
    view = RaceView()
    referee = _Referee(run, limits)
    items: list[Item] = []
    sent_at = figures_at = time.monotonic()
    events = start_race(request, referee.should_stop)
    with closing(cast(_Closable, events)):
        for event in events:
            _note(event, run, referee)
            item = view.take(event)
            if item is not None:
                items.append(item)
            if isinstance(event, RaceFinished) or not _is_due(event, run, sent_at):
                continue
            if view.has_started and _are_figures_due(event, run, figures_at):
                items.append(_figures_item(view))
                figures_at = time.monotonic()
            yield from _present(write_packet(run, [*items, _story(view)]))
            time.sleep(SEND_SECONDS)
            items = []
            sent_at = time.monotonic()
    state, text = _ending(view, referee)
    last = [*items, _figures_item(view)]
    yield from _present(close_run(run, state, text, last))


def _note(event: Event, run: Run, referee: _Referee) -> None:
    """Let what happened reach the clocks and the run."""
    if isinstance(event, RaceStarted):
        referee.deadline.start()
    elif isinstance(event, RoundFinished) and event.round.drafted:
        run.take_step()
    elif isinstance(event, RaceFinished):
        run.trace = event.trace


def _is_due(event: Event, run: Run, sent_at: float) -> bool:
    """Whether what was collected is sent now: always before the race is held."""
    if isinstance(event, ModelLoading | RaceStarted) or run.is_paused:
        return True
    return time.monotonic() - sent_at >= max(PACKET_SECONDS, run.pace_seconds)


def _are_figures_due(event: Event, run: Run, figures_at: float) -> bool:
    """Whether figures go with this packet: seldom enough to be read, but always before a pause."""
    if isinstance(event, RaceStarted) or run.is_paused:
        return True
    return time.monotonic() - figures_at >= FIGURES_SECONDS


def standing(view: RaceView) -> list[Item]:
    """What replaces what was there once a race has started: figures and the one-line story."""
    return [_figures_item(view), _story(view)]


def _figures_item(view: RaceView) -> Item:
    return {"k": "figures", "lanes": view.figures()}


def _story(view: RaceView) -> Item:
    return status_item(State.RUNNING if view.has_started else State.LOADING, view.narration)


def _ending(view: RaceView, referee: _Referee) -> tuple[State, Text]:
    if view.errors:
        return State.ERROR, " ".join(view.errors)
    if not view.has_started:
        return State.STOPPED, message("status.was_stopped")
    if view.is_cancelled:
        return State.STOPPED, message(f"status.stopped_{referee.cause}")
    return State.FINISHED, view.closing_sentence()


def _present(packet: str | None) -> Iterator[str]:
    if packet is not None:
        yield packet
