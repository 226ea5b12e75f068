"""Tells what serves visitors that the server goes, so that each of them ends in a sentence."""

import threading
from collections.abc import Callable


class Ending:
    """What is done once when the server is asked to end."""

    def __init__(self) -> None:
        self._steps: list[tuple[Callable[[], None], Callable[[], bool]]] = []
        self._lock = threading.Lock()
        self._has_begun = False

    def add(self, step: Callable[[], None], is_done: Callable[[], bool]) -> None:
        """Let a step be taken at the end, which must not wait, and ask whether it is done."""
        self._steps.append((step, is_done))

    def begin(self) -> None:
        """Take all steps, once."""
        with self._lock:
            has_begun, self._has_begun = self._has_begun, True
        if not has_begun:
            for step, _ in self._steps:
                step()

    def is_done(self) -> bool:
        """Whether all that was asked to end has ended."""
        return all(is_done() for _, is_done in self._steps)
