"""What a lane's counts say: rates, costs, speedup and what theory expects of them.

Pure functions of counts. A number that is not defined (nothing drafted, no baseline, no time) is
None, never a guess. Prefill is in no number.
"""

from dataclasses import dataclass

from specviz.trace.counts import RunningCounts, ratio
from specviz.trace.theory import kept_law
from specviz.trace.values import LaneTrace, Method, Trace


@dataclass(frozen=True, slots=True)
class PositionRate:
    """How often the drafted token at one position was reached by acceptance."""

    num_reached: int
    """Rounds that accepted it and all before it."""
    num_drafted: int
    """Rounds that drafted so many tokens one after the other."""
    rate: float


@dataclass(frozen=True, slots=True)
class LaneMetrics:
    """Every number of metrics.md for one lane, with the counts behind it; None where it is not
    defined."""

    num_rounds: int
    num_drafted: int
    num_accepted: int
    num_rejected: int
    num_discarded: int
    num_emitted: int
    num_target_forwards: int
    draft_ms: float
    verify_ms: float
    other_ms: float
    ms: float
    """The lane's clock."""
    tokens_per_second: float | None
    ms_per_token: float | None
    step_ms: float | None
    """Mean time of one target pass over one token, from the baseline."""
    alpha: float | None
    alpha_overlap: float | None
    """Mean overlap of the two distributions where it was recorded; None at temperature 0."""
    acceptance_rate: float | None
    acceptance_by_position: tuple[PositionRate, ...]
    """Entry j stands for the drafted token number j + 1."""
    rounds_by_kept: tuple[int, ...]
    """Entry k: rounds that drafted and kept k tokens."""
    expected_rounds_by_kept: tuple[float, ...] | None
    """The same if each judged token were accepted with alpha on its own; None for trees."""
    expected_by_position: tuple[float, ...] | None
    tau: float | None
    draft_cost: float | None
    """One draft step in units of one baseline step: the paper's c."""
    verify_cost: float | None
    """One verification in units of one baseline step: v."""
    speedup: float | None
    predicted_speedup: float | None
    predicted_speedup_textbook: float | None
    """The same with v = 1, as the paper has it."""
    efficiency: float | None
    target_passes_saved: float | None
    wasted_fraction: float | None


def metrics_of(counts: RunningCounts, baseline: RunningCounts) -> LaneMetrics:
    """Compute every metric of a lane; against an empty baseline those that compare are None.

    A baseline may be passed as its own baseline: its speedup is then 1.
    """
    step_ms = ratio(baseline.verify_ms, baseline.num_rounds)
    draft_cost = ratio(ratio(counts.draft_ms, counts.num_drafted), step_ms)
    verify_cost = ratio(ratio(counts.drafting_verify_ms, counts.num_drafting_rounds), step_ms)
    speedup = counts.speedup_over(baseline)
    predicted = _predicted_speedup(counts, draft_cost, verify_cost)
    passes = ratio(counts.num_target_forwards, counts.num_emitted)
    expected_rounds, expected_rates = _expected(counts)
    return LaneMetrics(
        num_rounds=counts.num_rounds,
        num_drafted=counts.num_drafted,
        num_accepted=counts.num_accepted,
        num_rejected=counts.num_rejected,
        num_discarded=counts.num_discarded,
        num_emitted=counts.num_emitted,
        num_target_forwards=counts.num_target_forwards,
        draft_ms=counts.draft_ms,
        verify_ms=counts.verify_ms,
        other_ms=counts.other_ms,
        ms=counts.ms,
        tokens_per_second=ratio(1000.0 * counts.num_emitted, counts.ms),
        ms_per_token=counts.ms_per_token,
        step_ms=step_ms,
        alpha=counts.alpha,
        alpha_overlap=ratio(counts.overlap_sum, counts.num_overlaps),
        acceptance_rate=ratio(counts.num_accepted, counts.num_drafted),
        acceptance_by_position=_by_position(counts),
        rounds_by_kept=_by_kept(counts),
        expected_rounds_by_kept=expected_rounds,
        expected_by_position=expected_rates,
        tau=ratio(counts.num_emitted, counts.num_rounds),
        draft_cost=draft_cost,
        verify_cost=verify_cost,
        speedup=speedup,
        predicted_speedup=predicted,
        predicted_speedup_textbook=_predicted_speedup(counts, draft_cost, 1.0),
        efficiency=ratio(speedup, predicted),
        target_passes_saved=None if passes is None else 1.0 - passes,
        wasted_fraction=ratio(counts.num_drafted - counts.num_accepted, counts.num_drafted),
    )


