"""Streams a race to one page as packets.

Events that arrive within 50 ms, or longer where the page asks for it, share a packet. A packet is
written between two rounds, while no clock runs.
"""

import logging
import time
from collections.abc import Generator, Iterator
from contextlib import closing
from enum import StrEnum
from typing import Protocol, cast

from specviz.errors import PromptError, RequestError, SpecvizError
from specviz.trace.values import (
    Event,
    ModelLoading,
    RaceFinished,
    RaceStarted,
    RoundFinished,
    StartRace,
)
from specviz.ui.page_limits import PageLimits
from specviz.ui.prompt_guide import PromptGuide
from specviz.ui.race_log import RaceLog
from specviz.ui.race_queue import Place
from specviz.ui.runs import Run
from specviz.ui.strings import Text, message
from specviz.ui.wire import EventJson, Status

PACKET_SECONDS = 0.05
FIGURES_SECONDS = 0.2
# Sending a packet needs the interpreter that the next round runs in. This pause, between two rounds
# and so outside of every clock, lets the packet go first; without it the page slows what it shows.
SEND_SECONDS = 0.008
HELD_LOOK_SECONDS = 0.25
"""How often a race that is held looks whether others wait."""
_log = logging.getLogger(__name__)


class State(StrEnum):
    """What the status strip says about the page's race."""

    WAITING = "waiting"
    LOADING = "loading"
    RUNNING = "running"
    FINISHED = "finished"
    STOPPED = "stopped"
    ERROR = "error"
    REFUSED = "refused"
    """No race began: the page keeps what it shows, and says why where the field is."""


class _Closable(Protocol):
    def close(self) -> None: ...


def status(state: State, text: Text | None = None) -> Status:
    """Tell the status strip what to show."""
    return {"state": state.value} if text is None else {"state": state.value, "text": text}


def close_run(run: Run, state: State, text: Text) -> str | None:
    """Write the last packet of a run that has nothing more to show."""
    return run.write([], status=status(state, text), is_last=True)


def refuse_run(run: Run, error: RequestError) -> str | None:
    """Write the only packet of a run that was refused; a page then shows no other race for it."""
    told = status(State.REFUSED, error.text)
    if isinstance(error, PromptError):
        told["field"] = "prompt"
    return run.write([], status=told, is_last=True)


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
    start_race: StartRace,
    run: Run,
    limits: PageLimits,
    place: Place,
    guide: PromptGuide | None = None,
) -> Generator[str]:
    """Run the race of a run and yield its packets; the last one always says how it ended.

    `place` is the race's own in the queue, of which it is the first now.

    An error meant for the user becomes the last packet. Any other is logged, shown in general words
    and raised. Closing the iterator stops the race.
    """
    run.has_begun = True
    try:
        yield from _present(run.write([], status=status(State.LOADING)))
        yield from _packets(start_race, run, limits, place, guide)
    except PromptError as error:
        yield from _present(refuse_run(run, error))
    except SpecvizError as error:
        yield from _present(close_run(run, State.ERROR, error.text))
    except Exception:
        _log.exception("a race failed")
        yield from _present(close_run(run, State.ERROR, message("status.broken")))
        raise
    finally:
        close_run(run, State.STOPPED, message("status.was_stopped"))
        run.finish()


def ending(log: RaceLog, cause: str = "here") -> Status:
    """Say how a race ended; `cause` is a key among the texts `status.stopped_*`."""
    if log.errors:
        return status(State.ERROR, " ".join(log.errors))
    if not log.has_started:
        return status(State.STOPPED, message("status.was_stopped"))
    if log.is_cancelled:
        return status(State.STOPPED, message(f"status.stopped_{cause}"))
    return status(State.FINISHED)


class _Referee:
    """Is asked between two rounds whether the race ends, and holds it while it is paused."""

    def __init__(self, run: Run, limits: PageLimits, place: Place) -> None:
        self._run = run
        self._place = place
        self._pause_seconds = limits.pause_seconds
        """How much longer the race may be held; all pauses count together."""
        self._queued_pause_seconds = limits.queued_pause_seconds
        """How much longer it may be held while others wait."""
        self.deadline = Deadline(limits.deadline_seconds)
        self.cause = "here"

    def should_stop(self) -> bool:
        if not self._wait_while_held():
            self.cause = "paused"
            return True
        if self.deadline.is_over() and not self._run.should_stop():
            self.cause = "deadline"
            return True
        if self._run.is_ended_by_server:
            self.cause = "ending"
        return self._run.should_stop()

    def _wait_while_held(self) -> bool:
        """Wait until the race may go on; false where it was held for too long.

        While others wait it may be held for a shorter time, and is then run to its end.
        """
        while not self._hold_for_a_look():
            if self._pause_seconds <= 0:
                return False
            if self._queued_pause_seconds <= 0:
                self._run.run_out()
            self._place.hold(min(self._pause_seconds, self._queued_pause_seconds))
        self._place.release()
        return True

    def _hold_for_a_look(self) -> bool:
        """Wait a moment; gives whether the race may go on."""
        began = time.monotonic()
        goes_on = self._run.wait_while_paused(self._longest_look())
        held = time.monotonic() - began
        self._pause_seconds -= held
        if self._place.others_wait():
            self._queued_pause_seconds -= held
        self.deadline.extend(held)
        self._place.extend(held)
        return goes_on

    def _longest_look(self) -> float:
        return min(HELD_LOOK_SECONDS, self._pause_seconds, self._queued_pause_seconds)


def _packets(
    start_race: StartRace, run: Run, limits: PageLimits, place: Place, guide: PromptGuide | None
) -> Iterator[str]:
    assert run.request is not None
    log, referee = RaceLog(guide), _Referee(run, limits, place)
    collected: list[EventJson] = []
    sent_at = figures_at = time.monotonic()
    events = start_race(run.request, referee.should_stop)
    with closing(cast(_Closable, events)):
        for event in events:
            place.note(event)
            _note(event, run, referee)
            written = log.take(event)
            if written is None:
                continue
            collected.append(written)
            if not _is_due(event, run, sent_at):
                continue
            figures = None
            if log.has_started and _are_figures_due(event, run, figures_at):
                figures, figures_at = log.figures(), time.monotonic()
            state = State.RUNNING if log.has_started else State.LOADING
            yield from _present(run.write(collected, figures, status(state)))
            time.sleep(SEND_SECONDS)
            collected, sent_at = [], time.monotonic()
    last = ending(log, referee.cause)
    yield from _present(run.write(collected, log.figures(), last, is_last=True))


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
    if isinstance(event, ModelLoading | RaceStarted) or run.is_paused or _is_detail(event, run):
        return True
    return time.monotonic() - sent_at >= max(PACKET_SECONDS, run.pace_seconds)


def _are_figures_due(event: Event, run: Run, figures_at: float) -> bool:
    """Whether figures go with this packet: seldom enough to be read, but always before a pause."""
    if isinstance(event, RaceStarted) or run.is_paused or _is_detail(event, run):
        return True
    return time.monotonic() - figures_at >= FIGURES_SECONDS


def _is_detail(event: Event, run: Run) -> bool:
    """Whether this is a round whose figures a page wants that shows the race slower."""
    return run.is_detailed and isinstance(event, RoundFinished) and bool(event.round.drafted)


def _present(packet: str | None) -> Iterator[str]:
    if packet is not None:
        yield packet
