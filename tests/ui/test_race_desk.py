"""What the page's buttons do to the runs of those who press them."""

import json

import gradio as gr
import pytest
from fake_race import FakeRace

from specviz.trace import LaneSpec, Method, RaceRequest
from specviz.ui.options import PageLimits
from specviz.ui.race_desk import RaceDesk, Ticket
from specviz.ui.runs import Run, RunStore
from specviz.ui.scenes import Scene

LANES = (
    LaneSpec("target alone", Method.BASELINE, "fake-target"),
    LaneSpec("target + draft model", Method.DRAFT_MODEL, "fake-target", "fake-draft", 4),
)
REQUEST = RaceRequest("Hello", LANES, max_new_tokens=24)


@pytest.fixture
def runs() -> RunStore:
    return RunStore()


@pytest.fixture
def run(runs: RunStore) -> Run:
    return runs.open(Scene.RACE)


@pytest.fixture
def desk(runs: RunStore) -> RaceDesk:
    return RaceDesk(FakeRace(pause=0), runs, PageLimits())


def test_who_finds_the_queue_full_is_told_so(desk: RaceDesk, run: Run) -> None:
    [item] = json.loads(desk.leave(Ticket(run.id, REQUEST)))["items"]
    assert item["state"] == "error"
    assert run.is_closed


def test_a_full_queue_does_not_end_a_race_that_runs(desk: RaceDesk, run: Run) -> None:
    place = Ticket(run.id, REQUEST)
    packets = desk.stream(place)
    next(packets)
    assert desk.leave(place) == gr.skip()
    assert not run.is_closed
    assert json.loads(run.packets[-1])["items"][-1]["state"] != "error"
