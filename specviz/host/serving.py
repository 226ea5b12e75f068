"""Serves a page until the process is asked to end, and then lets its races end in a sentence."""

import logging
import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType

import gradio as gr

from specviz.ui.ending import Ending
from specviz.ui.http_guard import Health, HttpGuard
from specviz.ui.options import PageOptions
from specviz.ui.page import launch_settings

DRAIN_SECONDS = 3.0
"""How long races may take to end their round and to send their last packet."""
LAST_SECONDS = 4.5
"""After which the process ends whatever it is doing, as who runs it would do next."""
_log = logging.getLogger(__name__)


class AskedToEnd(BaseException):
    """The process got SIGTERM; raised in the main thread, also while it loads a model."""


@dataclass
class PageServer:
    """Serves one page, whose models are loaded meanwhile."""

    health: Health
    port: int | None = None
    """None: the first free one from 7860."""
    address: str | None = None
    """None: Gradio's own, which is this machine alone."""
    frames: tuple[str, ...] = ()
    is_behind_proxy: bool = False
    ending: Ending = field(default_factory=Ending)

    def serve(self, page: gr.Blocks, options: PageOptions, load: Callable[[], object]) -> None:
        """Serve the page, load what it needs, and go on until asked to end.

        SIGTERM and Control-C end it in good order: no race begins any more, those that run end
        after their round, and pages are told why.
        """
        guard = HttpGuard(
            page,
            options.limits,
            health=self.health,
            frames=self.frames,
            takes_sign_in=options.takes_sign_in,
            is_behind_proxy=self.is_behind_proxy,
        )
        _listen()
        where = {"server_port": self.port, "server_name": self.address}
        try:
            page.launch(prevent_thread_lock=True, **where, **launch_settings(guard))
            load()
            _log.info("models loaded")
            threading.Event().wait()
        except (AskedToEnd, KeyboardInterrupt):
            self._drain(page)
            _log.info("ended")

    def _drain(self, page: gr.Blocks) -> None:
        last = threading.Timer(LAST_SECONDS, os._exit, (0,))
        last.daemon = True
        last.start()
        self.ending.begin()
        ends_at = time.monotonic() + DRAIN_SECONDS
        while not self.ending.is_done() and time.monotonic() < ends_at:
            time.sleep(0.05)
        page.close(verbose=False)


def _listen() -> None:
    """Let SIGTERM be raised in the main thread, the only one that may say so."""

    def end(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise AskedToEnd

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, end)
