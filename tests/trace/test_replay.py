"""A trace gives back the events that it came from."""

import pytest
from fake_race import FakeRace

from specviz.trace.replay import events_of
from specviz.trace.values import Event, LaneSpec, Method, RaceFinished, RaceRequest

LANES = (
    LaneSpec("target alone", Method.BASELINE, "fake-target"),
    LaneSpec("draft", Method.DRAFT_MODEL, "fake-target", "fake-draft", 4),
    LaneSpec("lookup", Method.PROMPT_LOOKUP, "fake-target", None, 7),
)


def _race(num_lanes: int, stop_after: int) -> list[Event]:
    events: list[Event] = []
    request = RaceRequest("Hello", LANES[:num_lanes], max_new_tokens=40)
    for event in FakeRace(pause=0)(request, lambda: len(events) > stop_after):
        events.append(event)
    return events


@pytest.mark.parametrize("num_lanes", [2, 3])
def test_events_come_back_in_the_order_of_the_race(num_lanes: int) -> None:
    events = _race(num_lanes, stop_after=10_000)
    assert isinstance(events[-1], RaceFinished)
    assert list(events_of(events[-1].trace)) == events


def test_a_cancelled_race_comes_back_with_all_that_it_did() -> None:
    events = _race(3, stop_after=9)
    assert isinstance(events[-1], RaceFinished)
    again = list(events_of(events[-1].trace))
    assert sorted(map(repr, again)) == sorted(map(repr, events))
    assert again[-1] == events[-1]
