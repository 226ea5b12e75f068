"""Draft lengths that follow the rounds: rules by hand, and a lane whose best length is known."""

import random
from dataclasses import replace

import pytest

from specviz.decoding.draft_lengths import (
    FIRST_GAMMA,
    CostAware,
    DraftLengths,
    Fixed,
    Heuristic,
    lengths_of,
)
from specviz.trace.theory import best_gamma, predicted_speedup
from specviz.trace.values import DraftToken, LaneSpec, Method, Outcome, Round, Schedule

STEP_MS = 10.0


def _round(drafted: int, kept: int, draft_cost: float = 0.1, slope: float = 0.02) -> Round:
    """A round that took what a device with these costs takes."""
    outcomes = [
        Outcome.ACCEPTED if at < kept else Outcome.REJECTED if at == kept else Outcome.DISCARDED
        for at in range(drafted)
    ]
    tokens = tuple(
        DraftToken(1, "a", at - 1, outcome, 0.5, 0.5, 1.0, 0.5, 0.5)
        for at, outcome in enumerate(outcomes)
    )
    verify_ms = STEP_MS * (1 + slope * drafted)
    return Round(0, 0, drafted, tokens, (), STEP_MS * draft_cost * drafted, verify_ms, 0.0)


def _run(
    lengths: DraftLengths, alpha: float, draft_cost: float, slope: float, rounds: int = 400
) -> float:
    """Speedup of a lane whose tokens are accepted independently with the chance alpha."""
    chance = random.Random(7)
    tokens = ms = 0.0
    for _ in range(rounds):
        gamma = lengths.next_gamma()
        kept = next((at for at in range(gamma) if chance.random() >= alpha), gamma)
        round_ = _round(gamma, kept, draft_cost, slope)
        lengths.observe(round_)
        tokens += kept + 1
        ms += round_.ms
    return STEP_MS * tokens / ms


@pytest.mark.parametrize("alpha", [0.3, 0.6, 0.8, 0.95])
@pytest.mark.parametrize(("draft_cost", "slope"), [(0.05, 0.01), (0.1, 0.04), (0.3, 0.1)])
def test_cost_aware_comes_close_to_the_best_length(
    alpha: float, draft_cost: float, slope: float
) -> None:
    found = _run(CostAware(16), alpha, draft_cost, slope)
    best = max(
        predicted_speedup(alpha, gamma, draft_cost, 1 + slope * gamma) for gamma in range(1, 17)
    )
    # A run of 400 rounds strays some percent from its mean by itself.
    assert found > 0.93 * best


def test_cost_aware_follows_a_text_that_changes() -> None:
    lengths = CostAware(10)
    _run(lengths, 0.95, 0.05, 0.01, rounds=60)
    assert lengths.next_gamma() >= 8
    _run(lengths, 0.2, 0.05, 0.01, rounds=60)
    assert lengths.next_gamma() <= best_gamma(0.2, 0.05, lambda gamma: 1 + 0.01 * gamma) + 2


def test_a_round_that_was_held_up_changes_little() -> None:
    calm, disturbed = CostAware(10), CostAware(10)
    for number in range(30):
        for lengths in (calm, disturbed):
            lengths.observe(_round(4, number % 5))
    disturbed.observe(replace(_round(4, 2), verify_ms=5000.0, draft_ms=5000.0))
    calm.observe(_round(4, 2))
    assert abs(disturbed.next_gamma() - calm.next_gamma()) <= 1


def test_rounds_without_drafts_teach_nothing_about_drafts() -> None:
    for lengths in (CostAware(8), Heuristic(8)):
        for _ in range(5):
            lengths.observe(_round(0, 0))
        assert lengths.next_gamma() == FIRST_GAMMA


def test_the_heuristic_adds_two_and_takes_one() -> None:
    lengths = Heuristic(7)
    seen = []
    for drafted, kept in ((4, 4), (6, 6), (7, 7), (7, 3), (6, 0), (5, 5)):
        lengths.observe(_round(drafted, kept))
        seen.append(lengths.next_gamma())
    assert seen == [6, 7, 7, 6, 5, 7]
    for _ in range(20):
        lengths.observe(_round(1, 0))
    assert lengths.next_gamma() == 1
    lengths.reset()
    assert lengths.next_gamma() == FIRST_GAMMA


def test_what_was_learned_ends_with_its_text() -> None:
    lengths = CostAware(10)
    _run(lengths, 0.95, 0.05, 0.01, rounds=30)
    lengths.reset()
    assert lengths.next_gamma() == FIRST_GAMMA
    assert CostAware(2).next_gamma() == 2


def test_each_schedule_has_its_chooser() -> None:
    spec = LaneSpec(None, Method.DRAFT_MODEL, "t", "d", 3)
    kinds = {schedule: type(lengths_of(replace(spec, schedule=schedule))) for schedule in Schedule}
    assert kinds == {
        Schedule.FIXED: Fixed,
        Schedule.CONFIDENCE: Fixed,
        Schedule.HEURISTIC: Heuristic,
        Schedule.COST_AWARE: CostAware,
    }
    assert lengths_of(spec).next_gamma() == 3
