"""Streams the download of what a race lacks to its page, before the race joins the queue."""

import logging
import time
from collections.abc import Iterator
from contextlib import ExitStack
from threading import Semaphore

from specviz.errors import SpecvizError
from specviz.trace.values import FetchModels, ModelDownloading
from specviz.ui.page_limits import PageLimits
from specviz.ui.runs import Run
from specviz.ui.stream import State, close_run, status
from specviz.ui.strings import PageError, message
from specviz.ui.wire import event_json

PACKET_SECONDS = 0.4
_log = logging.getLogger(__name__)


class Downloads:
    """Lets so many visitors wait for downloads side by side; races of others go on meanwhile."""

    def __init__(self, fetch_models: FetchModels, limits: PageLimits) -> None:
        self._fetch_models = fetch_models
        self._most = limits.max_downloads
        self._room = Semaphore(self._most)

    def stream(self, run: Run) -> Iterator[str]:
        """Download what a run's race lacks and yield packets that say how far that is.

        Whatever ends this early closes the run: an error that is meant for the user is its last
        packet, any other is logged and raised.
        """
        try:
            yield from self._packets(run)
        except SpecvizError as error:
            yield close_run(run, State.ERROR, error.text) or ""
        except Exception:
            _log.exception("a download failed")
            yield close_run(run, State.ERROR, message("status.broken")) or ""
            raise
        except GeneratorExit:
            run.stop()
            close_run(run, State.STOPPED, message("status.was_stopped"))
            raise
        finally:
            run.is_downloading = False

    def _packets(self, run: Run) -> Iterator[str]:
        assert run.request is not None
        sent_at, shown = 0.0, None
        with ExitStack() as held:
            for event in self._fetch_models(run.request, run.should_stop):
                if not run.is_downloading:
                    self._take_room(held)
                    run.is_downloading = True
                is_due = time.monotonic() - sent_at >= PACKET_SECONDS
                if (is_due or event.model != shown) and not run.is_closed:
                    sent_at, shown = time.monotonic(), event.model
                    yield _packet(run, event)

    def _take_room(self, held: ExitStack) -> None:
        if not self._room.acquire(blocking=False):
            raise PageError("status.downloads_full", most=self._most)
        held.callback(self._room.release)


def _packet(run: Run, event: ModelDownloading) -> str:
    return run.write([event_json(event)], status=status(State.WAITING)) or ""
