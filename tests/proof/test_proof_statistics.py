"""Statistics against printed tables, by hand, and against all outcomes of a few draws."""

from itertools import product
from math import prod

import pytest
import torch

from specviz.proof.statistics import (
    chi_square,
    chi_square_tail,
    joined,
    mean_total_variation,
    squared_scores,
    total_variation,
    total_variation_bound,
)


@pytest.mark.parametrize(
    ("statistic", "degrees", "tail"),
    [(3.841, 1, 0.05), (6.635, 1, 0.01), (16.919, 9, 0.05), (124.342, 100, 0.05), (0.0, 3, 1.0)],
)
def test_tails_of_a_printed_table(statistic: float, degrees: int, tail: float) -> None:
    assert chi_square_tail(statistic, degrees) == pytest.approx(tail, abs=1e-4)


def test_nothing_to_test_is_no_evidence() -> None:
    assert chi_square_tail(7.0, 0) == 1.0
    assert chi_square([10], [10.0]).p_value == 1.0
    assert chi_square([3, 1], [2.0, 2.0]) == (0.0, 0, 1.0)
    assert squared_scores([4.0], [4.9]) == (0.0, 0, 1.0)


def test_chi_square_by_hand() -> None:
    """(30 - 20)² / 20 + (10 - 20)² / 20 = 10."""
    assert chi_square([30, 10], [20.0, 20.0])[:2] == (10.0, 1)


def test_rare_cells_are_pooled() -> None:
    """Expected 3 and 4 make a cell of 7; (9 - 7)² / 7 + (41 - 43)² / 43."""
    found = chi_square([41, 6, 3], [43.0, 3.0, 4.0])
    assert found[:2] == (pytest.approx(4 / 7 + 4 / 43), 1)


def test_a_pool_that_is_rare_itself_joins_the_rarest_cell() -> None:
    """One draw of what hardly ever comes is no proof: it would be 1 / 0.01 alone."""
    found = chi_square([60, 39, 1], [60.0, 39.99, 0.01])
    assert found.degrees == 1
    assert found.p_value > 0.9
    many = chi_square([60, 10, 30], [60.0, 39.99, 0.01])
    assert many.p_value == pytest.approx(1.0)
    assert chi_square([30, 40, 30], [60.0, 39.99, 0.01]).p_value < 1e-6


def test_squared_scores_by_hand() -> None:
    """9 / 9 + 16 / 8 with two degrees of freedom: exp(-3 / 2); a variance below 5 is left out."""
    found = squared_scores([3.0, -4.0, 100.0], [9.0, 8.0, 1.0])
    assert found == (3.0, 2, pytest.approx(torch.tensor(-1.5).exp().item()))


def test_tests_are_joined_by_their_number() -> None:
    assert joined([0.2, 0.01, 0.5]) == pytest.approx(0.03)
    assert joined([0.6, 0.9]) == 1.0


def test_total_variation_by_hand() -> None:
    counts, probs = torch.tensor([3.0, 1.0, 0.0]), torch.tensor([0.5, 0.3, 0.2])
    assert total_variation(counts, probs) == pytest.approx(0.25)
    assert total_variation(torch.zeros(3), probs) == 0.0


@pytest.mark.parametrize("num_draws", [1, 2, 5])
@pytest.mark.parametrize("probs", [(0.5, 0.5), (0.6, 0.3, 0.1), (1.0, 0.0), (0.2, 0.8)])
def test_mean_total_variation_over_all_outcomes(probs: tuple[float, ...], num_draws: int) -> None:
    law = torch.tensor(probs, dtype=torch.float64)
    mean = 0.0
    for draws in product(range(len(probs)), repeat=num_draws):
        counts = torch.bincount(torch.tensor(draws), minlength=len(probs)).double()
        mean += prod(probs[draw] for draw in draws) * total_variation(counts, law)
    assert mean_total_variation(law, num_draws) == pytest.approx(mean)


def test_the_bound_holds_as_often_as_it_says() -> None:
    """2,000 samples of 200 draws: at most 1 in 100 lies above."""
    law = torch.tensor([0.5, 0.3, 0.15, 0.05], dtype=torch.float64)
    bound = total_variation_bound(law, 200, 0.01)
    assert bound == pytest.approx(mean_total_variation(law, 200) + (4.60517 / 400) ** 0.5, abs=1e-5)
    draws = torch.multinomial(
        law.expand(2_000, -1), 200, replacement=True, generator=torch.Generator().manual_seed(1)
    )
    counts = torch.nn.functional.one_hot(draws, 4).sum(dim=1)
    above = sum(total_variation(row.double(), law) > bound for row in counts)
    assert above <= 20
    assert total_variation_bound(law, 1, 0.01) == 1.0
