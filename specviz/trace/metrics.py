"""What a lane's counts say: rates, costs, speedup and what theory expects of them.

Pure functions of counts. A number that is not defined (nothing drafted, no baseline, no time) is
None, never a guess. Prefill is in no number. What compares two lanes' times (speedup, c, v) is
taken over their common window (`trace.window`); counts and rates are those of the whole lane.
"""

from dataclasses import dataclass

from specviz.trace.counts import RunningCounts, ratio
from specviz.trace.doubts import Doubt, doubts_of
from specviz.trace.interval import speedup_interval
from specviz.trace.theory import expected_tokens_per_round, kept_law
from specviz.trace.values import LaneTrace, Method, Trace
from specviz.trace.window import CommonWindow, common_window


@dataclass(frozen=True, slots=True)
class PositionRate:
    """How often the drafted token at one position was reached by acceptance."""

    num_reached: int
    """Rounds that accepted it and all before it."""
    num_drafted: int
    """Rounds that drafted so many tokens one after the other."""
    rate: float


@dataclass(frozen=True, slots=True)
class WindowMetrics:
    """Times and counts of a lane and its baseline over their common window."""

    ms: float
    num_emitted: int
    num_rounds: int
    baseline_ms: float
    baseline_num_emitted: int
    baseline_num_rounds: int


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
    """Mean time of one target pass over one token, from the baseline's rounds of the window."""
    window: WindowMetrics | None
    """What speedup, c and v are made of; None without a stretch in which both lanes ran."""
    alpha: float | None
    """Accepted over judged tokens; of a tree every sibling that was tried is one."""
    alpha_overlap: float | None
    """Mean overlap of the two distributions where it was recorded; None at temperature 0."""
    acceptance_rate: float | None
    acceptance_by_position: tuple[PositionRate, ...]
    """Entry j stands for the drafted token number j + 1, of a tree for its level j + 1."""
    rounds_by_kept: tuple[int, ...]
    """Entry k: rounds that drafted and kept k tokens."""
    expected_rounds_by_kept: tuple[float, ...] | None
    """The same if each judged token were accepted with alpha on its own; None for trees."""
    expected_by_position: tuple[float, ...] | None
    tau: float | None
    expected_tau: float | None
    """Tokens a round if each judged token were accepted with alpha on its own; None for trees."""
    draft_cost: float | None
    """One draft step in units of one baseline step: the paper's c. A step of a tree drafts a
    level."""
    verify_cost: float | None
    """One verification in units of one baseline step: v. Of a tree all nodes are read in it."""
    round_cost: float | None
    """What a round cost, in baseline steps: γ·c + v, the mean over the rounds that were run."""
    speedup: float | None
    """The baseline's time per token over the lane's, both over the common window."""
    speedup_low: float | None
    """5th percentile of a block bootstrap of the window's rounds; `trace.interval`."""
    speedup_high: float | None
    """The 95th."""
    whole_speedup: float | None
    """The same over both whole clocks, the time in which one lane ran alone included."""
    predicted_speedup: float | None
    """`expected_tau / round_cost`: E / (γ·c + v)."""
    predicted_speedup_textbook: float | None
    """The same with v = 1, as the paper has it."""
    efficiency: float | None
    """Measured over predicted speedup."""
    doubts: tuple[Doubt, ...]
    """Reasons to doubt the speedup."""
    target_passes_saved: float | None
    wasted_fraction: float | None


