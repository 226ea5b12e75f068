"""Ends long work between two pieces when the process is asked to end, so that nothing is lost."""

import signal
import threading
from types import FrameType, TracebackType


class GentleEnd:
    """Takes the first SIGINT or SIGTERM as a wish; a second one ends at once.

    Signals reach the main thread alone: elsewhere nothing is taken.
    """

    def __init__(self) -> None:
        self._is_asked = False
        self._before: dict[int, object] = {}

    def __enter__(self) -> "GentleEnd":
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._take)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    def look(self) -> None:
        """End here if that was wished for.

        Raises:
            KeyboardInterrupt: It was.
        """
        if self._is_asked:
            raise KeyboardInterrupt

    def _take(self, number: int, frame: FrameType | None) -> None:
        if self._is_asked:
            raise KeyboardInterrupt
        self._is_asked = True
