"""Serves visitors' races: enters them in the queue, runs them, and does what is wished of them."""

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from typing import Any

import gradio as gr

from specviz.errors import RequestError
from specviz.trace.values import RaceRequest, StartRace
from specviz.ui.options import PageLimits
from specviz.ui.panels import Panel
from specviz.ui.prompt_guide import PromptGuide
from specviz.ui.runs import Run, RunStore, Wish
from specviz.ui.stream import State, close_run, refuse_run, status, stream_race
from specviz.ui.strings import message
from specviz.ui.wire import pack

STOP_SECONDS = 1.0
SLOWEST_PACE_MS = 500.0


CheckRequest = Callable[[RaceRequest], None]
"""Raises RequestError for a race that cannot begin as far as the loaded models tell."""


def accept(request: RaceRequest) -> None:
    """Find nothing wrong with a request."""


class NotEntered(gr.Error):  # type: ignore[misc]
    """Ends the event of a button quietly, so that nothing which should follow it does."""

    def __init__(self) -> None:
        super().__init__("no race was entered", visible=False, print_exception=False)


class RaceSessions:
    """Serves all visitors; what belongs to one of them is in that visitor's runs."""

    def __init__(
        self,
        start_race: StartRace,
        runs: RunStore,
        limits: PageLimits,
        guide: PromptGuide | None = None,
        check_request: CheckRequest = accept,
    ) -> None:
        self._start_race = start_race
        self._runs = runs
        self._limits = limits
        self._guide = guide
        self._check_request = check_request

    def enter(self, panel: Panel, read_request: Callable[[], RaceRequest], visitor: str) -> str:
        """Read the form into a new run and give its first packet: it waits, or was refused.

        Raises:
            NotEntered: A race of this page waits or runs already.
        """
        run = self._runs.open(panel, visitor)
        if run is None:
            raise NotEntered
        try:
            request = read_request()
            self._check_request(request)
        except RequestError as error:
            packet = refuse_run(run, error)
        except Exception:
            close_run(run, State.ERROR, message("status.broken"))
            raise
        else:
            run.request = request
            packet = run.write([], status=status(State.WAITING, message("status.queued")))
        return packet or ""

    def stream(self, visitor: str) -> Iterator[str]:
        """Run the race that this visitor's page has entered and yield its packets."""
        run = self._waiting(visitor)
        if run is not None:
            with closing(self._packets(run)) as packets:
                for packet in packets:
                    yield pack(packet)

    def _packets(self, run: Run) -> Generator[str]:
        return stream_race(self._start_race, run, self._limits, self._guide)

    def turn_away(self, visitor: str) -> Any:
        """Say that the queue was full; a race that runs already found its place in it."""
        run = self._waiting(visitor)
        if run is None:
            return gr.skip()
        return close_run(run, State.ERROR, message("status.queue_full")) or gr.skip()

    def control(self, run_id: object, wish: object, value: object = None) -> dict[str, Any]:
        """Do what is wished of a run: a `Wish`, with milliseconds for the pace.

        Returns:
            `is_done`, false where there is no such run or wish or the run is over, and `packets`:
            the last ones of a run that the wish has ended without its stream.
        """
        run = self._runs.get(run_id)
        refused = {"is_done": False, "packets": []}
        if run is None or run.is_closed or not isinstance(wish, str) or wish not in tuple(Wish):
            return refused
        if wish == Wish.STOP:
            return {"is_done": True, "packets": self._stop(run)}
        if wish == Wish.PACE:
            if not isinstance(value, int | float) or not 0 <= value <= SLOWEST_PACE_MS:
                return refused
            run.pace_seconds = value / 1000
        else:
            {Wish.PAUSE: run.pause, Wish.RESUME: run.resume, Wish.STEP: run.step}[Wish(wish)]()
        return {"is_done": True, "packets": []}

    def close_page(self, visitor: str) -> None:
        """End the races of a page that was closed, also those that are held or still wait."""
        for run in self._runs.of(visitor):
            self.control(run.id, Wish.STOP)

    def _stop(self, run: Run) -> list[str]:
        """End a race after its current round, or take it out of the queue.

        A race that does not end in time, since a model is being loaded, is ended for its page.
        """
        run.stop()
        if run.has_begun and run.wait(STOP_SECONDS):
            return []
        packet = close_run(run, State.STOPPED, message("status.was_stopped"))
        return [] if packet is None else [packet]

    def _waiting(self, visitor: str) -> Run | None:
        """The run of a page that has not left the queue; one that was refused has no request."""
        runs = self._runs.of(visitor)
        waiting = [run for run in runs if not run.is_closed and not run.has_begun]
        return next((run for run in waiting if run.request is not None), None)
