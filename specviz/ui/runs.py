"""Keeps the packets of recent races, so that a page that missed some can ask for them again.

A run is known only by an unguessable id that its own visitor holds; old runs are dropped.
"""

import secrets
import threading
import time
from collections import OrderedDict

from specviz.ui.scenes import Scene


class Run:
    """One race of one visitor: its packets so far, and the wish to stop it."""

    def __init__(self, run_id: str, started_at: float, scene: Scene) -> None:
        self.id = run_id
        self.scene = scene
        self.started_at = started_at
        self.packets: list[str] = []
        self.has_begun = False
        """Whether the race left the queue."""
        self.is_closed = False
        """Whether its last packet has been written; nothing is written after it."""
        self.lock = threading.Lock()
        self._stop = threading.Event()
        self._finished = threading.Event()

    def stop(self) -> None:
        """Ask the race to end after its current round."""
        self._stop.set()

    def should_stop(self) -> bool:
        """Whether the race was asked to end."""
        return self._stop.is_set()

    def finish(self) -> None:
        """Say that the race is over, however it ended."""
        self._finished.set()

    def wait(self, seconds: float) -> bool:
        """Wait until the race is over; False where that took longer than `seconds`."""
        return self._finished.wait(seconds)


class RunStore:
    """The most recent runs of all visitors, each reachable only by its id."""

    def __init__(self, max_runs: int = 64, max_age_seconds: float = 1_800.0) -> None:
        self._runs: OrderedDict[str, Run] = OrderedDict()
        self._lock = threading.Lock()
        self._max_runs = max_runs
        self._max_age_seconds = max_age_seconds

    def open(self, scene: Scene) -> Run:
        """Start a new run under a fresh id and forget those that are too old or too many."""
        now = time.monotonic()
        run = Run(secrets.token_urlsafe(18), now, scene)
        with self._lock:
            self._runs[run.id] = run
            while len(self._runs) > 1 and self._has_to_forget(now):
                self._runs.popitem(last=False)
        return run

    def get(self, run_id: object) -> Run | None:
        """Return the run with this id, or None where it is unknown or was forgotten."""
        if not isinstance(run_id, str):
            return None
        with self._lock:
            return self._runs.get(run_id)

    def replay(self, run_id: object, first: object) -> list[str]:
        """Return the packets of a run from number `first` on; empty where the run is unknown."""
        run = self.get(run_id)
        if run is None or not isinstance(first, int) or first < 0:
            return []
        return run.packets[first:]

    def _has_to_forget(self, now: float) -> bool:
        oldest = next(iter(self._runs.values()))
        is_stale = now - oldest.started_at > self._max_age_seconds
        return is_stale or len(self._runs) > self._max_runs
