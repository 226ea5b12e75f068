"""Serves a made-up race as a host does: `python tests/hosted_page.py PORT [loading]`.

With `loading` its models never come.
"""

import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator

os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"

from fake_race import OPTIONS, FakeRace

from specviz.host.logs import set_up_logs
from specviz.host.page_models import PageModels, race_once_loaded
from specviz.host.serving import PageServer
from specviz.trace.values import Event, RaceRequest
from specviz.ui.page import build_page


def race(request: RaceRequest, should_stop: Callable[[], bool] = bool) -> Iterator[Event]:
    """Run a race that tells when it begins; the test waits for it."""
    logging.getLogger("specviz").info("race begins")
    return FakeRace(pause=0.01)(request, should_stop)


if __name__ == "__main__":
    set_up_logs("json")
    models = PageModels()
    server = PageServer(models.health, int(sys.argv[1]), frames=("https://course.example",))
    page = build_page(race_once_loaded(models), OPTIONS, ending=server.ending)
    never = threading.Event()
    server.serve(
        page,
        OPTIONS,
        never.wait if "loading" in sys.argv else lambda: models.ready.set_result(race),
    )
