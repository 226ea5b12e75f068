"""Races wait in the order in which they came; each is told its position and an estimate."""

import threading
import time

import pytest
from fake_race import FakeRace

from specviz.trace.values import LaneSpec, Method, RaceRequest, RaceStarted
from specviz.ui.race_queue import MAX_OVERTAKEN, Place, RaceQueue

LANES = (
    LaneSpec(None, Method.BASELINE, "fake-target"),
    LaneSpec(None, Method.DRAFT_MODEL, "fake-target", "fake-draft", 4),
)
REQUEST = RaceRequest("Hello", LANES, max_new_tokens=50)
TOKEN_MS = 10.0


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def queue(clock: Clock) -> RaceQueue:
    return RaceQueue(max_waiting=2, clock=clock)


def _join(queue: RaceQueue, request: RaceRequest = REQUEST) -> Place:
    place = queue.join(request)
    assert place is not None
    return place


def _race(place: Place, clock: Clock, num_events: int | None = None) -> None:
    """Run a place's race, or so many events of it, each token of a lane taking 10 ms."""
    events = list(FakeRace(pause=0)(REQUEST))
    written = 0
    for event in events[:num_events]:
        place.note(event)
        if not isinstance(event, RaceStarted) and hasattr(event, "round"):
            written += len(event.round.emitted)
            clock.now += len(event.round.emitted) * TOKEN_MS / 1000
    assert written


def test_races_run_one_at_a_time_in_the_order_in_which_they_came(queue: RaceQueue) -> None:
    first, second, third = (_join(queue) for _ in range(3))
    assert [place.wait_for_turn(0) for place in (first, second, third)] == [True, False, False]
    queue.leave(second)
    assert not third.wait_for_turn(0), "one that gave up lets nobody pass the first"
    queue.leave(first)
    assert third.wait_for_turn(0)


def test_who_waits_is_woken_when_the_turn_comes(queue: RaceQueue) -> None:
    first, second = _join(queue), _join(queue)
    turns = []
    thread = threading.Thread(target=lambda: turns.append(second.wait_for_turn(20)))
    thread.start()
    queue.leave(first)
    thread.join(10)
    assert turns == [True]


def test_a_wake_between_two_waits_is_not_missed(queue: RaceQueue) -> None:
    _join(queue)
    second = _join(queue)
    assert not second.wait_for_turn(0)
    queue.wake()
    began = time.monotonic()
    assert not second.wait_for_turn(20), "it looks up, and it is not its turn"
    assert time.monotonic() - began < 10
    assert not second.wait_for_turn(0.01), "one wake ends one wait"


def test_a_full_queue_takes_nobody(queue: RaceQueue) -> None:
    places = [_join(queue) for _ in range(3)]
    assert queue.join(REQUEST) is None
    queue.leave(places[0])
    assert queue.join(REQUEST) is not None


def test_the_first_race_of_a_server_has_no_estimate(queue: RaceQueue) -> None:
    _join(queue)
    outlook = _join(queue).outlook()
    assert (outlook.position, outlook.num_tokens) == (1, 100)
    assert outlook.seconds is None


def test_the_estimate_is_what_recent_races_took_for_what_is_still_to_be_written(
    queue: RaceQueue, clock: Clock
) -> None:
    past = _join(queue)
    _race(past, clock)
    queue.leave(past)
    running, second, third = (_join(queue) for _ in range(3))
    assert second.outlook().seconds == pytest.approx(100 * TOKEN_MS / 1000)
    outlook = third.outlook()
    assert (outlook.position, outlook.num_tokens, outlook.num_races) == (2, 200, 1)
    assert outlook.seconds == pytest.approx(200 * TOKEN_MS / 1000)
    _race(running, clock, 20)
    left = third.outlook().num_tokens
    assert 100 < left < 200
    assert third.outlook().seconds == pytest.approx(left * TOKEN_MS / 1000)


def test_without_a_past_race_the_running_one_is_the_measure(queue: RaceQueue, clock: Clock) -> None:
    running, waiting = _join(queue), _join(queue)
    _race(running, clock, 20)
    outlook = waiting.outlook()
    assert (outlook.num_races, outlook.token_ms) == (0, pytest.approx(TOKEN_MS))


def test_holding_a_race_makes_others_wait_longer_and_no_race_slower(
    queue: RaceQueue, clock: Clock
) -> None:
    running, waiting = _join(queue), _join(queue)
    _race(running, clock, 20)
    before = waiting.outlook()
    assert before.seconds is not None
    running.hold(12.0)
    clock.now += 5.0
    running.extend(5.0)
    held = waiting.outlook()
    assert held.seconds == pytest.approx(before.seconds + 12.0)
    assert held.token_ms == pytest.approx(before.token_ms)
    running.release()
    assert waiting.outlook().seconds == pytest.approx(before.seconds)


def test_a_place_knows_whether_others_wait(queue: RaceQueue) -> None:
    first = _join(queue)
    assert not first.others_wait()
    second = _join(queue)
    assert first.others_wait()
    assert not second.others_wait()
    queue.leave(second)
    assert not first.others_wait()


def test_who_sends_many_waits_behind_themselves() -> None:
    queue = RaceQueue(20)
    names = ["ann", "ann", "ann", "bob", "ann", "cy", "bob"]
    places = {f"{name}{index}": queue.join(REQUEST, name) for index, name in enumerate(names)}
    assert order(queue, places) == ["ann0", "bob3", "cy5", "ann1", "bob6", "ann2", "ann4"]


def test_work_without_an_owner_comes_last_and_is_not_overtaken() -> None:
    queue = RaceQueue(20)
    places = {"ann0": queue.join(REQUEST, "ann"), "ann1": queue.join(REQUEST, "ann")}
    places |= {"work": queue.join_work(10), "bob": queue.join(REQUEST, "bob")}
    assert order(queue, places) == ["ann0", "ann1", "work", "bob"]


def test_newcomers_do_not_hold_anybody_up_for_good() -> None:
    queue = RaceQueue(40)
    places = {"ann0": queue.join(REQUEST, "ann"), "ann1": queue.join(REQUEST, "ann")}
    for number in range(20):
        places[f"new{number}"] = queue.join(REQUEST, f"new{number}")
    assert order(queue, places).index("ann1") == 1 + MAX_OVERTAKEN


def order(queue: RaceQueue, places: dict[str, Place | None]) -> list[str]:
    """Let all run, one after the other; gives who ran when."""
    ran = []
    waiting = {name: place for name, place in places.items() if place is not None}
    while waiting:
        name = next(each for each, place in waiting.items() if place.wait_for_turn(0))
        ran.append(name)
        queue.leave(waiting.pop(name))
    return ran
