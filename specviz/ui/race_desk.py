"""What the page's buttons do: enter the queue, run the race, leave, stop."""

import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import gradio as gr

from specviz.errors import RequestError
from specviz.trace.values import RaceRequest, StartRace
from specviz.ui.options import PageLimits
from specviz.ui.packing import pack
from specviz.ui.runs import Control, Run, RunStore
from specviz.ui.scenes import Scene
from specviz.ui.stream import (
    State,
    close_run,
    sentence,
    status_item,
    stream_race,
    write_packet,
)
from specviz.ui.strings import message

STOP_SECONDS = 1.0
LONGEST_PACE_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Ticket:
    """A visitor's place in the queue: the checked request, and the run its packets go to."""

    run_id: str
    request: RaceRequest


class StillRacing(gr.Error):  # type: ignore[misc]
    """Ends the event of a button quietly, so that nothing which should follow it does."""

    def __init__(self) -> None:
        super().__init__("this page races already", visible=False, print_exception=False)


class RaceDesk:
    """Serves all visitors; what belongs to one of them is in that visitor's ticket and run."""

    def __init__(self, start_race: StartRace, runs: RunStore, limits: PageLimits) -> None:
        self._start_race = start_race
        self._runs = runs
        self._limits = limits
        self._entering = threading.Lock()

    def enter(
        self,
        place: Ticket | None,
        scene: Scene,
        read_request: Callable[[], RaceRequest],
        visitor: str = "",
    ) -> tuple[Any, Any]:
        """Read the form and give a first packet and a ticket.

        Raises:
            StillRacing: If a race of this page waits or runs: who presses twice races once.
        """
        with self._entering:
            if any(run and not run.is_closed for run in (self._run(place), *self._of(visitor))):
                raise StillRacing
            run = self._runs.open(scene, visitor)
        try:
            request = read_request()
        except RequestError as error:
            run.finish()
            return close_run(run, State.ERROR, sentence(error)), None
        except Exception:
            close_run(run, State.ERROR, message("status.broken"))
            raise
        waiting = status_item(State.WAITING, message("status.queued"))
        return write_packet(run, [waiting]), Ticket(run.id, request)

    def stream(self, place: Ticket | None) -> Iterator[str]:
        """Run the ticket's race and yield its packets."""
        run = self._run(place)
        if place and run and not run.is_closed:
            race = stream_race(self._start_race, place.request, run, self._limits)
            with closing(race) as packets:
                for packet in packets:
                    yield pack(packet)

    def leave(self, place: Ticket | None) -> Any:
        """Say that the queue was full; a race that runs already found its place in it."""
        run = self._run(place)
        if run is None or run.has_begun:
            return gr.skip()
        return close_run(run, State.ERROR, message("status.queue_full")) or gr.skip()

    def stop(self, place: Ticket | None) -> Any:
        """End the visitor's race after its current round, or take it out of the queue."""
        run = self._run(place)
        if run is None or run.is_closed:
            return gr.skip()
        run.stop()
        if run.has_begun and run.wait(STOP_SECONDS):
            return gr.skip()
        return close_run(run, State.STOPPED, message("status.was_stopped")) or gr.skip()

    def forget(self, visitor: str) -> None:
        """End the races of a page that was closed, also those that are held or still wait."""
        for run in self._runs.of(visitor):
            run.stop()

    def control(self, run_id: object, wish: object) -> bool:
        """Pause, resume, step or stop the race of a run; False where there is none that goes on."""
        run = self._runs.get(run_id)
        if run is None or run.is_closed or not isinstance(wish, str) or wish not in tuple(Control):
            return False
        run.control(Control(wish))
        return True

    def pace(self, run_id: object, milliseconds: object) -> bool:
        """Send a slow browser its packets this far apart; False where there is no such run."""
        run = self._runs.get(run_id)
        if run is None or not isinstance(milliseconds, int | float):
            return False
        run.pace_seconds = min(max(0.0, milliseconds / 1000), LONGEST_PACE_SECONDS)
        return True

    def _of(self, visitor: str) -> list[Run]:
        return self._runs.of(visitor) if visitor else []

    def _run(self, place: Ticket | None) -> Run | None:
        return self._runs.get(place.run_id) if place else None
