"""The sum of a slower lane by hand; a pass of the target takes 10 ms in all of these races."""

from collections.abc import Sequence

import pytest
from traces import chain, lane, plain

from specviz.trace.metrics import LaneMetrics, lane_metrics
from specviz.trace.slower import Remedy, RemedyKind, Slowness, why_slower
from specviz.trace.values import Method, Round

BASELINE = lane(plain(*range(50)), Method.BASELINE)


def metrics_of(rounds: Sequence[Round]) -> LaneMetrics:
    return lane_metrics(lane(rounds), BASELINE)


def slowness(rounds: Sequence[Round]) -> Slowness:
    found = why_slower(metrics_of(rounds))
    assert found is not None
    return found


def remedies(rounds: Sequence[Round]) -> dict[RemedyKind, Remedy]:
    return {each.kind: each for each in slowness(rounds).remedies}


def miss(draft_ms: float, verify_ms: float, *, num: int = 5) -> Round:
    """All guesses thrown away but the last one's slot: one token for `num` guesses."""
    return chain(range(100, 100 + num), 0, 1, draft_ms=draft_ms, verify_ms=verify_ms)


def hit(kept: int, draft_ms: float, verify_ms: float, *, num: int = 5) -> Round:
    return chain(range(100, 100 + num), kept, 1, draft_ms=draft_ms, verify_ms=verify_ms)


def test_the_sum_of_the_issue() -> None:
    """Ten rounds of five guesses at 0.14 passes and a check of one pass: 5·c + v = 1.7 passes.

    One of them keeps one guess, so they bring 1.1 tokens: 1.1 / 1.7.
    """
    found = slowness([hit(1, 7.0, 10.0), *[miss(7.0, 10.0)] * 9])
    assert found.guesses == 5
    assert found.drafting_round_cost == pytest.approx(1.7)
    assert found.round_cost == pytest.approx(1.7)
    assert found.tokens_per_round == pytest.approx(1.1)
    assert found.expected_speedup == pytest.approx(1.1 / 1.7)
    assert found.speedup == pytest.approx(1.1 / 1.7)
    assert (found.num_rounds, found.num_drafting_rounds) == (10, 10)


def test_what_helps_a_lane_that_keeps_almost_nothing() -> None:
    """α = 1/11: one guess brings 1.09 tokens for 1.14 passes, so no γ pays."""
    found = remedies([hit(1, 7.0, 10.0), *[miss(7.0, 10.0)] * 9])
    assert list(found) == [
        *(RemedyKind.NO_GAMMA, RemedyKind.CHEAPER_GUESS, RemedyKind.BETTER_GUESS),
    ]
    none = found[RemedyKind.NO_GAMMA]
    assert none.tokens == pytest.approx(1 + 1 / 11)
    assert none.cost == pytest.approx(1.14)
    assert found[RemedyKind.CHEAPER_GUESS].value == pytest.approx(0.1 / 5)
    needed = found[RemedyKind.BETTER_GUESS].value
    assert needed is not None
    assert sum(needed**power for power in range(6)) == pytest.approx(1.7)


def test_a_shorter_draft_is_offered_where_it_pays() -> None:
    """α = 2/3, c = 0.4 and v = 1.2 for five guesses, so 1.04 is taken for a check of one."""
    gamma = remedies([hit(2, 20.0, 12.0)] * 6)[RemedyKind.GAMMA]
    assert gamma.value == 1
    assert gamma.speedup == pytest.approx((1 + 2 / 3) / (0.4 + 1.04))


def test_a_dear_check_is_named_with_what_a_cheap_one_would_make() -> None:
    found = remedies([hit(1, 1.0, 25.0)] * 4)
    assert found[RemedyKind.CHEAPER_CHECK].speedup == pytest.approx(2 / 1.1)
    assert RemedyKind.CHEAPER_GUESS not in found


def test_rounds_without_a_guess_cost_one_pass() -> None:
    """Three plain rounds and one of five guesses that cost 2 passes in all: 5 passes, 4 tokens."""
    rounds = [*plain(1, 2, 3), miss(0.0, 20.0)]
    found = slowness(rounds)
    assert (found.num_rounds, found.num_drafting_rounds) == (4, 1)
    assert found.drafting_round_cost == pytest.approx(2.0)
    assert found.round_cost == pytest.approx(5 / 4)
    assert found.expected_speedup == pytest.approx(4 / 5)
    assert remedies(rounds)[RemedyKind.MORE_GUESSES].value == 0.25


def test_a_lane_that_only_lost_time_between_its_passes_is_told_so() -> None:
    """The rounds cost 1.5 passes and bring 2 tokens, but 10 ms more went elsewhere."""
    lost = chain(range(5), 1, 9, draft_ms=5.0, verify_ms=10.0, other_ms=10.0)
    found = slowness([lost] * 4)
    assert found.expected_speedup == pytest.approx(2 / 1.5)
    assert found.speedup == pytest.approx(2 / 2.5)
    (only,) = found.remedies
    assert only.kind is RemedyKind.QUIET_MACHINE
    assert only.value == pytest.approx(1 - 1.5 / 2.5)


def test_no_chance_is_enough_where_a_round_costs_more_than_it_can_bring() -> None:
    assert RemedyKind.BETTER_GUESS not in remedies([hit(5, 60.0, 10.0), *[miss(60.0, 10.0)] * 3])


@pytest.mark.parametrize(
    "rounds",
    [[hit(5, 1.0, 10.0)], plain(1, 2, 3, ms=20.0), []],
    ids=["faster", "nothing guessed", "nothing"],
)
def test_a_lane_that_is_not_slower_has_no_answer(rounds: Sequence[Round]) -> None:
    assert why_slower(metrics_of(rounds)) is None


def test_without_a_baseline_nothing_can_be_said() -> None:
    assert why_slower(lane_metrics(lane([miss(7.0, 10.0)]), None)) is None
