"""Sums up the runs of a sweep: one cell for each draft, draft length and category of prompts.

A cell's speedup is the geometric mean over the middle half of its prompts, of each the median over
its races: twice as fast here and half as fast there is no gain, and neither a race that the machine
held up decides, nor a single prompt, as it would where the middle one of a few unlike prompts were
taken. Its interval says where that would lie if these prompts were raced again on this machine. The
unit that is drawn anew is the race: for every prompt as many of its races as there are, with
replacement, each moved by what its own rounds leave open (`trace.interval`), which is all that is
known of a prompt that was raced once. What other prompts would give is not in it.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import exp, log, sqrt
from statistics import median

import numpy as np
from numpy.typing import NDArray

from specviz.bench.suites import ALL
from specviz.bench.sweep_plan import SweepLane
from specviz.bench.sweep_record import SweepRecord, SweepRun
from specviz.trace.counts import ratio
from specviz.trace.interval import HIGH_PERCENT, LOW_PERCENT, NUM_RESAMPLES, Interval
from specviz.trace.theory import expected_tokens_per_round
from specviz.trace.values import Method, Tree
from specviz.trace.verdict import Agreement

_SEED = 2024
_WIDTH = 2 * 1.645
"""Standard deviations between the 5th and the 95th percentile of a normal law."""
_SEVERITY = tuple(Agreement)


@dataclass(frozen=True, slots=True)
class Cell:
    """One draft at one draft length on the prompts of one category; None where not measured."""

    draft: str
    method: Method
    gamma: int
    category: str
    """A category of the suite, or "all"."""
    temperature: float
    n: int
    """Races that measured it."""
    num_prompts: int
    speedup: float | None
    speedup_low: float | None
    """5th percentile."""
    speedup_high: float | None
    """95th percentile."""
    alpha: float | None
    """Accepted over judged, counted over the prompts, one race of each."""
    num_accepted: int
    num_judged: int
    tau: float | None
    """Tokens a round, counted the same way."""
    draft_cost: float | None
    """Median over the races, as is the next."""
    verify_cost: float | None
    predicted_speedup: float | None
    """From acceptance by position and measured c and v; summed up as the speedup is, and so the
    next."""
    predicted_speedup_textbook: float | None
    """From alpha alone, with v = 1."""
    tokens_per_second: float | None
    """Median over the races."""
    acceptance_by_position: tuple[float, ...]
    """Entry j: share of the rounds with j + 1 drafted tokens that kept all of those."""
    rounds_by_kept: tuple[int, ...]
    """Entry k: rounds that drafted and kept k tokens."""
    draft_ms: float | None
    """Mean time of a token's share in drafting; with the next two it makes a token's time."""
    verify_ms: float | None
    other_ms: float | None
    agreement: Agreement | None
    """The worst of its races; None above temperature 0."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """How well predicted speedups explain measured ones, over all cells of single categories."""

    num_cells: int
    r_squared: float | None
    """1 - Σ (measured - predicted)² / Σ (measured - mean)², nothing fitted; from acceptance by
    position and measured costs. None below 3 cells."""
    r_squared_textbook: float | None
    """The same for the textbook form, over the same cells."""


def cells_of(record: SweepRecord) -> tuple[Cell, ...]:
    """Sum up what was measured so far: by lane, draft length and category, "all" first."""
    categories = {prompt.id: prompt.group for prompt in record.plan.prompts}
    noise = noise_of(record.runs)
    cells = []
    for lane in record.plan.lanes:
        own = [run for run in record.runs if run.draft == lane.draft]
        for gamma in lane.gammas:
            runs = [run for run in own if run.gamma == gamma]
            for category in (ALL, *record.plan.categories):
                chosen = [run for run in runs if category in (ALL, categories[run.prompt])]
                if chosen:
                    cells.append(_cell(lane, gamma, category, chosen, noise))
    return tuple(cells)


def prediction_of(cells: Iterable[Cell]) -> Prediction:
    """Hold predicted against measured speedups."""
    rows = [
        (cell.speedup, cell.predicted_speedup, cell.predicted_speedup_textbook)
        for cell in cells
        if cell.category != ALL
    ]
    complete = np.array([row for row in rows if None not in row], dtype=np.float64)
    if len(complete) < 3:
        return Prediction(len(complete), None, None)
    measured = complete[:, 0]
    return Prediction(
        len(complete), _r_squared(measured, complete[:, 1]), _r_squared(measured, complete[:, 2])
    )


def by_prompt(runs: Iterable[SweepRun]) -> dict[str, list[SweepRun]]:
    """Divide runs by their prompts."""
    found: dict[str, list[SweepRun]] = {}
    for run in runs:
        found.setdefault(run.prompt, []).append(run)
    return found


def median_of(values: Iterable[float | None]) -> float | None:
    """Median of what was measured; None where nothing was."""
    measured = [value for value in values if value is not None]
    return median(measured) if measured else None


def _r_squared(measured: NDArray[np.float64], predicted: NDArray[np.float64]) -> float | None:
    spread = float(((measured - measured.mean()) ** 2).sum())
    return None if not spread else 1.0 - float(((measured - predicted) ** 2).sum()) / spread


def _cell(
    lane: SweepLane, gamma: int, category: str, runs: Sequence[SweepRun], noise: float | None
) -> Cell:
    prompts = by_prompt(runs)
    # Repeated races judge the same tokens again.
    first = [races[0] for races in prompts.values()]
    speedup, interval = speedup_of(list(prompts.values()), noise)
    num_accepted = sum(run.num_accepted for run in first)
    num_judged = num_accepted + sum(run.num_rejected for run in first)
    num_emitted = sum(run.num_emitted for run in runs)
    reached, kept = _positions(first)
    verdicts = [run.agreement for run in runs if run.agreement is not None]
    return Cell(
        draft=lane.draft,
        method=lane.spec.method,
        gamma=gamma,
        category=category,
        temperature=lane.temperature,
        n=len(runs),
        num_prompts=len(prompts),
        speedup=speedup,
        speedup_low=interval and interval.low,
        speedup_high=interval and interval.high,
        alpha=ratio(num_accepted, num_judged),
        num_accepted=num_accepted,
        num_judged=num_judged,
        tau=ratio(sum(run.num_emitted for run in first), sum(run.num_rounds for run in first)),
        draft_cost=median_of(run.draft_cost for run in runs),
        verify_cost=median_of(run.verify_cost for run in runs),
        predicted_speedup=_mean_of_prompts(prompts, lambda run: run.predicted_speedup),
        # The textbook knows chains alone.
        predicted_speedup_textbook=None
        if lane.spec.tree is not Tree.NONE
        else _mean_of_prompts(prompts, textbook_speedup),
        tokens_per_second=median_of(
            ratio(1000.0 * run.num_emitted, run.draft_ms + run.verify_ms + run.other_ms)
            for run in runs
        ),
        acceptance_by_position=reached,
        rounds_by_kept=kept,
        draft_ms=ratio(sum(run.draft_ms for run in runs), num_emitted),
        verify_ms=ratio(sum(run.verify_ms for run in runs), num_emitted),
        other_ms=ratio(sum(run.other_ms for run in runs), num_emitted),
        agreement=max(verdicts, key=_SEVERITY.index, default=None),
    )


def textbook_speedup(run: SweepRun) -> float | None:
    """Return Σ E(alpha, g) over Σ (g·c + 1), as the paper has it, for the rounds that were run.

    Leviathan et al. 2023, arXiv:2211.17192, Theorem 3.8; a round without drafts brings 1 for 1.
    """
    num_plain = run.num_rounds - sum(path.rounds for path in run.paths)
    if not run.num_rounds or (run.paths and (run.alpha is None or run.draft_cost is None)):
        return None
    tokens = cost = float(num_plain)
    for path in run.paths:
        assert run.alpha is not None
        assert run.draft_cost is not None
        tokens += path.rounds * expected_tokens_per_round(run.alpha, path.drafted)
        cost += path.rounds * (path.drafted * run.draft_cost + 1.0)
    return tokens / cost


def speedup_of(
    prompts: Sequence[Sequence[SweepRun]], noise: float | None
) -> tuple[float | None, Interval | None]:
    """Give the mean over the middle prompts, and its interval; None where nothing tells how sure.

    A race moves in the logarithm of its speedup, by a normal law that has the race's own interval
    between its 5th and 95th percentiles. One of too few rounds to have an interval is taken to be
    as noisy, round for round, as the others: `noise` is that of `noise_of`. The drawn means are
    moved to lie around the measured one.
    """
    timed = [[run for run in races if run.speedup] for races in prompts]
    timed = [races for races in timed if races]
    if not timed:
        return None, None
    logs = np.array([log(median(run.speedup or 1.0 for run in races)) for races in timed])
    middle = exp(float(_middle_mean(logs)))
    if noise is None and all(len(races) == 1 for races in timed):
        return middle, None
    random = np.random.default_rng(_SEED)
    drawn = _middle_mean(np.stack([_resampled(races, noise or 0.0, random) for races in timed]))
    drawn = np.exp(drawn - np.median(drawn)) * middle
    low, high = np.percentile(drawn, (LOW_PERCENT, HIGH_PERCENT))
    return middle, Interval(float(low), float(high))


def noise_of(runs: Iterable[SweepRun]) -> float | None:
    """Typical deviation of the logarithm of a race's speedup, times the root of its rounds; None
    where no race knows its own."""
    return median_of(
        deviation * sqrt(run.num_rounds)
        for run in runs
        if (deviation := _deviation(run)) is not None
    )


def _resampled(
    races: Sequence[SweepRun], noise: float, random: np.random.Generator
) -> NDArray[np.float64]:
    """Draw the logarithm of a prompt's median speedup anew, [400] float64."""
    logs = np.array([log(run.speedup or 1.0) for run in races])
    own = [_deviation(run) for run in races]
    deviations = np.array(
        [
            noise / sqrt(max(1, run.num_rounds)) if deviation is None else deviation
            for run, deviation in zip(races, own, strict=True)
        ]
    )
    chosen = random.integers(0, len(races), (NUM_RESAMPLES, len(races)))
    moved = logs[chosen] + deviations[chosen] * random.standard_normal(chosen.shape)
    drawn: NDArray[np.float64] = np.median(moved, axis=1)
    return drawn


