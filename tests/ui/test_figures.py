"""The live figures are the metrics of the trace so far."""

import pytest
from fake_race import FakeRace

from specviz.metrics import Agreement, RunningCounts, Verdict, lane_metrics, race_metrics
from specviz.trace import Event, LaneSpec, Method, RaceFinished, RaceRequest, Sampling
from specviz.ui.figures import chart_point, compared_figures, live_figures, output_figure
from specviz.ui.race_view import RaceView

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


def test_the_last_figures_are_those_of_the_finished_trace() -> None:
    events = _race()
    alone, figures = _seen(events).figures()
    finished = events[-1]
    assert isinstance(finished, RaceFinished)
    baseline, lane = finished.trace.lanes
    metrics = lane_metrics(lane, baseline)
    assert figures["speedup"]["value"] == f"{metrics.speedup:.2f}×"
    judged = metrics.num_accepted + metrics.num_rejected
    assert figures["alpha"]["detail"] == f"{metrics.num_accepted}/{judged} judged"
    assert figures["rate"]["detail"] == f"{metrics.num_accepted}/{metrics.num_drafted} drafted"
    assert figures["tau"]["value"] == f"{metrics.tau:.2f}"
    assert figures["lossless"]["value"] == "identical ✓"
    assert (alone["tokens"], figures["tokens"]) == (40, 40)
    assert "speedup" not in alone


def test_before_a_race_there_are_no_figures() -> None:
    assert RaceView().figures() == []


def test_figures_without_rounds_are_dashes_not_zeros() -> None:
    empty = RunningCounts()
    assert live_figures(empty)["speed"] == "– tok/s"
    output = output_figure(None, is_greedy=True, is_running=True)
    figures = compared_figures(empty, empty, output)
    assert figures["speedup"]["value"] == "–"
    assert figures["alpha"] == {"value": "–", "detail": "0/0 judged"}
    assert figures["is_slower"] is False


def test_a_slower_lane_is_said_to_be_slower() -> None:
    view = _seen(_race(hit=0.0, gamma=16))
    _, figures = view.figures()
    assert figures["is_slower"] is True
    assert figures["speedup"]["detail"] == "slower than the target alone"
    assert "slower than the target alone" in view.closing_sentence()


def test_a_chart_point_shows_the_share_of_its_own_round() -> None:
    before = RunningCounts(num_rounds=1, num_accepted=3, num_rejected=1, num_emitted=4, verify_ms=8)
    after = RunningCounts(
        num_rounds=2, num_accepted=4, num_rejected=2, num_emitted=6, verify_ms=16.0
    )
    baseline = RunningCounts(num_rounds=2, num_emitted=2, verify_ms=12.0)
    assert chart_point(after, before, baseline) == [2, 16.0, 6, 0.5, 0.6667, 2.25]


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
    assert output_figure(verdict, is_greedy=True, is_running=False)["value"] == value


def test_a_sampled_race_promises_the_law_and_not_the_words() -> None:
    _, figures = _seen(_race(temperature=0.8)).figures()
    assert figures["lossless"]["value"] == "same law"


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
        assert figures["alpha"]["detail"] == f"{metrics.num_accepted}/{judged} judged"
        assert figures["speedup"]["value"] == f"{metrics.speedup:.2f}×"
        assert figures["lossless"]["value"] == "identical ✓"
    assert len({figures["alpha"]["detail"] for figures in shown}) == 3
    for draft, figures in zip(drafts, shown, strict=True):
        assert f"{draft} {figures['speedup']['value']}" in view.closing_sentence()


def test_with_many_lanes_the_story_is_told_of_the_last() -> None:
    lanes = (*LANES, LaneSpec("another", Method.DRAFT_MODEL, "fake-target", "fake-draft", 4))
    view = RaceView()
    told = set()
    for event in FakeRace(pause=0)(RaceRequest("Hello", lanes, max_new_tokens=24)):
        view.take(event)
        told.add(view.narration)
    assert "All lanes read the prompt." in told
    assert sum("(another)" in sentence for sentence in told) == len(told) - 1
