"""The key to the model hub of the visitor who is being served, where a page lets visitors sign in.

It is held while a call of theirs is answered or a piece of their work runs, and by nothing else: it
is in no session, no file and no message, and does not show what it is when it is printed.
"""

from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from contextvars import ContextVar
from typing import NoReturn, TypeVar


class HubKey:
    """A visitor's token. It must not be logged, so it can be neither printed nor pickled."""

    __slots__ = ("_token",)

    def __init__(self, token: str) -> None:
        self._token = token

    def __repr__(self) -> str:
        return "HubKey(…)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key to the hub is not written down")


_held: ContextVar[HubKey | None] = ContextVar("visitors_hub_key", default=None)
_Item = TypeVar("_Item")


def held_key() -> HubKey | None:
    """The key of the visitor who is being served; None where they are not signed in."""
    return _held.get()


def token_of(key: HubKey | None) -> str | None:
    """The token of a key, for a request to the hub alone; None without one."""
    return None if key is None else key._token


@contextmanager
def holding(key: HubKey | None) -> Iterator[None]:
    """Serve a visitor with this key. Threads that begin within hold it if they take the context
    along."""
    token = _held.set(key)
    try:
        yield
    finally:
        _held.reset(token)


def each_holding(key: HubKey | None, items: Generator[_Item]) -> Iterator[_Item]:
    """Yield the items of a generator, which holds the key whenever it goes on: each of its steps
    may run in another thread."""
    with closing(items):
        while True:
            with holding(key):
                try:
                    item = next(items)
                except StopIteration:
                    return
            yield item
