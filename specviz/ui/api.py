"""The door for programs: one endpoint that runs a race and returns its whole trace."""

import logging
import time
from threading import Event
from typing import Any

import gradio as gr

from specviz.errors import SpecvizError
from specviz.trace.files import to_json
from specviz.trace.values import (
    FetchModels,
    RaceFinished,
    RaceRequest,
    RaceStarted,
    StartRace,
    Trace,
)
from specviz.ui.options import PageOptions
from specviz.ui.page_limits import PageLimits
from specviz.ui.race_queue import Place, RaceQueue
from specviz.ui.request_form import build_request
from specviz.ui.stream import Deadline
from specviz.ui.strings import PageError
from specviz.ui.visitors import Visitor, VisitorBook

WAIT_SECONDS = 1.0
_log = logging.getLogger(__name__)


def add_api(
    start_race: StartRace,
    options: PageOptions,
    queue: RaceQueue,
    fetch_models: FetchModels,
    book: VisitorBook,
) -> None:
    """Add the endpoint `/race` to the page that is being built.

    One program at a time joins the queue of the page's races; the others wait at Gradio's door.
    """

    def race(
        prompt: str,
        lanes: list[dict[str, Any]],
        sampling: dict[str, Any],
        max_new_tokens: int,
        uses_chat: bool = True,
        caller: gr.Request | None = None,
    ) -> dict[str, Any]:
        """Run a race and return its trace as JSON.

        A lane is an object with the keys of a LaneSpec, for instance {"method": "draft-model",
        "gamma": 5}; a baseline lane is put first where the list has none. sampling may hold
        temperature, top_k, top_p and seed. Where the target has a chat template the prompt is
        written by it, unless uses_chat is false.
        """
        try:
            request = build_request(
                prompt, lanes, sampling, max_new_tokens, options, uses_chat=uses_chat
            )
            visitor, is_over = visitor_of(caller), Event()
            book.enter(visitor, is_over.is_set)
            try:
                for _ in fetch_models(request):
                    continue
                return to_json(_race(request, visitor.address))
            finally:
                is_over.set()
        except SpecvizError as error:
            raise gr.Error(str(error), print_exception=False) from error

    def _race(request: RaceRequest, address: str) -> Trace:
        place = queue.join(request, address or None)
        if place is None:
            raise PageError("status.queue_full")
        began, state = time.monotonic(), "error"
        try:
            trace = _run(start_race, request, place, options.limits)
            state = "finished"
            return trace
        finally:
            queue.leave(place)
            what = {"lanes": len(request.lanes), "tokens": request.max_new_tokens}
            seconds = round(time.monotonic() - began, 3)
            _log.info("program's race ended", extra=what | {"state": state, "seconds": seconds})

    gr.api(race, api_name="race", concurrency_limit=1)


def visitor_of(request: gr.Request | None) -> Visitor:
    """Who sent a request that came through Gradio."""
    if request is None:
        return Visitor("")
    client = request.client
    return Visitor(request.session_hash or "", client.host if client else "")


def _run(start_race: StartRace, request: RaceRequest, place: Place, limits: PageLimits) -> Trace:
    while not place.wait_for_turn(WAIT_SECONDS):
        continue
    deadline = Deadline(limits.deadline_seconds)
    for event in start_race(request, deadline.is_over):
        place.note(event)
        if isinstance(event, RaceStarted):
            deadline.start()
        if isinstance(event, RaceFinished):
            return event.trace
    raise AssertionError("a race ends with RaceFinished")
