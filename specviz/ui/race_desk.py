"""What the page's buttons do: enter the queue, run the race, leave, stop."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import gradio as gr

from specviz.errors import RequestError
from specviz.trace import RaceRequest, StartRace
from specviz.ui.runs import Run, RunStore
from specviz.ui.scenes import Scene
from specviz.ui.stream import State, close_run, status_item, stream_race, write_packet

STOP_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Ticket:
    """A visitor's place in the queue: the checked request, and the run its packets go to."""

    run_id: str
    request: RaceRequest


class RaceDesk:
    """Serves all visitors; what belongs to one of them is in that visitor's ticket and run."""

    def __init__(self, start_race: StartRace, runs: RunStore, deadline_seconds: float) -> None:
        self._start_race = start_race
        self._runs = runs
        self._deadline_seconds = deadline_seconds

    def enter(
        self, place: Ticket | None, scene: Scene, read_request: Callable[[], RaceRequest]
    ) -> tuple[Any, Any]:
        """Read the form and give a first packet and a ticket; nothing while a race is open."""
        last = self._run(place)
        if last and not last.is_closed:
            return gr.skip(), gr.skip()
        run = self._runs.open(scene)
        try:
            request = read_request()
        except RequestError as error:
            run.finish()
            return close_run(run, State.ERROR, str(error)), None
        waiting = status_item(State.WAITING, "Waiting for a free place …")
        return write_packet(run, [waiting]), Ticket(run.id, request)

    def stream(self, place: Ticket | None) -> Iterator[str]:
        """Run the ticket's race and yield its packets."""
        run = self._run(place)
        if place and run and not run.is_closed:
            yield from stream_race(self._start_race, place.request, run, self._deadline_seconds)

    def leave(self, place: Ticket | None) -> Any:
        """Say that the queue was full."""
        run = self._run(place)
        text = "No place in the queue is free just now. Try it again in a minute."
        return (run and close_run(run, State.ERROR, text)) or gr.skip()

    def stop(self, place: Ticket | None) -> Any:
        """End the visitor's race after its current round, or take it out of the queue."""
        run = self._run(place)
        if run is None or run.is_closed:
            return gr.skip()
        run.stop()
        if run.has_begun and run.wait(STOP_SECONDS):
            return gr.skip()
        return close_run(run, State.STOPPED, "Stopped.") or gr.skip()

    def _run(self, place: Ticket | None) -> Run | None:
        return self._runs.get(place.run_id) if place else None
