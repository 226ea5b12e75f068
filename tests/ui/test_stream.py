"""A race reaches the page in numbered packets, and always with an end."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from fake_race import FakeRace

from specviz.trace.values import Event, LaneSpec, Method, ModelLoading, RaceRequest
from specviz.ui.options import PageLimits
from specviz.ui.runs import Control, Run, RunStore
from specviz.ui.scenes import Scene
from specviz.ui.stream import State, close_run, stream_race, write_packet

LANES = (
    LaneSpec("target alone", Method.BASELINE, "fake-target"),
    LaneSpec("target + draft model", Method.DRAFT_MODEL, "fake-target", "fake-draft", 4),
)
REQUEST = RaceRequest("Hello", LANES, max_new_tokens=48)
LIMITS = PageLimits()


def _items(packets: list[str]) -> list[dict[str, Any]]:
    return [item for packet in packets for item in json.loads(packet)["items"]]


def _last_status(packets: list[str]) -> dict[str, Any]:
    return [item for item in _items(packets) if item["k"] == "status"][-1]


@pytest.fixture
def run() -> Run:
    return RunStore().open(Scene.COMPARE)


def test_packets_are_numbered_without_gaps_and_kept(run: Run) -> None:
    packets = list(stream_race(FakeRace(), REQUEST, run, LIMITS))
    assert [json.loads(packet)["seq"] for packet in packets] == list(range(len(packets)))
    assert {json.loads(packet)["run"] for packet in packets} == {run.id}
    assert {json.loads(packet)["scene"] for packet in packets} == {"compare"}
    assert run.packets == packets
    assert _last_status(packets)["state"] == State.FINISHED


def test_packets_hold_every_round_once_and_all_tokens(run: Run) -> None:
    items = _items(list(stream_race(FakeRace(pause=0), REQUEST, run, LIMITS)))
    rounds = [(item["lane"], item["round"]) for item in items if item["k"] == "round"]
    assert len(set(rounds)) == len(rounds)
    for lane in (0, 1):
        views = [v for i in items if i["k"] == "round" and i["lane"] == lane for v in i["tokens"]]
        assert [view["i"] for view in views if "i" in view] == list(range(48))


def test_events_that_come_close_together_share_packets(run: Run) -> None:
    packets = list(stream_race(FakeRace(pause=0), REQUEST, run, LIMITS))
    rounds = sum(item["k"] == "round" for item in _items(packets))
    assert rounds > 50
    assert len(packets) < rounds / 4


def test_a_page_that_wants_fewer_packets_gets_fewer(run: Run) -> None:
    run.pace_seconds = 60.0
    packets = list(stream_race(FakeRace(pause=0), REQUEST, run, LIMITS))
    with_rounds = [packet for packet in packets if '"k":"round"' in packet]
    assert len(with_rounds) == 1
    assert _last_status(packets)["state"] == State.FINISHED


def test_a_packet_is_a_delta_and_stays_small(run: Run) -> None:
    packets = list(stream_race(FakeRace(), REQUEST, run, LIMITS))
    assert max(len(packet) for packet in packets) < 40_000
    starts = [item for item in _items(packets) if item["k"] == "start"]
    assert len(starts) == 1


def test_stop_ends_the_race_and_keeps_what_was_written(run: Run) -> None:
    packets = []
    for packet in stream_race(FakeRace(), REQUEST, run, LIMITS):
        packets.append(packet)
        if len(packets) == 3:
            run.stop()
    assert _last_status(packets)["state"] == State.STOPPED
    ends = [item["why"] for item in _items(packets) if item["k"] == "end"]
    assert ends == [{"id": "end.cancelled"}] * 2
    assert 0 < sum(item["k"] == "round" for item in _items(packets)) < 70


def test_a_race_past_its_time_is_stopped(run: Run) -> None:
    packets = list(stream_race(FakeRace(), REQUEST, run, replace(LIMITS, deadline_seconds=0.02)))
    assert _last_status(packets)["state"] == State.STOPPED
    assert _last_status(packets)["text"] == {"id": "status.stopped_deadline"}


def test_a_refused_race_ends_with_the_reason(run: Run) -> None:
    request = RaceRequest("refuse", LANES)
    packets = list(stream_race(FakeRace(), request, run, LIMITS))
    assert _last_status(packets) == {
        "k": "status",
        "state": "error",
        "text": "The prompt is longer than the context: 900 tokens, 512 allowed.",
    }


def test_an_unforeseen_error_is_raised_but_not_shown(run: Run) -> None:
    def broken(request: RaceRequest, should_stop: Callable[[], bool] = bool) -> Iterator[Event]:
        yield from FakeRace(pause=0)(RaceRequest("Hi", LANES, max_new_tokens=1))
        raise KeyError("secret detail")

    packets: list[str] = []
    with pytest.raises(KeyError):
        packets.extend(stream_race(broken, REQUEST, run, LIMITS))
    assert _last_status(run.packets)["state"] == State.ERROR
    assert "secret" not in "".join(run.packets)
    assert run.is_closed


def test_closing_the_stream_closes_the_race(run: Run) -> None:
    race = FakeRace()
    stream = stream_race(race, REQUEST, run, LIMITS)
    for _ in range(3):
        next(stream)
    stream.close()
    assert race.num_closed == 1
    assert run.wait(0.0)
    assert _last_status(run.packets)["state"] == State.STOPPED


def test_nothing_is_written_to_a_closed_run(run: Run) -> None:
    assert close_run(run, State.STOPPED, "Stopped.") is not None
    assert close_run(run, State.FINISHED, "Finished.") is None
    assert write_packet(run, []) is None
    assert len(run.packets) == 1


def _shown_rounds(packets: list[str]) -> list[int]:
    """Lanes of the rounds that the packets show, in order."""
    return [item["lane"] for item in _items(packets) if item["k"] == "round"]


def test_a_step_shows_one_round_more_of_a_lane_that_guesses(run: Run) -> None:
    run.control(Control.PAUSE)
    stream = stream_race(FakeRace(pause=0), REQUEST, run, LIMITS)
    packets = [next(stream), next(stream)]
    assert _shown_rounds(packets) == []
    for steps in (1, 2, 3):
        run.control(Control.STEP)
        while not run.is_paused:
            packets.append(next(stream))
        assert _shown_rounds(packets).count(1) == steps
    run.control(Control.RESUME)
    packets.extend(stream)
    assert _last_status(packets)["state"] == State.FINISHED
    views = [v for i in _items(packets) if i["k"] == "round" for v in i["tokens"]]
    assert sum("i" in view for view in views) == 2 * 48


def test_a_paused_race_does_not_run_out_of_time(run: Run) -> None:
    limits = replace(LIMITS, deadline_seconds=0.3)
    stream = stream_race(FakeRace(pause=0), REQUEST, run, limits)
    packets = [next(stream), next(stream)]
    run.control(Control.PAUSE)
    threading.Timer(0.5, lambda: run.control(Control.RESUME)).start()
    packets.extend(stream)
    assert _last_status(packets)["state"] == State.FINISHED


def test_a_race_that_is_paused_for_too_long_ends(run: Run) -> None:
    run.control(Control.PAUSE)
    packets = list(stream_race(FakeRace(), REQUEST, run, replace(LIMITS, pause_seconds=0.02)))
    assert _last_status(packets)["text"] == {"id": "status.stopped_paused"}


def test_all_pauses_count_together(run: Run) -> None:
    run.control(Control.PAUSE)
    stream = stream_race(FakeRace(pause=0), REQUEST, run, replace(LIMITS, pause_seconds=0.3))
    packets = [next(stream), next(stream)]
    for _ in range(3):
        threading.Timer(0.12, lambda: run.control(Control.STEP)).start()
        packets.append(next(stream))
    packets.extend(stream)
    assert _last_status(packets)["text"] == {"id": "status.stopped_paused"}


def test_stop_ends_a_paused_race(run: Run) -> None:
    run.control(Control.PAUSE)
    threading.Timer(0.1, run.stop).start()
    packets = list(stream_race(FakeRace(), REQUEST, run, LIMITS))
    assert _last_status(packets)["text"] == {"id": "status.stopped_here"}


def test_models_that_are_read_are_named(run: Run) -> None:
    def slow(request: RaceRequest, should_stop: Callable[[], bool] = bool) -> Iterator[Event]:
        yield ModelLoading("fake-target", 1, 2)
        yield from FakeRace(pause=0)(request, should_stop)

    texts = [item["text"] for item in _items(list(stream_race(slow, REQUEST, run, LIMITS)))
             if item["k"] == "status" and item["state"] == State.LOADING]  # fmt: skip
    named = {"id": "status.loading_model", "model": "fake-target", "number": 1, "count": 2}
    assert texts == [{"id": "status.loading_models"}, named]


def test_a_finished_race_leaves_its_trace_with_the_run(run: Run) -> None:
    list(stream_race(FakeRace(pause=0), REQUEST, run, LIMITS))
    assert run.trace is not None
    assert [len(lane.emitted) for lane in run.trace.lanes] == [48, 48]
