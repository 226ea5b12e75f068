"""One thread for all steps of an iterator, whoever asks for them; none ahead, none left behind."""

import gc
import threading
import time
import traceback
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor

import pytest

from specviz.race.own_thread import on_own_thread

NUM_ITEMS = 6


class Steps:
    """A generator that notes on which thread each of its steps runs."""

    def __init__(self, fails_at: int | None = None, error: BaseException | None = None) -> None:
        self.threads: list[threading.Thread] = []
        self.closed_on: threading.Thread | None = None
        self._fails_at = fails_at
        self._error = error or RuntimeError("it broke")

    def run(self) -> Generator[int]:
        try:
            for number in range(NUM_ITEMS):
                self.threads.append(threading.current_thread())
                if number == self._fails_at:
                    self._fail()
                yield number
        finally:
            self.closed_on = threading.current_thread()

    def _fail(self) -> None:
        raise self._error


def test_all_steps_run_on_one_thread_whoever_asks() -> None:
    steps = Steps()
    items = on_own_thread(steps.run())
    found = [next(items)]
    for _ in range(NUM_ITEMS - 1):
        with ThreadPoolExecutor(1) as other:
            found.append(other.submit(next, items).result())
    assert found == list(range(NUM_ITEMS))
    assert next(items, None) is None
    (own,) = {*steps.threads, steps.closed_on}
    assert own is not None
    assert own is not threading.current_thread()
    assert not own.is_alive(), "a race that is over leaves no thread behind"


def test_no_step_runs_before_its_item_is_asked_for() -> None:
    steps = Steps()
    items = on_own_thread(steps.run())
    time.sleep(0.02)
    assert steps.threads == []
    for number in range(3):
        next(items)
        time.sleep(0.02)
        assert len(steps.threads) == number + 1


@pytest.mark.parametrize("is_dropped", [False, True])
def test_closing_ends_generator_and_thread(is_dropped: bool) -> None:
    steps = Steps()
    items = on_own_thread(steps.run())
    next(items)
    (own,) = steps.threads
    if is_dropped:
        del items
        gc.collect()
    else:
        items.close()  # type: ignore[attr-defined]
        assert next(items, None) is None
    assert steps.closed_on is own
    assert not own.is_alive()
    assert len(steps.threads) == 1


def test_one_that_was_never_asked_makes_no_thread() -> None:
    num_threads = threading.active_count()
    items = on_own_thread(Steps().run())
    assert threading.active_count() == num_threads
    items.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize("error", [ValueError("it broke"), KeyboardInterrupt("it broke")])
def test_an_error_comes_over_with_its_traceback(error: BaseException) -> None:
    steps = Steps(2, error)
    items = on_own_thread(steps.run())
    seen = []
    with pytest.raises(type(error), match="it broke") as caught:
        seen.extend(iter(lambda: next(items), None))
    assert caught.value is error
    assert "_fail" in [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert not steps.threads[0].is_alive()
