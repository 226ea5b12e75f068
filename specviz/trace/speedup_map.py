"""Which acceptance a draft needs at which cost: lines of equal speedup between α and c."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from specviz.trace.limits import MAX_GAMMA

SPEEDUPS = (0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0)
LEAST_WIDTH = 0.3
_NUM_COSTS, _NUM_ALPHAS = 31, 401


class IsoLine(NamedTuple):
    """All pairs of α and c that make one speedup."""

    speedup: float
    points: tuple[tuple[float, float], ...]
    """(c, α) with c rising; ends where no α is enough."""


def iso_lines(
    verify_cost: float, most_cost: float, speedups: Sequence[float] = SPEEDUPS
) -> tuple[IsoLine, ...]:
    """Give for each speedup the α that a draft of cost c needs, at the best γ that α and c have.

    speedup = max over γ of (1 + α + … + α^γ) / (γ·c + v): Leviathan et al. 2023, arXiv:2211.17192,
    Theorem 3.8, with v in the place of 1.

    Args:
        verify_cost: v, above 0, the same at every γ.
        most_cost: The map reaches to this c, or to 0.3.
    """
    alphas = np.linspace(0.0, 1.0, _NUM_ALPHAS)
    gammas = np.arange(1, MAX_GAMMA + 1)
    tokens = 1.0 + np.cumsum(alphas[:, None] ** gammas, axis=1)
    costs = np.linspace(0.0, max(LEAST_WIDTH, most_cost), _NUM_COSTS)
    # [costs, alphas]: rising along the second axis.
    reached = np.array([(tokens / (gammas * cost + verify_cost)).max(axis=1) for cost in costs])
    lines = []
    for speedup in speedups:
        points = tuple(
            (float(cost), float(np.interp(speedup, row, alphas)))
            for cost, row in zip(costs, reached, strict=True)
            if row[0] <= speedup <= row[-1]
        )
        lines.append(IsoLine(speedup, points))
    return tuple(line for line in lines if len(line.points) > 1)
