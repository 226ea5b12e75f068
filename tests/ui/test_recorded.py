"""Finished races are played from their traces, with the same items as when they were live."""

import json
from dataclasses import replace
from typing import Any

import pytest
from fake_race import FakeRace

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
from specviz.ui.options import PageLimits
from specviz.ui.recorded import (
    open_trace,
    read_recorded,
    recorded_names,
    recording_of,
    welcome_data,
)
from specviz.ui.runs import RunStore
from specviz.ui.scenes import Scene
from specviz.ui.stream import stream_race
from specviz.ui.strings import PageError

LANES = (
    LaneSpec("target alone", Method.BASELINE, "fake-target"),
    LaneSpec("target + draft model", Method.DRAFT_MODEL, "fake-target", "fake-draft", 4),
)
REQUEST = RaceRequest("Hello", LANES, max_new_tokens=48)


@pytest.fixture(scope="module")
def trace() -> Trace:
    *_, last = FakeRace(pause=0)(REQUEST)
    assert isinstance(last, RaceFinished)
    return last.trace


def _without_standing(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [item for item in items if item["k"] not in ("figures", "status")]


def test_a_recording_shows_what_the_live_race_showed(trace: Trace) -> None:
    run = RunStore().open(Scene.RACE)
    packets = list(stream_race(FakeRace(pause=0), REQUEST, run, PageLimits()))
    live = [item for packet in packets for item in json.loads(packet)["items"]]
    recorded = [item for _, items in recording_of(trace)["packets"] for item in items]
    assert _without_standing(recorded) == _without_standing(live)
    assert recorded[-2:] == live[-2:]


def test_a_recording_is_timed_by_the_lanes_own_clocks(trace: Trace) -> None:
    recording = recording_of(trace)
    times = [ms for ms, _ in recording["packets"]]
    assert times == sorted(times)
    assert times[0] == 0.0
    slowest = max(sum(round_.ms for round_ in lane.rounds) for lane in trace.lanes)
    assert times[-1] == pytest.approx(slowest, abs=0.01)
    assert recording["seconds"] == pytest.approx(slowest / 1000, abs=0.06)


def test_the_recorded_races_that_ship_are_whole_and_say_where_they_ran() -> None:
    assert recorded_names()
    for about in welcome_data()["races"]:
        assert "packets" not in about
        recording = read_recorded(about["name"])
        assert recording is not None
        last = recording["packets"][-1][1][-1]
        assert (last["k"], last["state"]) == ("status", "finished")
        assert about["date"] > "2026"
        assert about["place"]
        assert about["lanes"]


def test_a_name_from_outside_opens_no_other_file() -> None:
    for name in ("../prompts/1-story", "nowhere", "", "story.json"):
        assert read_recorded(name) is None


def test_a_saved_race_can_be_opened_again(trace: Trace) -> None:
    assert open_trace(dumps(trace), PageLimits()) == recording_of(trace)


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
    status = recording_of(last.trace)["packets"][-1][1][-1]
    assert status == {"k": "status", "state": "stopped", "text": {"id": "status.stopped_here"}}
