"""Turns on the device for work that takes many: others race between two of them."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from specviz.trace.values import Event, RaceRequest, StartRace
from specviz.ui.race_queue import Place, RaceQueue

LOOK_SECONDS = 0.25
"""How often work that waits looks whether it was stopped."""


class WorkStopped(Exception):
    """Work was stopped while it waited for its turn."""


class Turns:
    """Enters one piece of work in the races' queue, a turn at a time."""

    def __init__(self, queue: RaceQueue, should_stop: Callable[[], bool]) -> None:
        self._queue = queue
        self.should_stop = should_stop
        """Whether the work was asked to end; to be looked at within a long turn too."""

    @contextmanager
    def take(self, num_tokens: int, *, must_end: bool = False) -> Iterator[None]:
        """Wait for a turn and have the device to oneself within the block.

        Keep it short, about a second: visitors wait for it.

        Args:
            num_tokens: As many written tokens take about as long; those who wait are told so.
            must_end: Whether the work has something to bring to its end when it is stopped; it then
                looks at `should_stop` by itself.

        Raises:
            WorkStopped: The work was stopped before its turn came.
        """
        look = _nothing if must_end else self._look
        place = self._join(lambda: self._queue.join_work(num_tokens), look)
        try:
            self._wait(place, look)
            yield
        finally:
            self._queue.leave(place)

    def racing(self, start_race: StartRace) -> StartRace:
        """Give a `start_race` whose every race waits for its turn, and raises as `take` does."""

        def start(request: RaceRequest, should_stop: Callable[[], bool] = bool) -> Iterator[Event]:
            place = self._join(lambda: self._queue.join(request), self._look)
            try:
                self._wait(place, self._look)
                for event in start_race(request, lambda: should_stop() or self.should_stop()):
                    place.note(event)
                    yield event
            finally:
                self._queue.leave(place)

        return start

    def _join(self, join: Callable[[], Place | None], look: Callable[[], None]) -> Place:
        """Take a place, as soon as the queue has one."""
        while (place := join()) is None:
            look()
            time.sleep(LOOK_SECONDS)
        return place

    def _wait(self, place: Place, look: Callable[[], None]) -> None:
        while not place.wait_for_turn(LOOK_SECONDS):
            look()
        look()

    def _look(self) -> None:
        if self.should_stop():
            raise WorkStopped


def _nothing() -> None:
    """Look at nothing: the work ends by itself."""
