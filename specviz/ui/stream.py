"""Streams a race to one page as packets: compact JSON with scene, run id, number and deltas only.

Events that arrive within 50 ms share a packet. A packet is built between two rounds, while no clock
runs.
"""

import json
import logging
import time
from collections.abc import Iterator
from contextlib import closing
from enum import StrEnum
from typing import Protocol, cast

from specviz.errors import SpecvizError
from specviz.trace import Event, RaceFinished, RaceRequest, RaceStarted, StartRace
from specviz.ui.race_view import RaceView
from specviz.ui.runs import Run
from specviz.ui.view_models import Item

PACKET_SECONDS = 0.05
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


def status_item(state: State, text: str) -> Item:
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


def close_run(run: Run, state: State, text: str, items: list[Item] | None = None) -> str | None:
    """Write the run's last packet."""
    packet = write_packet(run, [*(items or []), status_item(state, text)])
    with run.lock:
        run.is_closed = True
    return packet


class Deadline:
    """Says when a race that has started has taken too long; loading models does not count."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._ends_at: float | None = None

    def start(self) -> None:
        """Let the time run from now on."""
        self._ends_at = time.monotonic() + self._seconds

    def is_over(self) -> bool:
        """Whether the time allowed has passed."""
        return self._ends_at is not None and time.monotonic() > self._ends_at


def stream_race(
    start_race: StartRace,
    request: RaceRequest,
    run: Run,
    deadline_seconds: float,
) -> Iterator[str]:
    """Run a race and yield its packets; the last one always says how it ended.

    An error meant for the user becomes the last packet. Any other is logged, shown in general words
    and raised. Closing the iterator stops the race.
    """
    run.has_begun = True
    try:
        yield from _present(write_packet(run, [status_item(State.LOADING, "Loading the models …")]))
        yield from _packets(start_race, request, run, Deadline(deadline_seconds))
    except SpecvizError as error:
        yield from _present(close_run(run, State.ERROR, sentence(error)))
    except Exception:
        _log.exception("a race failed")
        text = "Something went wrong inside the race, and it ended here. Try it again."
        yield from _present(close_run(run, State.ERROR, text))
        raise
    finally:
        close_run(run, State.STOPPED, "Stopped.")
        run.finish()


def sentence(error: SpecvizError) -> str:
    """Write an error's message as a sentence: a capital first, a full stop last."""
    text = str(error).strip()
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith((".", "!", "?")) else ".")


def _packets(
    start_race: StartRace,
    request: RaceRequest,
    run: Run,
    deadline: Deadline,
) -> Iterator[str]:
    view = RaceView()
    items: list[Item] = []
    sent_at = time.monotonic()
    events = start_race(request, lambda: run.should_stop() or deadline.is_over())
    with closing(cast(_Closable, events)):
        for event in events:
            if isinstance(event, RaceStarted):
                deadline.start()
            item = view.take(event)
            if item is not None:
                items.append(item)
            if isinstance(event, RaceFinished) or not _is_due(event, sent_at, time.monotonic()):
                continue
            yield from _present(write_packet(run, [*items, *_standing(view)]))
            time.sleep(SEND_SECONDS)
            items = []
            sent_at = time.monotonic()
    state, text = _ending(view, run)
    last = [*items, {"k": "figures", "lanes": view.figures()}]
    yield from _present(close_run(run, state, text, last))


def _is_due(event: Event, sent_at: float, now: float) -> bool:
    return isinstance(event, RaceStarted) or now - sent_at >= PACKET_SECONDS


def _standing(view: RaceView) -> list[Item]:
    """The parts of a packet that replace what was there: figures and the one-line story."""
    figures: Item = {"k": "figures", "lanes": view.figures()}
    return [figures, status_item(State.RUNNING, view.narration)]


def _ending(view: RaceView, run: Run) -> tuple[State, str]:
    if view.errors:
        return State.ERROR, " ".join(view.errors)
    if view.is_cancelled:
        cause = "" if run.should_stop() else " at the time limit"
        return State.STOPPED, f"Stopped{cause}. What was written so far stays here."
    return State.FINISHED, view.closing_sentence()


def _present(packet: str | None) -> Iterator[str]:
    if packet is not None:
        yield packet
