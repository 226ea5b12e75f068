"""Serves visitors' races: enters them in the queue, runs them, and does what is wished of them."""

import json
import logging
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from math import ceil
from typing import Any

import gradio as gr

from specviz.errors import RequestError
from specviz.trace.values import FetchModels, ModelDownloading, RaceRequest, StartRace
from specviz.ui.download_stream import Downloads
from specviz.ui.page_limits import PageLimits
from specviz.ui.panels import Panel
from specviz.ui.prompt_guide import PromptGuide
from specviz.ui.race_queue import Outlook, Place, RaceQueue
from specviz.ui.runs import Run, RunStore, Wish
from specviz.ui.stream import State, close_run, refuse_run, status, stream_race
from specviz.ui.strings import Message, PageError, message
from specviz.ui.visitors import Visitor, VisitorBook
from specviz.ui.wire import pack

STOP_SECONDS = 1.0
WAIT_SECONDS = 1.0
"""How often a race that waits is told how it stands."""
SLOWEST_PACE_MS = 500.0
_log = logging.getLogger(__name__)


CheckRequest = Callable[[RaceRequest], None]
"""Raises RequestError for a race that cannot begin as far as the loaded models tell."""


def accept(request: RaceRequest) -> None:
    """Find nothing wrong with a request."""


def fetch_nothing(
    request: RaceRequest, should_stop: Callable[[], bool] = bool
) -> Iterator[ModelDownloading]:
    """Download nothing: all models are here."""
    return iter(())


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
        queue: RaceQueue,
        limits: PageLimits,
        guide: PromptGuide | None = None,
        check_request: CheckRequest = accept,
        fetch_models: FetchModels = fetch_nothing,
        book: VisitorBook | None = None,
    ) -> None:
        self._start_race = start_race
        self._runs = runs
        self._queue = queue
        self._limits = limits
        self._guide = guide
        self._check_request = check_request
        self._downloads = Downloads(fetch_models, limits)
        self._book = book or VisitorBook(limits)
        self._is_ending = False

    def enter(
        self,
        panel: Panel,
        read_request: Callable[[], RaceRequest],
        visitor: str,
        address: str = "",
    ) -> str:
        """Read the form into a new run and give its first packet: it waits, or was refused.

        Raises:
            NotEntered: A race of this page waits or runs already.
        """
        for left in self._runs.of(visitor):
            if left.is_over:
                close_run(left, State.STOPPED, message("status.was_stopped"))
        run = self._runs.open(panel, visitor, address)
        if run is None:
            raise NotEntered
        try:
            if self._is_ending:
                raise PageError("status.ending")
            request = read_request()
            self._check_request(request)
            self._book.enter(Visitor(visitor, address), lambda: run.is_over)
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
        """Let the race that this visitor's page has entered wait, run it, and yield its packets.

        What it lacks is downloaded before it joins the queue: others race meanwhile.
        """
        run = self._waiting(visitor)
        if run is None or run.request is None:
            return
        run.is_streamed = True
        try:
            yield from self._serve(run)
        finally:
            _note(run)

    def _serve(self, run: Run) -> Iterator[str]:
        assert run.request is not None
        yield from self._downloads.stream(run)
        if run.is_closed:
            return
        place = self._queue.join(run.request, run.address or None)
        if place is None:
            yield close_run(run, State.ERROR, message("status.queue_full")) or ""
            return
        try:
            yield from _wait_in_queue(run, place)
            if run.is_closed or run.has_begun:
                return
            with closing(self._packets(run, place)) as packets:
                for packet in packets:
                    yield pack(packet)
        finally:
            self._queue.leave(place)

    def _packets(self, run: Run, place: Place) -> Generator[str]:
        return stream_race(self._start_race, run, self._limits, place, self._guide)

    def turn_away(self, visitor: str) -> Any:
        """Say that Gradio's own queue was full; a race that runs already found its place."""
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
        elif wish == Wish.DETAIL:
            run.is_detailed = True
        else:
            {Wish.PAUSE: run.pause, Wish.RESUME: run.resume, Wish.STEP: run.step}[Wish(wish)]()
        return {"is_done": True, "packets": []}

    def close_page(self, visitor: str) -> None:
        """End the races of a page that was closed, also those that are held or still wait."""
        for run in self._runs.of(visitor):
            self.control(run.id, Wish.STOP)

    def end(self) -> None:
        """End the races of all visitors, since the server goes, and take no more."""
        self._is_ending = True
        for run in self._runs.open_runs():
            run.is_ended_by_server = True
            run.stop()
            if not run.has_begun:
                close_run(run, State.STOPPED, message("status.ending"))
        self._queue.wake()

    def has_ended(self) -> bool:
        """Whether no race of any visitor waits or goes on."""
        return not self._runs.open_runs()

    def _stop(self, run: Run) -> list[str]:
        """End a race after its current round, or take it out of the queue.

        A race that does not end in time, since a model is being loaded, is ended for its page.
        """
        run.stop()
        if run.has_begun and run.wait(STOP_SECONDS):
            return []
        told = "status.download_stopped" if run.is_downloading else "status.was_stopped"
        packet = close_run(run, State.STOPPED, message(told))
        self._queue.wake()
        return [] if packet is None else [packet]

    def _waiting(self, visitor: str) -> Run | None:
        """The run of a page that has not left the queue; one that was refused has no request."""
        runs = self._runs.of(visitor)
        waiting = [run for run in runs if not run.is_closed and not run.has_begun]
        return next((run for run in waiting if run.request is not None), None)


def _wait_in_queue(run: Run, place: Place) -> Iterator[str]:
    """Yield packets that say how a run stands until it is its turn, or its visitor gave up."""
    told = None
    while not place.wait_for_turn(0 if told is None else WAIT_SECONDS) and not run.is_closed:
        outlook = place.outlook()
        standing = told if outlook is None else _standing(outlook)
        if standing != told:
            told = standing
            yield run.write([], status=status(State.WAITING, standing)) or ""


def _note(run: Run) -> None:
    """Log how a race ended, and nothing of what it was about."""
    state = json.loads(run.packets[-1])["status"]["state"]
    seconds = round(time.monotonic() - run.started_at, 3)
    what = {"panel": run.panel.value, "state": state, "seconds": seconds}
    if run.request is not None:
        what |= {"lanes": len(run.request.lanes), "tokens": run.request.max_new_tokens}
    _log.info("race ended", extra=what)


def _standing(outlook: Outlook) -> Message:
    """Say a position and an estimate, and what the estimate rests on."""
    if outlook.seconds is None or outlook.token_ms is None:
        return message("status.queued_first", position=outlook.position)
    values = {
        "position": outlook.position,
        "seconds": ceil(outlook.seconds),
        "tokens": outlook.num_tokens,
        "ms": round(outlook.token_ms, 1),
        "basis": _basis(outlook.num_races),
    }
    if outlook.held_seconds is None:
        return message("status.queued_about", **values)
    return message("status.queued_held", held=ceil(outlook.held_seconds), **values)


def _basis(num_races: int) -> Message:
    """Say whose time for a token an estimate takes."""
    if num_races > 1:
        return message("status.estimate_recent", n=num_races)
    return message("status.estimate_one" if num_races else "status.estimate_running")
