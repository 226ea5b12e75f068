"""The server's side of the wire; `tests/js/race.test.js` holds the page's side to the same log.

`PYTHONPATH=.:tests python tests/ui/test_wire.py` writes the log again, after a change of the wire.
"""

import json
from base64 import b64decode
from dataclasses import fields
from pathlib import Path
from typing import Any, get_type_hints
from zlib import decompress

from traces import chain, lane, plain, small_race, trace

from specviz.trace import files
from specviz.trace.metrics import LaneMetrics
from specviz.trace.values import DraftToken, EmittedToken, Method, ModelLoading, Round, Trace
from specviz.trace.verdict import Verdict
from specviz.ui.race_log import RaceLog
from specviz.ui.recorded import packets_of
from specviz.ui.wire import WORTH_CHARS, Packet, event_json, pack

LOG = Path(__file__).parents[1] / "fixtures" / "packets.json"


def logged_race() -> Trace:
    """A greedy race whose drafting lane keeps, corrects, gains a bonus and ends inside a block."""
    drafting = [
        chain((10, 11, 12), 3, 13, draft_ms=3.0, verify_ms=12.0),
        chain((14, 90, 91), 1, 15, draft_ms=3.0, verify_ms=12.0),
        chain((), 0, 16),
        chain((17, 92), 1, None, draft_ms=2.0, verify_ms=11.5, other_ms=0.25),
    ]
    alone = lane(plain(10, 11, 12, 13, 14, 15, 16, 17), Method.BASELINE)
    return trace(alone, lane(drafting, name="somebody's <b>own</b> name"), max_new_tokens=8)


def test_the_log_is_what_the_server_sends() -> None:
    assert list(packets_of(logged_race())) == json.loads(LOG.read_text(encoding="utf-8"))


def test_a_round_travels_as_the_trace_file_has_it() -> None:
    race = small_race()
    stored = files.to_json(race)["lanes"][1]["rounds"]
    sent = [
        event
        for packet in packets_of(race)
        for event in packet["events"]
        if event["event"] == "RoundFinished" and event["lane"] == 1
    ]
    assert [event["round"] for event in sent] == stored
    assert {key for event in sent for key in event} == {
        *("event", "lane", "round", "alpha", "speedup")
    }


def test_figures_are_the_metrics_of_the_trace_under_their_own_names() -> None:
    *_, last = packets_of(small_race())
    metrics = {field.name for field in fields(LaneMetrics)}
    verdicts = {field.name for field in fields(Verdict)}
    assert [set(lane["metrics"]) for lane in last["figures"]] == [metrics, metrics]
    assert last["figures"][0]["verdict"] is None
    assert set(last["figures"][1]["verdict"]) == verdicts
    assert last["figures"][1]["metrics"]["speedup"] == 80 / 44


def test_a_round_brings_the_figures_of_its_lane_so_far() -> None:
    log, race = RaceLog(), small_race()
    points = [
        (event["lane"], event["alpha"], event["speedup"])
        for packet in packets_of(race)
        for event in packet["events"]
        if event["event"] == "RoundFinished"
    ]
    assert points[0] == (0, None, 1.0)
    assert [point for point in points if point[0] == 1] == [
        (1, 1.0, 10 / (15 / 4)),
        (1, 4 / 5, 10 / (30 / 6)),
        (1, 5 / 6, 10 / (44 / 8)),
    ]
    assert log.figures() == []


def test_an_event_bears_the_name_of_its_class() -> None:
    loading = event_json(ModelLoading("a model", 1, 3))
    assert loading == {"event": "ModelLoading", "model": "a model", "number": 1, "count": 3}


def test_a_packet_is_typed() -> None:
    hints = get_type_hints(Packet)
    assert set(hints) == {"run", "seq", "panel", "events", "figures", "status", "is_run_out"}


def test_long_packets_are_deflated_and_short_ones_go_as_they_are() -> None:
    short, long = '{"a":1}', '{"a":"' + "ä" * WORTH_CHARS + '"}'
    assert pack(short) == short
    assert not pack(long).startswith("{")
    assert decompress(b64decode(pack(long))).decode() == long


def test_every_fact_of_a_token_reaches_the_page() -> None:
    packet: dict[str, Any] = list(packets_of(logged_race()))[-2]
    (event,) = [each for each in packet["events"] if each["event"] == "RoundFinished"]
    assert set(event["round"]) == {field.name for field in fields(Round)}
    drafted = [
        token
        for packet in packets_of(logged_race())
        for event in packet["events"]
        if event["event"] == "RoundFinished"
        for token in event["round"]["drafted"]
    ]
    assert all(set(token) == {field.name for field in fields(DraftToken)} for token in drafted)
    assert all(
        set(token) == {field.name for field in fields(EmittedToken)}
        for token in event["round"]["emitted"]
    )


if __name__ == "__main__":
    text = json.dumps(list(packets_of(logged_race())), ensure_ascii=False, indent=1)
    LOG.write_text(text + "\n", encoding="utf-8")
