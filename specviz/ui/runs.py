"""Keeps recent races with their packets, so that a page that missed some can ask for them again.

A run is known only by an unguessable id that its own visitor holds; old runs are dropped.
"""

import secrets
import threading
import time
from collections import OrderedDict
from enum import StrEnum

from specviz.trace.values import RaceRequest, Trace
from specviz.ui.panels import Panel
from specviz.ui.wire import EventJson, LaneFigures, Packet, Status, write_json

UNSTREAMED_SECONDS = 20.0
"""After which a run whose packets nobody has asked for counts no more."""


class Wish(StrEnum):
    """What a visitor may ask of a race: `control(run_id, wish)`."""

    PAUSE = "pause"
    RESUME = "resume"
    STEP = "step"
    STOP = "stop"
    DETAIL = "detail"
    """Send figures after every round that drafts: the page shows the race slower than it runs."""
    PACE = "pace"
    """Send packets further apart: the one wish with a value, in milliseconds."""


class Run:
    """One race of one visitor: its request, its packets so far, and the wishes it is under.

    A run waits in the queue, has begun, and is closed: nothing is written after its last packet.
    """

    def __init__(self, panel: Panel, visitor: str = "", address: str = "") -> None:
        self.id = secrets.token_urlsafe(18)
        self.panel = panel
        self.visitor = visitor
        """The open page that the race belongs to, by Gradio's name for it."""
        self.address = address
        """Where that page is open; empty where that is not known."""
        self.started_at = time.monotonic()
        self.request: RaceRequest | None = None
        """What is raced, once it was read and found in order."""
        self.packets: list[str] = []
        self.is_streamed = False
        """Whether its page has come for its packets."""
        self.is_downloading = False
        """Whether models that the race lacks are on their way, before it joins the queue."""
        self.has_begun = False
        """Whether the race left the queue."""
        self.is_closed = False
        self.trace: Trace | None = None
        """What the race did, once it is over."""
        self.pace_seconds = 0.0
        """How far apart its page wants packets, where that is more than the stream's own pace."""
        self.is_detailed = False
        """Whether its page wants figures after every round that drafts."""
        self.is_ended_by_server = False
        """Whether it ends because the server does."""
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._goes = threading.Event()
        self._goes.set()
        self._ends_with_round = False
        self._is_run_out = False
        self._finished = threading.Event()

    def write(
        self,
        events: list[EventJson],
        figures: list[LaneFigures] | None = None,
        status: Status | None = None,
        *,
        is_last: bool = False,
    ) -> str | None:
        """Number a packet, keep it for replays and return its JSON; None once the run is closed."""
        with self._lock:
            if self.is_closed:
                return None
            packet: Packet = {
                "run": self.id,
                "seq": len(self.packets),
                "panel": self.panel.value,
                "events": events,
            }
            if figures is not None:
                packet["figures"] = figures
            if status is not None:
                packet["status"] = status
            if self._is_run_out:
                packet["is_run_out"] = True
            text = write_json(packet)
            self.packets.append(text)
            self.is_closed = is_last
            return text

    @property
    def is_over(self) -> bool:
        """Whether it takes nobody's place any more: it is closed, or its page never came for it."""
        is_late = time.monotonic() - self.started_at > UNSTREAMED_SECONDS
        return self.is_closed or (is_late and not self.is_streamed)

    @property
    def is_paused(self) -> bool:
        """Whether the race waits before its next round."""
        return not self._goes.is_set()

    def pause(self) -> None:
        """Hold the race before its next round, unless it was asked to stop."""
        self._ends_with_round = False
        self._hold()

    def resume(self) -> None:
        """Let the race go on."""
        self._ends_with_round = False
        self._goes.set()

    def step(self) -> None:
        """Let the race go on for one round of a lane that drafts."""
        self._ends_with_round = True
        self._goes.set()

    def stop(self) -> None:
        """Ask the race to end after its current round; nothing can hold it any more."""
        with self._lock:
            self._stop.set()
            self._goes.set()

    def run_out(self) -> None:
        """Let the race go on to its end: nothing can hold it any more, and its page is told."""
        with self._lock:
            self._is_run_out = True
            self._goes.set()

    def take_step(self) -> None:
        """Note that a lane that drafts has done a round: a race that was stepped waits again."""
        if self._ends_with_round:
            self._ends_with_round = False
            self._hold()

    def wait_while_paused(self, seconds: float) -> bool:
        """Wait until the race may go on; False where that took longer than `seconds`."""
        return self._goes.wait(seconds)

    def should_stop(self) -> bool:
        """Whether the race was asked to end."""
        return self._stop.is_set()

    def finish(self) -> None:
        """Say that the race is over, however it ended."""
        self._finished.set()

    def wait(self, seconds: float) -> bool:
        """Wait until the race is over; False where that took longer than `seconds`."""
        return self._finished.wait(seconds)

    def _hold(self) -> None:
        with self._lock:
            if not self._stop.is_set() and not self._is_run_out:
                self._goes.clear()


class RunStore:
    """The most recent runs of all visitors, each reachable only by its id."""

    def __init__(self, max_runs: int = 64, max_age_seconds: float = 1_800.0) -> None:
        self._runs: OrderedDict[str, Run] = OrderedDict()
        self._lock = threading.Lock()
        self._max_runs = max_runs
        self._max_age_seconds = max_age_seconds

    def open(self, panel: Panel, visitor: str = "", address: str = "") -> Run | None:
        """Start a new run and forget those that are too old or too many.

        None where another run of this visitor waits or goes on: who presses twice races once.
        """
        with self._lock:
            if visitor and any(
                run.visitor == visitor and not run.is_closed for run in self._runs.values()
            ):
                return None
            run = Run(panel, visitor, address)
            self._runs[run.id] = run
            while len(self._runs) > 1 and (forgotten := self._to_forget(run.started_at)):
                del self._runs[forgotten.id]
        return run

    def get(self, run_id: object) -> Run | None:
        """Return the run with this id, or None where it is unknown or was forgotten."""
        if not isinstance(run_id, str):
            return None
        with self._lock:
            return self._runs.get(run_id)

    def of(self, visitor: str) -> list[Run]:
        """Return the runs of an open page, the newest last."""
        with self._lock:
            return [run for run in self._runs.values() if run.visitor == visitor]

    def open_runs(self) -> list[Run]:
        """Return the runs of all visitors that wait or go on."""
        with self._lock:
            return [run for run in self._runs.values() if not run.is_closed]

    def replay(self, run_id: object, first: object) -> list[str]:
        """Return the packets of a run from number `first` on; empty where the run is unknown."""
        run = self.get(run_id)
        if run is None or not isinstance(first, int) or first < 0:
            return []
        return run.packets[first:]

    def _to_forget(self, now: float) -> Run | None:
        """The oldest run that is stale; where runs are too many, rather one that is over.

        A run whose models are on their way is not stale, however long that takes.
        """
        oldest = next(iter(self._runs.values()))
        for run in self._runs.values():
            if now - run.started_at > self._max_age_seconds and not run.is_downloading:
                return run
        if len(self._runs) <= self._max_runs:
            return None
        return next((run for run in self._runs.values() if run.is_closed), oldest)
