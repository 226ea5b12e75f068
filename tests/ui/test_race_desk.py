"""What the page's buttons do to the runs of those who press them."""

import json

import gradio as gr
import pytest
from fake_race import FakeRace

from specviz.errors import RequestError
from specviz.trace.values import LaneSpec, Method, RaceRequest
from specviz.ui.options import PageLimits
from specviz.ui.race_desk import RaceDesk, StillRacing, Ticket
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


def test_who_presses_twice_races_once(desk: RaceDesk, runs: RunStore) -> None:
    _, place = desk.enter(None, Scene.RACE, lambda: REQUEST, "page")
    for again in (place, None):
        with pytest.raises(StillRacing):
            desk.enter(again, Scene.COMPARE, lambda: REQUEST, "page")
    desk.enter(None, Scene.RACE, lambda: REQUEST, "another page")
    list(desk.stream(place))
    assert len(runs.of("page")) == 1
    _, second = desk.enter(place, Scene.RACE, lambda: REQUEST, "page")
    assert second.run_id != place.run_id


def test_a_refused_form_leaves_the_way_free(desk: RaceDesk) -> None:
    def refuse() -> RaceRequest:
        raise RequestError("The prompt is empty.")

    def fail() -> RaceRequest:
        raise TypeError

    with pytest.raises(TypeError):
        desk.enter(None, Scene.RACE, fail, "page")
    packet, place = desk.enter(None, Scene.RACE, refuse, "page")
    assert json.loads(packet)["items"][0]["text"] == "The prompt is empty."
    assert place is None
    assert desk.enter(None, Scene.RACE, lambda: REQUEST, "page")[1] is not None
