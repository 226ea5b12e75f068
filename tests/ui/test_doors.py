"""What scripts ask of the server is answered in plain JSON, whatever they send."""

import json
from typing import Any

import pytest
from fake_race import FakeRace

from specviz.trace.files import loads
from specviz.trace.theory import predicted_speedup
from specviz.trace.values import LaneSpec, Method, RaceRequest
from specviz.ui.doors import Door, make_doors
from specviz.ui.options import PageLimits
from specviz.ui.race_desk import LONGEST_PACE_SECONDS, RaceDesk
from specviz.ui.runs import Run, RunStore
from specviz.ui.scenes import Scene
from specviz.ui.stream import stream_race

LANES = (
    LaneSpec("target alone", Method.BASELINE, "fake-target"),
    LaneSpec("target + draft model", Method.DRAFT_MODEL, "fake-target", "fake-draft", 4),
)
REQUEST = RaceRequest("Hello", LANES, max_new_tokens=24)
LIMITS = PageLimits()


@pytest.fixture
def runs() -> RunStore:
    return RunStore()


@pytest.fixture
def doors(runs: RunStore) -> dict[str, Door]:
    desk = RaceDesk(FakeRace(pause=0), runs, LIMITS)
    return {door.__name__: door for door in make_doors(runs, desk, LIMITS)}


@pytest.fixture
def run(runs: RunStore) -> Run:
    return runs.open(Scene.RACE)


def _is_refused(answer: Any) -> bool:
    return answer in ([], False) or set(answer) == {"error"}


@pytest.mark.parametrize(
    "arguments",
    [
        None,
        "text",
        5,
        {"a": 1},
        [],
        [None],
        ["nowhere"],
        [{}, 3],
        ["x", "pause"],
        [1, 2, 3, 4],
        ["a", [], 0],
        [10**400, 0.1, 1.2],
    ],
)
def test_nonsense_is_refused_by_every_door(doors: dict[str, Door], arguments: Any) -> None:
    for name, door in doors.items():
        answer = door(arguments)
        json.dumps(answer)
        assert _is_refused(answer), name


def test_a_running_race_is_paused_by_who_holds_its_id(doors: dict[str, Door], run: Run) -> None:
    assert doors["control"]([run.id, "pause"]) is True
    assert run.is_paused
    assert doors["control"]([run.id, "explode"]) is False
    assert doors["control"]([run.id, "resume"]) is True
    assert not run.is_paused


def test_a_slow_browser_gets_its_packets_further_apart(doors: dict[str, Door], run: Run) -> None:
    for asked, given in ((200, 0.2), (1e9, LONGEST_PACE_SECONDS), (-5, 0.0), (float("nan"), 0.0)):
        assert doors["pace"]([run.id, asked]) is True
        assert run.pace_seconds == given
    assert doors["pace"]([run.id, "fast"]) is False


def test_a_finished_race_is_saved_and_played(doors: dict[str, Door], run: Run) -> None:
    assert "error" in doors["saved"]([run.id])
    list(stream_race(FakeRace(pause=0), REQUEST, run, LIMITS))
    saved = doors["saved"]([run.id])["text"]
    assert loads(saved) == run.trace
    assert doors["opened"]([saved]) == doors["finished"]([run.id])
    assert doors["control"]([run.id, "pause"]) is False, "it is over"


def test_predictions_are_those_of_the_theory(doors: dict[str, Door]) -> None:
    answer = doors["predicted"]([0.8, 0.1, 1.2])
    assert answer["speedups"][4] == pytest.approx(predicted_speedup(0.8, 5, 0.1, 1.2), abs=1e-4)
    assert answer["best"] == max(range(16), key=lambda i: answer["speedups"][i]) + 1
    assert doors["predicted"]([0.05, 0.1, 1.0])["best"] == 0


def test_recorded_races_are_handed_out_by_name(doors: dict[str, Door]) -> None:
    assert doors["recorded"](["1-greedy"])["packets"]
    assert "error" in doors["recorded"](["../../app"])
