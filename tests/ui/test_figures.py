"""The live figures are the metrics of the trace so far."""

import pytest
from fake_race import FakeRace

from specviz.metrics import Agreement, RunningCounts, Verdict, lane_metrics
from specviz.trace import Event, LaneSpec, Method, RaceFinished, RaceRequest, Sampling
from specviz.ui.figures import chart_point, live_figures, output_figure
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
    figures = _seen(events).figures()
    finished = events[-1]
    assert isinstance(finished, RaceFinished)
    baseline, lane = finished.trace.lanes
    metrics = lane_metrics(lane, baseline)
    assert figures is not None
    assert figures["speedup"]["value"] == f"{metrics.speedup:.2f}×"
    judged = metrics.num_accepted + metrics.num_rejected
    assert figures["alpha"]["detail"] == f"{metrics.num_accepted}/{judged} judged"
    assert figures["rate"]["detail"] == f"{metrics.num_accepted}/{metrics.num_drafted} drafted"
    assert figures["tau"]["value"] == f"{metrics.tau:.2f}"
    assert figures["lossless"]["value"] == "identical ✓"
    assert figures["lanes"][1]["tokens"] == 40


def test_before_a_race_there_are_no_figures() -> None:
    assert RaceView().figures() is None


def test_figures_without_rounds_are_dashes_not_zeros() -> None:
    empty = [RunningCounts(), RunningCounts()]
    figures = live_figures(empty, 1, output_figure(None, is_greedy=True, is_running=True))
    assert figures["speedup"]["value"] == "–"
    assert figures["alpha"] == {"value": "–", "detail": "0/0 judged"}
    assert figures["is_slower"] is False


def test_a_slower_lane_is_said_to_be_slower() -> None:
    view = _seen(_race(hit=0.0, gamma=16))
    figures = view.figures()
    assert figures is not None
    assert figures["is_slower"] is True
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
    figures = _seen(_race(temperature=0.8)).figures()
    assert figures is not None
    assert figures["lossless"]["value"] == "same law"
