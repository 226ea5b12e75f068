"""The live figures are the metrics of the trace so far."""

import re

import pytest
from fake_race import FakeRace

from specviz.trace.counts import RunningCounts
from specviz.trace.metrics import lane_metrics, race_metrics
from specviz.trace.values import Event, LaneSpec, Method, RaceFinished, RaceRequest, Sampling
from specviz.trace.verdict import Agreement, Verdict
from specviz.ui.figures import (
    FIGURES,
    Figures,
    chart_point,
    compared_figures,
    live_figures,
    output_figure,
)
from specviz.ui.race_view import RaceView
from specviz.ui.strings import in_english, read_table

LANES = (
    LaneSpec("target alone", Method.BASELINE, "fake-target"),
    LaneSpec("target + draft model", Method.DRAFT_MODEL, "fake-target", "fake-draft", 4),
)


def _race(hit: float = 0.8, gamma: int = 4, temperature: float = 0.0) -> list[Event]:
    lanes = (LANES[0], LaneSpec("x", Method.DRAFT_MODEL, "fake-target", "fake-draft", gamma))
    request = RaceRequest("Hello", lanes, Sampling(temperature=temperature), max_new_tokens=40)
    return list(FakeRace(hit=hit, pause=0)(request))


def _seen(events: list[Event]) -> RaceView:
    view = RaceView()
    for event in events:
        view.take(event)
    return view


def _written(name: str, figures: Figures, text: str) -> str:
    """A text of a figure with its counts in it, as the browser writes it."""
    value, *params = figures[name]
    named = {"value": value, **{str(place): param for place, param in enumerate(params)}}
    return in_english({"id": f"figure.{name}_{text}", **named})


def _detail(name: str, figures: Figures) -> str:
    return _written(name, figures, "detail")


def test_the_last_figures_are_those_of_the_finished_trace() -> None:
    events = _race()
    alone, figures = _seen(events).figures()
    finished = events[-1]
    assert isinstance(finished, RaceFinished)
    baseline, lane = finished.trace.lanes
    metrics = lane_metrics(lane, baseline)
    assert figures["speedup"][0] == f"{metrics.speedup:.2f}×"
    judged = metrics.num_accepted + metrics.num_rejected
    assert _detail("alpha", figures) == f"{metrics.num_accepted}/{judged} judged"
    assert _detail("rate", figures) == f"{metrics.num_accepted}/{metrics.num_drafted} drafted"
    assert figures["tau"][0] == f"{metrics.tau:.2f}"
    assert in_english(figures["lossless"][0]) == "identical ✓"
    assert (alone["tokens"], figures["tokens"]) == (40, 40)
    assert "speedup" not in alone


def test_before_a_race_there_are_no_figures() -> None:
    assert RaceView().figures() == []


def test_figures_without_rounds_are_dashes_not_zeros() -> None:
    empty = RunningCounts()
    assert live_figures(empty)["speed"] == "–"
    output = output_figure(None, is_greedy=True, is_running=True)
    figures = compared_figures(empty, empty, output)
    assert figures["speedup"][0] == "–"
    assert figures["alpha"] == ["–", 0, 0, 0, "–"]
    assert figures["is_slower"] is False


def test_a_slower_lane_is_said_to_be_slower() -> None:
    view = _seen(_race(hit=0.0, gamma=16))
    _, figures = view.figures()
    assert figures["is_slower"] is True
    assert "slower than the target alone" in in_english(view.closing_sentence())


@pytest.mark.parametrize("name", [name for name in FIGURES if name != "lossless"])
def test_a_formula_with_its_numbers_gives_the_figure_that_is_shown(name: str) -> None:
    for hit, gamma in ((0.8, 4), (0.3, 7), (0.95, 2)):
        view = RaceView()
        for event in _race(hit=hit, gamma=gamma):
            view.take(event)
            shown = view.figures()[1:]
            if not shown or shown[0][name][0] == "–":
                continue
            value = shown[0][name][0]
            formula, given = _written(name, shown[0], "formula").rsplit(" = ", 1)
            worked = _worked_out(formula)
            if value.endswith("%"):
                assert given == f"{100 * worked:.1f} %"
                assert abs(float(given[:-2]) - float(value[:-2])) <= 0.5
            else:
                assert given == value == f"{worked:.2f}" + "×" * (name == "speedup")


