"""Finds the best draft length of each draft, from all the draft lengths that were measured.

Neighbouring draft lengths differ by less than what a few races can tell, so the highest of the
measured speedups would be another one each time. What a draft length brings, tokens a round, is
counted and comes out the same again; only what a round costs is timed. So the curve takes tokens as
they were counted and costs from all races that know them: a check of so many tokens costs the same
whoever drafted them (and need not grow evenly: processors like some numbers of rows better), and
drafting takes a time that grows evenly with the drafted tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from specviz.bench.suites import ALL
from specviz.bench.sweep_cells import Cell, by_prompt, median_of
from specviz.bench.sweep_plan import SweepLane
from specviz.bench.sweep_record import SweepRecord, SweepRun
from specviz.trace.counts import ratio
from specviz.trace.interval import HIGH_PERCENT, LOW_PERCENT, NUM_RESAMPLES

MIN_GAMMAS, MIN_PROMPTS = 2, 2
"""Below these there is no curve, and the highest measured speedup counts."""
MIN_COST = 0.05
_SEED = 2025


class CurvePoint(NamedTuple):
    """One draft length of the curve."""

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
    """95th percentile; with the one before both ends are `gamma` where there is no curve."""
    speedup: float
    """Measured there."""
    speedup_low: float | None
    speedup_high: float | None
    curve: tuple[CurvePoint, ...]
    """From counted tokens and pooled costs; empty where too little was measured."""


def best_of(record: SweepRecord, cells: Sequence[Cell]) -> tuple[Best, ...]:
    """Name the best draft length of every lane that was timed, in the order of the plan."""
    found = (_best(lane, record, cells) for lane in record.plan.lanes)
    return tuple(best for best in found if best is not None)


def _best(lane: SweepLane, record: SweepRecord, cells: Sequence[Cell]) -> Best | None:
    own = {
        cell.gamma: cell
        for cell in cells
        if cell.draft == lane.draft and cell.category == ALL and cell.speedup is not None
    }
    if not own:
        return None
    gammas = sorted(own)
    runs = [run for run in record.runs if run.draft == lane.draft]
    costs = _costs(lane, runs, record)
    rows = None if costs is None else _log_speedups(runs, gammas, costs)
    if rows is None:
        gamma = max(own, key=lambda each: own[each].speedup or 0.0)
        low, high, curve = gamma, gamma, _NO_CURVE
    else:
        gamma, low, high, curve = _named(gammas, rows)
    cell = own[gamma]
    assert cell.speedup is not None
    return Best(
        lane.draft, gamma, low, high, cell.speedup, cell.speedup_low, cell.speedup_high, curve
    )


@dataclass(frozen=True, slots=True)
class _Costs:
    """What parts of a round cost, in passes of the target over one token."""

    draft_round: float
    """Drafting costs this a round, …"""
    draft_token: float
    """… and this a token."""
    checks: dict[int, float]
    """One check, by the draft length asked for."""
    rest: float
    """What is between the passes of a round."""

    def of(self, run: SweepRun) -> float | None:
        """The mean cost of a run's rounds; None without rounds."""
        if not run.num_rounds:
            return None
        drafting = sum(path.rounds for path in run.paths)
        drafted = sum(path.rounds * path.drafted for path in run.paths)
        cost = drafting * (self.draft_round + self.checks[run.gamma]) + drafted * self.draft_token
        return (run.num_rounds - drafting + cost) / run.num_rounds + self.rest


def _costs(lane: SweepLane, runs: Sequence[SweepRun], record: SweepRecord) -> _Costs | None:
    """Gather costs: of drafting from a lane's own runs, of checks from all of its method."""
    alike = {each.draft for each in record.plan.lanes if each.spec.method is lane.spec.method}
    all_runs = [run for run in record.runs if run.draft in alike]
    drafting: dict[int, float] = {}
    checks: dict[int, float] = {}
    for gamma in sorted({run.gamma for run in runs}):
        draft = median_of(run.draft_cost for run in runs if run.gamma == gamma)
        check = median_of(run.verify_cost for run in all_runs if run.gamma == gamma)
        if draft is None or check is None:
            return None
        drafting[gamma], checks[gamma] = gamma * draft, check
    if len(drafting) < MIN_GAMMAS:
        return None
    token, whole = np.polyfit(list(drafting), list(drafting.values()), 1)
    costs = _Costs(float(whole), float(token), checks, 0.0)
    rest = median_of(
        run.round_cost - cost
        for run in runs
        if run.round_cost is not None and (cost := costs.of(run)) is not None
    )
    return replace(costs, rest=rest or 0.0)


def _log_speedups(
    runs: Sequence[SweepRun], gammas: Sequence[int], costs: _Costs
) -> NDArray[np.float64] | None:
    """Logarithms of tokens a round over its cost, [prompts, gammas] float64, of the prompts with
    every draft length; None where there are too few."""
    rows = []
    for races in by_prompt(runs).values():
        first = {run.gamma: run for run in reversed(races)}
        found = [_speedup(first[gamma], costs) for gamma in gammas if gamma in first]
        if len(found) == len(gammas) and None not in found:
            rows.append(found)
    if len(rows) < MIN_PROMPTS:
        return None
    return np.log(np.array(rows, dtype=np.float64))


def _speedup(run: SweepRun, costs: _Costs) -> float | None:
    cost = costs.of(run)
    return ratio(run.tau, None if cost is None else max(cost, MIN_COST))


def _named(
    gammas: Sequence[int], rows: NDArray[np.float64]
) -> tuple[int, int, int, tuple[CurvePoint, ...]]:
    """Name the highest point of the mean over prompts, and those of prompts drawn anew."""
    curve = np.exp(rows.mean(axis=0))
    random = np.random.default_rng(_SEED)
    drawn = random.integers(0, len(rows), (NUM_RESAMPLES, len(rows)))
    named = np.array(gammas)[rows[drawn].mean(axis=1).argmax(axis=1)]
    low, high = np.percentile(named, (LOW_PERCENT, HIGH_PERCENT), method="nearest")
    points = tuple(
        CurvePoint(gamma, float(value)) for gamma, value in zip(gammas, curve, strict=True)
    )
    best = gammas[int(curve.argmax())]
    return best, min(int(low), best), max(int(high), best), points
