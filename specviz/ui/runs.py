"""Keeps the packets of recent races, so that a page that missed some can ask for them again.

A run can be held between two rounds, go on, or go on for a single round of a lane that guesses. It
is known only by an unguessable id that its own visitor holds; old runs are dropped.
"""

import secrets
import threading
import time
from collections import OrderedDict
from enum import StrEnum

from specviz.trace.values import Trace
from specviz.ui.scenes import Scene


class Control(StrEnum):
    """What a visitor may ask of a running race."""

    PAUSE = "pause"
    RESUME = "resume"
    STEP = "step"
    STOP = "stop"


class Run:
    """One race of one visitor: its packets so far, and the wish to hold or to stop it."""

    def __init__(self, run_id: str, started_at: float, scene: Scene, visitor: str = "") -> None:
        self.id = run_id
        self.scene = scene
        self.visitor = visitor
        """The open page that the race belongs to, by Gradio's name for it."""
        self.started_at = started_at
        self.packets: list[str] = []
        self.has_begun = False
        """Whether the race left the queue."""
        self.is_closed = False
        """Whether its last packet has been written; nothing is written after it."""
        self.trace: Trace | None = None
        """What the race did, once it is over."""
        self.pace_seconds = 0.0
        """How far apart its page wants packets, where that is more than the stream's own pace."""
        self.lock = threading.Lock()
        self._stop = threading.Event()
        self._goes = threading.Event()
        self._goes.set()
        self._ends_with_round = False
        self._finished = threading.Event()

    @property
    def is_paused(self) -> bool:
        """Whether the race waits before its next round."""
        return not self._goes.is_set()

    def control(self, wish: Control) -> None:
        """Hold the race, let it go on, let it do one round of a lane that guesses, or end it."""
        if wish is Control.STOP:
            return self.stop()
        self._ends_with_round = wish is Control.STEP
        if wish is Control.PAUSE:
            self._hold()
        else:
            self._goes.set()

    def take_step(self) -> None:
        """Note that a lane that guesses has done a round: a race that was stepped waits again."""
        if self._ends_with_round:
            self._ends_with_round = False
            self._hold()

    def wait_while_paused(self, seconds: float) -> bool:
        """Wait until the race may go on; False where that took longer than `seconds`."""
        return self._goes.wait(seconds)

    def stop(self) -> None:
        """Ask the race to end after its current round; nothing can hold it any more."""
        with self.lock:
            self._stop.set()
            self._goes.set()

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
        with self.lock:
            if not self._stop.is_set():
                self._goes.clear()


class RunStore:
    """The most recent runs of all visitors, each reachable only by its id."""

    def __init__(self, max_runs: int = 64, max_age_seconds: float = 1_800.0) -> None:
        self._runs: OrderedDict[str, Run] = OrderedDict()
        self._lock = threading.Lock()
        self._max_runs = max_runs
        self._max_age_seconds = max_age_seconds

    def open(self, scene: Scene, visitor: str = "") -> Run:
        """Start a new run under a fresh id and forget those that are too old or too many."""
        now = time.monotonic()
        run = Run(secrets.token_urlsafe(18), now, scene, visitor)
        with self._lock:
            self._runs[run.id] = run
            while len(self._runs) > 1 and (forgotten := self._to_forget(now)):
                del self._runs[forgotten.id]
        return run

    def get(self, run_id: object) -> Run | None:
        """Return the run with this id, or None where it is unknown or was forgotten."""
        if not isinstance(run_id, str):
            return None
        with self._lock:
            return self._runs.get(run_id)

    def of(self, visitor: str) -> list[Run]:
        """Return the runs of an open page."""
        with self._lock:
            return [run for run in self._runs.values() if run.visitor == visitor]

    def replay(self, run_id: object, first: object) -> list[str]:
        """Return the packets of a run from number `first` on; empty where the run is unknown."""
        run = self.get(run_id)
        if run is None or not isinstance(first, int) or first < 0:
            return []
        return run.packets[first:]

    def _to_forget(self, now: float) -> Run | None:
        """The oldest run if it is stale; where runs are too many, rather one that is over."""
        oldest = next(iter(self._runs.values()))
        if now - oldest.started_at > self._max_age_seconds:
            return oldest
        if len(self._runs) <= self._max_runs:
            return None
        return next((run for run in self._runs.values() if run.is_closed), oldest)
