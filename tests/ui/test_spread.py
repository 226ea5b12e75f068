"""How rounds spread: counts of the trace, beside what theory expects of the lane's alpha."""

import pytest
from fake_race import FakeRace
from traces import chain, drafted, plain, small_race

from specviz.trace.counts import RunningCounts
from specviz.trace.metrics import lane_metrics
from specviz.trace.theory import expected_tokens_per_round
from specviz.trace.values import LaneSpec, Method, Outcome, RaceFinished, RaceRequest, Round
from specviz.ui.race_view import RaceView
from specviz.ui.spread import Spread, time_shares


def _spread(*rounds: Round) -> Spread:
    spread = Spread()
    for round_ in rounds:
        spread.add(round_)
    return spread


def test_rounds_are_counted_by_guesses_kept_and_by_position() -> None:
    # Rounds of 3, 3 and 1 guesses, of which 3, 1 and 1 were kept.
    view = _spread(*small_race().lanes[1].rounds).view(alpha=None)
    assert view == {
        "rounds": 3,
        "kept": [[0, "0 %"], [2, "67 %"], [0, "0 %"], [1, "33 %"]],
        "position": [[1.0, 3, 3], [0.5, 1, 2], [0.5, 1, 2]],
    }


def test_theory_stands_beside_the_counts() -> None:
    # At alpha 0.5 a round of 2 keeps 0, 1, 2 with chances 0.5, 0.25, 0.25; one of 1 with 0.5, 0.5.
    rounds = (chain((1, 2), 2, 3), chain((4, 90), 1, 5), chain((91,), 0, 6))
    view = _spread(*rounds).view(alpha=0.5)
    assert view["expected"] == [0.5 + 0.5 + 0.5, 0.25 + 0.25 + 0.5, 0.25 + 0.25]
    assert view["predicted"] == [0.5, 0.25]


@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.9, 1.0])
def test_expected_rounds_add_up_and_give_the_mean_of_the_paper(alpha: float) -> None:
    view = _spread(*[chain((1, 2, 3, 4), 4, 5)] * 100).view(alpha)
    assert sum(view["expected"]) == pytest.approx(100, abs=0.05)
    tokens = sum(rounds * (kept + 1) for kept, rounds in enumerate(view["expected"]))
    assert tokens / 100 == pytest.approx(expected_tokens_per_round(alpha, 4), abs=0.005)


def test_rounds_without_guesses_count_for_nothing() -> None:
    empty = {"rounds": 0, "kept": [], "position": []}
    assert _spread(*plain(1, 2, 3)).view(alpha=None) == empty
    mixed = _spread(chain((1, 2), 1, 3), *plain(4, 5)).view(alpha=None)
    assert mixed["rounds"] == 1


def test_a_tree_counts_its_branches_and_theory_is_silent() -> None:
    tree = chain((1,), 0, 3)
    branches = (
        drafted(1, Outcome.REJECTED, -1),
        drafted(2, Outcome.ACCEPTED, -1),
        drafted(3, Outcome.ACCEPTED, 1),
    )
    tree = Round(0, 0, 3, branches, tree.emitted, 1.0, 2.0, 0.0)
    view = _spread(tree).view(alpha=0.5)
    assert view["position"] == [[1.0, 1, 1], [1.0, 1, 1]]
    assert "expected" not in view
    assert "predicted" not in view


def test_a_race_spreads_as_its_trace_says() -> None:
    specs = (
        LaneSpec("target alone", Method.BASELINE, "fake-target"),
        LaneSpec("x", Method.DRAFT_MODEL, "fake-target", "fake-draft", 4),
    )
    view, events = RaceView(), list(FakeRace(pause=0)(RaceRequest("Hello", specs)))
    for event in events:
        view.take(event)
    finished = events[-1]
    assert isinstance(finished, RaceFinished)
    baseline, lane = finished.trace.lanes
    spread = view.figures()[1]["spread"]
    rates = [rate for rate, _, _ in spread["position"]]
    metrics = lane_metrics(lane, baseline)
    assert rates == pytest.approx(list(metrics.acceptance_by_position), abs=5e-5)
    assert sum(kept * count for kept, (count, _) in enumerate(spread["kept"])) == (
        metrics.num_accepted
    )
    assert "spread" not in view.figures()[0]


def test_shares_of_a_lanes_time() -> None:
    counts = RunningCounts(draft_ms=18.4, verify_ms=78.6, other_ms=3.0)
    assert time_shares(counts) == ["18.4 %", "78.6 %", "3.0 %"]
    assert time_shares(RunningCounts()) == []
