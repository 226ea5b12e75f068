"""Finds the best draft length of each draft, from all the draft lengths that were measured.

Neighbouring draft lengths differ by less than what a race can tell, so the highest of the measured
speedups would be another one each time. What a draft length brings, tokens a round, is counted and
comes out the same again; what a round costs is timed, and grows evenly with γ. So the curve takes
tokens as they were counted, and a round's cost from a straight line through all the measured ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from specviz.bench.suites import ALL
from specviz.bench.sweep_cells import Cell, by_prompt, median_of
from specviz.bench.sweep_plan import SweepLane
from specviz.bench.sweep_record import SweepRecord, SweepRun
from specviz.trace.interval import HIGH_PERCENT, LOW_PERCENT, NUM_RESAMPLES

MIN_GAMMAS, MIN_PROMPTS = 4, 2
"""Below these a curve is not fitted, and the highest measured speedup counts."""
_SEED = 2025
_Rows = NDArray[np.float64]


class CurvePoint(NamedTuple):
    """One draft length of a fitted curve."""

    gamma: int
    speedup: float


_NO_CURVE: tuple[CurvePoint, ...] = ()


@dataclass(frozen=True, slots=True)
class Best:
    """The best draft length of a draft, over all prompts."""

    draft: str
    gamma: int
    gamma_low: int
    """5th percentile over prompts drawn anew: what other prompts like these would name."""
    gamma_high: int
    """95th percentile; with the one before both ends are `gamma` where no curve was fitted."""
    speedup: float
    """Measured there."""
    speedup_low: float | None
    speedup_high: float | None
    curve: tuple[CurvePoint, ...]
    """The fitted curve; empty where none was."""


def best_of(record: SweepRecord, cells: Sequence[Cell]) -> tuple[Best, ...]:
    """Name the best draft length of every lane that was timed, in the order of the plan."""
    found = (_best(lane, record.runs, cells) for lane in record.plan.lanes)
    return tuple(best for best in found if best is not None)


def _best(lane: SweepLane, runs: Sequence[SweepRun], cells: Sequence[Cell]) -> Best | None:
    own = {
        cell.gamma: cell
        for cell in cells
        if cell.draft == lane.draft and cell.category == ALL and cell.speedup is not None
    }
    if not own:
        return None
    gammas = sorted(own)
    rows = _rows([run for run in runs if run.draft == lane.draft], gammas)
    if rows is None:
        gamma = max(own, key=lambda each: own[each].speedup or 0.0)
        low, high, curve = gamma, gamma, _NO_CURVE
    else:
        gamma, low, high, curve = _fitted(gammas, *rows)
    cell = own[gamma]
    assert cell.speedup is not None
    return Best(
        lane.draft, gamma, low, high, cell.speedup, cell.speedup_low, cell.speedup_high, curve
    )


def _rows(runs: Sequence[SweepRun], gammas: Sequence[int]) -> tuple[_Rows, _Rows] | None:
    """Logarithms of tokens a round, and costs of a round, of the prompts with every draft length.

    Both [prompts, gammas] float64; None where there are too few for a curve.
    """
    taus, costs = [], []
    for races in by_prompt(runs).values():
        at = {gamma: [run for run in races if run.gamma == gamma] for gamma in gammas}
        tau = [median_of(run.tau for run in at[gamma]) for gamma in gammas]
        cost = [median_of(run.round_cost for run in at[gamma]) for gamma in gammas]
        if None not in tau and None not in cost:
            taus.append(tau)
            costs.append(cost)
    if len(gammas) < MIN_GAMMAS or len(taus) < MIN_PROMPTS:
        return None
    return np.log(np.array(taus, dtype=np.float64)), np.array(costs, dtype=np.float64)


def _fitted(
    gammas: Sequence[int], log_taus: _Rows, costs: _Rows
) -> tuple[int, int, int, tuple[CurvePoint, ...]]:
    curve = _curves(gammas, log_taus[None], costs[None])[0]
    random = np.random.default_rng(_SEED)
    drawn = random.integers(0, len(costs), (NUM_RESAMPLES, len(costs)))
    named = np.array(gammas)[_curves(gammas, log_taus[drawn], costs[drawn]).argmax(axis=1)]
    low, high = np.percentile(named, (LOW_PERCENT, HIGH_PERCENT), method="nearest")
    points = tuple(
        CurvePoint(gamma, float(value)) for gamma, value in zip(gammas, curve, strict=True)
    )
    best = gammas[int(curve.argmax())]
    return best, min(int(low), best), max(int(high), best), points


def _curves(gammas: Sequence[int], log_taus: _Rows, costs: _Rows) -> _Rows:
    """Speedup by draft length, [samples, gammas], from [samples, prompts, gammas].

    Geometric mean over the prompts of tokens a round, over the cost of a round by a straight line
    of least squares through the medians of the prompts' costs.
    """
    x = np.array(gammas, dtype=np.float64)
    middle = x - x.mean()
    typical = np.median(costs, axis=1)
    slope = (typical * middle).sum(axis=1, keepdims=True) / (middle**2).sum()
    line = typical.mean(axis=1, keepdims=True) + slope * middle
    curves: _Rows = np.exp(log_taus.mean(axis=1)) / np.maximum(line, 0.05)
    return curves
