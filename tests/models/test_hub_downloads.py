"""A download that several wait for runs once, and is given up when nobody waits any more."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from specviz.errors import ModelLoadError
from specviz.hub_key import HubKey
from specviz.models.hub_downloads import HubDownloads, Progress


class SlowFetch:
    """A download that comes in steps, each of which a test lets go."""

    def __init__(self) -> None:
        self.steps = threading.Semaphore(0)
        self.begun = threading.Semaphore(0)
        self.num_begun = 0
        self.fails: ModelLoadError | None = None

    def __call__(
        self,
        name: str,
        revision: str,
        on_progress: Callable[[int, int], None] | None,
        should_stop: Callable[[], bool],
        key: HubKey | None,
    ) -> Path:
        self.num_begun += 1
        self.begun.release()
        assert on_progress is not None
        for done in range(3):
            if should_stop():
                raise ModelLoadError("its download was stopped")
            on_progress(done, 3)
            assert self.steps.acquire(timeout=30)
        if self.fails is not None:
            raise self.fails
        return Path(name)


@pytest.fixture
def fetch() -> SlowFetch:
    return SlowFetch()


def first(events: Iterator[Progress]) -> Progress:
    """The first progress that names a size."""
    return next(event for event in events if event.total_bytes)


def test_progress_is_told_and_the_end_is_the_last_of_it(fetch: SlowFetch) -> None:
    events = HubDownloads(fetch).follow("a/b", "main")
    assert first(events) == (0, 3)
    for _ in range(3):
        fetch.steps.release()
    assert list(events)[-1:] in ([], [Progress(1, 3)], [Progress(2, 3)])


def test_two_wait_for_one_download_and_one_may_leave(fetch: SlowFetch) -> None:
    downloads = HubDownloads(fetch)
    leaves = threading.Event()
    one, other = downloads.follow("a/b", "main", leaves.is_set), downloads.follow("a/b", "main")
    first(one), first(other)
    leaves.set()
    assert list(one) == []
    for _ in range(3):
        fetch.steps.release()
    list(other)
    assert fetch.num_begun == 1


def test_who_waits_alone_and_leaves_ends_the_download(fetch: SlowFetch) -> None:
    downloads = HubDownloads(fetch)
    leaves = threading.Event()
    events = downloads.follow("a/b", "main", leaves.is_set)
    first(events)
    leaves.set()
    assert list(events) == [], "at once, although the hub is still silent"
    fetch.steps.release()
    again = downloads.follow("a/b", "main")
    next(again)
    for _ in range(4):
        fetch.steps.release()
    list(again)
    assert fetch.num_begun in (1, 2), "it goes on, or begins behind the one that was given up"


def test_a_failure_reaches_all_who_wait_and_the_next_try_is_a_new_one(fetch: SlowFetch) -> None:
    downloads = HubDownloads(fetch)
    fetch.fails = ModelLoadError("a/b cannot be loaded: its download broke off")
    both = [downloads.follow("a/b", "main") for _ in range(2)]
    for events in both:
        first(events)
    for _ in range(3):
        fetch.steps.release()
    for events in both:
        with pytest.raises(ModelLoadError, match="broke off"):
            list(events)
    fetch.fails = None
    for _ in range(3):
        fetch.steps.release()
    list(downloads.follow("a/b", "main"))
    assert fetch.num_begun == 2


def test_one_download_does_not_wait_for_another(fetch: SlowFetch) -> None:
    downloads = HubDownloads(fetch)
    slow, other = downloads.follow("a/slow", "main"), downloads.follow("a/other", "main")
    first(slow), first(other)
    assert fetch.num_begun == 2
    for _ in range(6):
        fetch.steps.release()
    list(slow), list(other)
