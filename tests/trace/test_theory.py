"""The papers' formulas, against the papers' own numbers and against a simulation."""

import random

import pytest

from specviz.trace.theory import (
    best_gamma,
    expected_tokens_per_round,
    kept_law,
    predicted_speedup,
)


@pytest.mark.parametrize(
    ("alpha", "gamma", "tokens"),
    # Leviathan et al. 2023, table 1, column "speed", which is E at c = 0.
    [
        (0.6, 2, 1.96),
        (0.7, 3, 2.53),
        (0.8, 2, 2.44),
        (0.8, 5, 3.69),
        (0.9, 2, 2.71),
        (0.9, 10, 6.86),
    ],
)
def test_tokens_per_round_are_those_of_the_paper(alpha: float, gamma: int, tokens: float) -> None:
    assert expected_tokens_per_round(alpha, gamma) == pytest.approx(tokens, abs=0.005)
    assert predicted_speedup(alpha, gamma, 0.0) == pytest.approx(tokens, abs=0.005)


@pytest.mark.parametrize("gamma", range(17))
def test_limits_of_alpha(gamma: int) -> None:
    assert expected_tokens_per_round(0.0, gamma) == 1.0
    assert expected_tokens_per_round(1.0, gamma) == gamma + 1
    assert expected_tokens_per_round(1.0 - 1e-12, gamma) == pytest.approx(gamma + 1)


def test_tokens_per_round_match_a_simulation() -> None:
    # 40,000 rounds: the standard error is below 0.01, so 0.05 raises no false alarm.
    coin = random.Random(1)
    total = 0
    for _ in range(40_000):
        accepted = 0
        while accepted < 4 and coin.random() < 0.7:
            accepted += 1
        total += accepted + 1
    assert expected_tokens_per_round(0.7, 4) == pytest.approx(total / 40_000, abs=0.05)


def test_the_law_of_kept_guesses_is_that_of_tokens_per_round() -> None:
    assert kept_law(0.8, 2) == pytest.approx((0.2, 0.16, 0.64))
    for alpha in (0.0, 0.3, 0.8, 1.0):
        for gamma in range(17):
            law = kept_law(alpha, gamma)
            assert sum(law) == pytest.approx(1.0)
            tokens = sum((kept + 1) * chance for kept, chance in enumerate(law))
            assert tokens == pytest.approx(expected_tokens_per_round(alpha, gamma))


def test_costs_divide_the_speedup() -> None:
    tokens = 1 + 0.8 + 0.64 + 0.512 + 0.4096 + 0.32768
    assert predicted_speedup(0.8, 5, 0.05) == pytest.approx(tokens / 1.25)
    assert predicted_speedup(0.8, 5, 0.05, 1.5) == pytest.approx(tokens / 1.75)
    assert predicted_speedup(0.0, 5, 0.1) == pytest.approx(1 / 1.5)


def test_best_gamma_is_the_best_of_all() -> None:
    for alpha in (0.2, 0.5, 0.8, 0.95):
        for cost in (0.01, 0.1, 0.3):
            best = best_gamma(alpha, cost)
            speedups = [1.0] + [predicted_speedup(alpha, gamma, cost) for gamma in range(1, 17)]
            assert speedups[best] == max(speedups)


def test_best_gamma_without_gain_is_to_draft_nothing() -> None:
    assert best_gamma(0.3, 0.3) == 0
    assert best_gamma(0.3, 0.05, verify_cost=2.0) == 0


def test_best_gamma_listens_to_a_measured_verification_cost() -> None:
    assert best_gamma(0.9, 0.02) > 4
    assert best_gamma(0.9, 0.02, lambda gamma: 1.0 if gamma <= 3 else 3.0) == 3
    assert best_gamma(1.0, 0.0, max_gamma=6) == 6


def test_some_length_pays_exactly_where_alpha_is_above_the_draft_cost() -> None:
    """Corollary 3.9 of the paper, at v = 1."""
    for alpha in (0.0, 0.1, 0.5, 0.9, 1.0):
        for cost in (0.0, 0.1, 0.5, 0.9, 1.0, 2.0):
            assert (best_gamma(alpha, cost) > 0) is (alpha > cost)


@pytest.mark.parametrize(
    ("alpha", "gamma", "draft_cost", "verify_cost", "problem"),
    [
        (1.1, 3, 0.1, 1.0, "alpha must be 0 to 1, got 1.1"),
        (float("nan"), 3, 0.1, 1.0, "alpha"),
        (0.5, -1, 0.1, 1.0, "gamma must not be negative, got -1"),
        (0.5, 3, -0.1, 1.0, "draft_cost"),
        (0.5, 3, 0.1, 0.0, "verify_cost must be above 0, got 0.0"),
    ],
)
def test_arguments_without_meaning_are_refused(
    alpha: float, gamma: int, draft_cost: float, verify_cost: float, problem: str
) -> None:
    with pytest.raises(ValueError, match=problem):
        predicted_speedup(alpha, gamma, draft_cost, verify_cost)
