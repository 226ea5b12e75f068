"""Counts what each visitor has running and has started, so that nobody takes the place of others.

A page or a program is known by Gradio's session, which whoever writes their own requests can make
up anew each time. So what comes from one address is counted too; its limits are wider, since a
whole class may share one.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from specviz.ui.page_limits import PageLimits
from specviz.ui.strings import PageError

MINUTE = 60.0
_address: ContextVar[str] = ContextVar("address", default="")


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who asks: an open page or a program, and where it is."""

    session: str
    address: str = ""
    """Empty where it is not known."""


@contextmanager
def serving_address(address: str) -> Iterator[None]:
    """Note whose call is answered within the block."""
    token = _address.set(address)
    try:
        yield
    finally:
        _address.reset(token)


def served_address() -> str:
    """The address whose call is being answered; empty where none was noted."""
    return _address.get()


@dataclass(frozen=True, slots=True)
class _Stay:
    visitor: Visitor
    is_over: Callable[[], bool]


class VisitorBook:
    """The races that run or wait, and the starts of the last minute, by visitor and address."""

    def __init__(self, limits: PageLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits, self._clock = limits, clock
        self._stays: list[_Stay] = []
        self._starts: deque[tuple[float, Visitor]] = deque()
        self._lock = threading.Lock()

    def enter(self, visitor: Visitor, is_over: Callable[[], bool]) -> None:
        """Note a race that begins to wait, until `is_over`.

        Raises:
            PageError: The visitor, or all at their address, have as many as they may, or have
                started too many within a minute.
        """
        with self._lock:
            self._forget()
            self._check_races(visitor)
            self._check_starts(visitor)
            self._stays.append(_Stay(visitor, is_over))
            self._starts.append((self._clock(), visitor))

    def _check_races(self, visitor: Visitor) -> None:
        limits, stays = self._limits, self._stays
        own = sum(each.visitor.session == visitor.session for each in stays)
        if visitor.session and own >= limits.max_visitor_races:
            raise PageError("status.visitor_waits", most=limits.max_visitor_races)
        near = sum(each.visitor.address == visitor.address for each in stays)
        if visitor.address and near >= limits.max_address_races:
            raise PageError("status.address_waits", most=limits.max_address_races)

    def _check_starts(self, visitor: Visitor) -> None:
        limits = self._limits
        own = [at for at, who in self._starts if who.session == visitor.session]
        near = [at for at, who in self._starts if who.address == visitor.address]
        for is_known, most, times in (
            (visitor.session, limits.max_visitor_starts, own),
            (visitor.address, limits.max_address_starts, near),
        ):
            if is_known and most is not None and len(times) >= most:
                seconds = max(1, round(MINUTE - (self._clock() - times[-most]) + 0.5))
                id_ = "status.visitor_starts" if times is own else "status.address_starts"
                raise PageError(id_, most=most, seconds=seconds)

    def _forget(self) -> None:
        self._stays = [each for each in self._stays if not each.is_over()]
        since = self._clock() - MINUTE
        while self._starts and self._starts[0][0] <= since:
            self._starts.popleft()
