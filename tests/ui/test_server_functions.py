"""What scripts ask of the server is answered in plain JSON, whatever they send."""

import json
from dataclasses import replace
from typing import Any

import pytest
from fake_race import OPTIONS, FakeRace, alone

from specviz.trace.files import loads
from specviz.trace.rounds_csv import rounds_csv
from specviz.trace.theory import predicted_speedup
from specviz.trace.values import LaneSpec, Method, RaceRequest
from specviz.ui.page_limits import PageLimits
from specviz.ui.panels import Panel
from specviz.ui.race_file import race_html
from specviz.ui.race_queue import RaceQueue
from specviz.ui.runs import Run, RunStore
from specviz.ui.server_functions import ServerFunction, make_server_functions
from specviz.ui.sessions import SLOWEST_PACE_MS, RaceSessions
from specviz.ui.stream import stream_race

LANES = (
    LaneSpec(None, Method.BASELINE, "fake-target"),
    LaneSpec(None, Method.DRAFT_MODEL, "fake-target", "fake-draft", 4),
)
LIMITS = PageLimits()
DONE = {"is_done": True, "packets": []}
REFUSED = {"is_done": False, "packets": []}


@pytest.fixture
def runs() -> RunStore:
    return RunStore()


@pytest.fixture
def functions(runs: RunStore) -> dict[str, ServerFunction]:
    return _functions(runs, LIMITS)


def _functions(runs: RunStore, limits: PageLimits) -> dict[str, ServerFunction]:
    options = replace(OPTIONS, limits=limits)
    sessions = RaceSessions(FakeRace(pause=0), runs, RaceQueue(8), limits)
    return {each.__name__: each for each in make_server_functions(runs, sessions, options)}


@pytest.fixture
def run(runs: RunStore) -> Run:
    run = runs.open(Panel.RACE)
    assert run is not None
    run.request = RaceRequest("Hello", LANES, max_new_tokens=24)
    return run


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
def test_nonsense_is_refused_by_every_function(
    functions: dict[str, ServerFunction], arguments: Any
) -> None:
    for name, function in functions.items():
        answer = function(arguments)
        json.dumps(answer)
        assert answer in ([], REFUSED) or set(answer) == {"error"}, name


def test_a_running_race_is_paused_by_who_holds_its_id(
    functions: dict[str, ServerFunction], run: Run
) -> None:
    assert functions["control"]([run.id, "pause"]) == DONE
    assert run.is_paused
    assert functions["control"]([run.id, "explode"]) == REFUSED
    assert functions["control"]([run.id, "resume", None]) == DONE
    assert not run.is_paused


def test_a_slow_browser_gets_its_packets_further_apart(
    functions: dict[str, ServerFunction], run: Run
) -> None:
    assert functions["control"]([run.id, "pace", 200]) == DONE
    assert run.pace_seconds == 0.2
    for asked in (SLOWEST_PACE_MS + 1, -5, float("nan"), "fast", None):
        assert functions["control"]([run.id, "pace", asked]) == REFUSED
    assert run.pace_seconds == 0.2


def test_a_finished_race_is_saved_and_played(
    functions: dict[str, ServerFunction], run: Run
) -> None:
    assert "error" in functions["saved"]([run.id])
    list(stream_race(FakeRace(pause=0), run, LIMITS, alone()))
    saved = functions["saved"]([run.id])["text"]
    assert loads(saved) == run.trace
    assert functions["opened"]([saved]) == functions["finished"]([run.id])
    assert functions["control"]([run.id, "pause"]) == REFUSED, "it is over"


def test_a_finished_race_is_saved_as_a_page_and_as_a_table(runs: RunStore, run: Run) -> None:
    list(stream_race(FakeRace(pause=0), run, LIMITS, alone()))
    assert run.trace is not None
    functions = _functions(runs, LIMITS)
    assert functions["saved"]([run.id, "html"]) == {"text": race_html(run.trace)}
    assert functions["saved"]([run.id, "csv"]) == {"text": rounds_csv(run.trace)}
    for kind in ("exe", None, 5, ["html"]):
        assert set(functions["saved"]([run.id, kind])) == {"error"}
    small = _functions(runs, replace(LIMITS, max_export_bytes=1_000))
    assert small["saved"]([run.id, "html"])["error"]["id"] == "error.export_too_long"


def test_predictions_are_those_of_the_theory(functions: dict[str, ServerFunction]) -> None:
    answer = functions["predicted"]([0.8, 0.1, 1.2])
    assert answer["speedups"][4] == predicted_speedup(0.8, 5, 0.1, 1.2)
    assert answer["best"] == max(range(16), key=lambda i: answer["speedups"][i]) + 1
    assert functions["predicted"]([0.05, 0.1, 1.0])["best"] == 0


def test_recorded_races_are_handed_out_by_name(functions: dict[str, ServerFunction]) -> None:
    assert functions["recorded"](["1-greedy"])["packets"]
    assert "error" in functions["recorded"](["../../app"])


def test_a_wrong_file_is_refused_in_a_sentence_for_visitors(
    functions: dict[str, ServerFunction],
) -> None:
    answer = functions["opened"](['{"a": 1}'])
    assert answer == {"error": {"id": "format.no_race", "reason": {"id": "format.no_version"}}}