def _deviation(run: SweepRun) -> float | None:
    """Standard deviation of the logarithm of a race's speedup; None where its rounds were too few
    to tell."""
    if not run.speedup_low or not run.speedup_high:
        return None
    return log(run.speedup_high / run.speedup_low) / _WIDTH


def _mean_of_prompts(
    prompts: dict[str, list[SweepRun]], figure: Callable[[SweepRun], float | None]
) -> float | None:
    """Geometric mean over the middle half of each prompt's medians, as speedups are summed up."""
    medians = [median_of(map(figure, races)) for races in prompts.values()]
    logs = np.array([log(value) for value in medians if value])
    return exp(float(_middle_mean(logs))) if len(logs) else None


def _middle_mean(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean along the first axis without the lowest and the highest quarter, rounded down: of one
    to three values it is their mean, of four the mean of the two between."""
    left_out = len(values) // 4
    middle = np.sort(values, axis=0)[left_out : len(values) - left_out]
    mean: NDArray[np.float64] = middle.mean(axis=0)
    return mean


def _positions(runs: Iterable[SweepRun]) -> tuple[tuple[float, ...], tuple[int, ...]]:
    """Acceptance by position, and rounds by how many tokens they kept, over several runs."""
    paths: Counter[tuple[int, int]] = Counter()
    for run in runs:
        for path in run.paths:
            paths[path.drafted, path.kept] += path.rounds
    longest = max((drafted for drafted, _ in paths), default=0)
    rates = []
    for position in range(longest):
        drafted = sum(number for (length, _), number in paths.items() if length > position)
        reached = sum(number for (_, kept), number in paths.items() if kept > position)
        rates.append(reached / drafted)
    by_kept = tuple(
        sum(number for (_, kept), number in paths.items() if kept == length)
        for length in range(longest + 1 if paths else 0)
    )
    return tuple(rates), by_kept
