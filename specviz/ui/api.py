"""The door for programs: one endpoint that runs a race and returns its whole trace."""

from typing import Any

import gradio as gr

from specviz.errors import SpecvizError
from specviz.trace.files import to_json
from specviz.trace.values import RaceFinished, RaceStarted, StartRace
from specviz.ui.options import PageOptions
from specviz.ui.request_form import build_request
from specviz.ui.stream import Deadline


def add_api(start_race: StartRace, options: PageOptions, queue_name: str) -> None:
    """Add the endpoint `/race` to the page that is being built, in the queue of its races."""

    def race(
        prompt: str,
        lanes: list[dict[str, Any]],
        sampling: dict[str, Any],
        max_new_tokens: int,
    ) -> dict[str, Any]:
        """Run a race and return its trace as JSON.

        A lane is an object with the keys of a LaneSpec, for instance {"method": "draft-model",
        "gamma": 5}; a baseline lane is put first where the list has none. sampling may hold
        temperature, top_k, top_p and seed.
        """
        try:
            request = build_request(prompt, lanes, sampling, max_new_tokens, options)
            deadline = Deadline(options.limits.deadline_seconds)
            for event in start_race(request, deadline.is_over):
                if isinstance(event, RaceStarted):
                    deadline.start()
                if isinstance(event, RaceFinished):
                    return to_json(event.trace)
        except SpecvizError as error:
            raise gr.Error(str(error), print_exception=False) from error
        raise AssertionError("a race ends with RaceFinished")

    gr.api(race, api_name="race", concurrency_id=queue_name, concurrency_limit=1)