def _worked_out(formula: str) -> float:
    sums = re.sub(r"[a-z]+", "", formula).replace("−", "-")
    assert re.fullmatch(r"[\d.+\-/ ()]+", sums), formula
    return float(eval(sums))


def test_clocks_are_written_with_the_decimals_that_the_speedup_needs() -> None:
    def speedup(baseline_ms: float, lane_ms: float) -> list[object]:
        baseline = RunningCounts(num_rounds=10, num_emitted=10, verify_ms=baseline_ms)
        lane = RunningCounts(num_rounds=3, num_emitted=10, verify_ms=lane_ms)
        output = output_figure(None, is_greedy=False, is_running=False)
        return compared_figures(lane, baseline, output)["speedup"][:5]

    assert speedup(424.94, 165.13) == ["2.57×", 424.9, 10, 165.1, 10]
    # With three decimals it would read 0.425 / 0.165, which is 2.58.
    assert speedup(0.4249, 0.1651) == ["2.57×", 0.4249, 10, 0.1651, 10]


def test_every_figure_is_explained() -> None:
    table = read_table("en")
    for name in FIGURES:
        assert {f"figure.{name}", f"figure.{name}_meaning"} <= set(table)
        if name != "lossless":
            assert {f"figure.{name}_symbols", f"figure.{name}_formula"} <= set(table)


def test_a_chart_point_shows_the_share_of_its_own_round() -> None:
    before = RunningCounts(num_rounds=1, num_accepted=3, num_rejected=1, num_emitted=4, verify_ms=8)
    after = RunningCounts(
        num_rounds=2, num_accepted=4, num_rejected=2, num_emitted=6, verify_ms=16.0
    )
    baseline = RunningCounts(num_rounds=2, num_emitted=2, verify_ms=12.0)
    assert chart_point(after, before, baseline) == [2, 16.0, 6, 0.5, 0.6667, 2.25, 1]


@pytest.mark.parametrize(
    ("verdict", "value"),
    [
        (Verdict(Agreement.IDENTICAL, 40, None, None), "identical ✓"),
        (Verdict(Agreement.NEAR_TIE, 40, 7, 1e-6), "near-tie"),
        (Verdict(Agreement.DIVERGENT, 40, 7, 2.0), "differs ✗"),
        (None, "–"),
    ],
)
def test_the_verdict_is_said_plainly(verdict: Verdict | None, value: str) -> None:
    said, *behind = output_figure(verdict, is_greedy=True, is_running=False)
    assert in_english(said) == value
    assert len([in_english(text) for text in behind]) == 2


def test_a_sampled_race_promises_the_law_and_not_the_words() -> None:
    _, figures = _seen(_race(temperature=0.8)).figures()
    assert in_english(figures["lossless"][0]) == "same law"


def test_four_lanes_each_have_figures_of_their_own() -> None:
    drafts = ("fake-draft", "fake-misfit", "fake-refit")
    lanes = [LaneSpec(name, Method.DRAFT_MODEL, "fake-target", name, 4) for name in drafts]
    request = RaceRequest("Hello", (LANES[0], *lanes), max_new_tokens=60)
    events = list(FakeRace(pause=0)(request))
    view = _seen(events)
    finished = events[-1]
    assert isinstance(finished, RaceFinished)
    _, *shown = view.figures()
    for figures, metrics in zip(shown, race_metrics(finished.trace)[1:], strict=True):
        judged = metrics.num_accepted + metrics.num_rejected
        assert _detail("alpha", figures) == f"{metrics.num_accepted}/{judged} judged"
        assert figures["speedup"][0] == f"{metrics.speedup:.2f}×"
        assert in_english(figures["lossless"][0]) == "identical ✓"
    assert len({_detail("alpha", figures) for figures in shown}) == 3
    for draft, figures in zip(drafts, shown, strict=True):
        assert f"{draft} {figures['speedup'][0]}" in in_english(view.closing_sentence())


def test_with_many_lanes_the_story_is_told_of_the_last() -> None:
    lanes = (*LANES, LaneSpec("another", Method.DRAFT_MODEL, "fake-target", "fake-draft", 4))
    view = RaceView()
    told = set()
    for event in FakeRace(pause=0)(RaceRequest("Hello", lanes, max_new_tokens=24)):
        view.take(event)
        told.add(in_english(view.narration))
    assert "All lanes have read the prompt." in told
    assert sum("(another)" in sentence for sentence in told) == len(told) - 1
