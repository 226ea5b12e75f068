"""A race reaches the page in numbered packets, and always with an end."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from fake_race import FakeRace, alone
from traces import small_race

from specviz.trace.values import (
    Event,
    LaneFinished,
    LaneSpec,
    Method,
    ModelLoading,
    RaceRequest,
    RaceStarted,
    StopReason,
)
from specviz.ui.page_limits import PageLimits
from specviz.ui.panels import Panel
from specviz.ui.race_log import RaceLog
from specviz.ui.runs import Run, RunStore
from specviz.ui.stream import State, close_run, ending, stream_race

LANES = (
    LaneSpec(None, Method.BASELINE, "fake-target"),
    LaneSpec(None, Method.DRAFT_MODEL, "fake-target", "fake-draft", 4),
)
REQUEST = RaceRequest("Hello", LANES, max_new_tokens=48)
LIMITS = PageLimits()


def _events(packets: list[str], kind: str = "RoundFinished") -> list[dict[str, Any]]:
    events = [event for packet in packets for event in json.loads(packet)["events"]]
    return [event for event in events if event["event"] == kind]


def _last_status(packets: list[str]) -> dict[str, Any]:
    statuses = [json.loads(packet).get("status") for packet in packets]
    status: dict[str, Any] = [status for status in statuses if status][-1]
    return status


@pytest.fixture
def run() -> Run:
    run = RunStore().open(Panel.COMPARE)
    assert run is not None
    run.request = REQUEST
    return run


def test_packets_are_numbered_without_gaps_and_kept(run: Run) -> None:
    packets = list(stream_race(FakeRace(), run, LIMITS, alone()))
    assert [json.loads(packet)["seq"] for packet in packets] == list(range(len(packets)))
    assert {json.loads(packet)["run"] for packet in packets} == {run.id}
    assert {json.loads(packet)["panel"] for packet in packets} == {"compare"}
    assert run.packets == packets
    assert _last_status(packets)["state"] == State.FINISHED


def test_packets_hold_every_round_once_and_all_tokens(run: Run) -> None:
    rounds = _events(list(stream_race(FakeRace(pause=0), run, LIMITS, alone())))
    keys = [(event["lane"], event["round"]["index"]) for event in rounds]
    assert len(set(keys)) == len(keys)
    for lane in (0, 1):
        emitted = [token for e in rounds if e["lane"] == lane for token in e["round"]["emitted"]]
        assert len(emitted) == 48


def test_figures_follow_the_race_and_end_with_a_verdict(run: Run) -> None:
    packets = [json.loads(each) for each in stream_race(FakeRace(pause=0), run, LIMITS, alone())]
    figures = [packet["figures"] for packet in packets if "figures" in packet]
    assert figures[0][1]["metrics"]["num_rounds"] == 0
    assert all(lane["verdict"] is None for each in figures[:-1] for lane in each)
    baseline, drafting = figures[-1]
    assert baseline["metrics"]["num_emitted"] == drafting["metrics"]["num_emitted"] == 48
    assert drafting["verdict"]["agreement"] == "identical"


def test_events_that_come_close_together_share_packets(run: Run) -> None:
    packets = list(stream_race(FakeRace(pause=0), run, LIMITS, alone()))
    rounds = len(_events(packets))
    assert rounds > 50
    assert len(packets) < rounds / 4


def test_a_page_that_wants_fewer_packets_gets_fewer(run: Run) -> None:
    run.pace_seconds = 60.0
    packets = list(stream_race(FakeRace(pause=0), run, LIMITS, alone()))
    with_rounds = [packet for packet in packets if '"RoundFinished"' in packet]
    assert len(with_rounds) == 1
    assert _last_status(packets)["state"] == State.FINISHED


def test_a_packet_is_a_delta_and_stays_small(run: Run) -> None:
    packets = list(stream_race(FakeRace(), run, LIMITS, alone()))
    assert max(len(packet) for packet in packets) < 40_000
    assert len(_events(packets, "RaceStarted")) == 1


def test_stop_ends_the_race_and_keeps_what_was_written(run: Run) -> None:
    packets = []
    for packet in stream_race(FakeRace(), run, LIMITS, alone()):
        packets.append(packet)
        if len(packets) == 3:
            run.stop()
    assert _last_status(packets)["state"] == State.STOPPED
    ends = [event["stop_reason"] for event in _events(packets, "LaneFinished")]
    assert ends == ["cancelled"] * 2
    assert 0 < len(_events(packets)) < 70


def test_a_lane_that_was_stopped_is_not_forgotten_for_one_that_ended() -> None:
    log, race = RaceLog(), small_race()
    specs = tuple(lane.spec for lane in race.lanes)
    log.take(RaceStarted(race.request, race.environment, specs, (5.0,) * len(specs)))
    log.take(LaneFinished(0, StopReason.CANCELLED, None))
    log.take(LaneFinished(1, StopReason.EOS, None))
    assert ending(log)["state"] == State.STOPPED


def test_a_race_past_its_time_is_stopped(run: Run) -> None:
    packets = list(stream_race(FakeRace(), run, replace(LIMITS, deadline_seconds=0.02), alone()))
    assert _last_status(packets)["state"] == State.STOPPED
    assert _last_status(packets)["text"] == {"id": "status.stopped_deadline"}


def test_a_refused_race_ends_with_the_reason(run: Run) -> None:
    run.request = RaceRequest("refuse", LANES)
    packets = list(stream_race(FakeRace(), run, LIMITS, alone()))
    assert _last_status(packets) == {
        "state": "refused",
        "field": "prompt",
        "text": {
            "id": "refusal.prompt_too_long",
            "tokens": 900,
            "target": "fake-target",
            "context": 512,
        },
    }


def test_an_unforeseen_error_is_raised_but_not_shown(run: Run) -> None:
    def broken(request: RaceRequest, should_stop: Callable[[], bool] = bool) -> Iterator[Event]:
        yield from FakeRace(pause=0)(RaceRequest("Hi", LANES, max_new_tokens=1))
        raise KeyError("secret detail")

    packets: list[str] = []
    with pytest.raises(KeyError):
        packets.extend(stream_race(broken, run, LIMITS, alone()))
    assert _last_status(run.packets)["state"] == State.ERROR
    assert "secret" not in "".join(run.packets)
    assert run.is_closed


def test_closing_the_stream_closes_the_race(run: Run) -> None:
    race = FakeRace()
    stream = stream_race(race, run, LIMITS, alone())
    for _ in range(3):
        next(stream)
    stream.close()
    assert race.num_closed == 1
    assert run.wait(0.0)
    assert _last_status(run.packets)["state"] == State.STOPPED


def test_nothing_is_written_to_a_closed_run(run: Run) -> None:
    assert close_run(run, State.STOPPED, "Stopped.") is not None
    assert close_run(run, State.FINISHED, "Finished.") is None
    assert run.write([]) is None
    assert len(run.packets) == 1


def _shown_rounds(packets: list[str]) -> list[int]:
    """Lanes of the rounds that the packets show, in order."""
    return [event["lane"] for event in _events(packets)]


def test_a_step_shows_one_round_more_of_a_lane_that_guesses(run: Run) -> None:
    run.pause()
    stream = stream_race(FakeRace(pause=0), run, LIMITS, alone())
    packets = [next(stream), next(stream)]
    assert _shown_rounds(packets) == []
    for steps in (1, 2, 3):
        run.step()
        while not run.is_paused:
            packets.append(next(stream))
        assert _shown_rounds(packets).count(1) == steps
    run.resume()
    packets.extend(stream)
    assert _last_status(packets)["state"] == State.FINISHED
    assert sum(len(event["round"]["emitted"]) for event in _events(packets)) == 2 * 48


def test_a_paused_race_does_not_run_out_of_time(run: Run) -> None:
    limits = replace(LIMITS, deadline_seconds=0.3)
    stream = stream_race(FakeRace(pause=0), run, limits, alone())
    packets = [next(stream), next(stream)]
    run.pause()
    threading.Timer(0.5, run.resume).start()
    packets.extend(stream)
    assert _last_status(packets)["state"] == State.FINISHED


def test_a_race_that_is_paused_for_too_long_ends(run: Run) -> None:
    run.pause()
    packets = list(stream_race(FakeRace(), run, replace(LIMITS, pause_seconds=0.02), alone()))
    assert _last_status(packets)["text"] == {"id": "status.stopped_paused"}


def test_all_pauses_count_together(run: Run) -> None:
    run.pause()
    stream = stream_race(FakeRace(pause=0), run, replace(LIMITS, pause_seconds=0.3), alone())
    packets = [next(stream), next(stream)]
    for _ in range(3):
        threading.Timer(0.12, run.step).start()
        packets.append(next(stream))
    packets.extend(stream)
    assert _last_status(packets)["text"] == {"id": "status.stopped_paused"}


def test_stop_ends_a_paused_race(run: Run) -> None:
    run.pause()
    threading.Timer(0.1, run.stop).start()
    packets = list(stream_race(FakeRace(), run, LIMITS, alone()))
    assert _last_status(packets)["text"] == {"id": "status.stopped_here"}


def test_models_that_are_read_are_named(run: Run) -> None:
    def slow(request: RaceRequest, should_stop: Callable[[], bool] = bool) -> Iterator[Event]:
        yield ModelLoading("fake-target", 1, 2)
        yield from FakeRace(pause=0)(request, should_stop)

    packets = list(stream_race(slow, run, LIMITS, alone()))
    assert _events(packets, "ModelLoading") == [
        {"event": "ModelLoading", "model": "fake-target", "number": 1, "count": 2}
    ]
    states = [json.loads(packet)["status"]["state"] for packet in packets]
    assert states[:3] == [State.LOADING, State.LOADING, State.RUNNING]


def test_a_finished_race_leaves_its_trace_with_the_run(run: Run) -> None:
    list(stream_race(FakeRace(pause=0), run, LIMITS, alone()))
    assert run.trace is not None
    assert [len(lane.emitted) for lane in run.trace.lanes] == [48, 48]


def test_a_page_that_shows_a_race_slower_gets_figures_after_every_round(run: Run) -> None:
    run.is_detailed = True
    packets = [json.loads(packet) for packet in stream_race(FakeRace(), run, LIMITS, alone())]
    for packet in packets:
        rounds = [each for each in packet["events"] if each["event"] == "RoundFinished"]
        drafting = [each["round"] for each in rounds if each["round"]["drafted"]]
        assert len(drafting) <= 1
        if drafting:
            written = drafting[0]["position"] + len(drafting[0]["emitted"])
            assert packet["figures"][1]["metrics"]["num_emitted"] == written
