"""Long work takes turns with races, tells its news in order, and ends when nobody listens."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from fake_race import FakeRace

from specviz.errors import RequestError
from specviz.trace.values import LaneSpec, Method, RaceFinished, RaceRequest
from specviz.ui import page_tasks
from specviz.ui.page_limits import PageLimits
from specviz.ui.page_tasks import PageTasks, ReadWork
from specviz.ui.race_queue import RaceQueue
from specviz.ui.strings import PageError
from specviz.ui.turns import Turns, WorkStopped
from specviz.ui.visitors import serving_address

REQUEST = RaceRequest("Hello", (LaneSpec(None, Method.BASELINE, "fake-target"),), max_new_tokens=5)


@pytest.fixture
def queue() -> RaceQueue:
    return RaceQueue(max_waiting=3)


def _tasks(queue: RaceQueue, read: ReadWork) -> PageTasks:
    return PageTasks({"count": read}, queue, PageLimits(max_tasks=1))


def _count(num: object) -> page_tasks.Work:
    if not isinstance(num, int):
        raise PageError("error.wrong_call")

    def work(turns: Turns) -> Iterator[dict[str, Any]]:
        for number in range(num):
            with turns.take(10):
                yield {"number": number}

    return work


def _until(is_so: Callable[[], bool]) -> None:
    ends_at = time.monotonic() + 10
    while not is_so():
        assert time.monotonic() < ends_at
        time.sleep(0.01)


def _state(tasks: PageTasks, task: str) -> str:
    return str(tasks.news(task, 0)["state"])


def test_news_is_told_in_order_and_from_any_number_on(queue: RaceQueue) -> None:
    tasks = _tasks(queue, _count)
    task = tasks.start("count", 3)["id"]
    _until(lambda: _state(tasks, task) == "finished")
    assert tasks.news(task, 0)["news"] == [{"number": 0}, {"number": 1}, {"number": 2}]
    assert tasks.news(task, 2)["news"] == [{"number": 2}]


def test_what_cannot_be_read_begins_nothing(queue: RaceQueue) -> None:
    tasks = _tasks(queue, _count)
    for kind, form in (("count", "three"), ("other", 3), (None, None)):
        with pytest.raises(RequestError):
            tasks.start(kind, form)
    for task, first in (("other", 0), (None, 0), ("other", -1), ("other", "0")):
        with pytest.raises(RequestError):
            tasks.news(task, first)


def test_a_race_comes_between_two_turns(queue: RaceQueue) -> None:
    tasks = _tasks(queue, _count)
    race = queue.join(REQUEST)
    assert race is not None
    task = tasks.start("count", 1)["id"]
    time.sleep(0.1)
    assert tasks.news(task, 0) == {"state": "running", "news": []}
    queue.leave(race)
    _until(lambda: _state(tasks, task) == "finished")


def test_a_task_that_waits_is_stopped_at_once(queue: RaceQueue) -> None:
    tasks = _tasks(queue, _count)
    race = queue.join(REQUEST)
    assert race is not None
    task = tasks.start("count", 1)["id"]
    tasks.stop(task)
    _until(lambda: _state(tasks, task) == "stopped")
    assert not race.others_wait()
    assert tasks.news(task, 0)["news"] == []


def test_a_task_that_nobody_hears_of_ends(
    queue: RaceQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_tasks, "SILENT_SECONDS", 0.05)
    tasks = _tasks(queue, _count)
    task = tasks.start("count", 10**9)["id"]
    time.sleep(0.5)
    _until(lambda: _state(tasks, task) == "stopped")


def test_only_so_many_run_at_once(queue: RaceQueue) -> None:
    tasks = _tasks(queue, _count)
    race = queue.join(REQUEST)
    assert race is not None
    tasks.start("count", 1)
    with pytest.raises(RequestError, match="At most 1 long"):
        tasks.start("count", 1)


def test_a_failure_is_told_and_a_bug_in_general_words(queue: RaceQueue) -> None:
    def read(error: Any) -> page_tasks.Work:
        def work(turns: Turns) -> Iterator[dict[str, Any]]:
            yield {"number": 0}
            raise error

        return work

    tasks = PageTasks({"fail": read}, queue, PageLimits())
    for error, told in (
        (RequestError("no such thing"), "no such thing"),
        (ValueError("secret"), {"id": "status.broken"}),
    ):
        task = tasks.start("fail", error)["id"]
        _until(lambda task=task: _state(tasks, task) == "error")  # type: ignore[misc]
        answer = tasks.news(task, 0)
        assert answer["text"] == told
        assert answer["news"] == [{"number": 0}]


def test_every_race_of_a_task_is_a_turn(queue: RaceQueue) -> None:
    turns = Turns(queue, lambda: False)
    start_race = turns.racing(FakeRace("ab", pause=0.0))
    other = queue.join(REQUEST)
    assert other is not None
    threading.Timer(0.1, lambda: queue.leave(other)).start()
    events = list(start_race(REQUEST))
    assert isinstance(events[-1], RaceFinished)
    assert queue.join(REQUEST) is not None
    stopped = Turns(queue, lambda: True).racing(FakeRace("ab", pause=0.0))
    with pytest.raises(WorkStopped):
        list(stopped(REQUEST))


def test_one_address_takes_only_its_part_of_the_tasks(queue: RaceQueue) -> None:
    tasks = PageTasks({"count": _count}, queue, PageLimits(max_tasks=3, max_visitor_tasks=1))
    held = queue.join(REQUEST)
    assert held is not None
    with serving_address("1.1.1.1"):
        own = tasks.start("count", 3)["id"]
        with pytest.raises(PageError, match="You have 1 long task running already"):
            tasks.start("count", 3)
    with serving_address("2.2.2.2"):
        other = tasks.start("count", 3)["id"]
    assert not tasks.has_ended()
    tasks.end()
    _until(tasks.has_ended)
    assert {_state(tasks, own), _state(tasks, other)} == {"stopped"}
    queue.leave(held)