def metrics_of(counts: RunningCounts, baseline: RunningCounts) -> LaneMetrics:
    """Compute every metric of a lane; against an empty baseline those that compare are None.

    A baseline may be passed as its own baseline: its speedup is then 1, without an interval.
    """
    window = common_window(counts, baseline)
    step_ms = _step_ms(window)
    draft_cost, verify_cost = _costs(window, step_ms)
    speedup = window.speedup
    interval = speedup_interval(window) if counts is not baseline else None
    expected_tau = _expected_tau(counts)
    round_cost = _round_cost(counts, draft_cost, verify_cost)
    predicted = ratio(expected_tau, round_cost)
    efficiency = ratio(speedup, predicted)
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
        window=_window_metrics(window),
        alpha=counts.alpha,
        alpha_overlap=ratio(counts.overlap_sum, counts.num_overlaps),
        acceptance_rate=ratio(counts.num_accepted, counts.num_drafted),
        acceptance_by_position=_by_position(counts),
        rounds_by_kept=_by_kept(counts),
        expected_rounds_by_kept=expected_rounds,
        expected_by_position=expected_rates,
        tau=ratio(counts.num_emitted, counts.num_rounds),
        expected_tau=expected_tau,
        draft_cost=draft_cost,
        verify_cost=verify_cost,
        round_cost=round_cost,
        speedup=speedup,
        speedup_low=interval and interval.low,
        speedup_high=interval and interval.high,
        whole_speedup=ratio(baseline.ms_per_token, counts.ms_per_token),
        predicted_speedup=predicted,
        predicted_speedup_textbook=ratio(expected_tau, _round_cost(counts, draft_cost, 1.0)),
        efficiency=efficiency,
        doubts=doubts_of(window, verify_cost, efficiency),
        target_passes_saved=None if passes is None else 1.0 - passes,
        wasted_fraction=ratio(counts.num_drafted - counts.num_accepted, counts.num_drafted),
    )


def lane_metrics(lane: LaneTrace, baseline: LaneTrace | None) -> LaneMetrics:
    """Compute the metrics of a finished lane."""
    counts = RunningCounts.of(lane.rounds)
    if lane is baseline:
        return metrics_of(counts, counts)
    return metrics_of(counts, RunningCounts.of(baseline.rounds if baseline else ()))


def race_metrics(trace: Trace) -> tuple[LaneMetrics, ...]:
    """Compute the metrics of every lane against the race's baseline lane."""
    baseline = baseline_lane(trace)
    return tuple(lane_metrics(lane, baseline) for lane in trace.lanes)


def baseline_lane(trace: Trace) -> LaneTrace | None:
    """Return the lane that decodes plainly, or None where the race had none."""
    return next((lane for lane in trace.lanes if lane.spec.method is Method.BASELINE), None)


def _window_metrics(window: CommonWindow) -> WindowMetrics | None:
    lane, baseline = window.lane_sums, window.baseline_sums
    if lane is None or baseline is None:
        return None
    return WindowMetrics(
        ms=lane.ms,
        num_emitted=lane.num_emitted,
        num_rounds=window.num_lane_rounds,
        baseline_ms=baseline.ms,
        baseline_num_emitted=baseline.num_emitted,
        baseline_num_rounds=window.num_baseline_rounds,
    )


def _step_ms(window: CommonWindow) -> float | None:
    baseline = window.baseline_sums
    return None if baseline is None else ratio(baseline.verify_ms, window.num_baseline_rounds)


def _costs(window: CommonWindow, step_ms: float | None) -> tuple[float | None, float | None]:
    """Measure c and v: mean times of a draft step and of a verification, in plain steps."""
    lane = window.lane_sums
    if lane is None:
        return None, None
    draft = ratio(lane.draft_ms, lane.num_levels)
    verification = ratio(lane.drafting_verify_ms, lane.num_drafting_rounds)
    return ratio(draft, step_ms), ratio(verification, step_ms)


def _expected_tau(counts: RunningCounts) -> float | None:
    """Give Σ E(alpha, g) a round, with g drafts in a round; None for trees.

    Rounds near the length limit, or without a match to look up, draft fewer than the lane's gamma.
    E(alpha, g) = 1 + alpha + … + alpha^g; Leviathan et al. 2023, arXiv:2211.17192, equation 1.
    """
    if counts.alpha is None or not counts.are_chains:
        return None
    tokens = sum(
        num_rounds * expected_tokens_per_round(counts.alpha, length)
        for length, num_rounds in counts.draft_lengths.items()
    )
    return ratio(tokens, counts.num_rounds)


def _round_cost(
    counts: RunningCounts, draft_cost: float | None, verify_cost: float | None
) -> float | None:
    """Give Σ (g·c + v) a round; a round that drafts nothing is a plain step of cost 1.

    With `_expected_tau` it makes the prediction: for a constant g that is E / (g·c + v), Leviathan
    et al. 2023, arXiv:2211.17192, Theorem 3.8 at v = 1.
    """
    if draft_cost is None or verify_cost is None:
        return None
    cost = sum(
        num_rounds * (length * draft_cost + verify_cost if length else 1.0)
        for length, num_rounds in counts.draft_lengths.items()
    )
    return ratio(cost, counts.num_rounds)


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