def lane_metrics(lane: LaneTrace, baseline: LaneTrace | None) -> LaneMetrics:
    """Compute the metrics of a finished lane."""
    rounds = baseline.rounds if baseline else ()
    return metrics_of(RunningCounts.of(lane.rounds), RunningCounts.of(rounds))


def race_metrics(trace: Trace) -> tuple[LaneMetrics, ...]:
    """Compute the metrics of every lane against the race's baseline lane."""
    baseline = baseline_lane(trace)
    return tuple(lane_metrics(lane, baseline) for lane in trace.lanes)


def baseline_lane(trace: Trace) -> LaneTrace | None:
    """Return the lane that decodes plainly, or None where the race had none."""
    return next((lane for lane in trace.lanes if lane.spec.method is Method.BASELINE), None)


def _predicted_speedup(
    counts: RunningCounts, draft_cost: float | None, verify_cost: float | None
) -> float | None:
    """Predict the speedup of these rounds from alpha, c and v.

    With g drafts in a round: Σ E(alpha, g) / Σ (g·c + v), summed over rounds, because a round near
    the length limit, or without a match to look up, drafts fewer than the lane's gamma; a round
    that drafts nothing is a plain step of cost 1. E(alpha, g) = 1 + alpha + … + alpha^g, so for a
    constant g this is E / (g·c + v), Leviathan et al. 2023, arXiv:2211.17192, Theorem 3.8 at v = 1.
    None for trees, which the formula does not describe.
    """
    alpha = counts.alpha
    if alpha is None or draft_cost is None or verify_cost is None or not counts.are_chains:
        return None
    tokens = cost = 0.0
    for length, num_rounds in counts.draft_lengths.items():
        tokens += num_rounds * sum(alpha**count for count in range(length + 1))
        cost += num_rounds * (length * draft_cost + verify_cost if length else 1.0)
    return ratio(tokens, cost)


def _longest(counts: RunningCounts) -> int:
    return max((drafted for drafted, _ in counts.paths), default=0)


def _by_position(counts: RunningCounts) -> tuple[PositionRate, ...]:
    """Share of rounds whose accepted path is longer than j, for each depth j that was drafted."""
    rates = []
    for position in range(_longest(counts)):
        drafted = sum(n for (length, _), n in counts.paths.items() if length > position)
        reached = sum(n for (_, kept), n in counts.paths.items() if kept > position)
        rates.append(PositionRate(reached, drafted, reached / drafted))
    return tuple(rates)


def _by_kept(counts: RunningCounts) -> tuple[int, ...]:
    if not counts.paths:
        return ()
    return tuple(
        sum(n for (_, kept), n in counts.paths.items() if kept == length)
        for length in range(_longest(counts) + 1)
    )


def _expected(
    counts: RunningCounts,
) -> tuple[tuple[float, ...] | None, tuple[float, ...] | None]:
    """What alpha lets expect of `rounds_by_kept` and of `acceptance_by_position`."""
    alpha, longest = counts.alpha, _longest(counts)
    if alpha is None or not counts.are_chains:
        return None, None
    rounds = [0.0] * (longest + 1)
    for (drafted, _), num_rounds in counts.paths.items():
        for kept, chance in enumerate(kept_law(alpha, drafted)):
            rounds[kept] += num_rounds * chance
    return tuple(rounds), tuple(alpha ** (position + 1) for position in range(longest))
