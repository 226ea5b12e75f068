"""Packets get small on their way and come out as they went in."""

import json
import zlib
from base64 import b64decode

from fake_race import FakeRace

from specviz.trace.values import LaneSpec, Method, RaceRequest
from specviz.ui.options import PageLimits
from specviz.ui.packing import WORTH_CHARS, pack
from specviz.ui.race_desk import RaceDesk, Ticket
from specviz.ui.runs import RunStore
from specviz.ui.scenes import Scene

LANES = (
    LaneSpec("target alone", Method.BASELINE, "fake-target"),
    LaneSpec("target + draft model", Method.DRAFT_MODEL, "fake-target", "fake-draft", 4),
)


def _unpack(text: str) -> str:
    return text if text.startswith("{") else zlib.decompress(b64decode(text)).decode()


def test_a_long_packet_is_deflated_and_comes_back() -> None:
    packet = json.dumps({"seq": 3, "items": [["α ␣ \n", 0.1234]] * 200}, ensure_ascii=False)
    packed = pack(packet)
    assert _unpack(packed) == packet
    assert len(packed) < len(packet) / 4
    assert packed.isascii()


def test_a_short_packet_goes_as_it_is() -> None:
    packet = json.dumps({"seq": 0, "items": "x" * (WORTH_CHARS - 40)})
    assert pack(packet) == packet


def test_what_the_desk_streams_is_what_it_keeps() -> None:
    runs = RunStore()
    run = runs.open(Scene.RACE)
    desk = RaceDesk(FakeRace(pause=0), runs, PageLimits())
    sent = list(desk.stream(Ticket(run.id, RaceRequest("Hello", LANES, max_new_tokens=64))))
    assert [_unpack(packet) for packet in sent] == run.packets
    assert sum(map(len, sent)) < sum(map(len, run.packets)) / 2


def test_closing_what_the_desk_streams_closes_the_race() -> None:
    runs = RunStore()
    run = runs.open(Scene.RACE)
    race = FakeRace(pause=0)
    packets = RaceDesk(race, runs, PageLimits()).stream(
        Ticket(run.id, RaceRequest("Hello", LANES, max_new_tokens=64))
    )
    next(packets)
    next(packets)
    packets.close()
    assert race.num_closed == 1
    assert run.is_closed
