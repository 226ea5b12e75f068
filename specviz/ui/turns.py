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
    def take(self, num_tokens: int) -> Iterator[None]:
        """Wait for a turn and have the device to oneself within the block.

        Keep it short, about a second: visitors wait for it.

        Args:
            num_tokens: As many written tokens take about as long; those who wait are told so.

        Raises:
            WorkStopped: The work was stopped before its turn came.
        """
        place = self._join(lambda: self._queue.join_work(num_tokens))
        try:
            self._wait(place)
            yield
        finally:
            self._queue.leave(place)

    def racing(self, start_race: StartRace) -> StartRace:
        """Give a `start_race` whose every race waits for its turn, and raises as `take` does."""

        def start(request: RaceRequest, should_stop: Callable[[], bool] = bool) -> Iterator[Event]:
            place = self._join(lambda: self._queue.join(request))
            try:
                self._wait(place)
                for event in start_race(request, lambda: should_stop() or self.should_stop()):
                    place.note(event)
                    yield event
            finally:
                self._queue.leave(place)

        return start

    def _join(self, join: Callable[[], Place | None]) -> Place:
        """Take a place, as soon as the queue has one."""
        while (place := join()) is None:
            self._look()
            time.sleep(LOOK_SECONDS)
        return place

    def _wait(self, place: Place) -> None:
        while not place.wait_for_turn(LOOK_SECONDS):
            self._look()
        self._look()

    def _look(self) -> None:
        if self.should_stop():
            raise WorkStopped
