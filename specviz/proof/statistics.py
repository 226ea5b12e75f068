"""Chi-square, total variation, and several tests in one: numbers in, numbers out."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch

LEAST_EXPECTED = 5.0
"""Cells expected less often are pooled: below it the chi-square law is a poor approximation."""


class ChiSquare(NamedTuple):
    """A chi-square statistic, its degrees of freedom, and the tail beyond it."""

    statistic: float
    degrees: int
    p_value: float


def chi_square_tail(statistic: float, degrees: int) -> float:
    """Probability that a chi-square variable with so many degrees of freedom exceeds `statistic`.

    Q(degrees / 2, statistic / 2), the regularised upper incomplete gamma function. 1 where there
    are no degrees of freedom. Example: 3.841 with 1 degree gives .05.
    """
    if degrees == 0:
        return 1.0
    halves = torch.tensor([degrees / 2, statistic / 2], dtype=torch.float64)
    return float(torch.special.gammaincc(halves[0], halves[1]))


def chi_square(counts: Sequence[float], expected: Sequence[float]) -> ChiSquare:
    """Test counts of cells against how often each was expected (Pearson 1900).

    Cells expected below 5 are pooled; where the pool is still below, it joins the rarest other
    cell. Both sum to the number of draws. Nothing can be tested with fewer than two cells.
    """
    cells = _pooled(counts, expected)
    if len(cells) < 2:
        return ChiSquare(0.0, 0, 1.0)
    statistic = sum((seen - wanted) ** 2 / wanted for seen, wanted in cells)
    return ChiSquare(statistic, len(cells) - 1, chi_square_tail(statistic, len(cells) - 1))


def _pooled(counts: Sequence[float], expected: Sequence[float]) -> list[tuple[float, float]]:
    pairs = list(zip(counts, expected, strict=True))
    cells = sorted((pair for pair in pairs if pair[1] >= LEAST_EXPECTED), key=lambda pair: pair[1])
    rare = [pair for pair in pairs if pair[1] < LEAST_EXPECTED]
    pool = (sum(seen for seen, _ in rare), sum(wanted for _, wanted in rare))
    if pool[1] >= LEAST_EXPECTED or not cells:
        return [pool, *cells]
    return [(pool[0] + cells[0][0], pool[1] + cells[0][1]), *cells[1:]]


def squared_scores(sums: Sequence[float], variances: Sequence[float]) -> ChiSquare:
    """Add up the squares of sums that are 0 on average, each over its variance.

    Each summand lies in [-1, 1]. By the central limit theorem for martingales (Brown 1971) such a
    ratio is a squared standard normal once the variance is large; below 5 it is left out.
    """
    squares = [
        total**2 / variance
        for total, variance in zip(sums, variances, strict=True)
        if variance >= LEAST_EXPECTED
    ]
    statistic = sum(squares)
    return ChiSquare(statistic, len(squares), chi_square_tail(statistic, len(squares)))


def joined(p_values: Sequence[float]) -> float:
    """The p-value of several tests together, however they depend on one another: the smallest
    times their number, at most 1 (Bonferroni)."""
    return min(1.0, len(p_values) * min(p_values))


def total_variation(counts: torch.Tensor, probs: torch.Tensor) -> float:
    """½ Σ |counts / n - probs|, both `[num_cells]`; 0 without a draw."""
    num_draws = float(counts.sum())
    return float((counts / num_draws - probs).abs().sum() / 2) if num_draws else 0.0


def total_variation_bound(probs: torch.Tensor, num_draws: int, level: float) -> float:
    """What the total variation of so many draws from `probs` `[num_cells]` exceeds with at most the
    probability `level`: its exact mean, and √(ln(1 / level) / 2n) by which it can lie above it.

    One draw moves the total variation by at most 1 / n, so McDiarmid's inequality ("On the method
    of bounded differences", 1989) gives P(above the mean by t) ≤ exp(-2 n t²).
    """
    deviation = math.sqrt(-math.log(level) / (2 * num_draws))
    return min(1.0, mean_total_variation(probs, num_draws) + deviation)


def mean_total_variation(probs: torch.Tensor, num_draws: int) -> float:
    """The mean of ½ Σ |counts / n - p| over n draws from `probs` `[num_cells]`, exactly.

    Each count is binomial, and E|X - n p| = 2 v C(n, v) p^v (1 - p)^(n - v + 1) with v the whole
    number in (n p, n p + 1] (De Moivre 1730; Diaconis and Zabell, "Closed form summation for
    classical distributions", 1991). Example: one draw from (½, ½) gives ½.
    """
    p = probs.double()
    p = p[(p > 0) & (p < 1)]
    n = torch.tensor(float(num_draws), dtype=torch.float64)
    v = (n * p).floor() + 1
    # v C(n, v) = n! / ((v - 1)! (n - v)!)
    ways = (n + 1).lgamma() - v.lgamma() - (n - v + 1).lgamma()
    deviations = 2 * (ways + v * p.log() + (n - v + 1) * (-p).log1p()).exp()
    return float(deviations.sum() / (2 * n))
