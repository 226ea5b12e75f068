"""Finished races are played from their traces, with the same events as when they were live."""

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from fake_race import FakeRace, alone

from specviz.errors import RequestError, TraceFormatError
from specviz.trace.files import dumps
from specviz.trace.values import (
    LaneSpec,
    Method,
    RaceFinished,
    RaceRequest,
    StopReason,
    Trace,
)
from specviz.ui.page_limits import PageLimits
from specviz.ui.panels import Panel
from specviz.ui.recorded import (
    open_trace,
    packets_of,
    read_recorded,
    recorded_names,
    welcome_data,
)
from specviz.ui.runs import RunStore
from specviz.ui.stream import stream_race
from specviz.ui.strings import PageError

LANES = (
    LaneSpec(None, Method.BASELINE, "fake-target"),
    LaneSpec(None, Method.DRAFT_MODEL, "fake-target", "fake-draft", 4),
)
REQUEST = RaceRequest("Hello", LANES, max_new_tokens=48)


@pytest.fixture(scope="module")
def trace() -> Trace:
    *_, last = FakeRace(pause=0)(REQUEST)
    assert isinstance(last, RaceFinished)
    return last.trace


def _events(packets: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return [event for packet in packets for event in packet["events"]]


def test_a_recording_shows_what_the_live_race_showed(trace: Trace) -> None:
    run = RunStore().open(Panel.RACE)
    assert run is not None
    run.request = REQUEST
    live = [json.loads(each) for each in stream_race(FakeRace(pause=0), run, PageLimits(), alone())]
    recorded = list(packets_of(trace))
    assert _events(recorded) == _events(live)
    assert recorded[-1]["figures"] == live[-1]["figures"]
    assert recorded[-1]["status"] == live[-1]["status"] == {"state": "finished"}


def test_a_recording_has_a_packet_a_round_with_figures_where_a_lane_drafts(trace: Trace) -> None:
    packets = list(packets_of(trace))
    rounds = [[e for e in p["events"] if e["event"] == "RoundFinished"] for p in packets]
    assert [len(each) for each in rounds] == [0, *[1] * (len(rounds) - 2), 0]
    for packet, events in zip(packets[1:-1], rounds[1:-1], strict=True):
        assert ("figures" in packet) is (events[0]["lane"] > 0)


def test_the_recorded_races_that_ship_are_whole_and_say_where_they_ran() -> None:
    assert recorded_names()
    for about in welcome_data()["races"]:
        packets = read_recorded(about["name"])
        assert packets is not None
        assert packets[-1]["status"] == {"state": "finished"}
        started = about["started"]
        assert started == packets[0]["events"][0]
        assert started["environment"]["recorded_at"] > "2026"
        assert started["environment"]["device_name"]
        assert len(started["specs"]) > 1
        assert all(spec["name"] is None for spec in started["specs"])
        assert 0.1 < about["seconds"] < 60


def test_a_name_from_outside_opens_no_other_file() -> None:
    for name in ("../prompts/1-story", "nowhere", "", "story.json"):
        assert read_recorded(name) is None


def test_a_saved_race_can_be_opened_again(trace: Trace) -> None:
    assert open_trace(dumps(trace), PageLimits()) == list(packets_of(trace))


@pytest.mark.parametrize(
    "text", [None, 5, "", "  ", "no json", "[]", "{}", '{"schema_version": 1}']
)
def test_what_is_no_trace_is_refused(text: object) -> None:
    with pytest.raises(TraceFormatError):
        open_trace(text, PageLimits())


def test_a_trace_that_is_too_long_is_refused_before_it_is_read() -> None:
    with pytest.raises(RequestError, match="2,000 characters; at most 1,000 are allowed"):
        open_trace("x" * 2_000, PageLimits(max_trace_chars=1_000))


def test_a_trace_with_very_long_rounds_is_refused(trace: Trace) -> None:
    most = max(len(round_.drafted) for lane in trace.lanes for round_ in lane.rounds)
    assert open_trace(dumps(trace), PageLimits(max_trace_guesses=most))
    with pytest.raises(PageError, match=f"{most} guesses"):
        open_trace(dumps(trace), PageLimits(max_trace_guesses=most - 1))


def test_a_trace_whose_first_lane_is_not_the_target_alone_is_refused(trace: Trace) -> None:
    for lanes in (trace.lanes[::-1], trace.lanes[1:], (trace.lanes[0], trace.lanes[0])):
        with pytest.raises(PageError, match="first lane"):
            open_trace(dumps(replace(trace, lanes=lanes)), PageLimits())


def test_a_race_that_was_stopped_says_so_when_it_is_played() -> None:
    rounds: list[object] = []

    def stop() -> bool:
        rounds.append(0)
        return len(rounds) > 12

    *_, last = FakeRace(pause=0)(REQUEST, stop)
    assert isinstance(last, RaceFinished)
    assert {lane.stop_reason for lane in last.trace.lanes} == {StopReason.CANCELLED}
    *_, end = packets_of(last.trace)
    assert end["status"] == {"state": "stopped", "text": {"id": "status.stopped_here"}}


def test_the_recorded_tree_keeps_more_a_round_than_the_chain_of_its_depth() -> None:
    packets = read_recorded("7-tree")
    assert packets is not None
    chain, tree = (each["metrics"] for each in packets[-1]["figures"][1:])
    specs = packets[0]["events"][0]["specs"][1:]
    assert [spec["tree"] for spec in specs] == ["none", "dynamic"]
    assert specs[0]["gamma"] == specs[1]["gamma"]
    assert tree["tau"] > chain["tau"]
