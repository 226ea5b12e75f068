"""Runs an iterator on one thread of its own, whichever threads ask it for its next item.

A web framework may resume a generator on any worker, while torch keeps its number of threads, and
OpenMP its pool of them, for each thread apart.
"""

from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
_END = object()


def on_own_thread(items: Generator[T]) -> Iterator[T]:
    """Yield what a generator yields, each of its steps run on a thread made for it alone.

    A step is run when its item is asked for, never ahead. What the generator raises is raised here,
    with its traceback. Closing this iterator closes the generator, on its thread, and ends the
    thread; while a step runs, it waits for that step.
    """
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="race") as thread:
        try:
            while (item := thread.submit(next, items, _END).result()) is not _END:
                yield item  # type: ignore[misc]
        finally:
            thread.submit(items.close).result()
