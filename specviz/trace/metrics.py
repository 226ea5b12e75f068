"""What a trace says: counts, rates, costs, speedups and whether the output is the baseline's.

Pure functions of trace values. Every rate is computed from counts of token ids and from the lanes'
own clocks; a number that is not defined (nothing drafted, no baseline, no time) is None, never a
guess. Prefill is in no number.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from specviz.trace.values import LaneTrace, Method, Outcome, Round, Source, StopReason, Trace


@dataclass(frozen=True, slots=True)
class RunningCounts:
    """Counts and times of the rounds so far; `plus` adds one round, cheap while a race runs."""

    num_rounds: int = 0
    num_drafted: int = 0
    num_accepted: int = 0
    num_rejected: int = 0
    """At most one a round in a chain; in a tree several siblings of one round can be rejected."""
    num_corrections: int = 0
    num_bonuses: int = 0
    num_emitted: int = 0
    draft_ms: float = 0.0
    verify_ms: float = 0.0
    other_ms: float = 0.0

    def plus(self, round_: Round) -> "RunningCounts":
        """Return these counts with one more round."""
        outcomes = [token.outcome for token in round_.drafted]
        sources = [token.source for token in round_.emitted]
        return RunningCounts(
            num_rounds=self.num_rounds + 1,
            num_drafted=self.num_drafted + len(outcomes),
            num_accepted=self.num_accepted + outcomes.count(Outcome.ACCEPTED),
            num_rejected=self.num_rejected + outcomes.count(Outcome.REJECTED),
            num_corrections=self.num_corrections + sources.count(Source.CORRECTION),
            num_bonuses=self.num_bonuses + sources.count(Source.BONUS),
            num_emitted=self.num_emitted + len(sources),
            draft_ms=self.draft_ms + round_.draft_ms,
            verify_ms=self.verify_ms + round_.verify_ms,
            other_ms=self.other_ms + round_.other_ms,
        )

    @classmethod
    def of(cls, rounds: Iterable[Round]) -> "RunningCounts":
        """Count all the rounds given."""
        counts = cls()
        for round_ in rounds:
            counts = counts.plus(round_)
        return counts

    @property
    def num_discarded(self) -> int:
        """Drafted tokens that were never judged."""
        return self.num_drafted - self.num_accepted - self.num_rejected

    @property
    def num_target_forwards(self) -> int:
        """Forward passes of the target: one a round."""
        return self.num_rounds

    @property
    def ms(self) -> float:
        """The lane's clock in milliseconds."""
        return self.draft_ms + self.verify_ms + self.other_ms

    @property
    def alpha(self) -> float | None:
        """Chance that a judged token is accepted."""
        return _ratio(self.num_accepted, self.num_accepted + self.num_rejected)

    @property
    def acceptance_rate(self) -> float | None:
        """Accepted tokens over drafted tokens."""
        return _ratio(self.num_accepted, self.num_drafted)

    @property
    def wasted_fraction(self) -> float | None:
        """Drafted tokens that did not reach the output, over drafted tokens."""
        return _ratio(self.num_drafted - self.num_accepted, self.num_drafted)

    @property
    def tau(self) -> float | None:
        """Mean number of tokens emitted a round."""
        return _ratio(self.num_emitted, self.num_rounds)

    @property
    def target_passes_saved(self) -> float | None:
        """1 - target forward passes / emitted tokens."""
        passes = _ratio(self.num_target_forwards, self.num_emitted)
        return None if passes is None else 1.0 - passes

    @property
    def tokens_per_second(self) -> float | None:
        """Emitted tokens over the lane's clock."""
        return _ratio(1000.0 * self.num_emitted, self.ms)

    @property
    def ms_per_token(self) -> float | None:
        """The lane's clock over emitted tokens, in milliseconds."""
        return _ratio(self.ms or None, self.num_emitted)

    def speedup_over(self, baseline: "RunningCounts") -> float | None:
        """Return the baseline's time per token over this lane's time per token."""
        return _ratio(baseline.ms_per_token, self.ms_per_token)


@dataclass(frozen=True, slots=True)
class LaneMetrics:
    """Every number of metrics.md for one lane; None where it is not defined."""

    num_rounds: int
    num_drafted: int
    num_accepted: int
    num_rejected: int
    num_discarded: int
    num_corrections: int
    num_bonuses: int
    num_emitted: int
    num_target_forwards: int
    alpha: float | None
    alpha_overlap: float | None
    """Mean overlap of the two distributions where it was recorded; None at temperature 0."""
    acceptance_rate: float | None
    acceptance_by_position: tuple[float, ...]
    """Entry j: rounds that accepted their first j + 1 drafts, over rounds that drafted so many."""
    tau: float | None
    tokens_per_second: float | None
    ms_per_token: float | None
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


def lane_metrics(lane: LaneTrace, baseline: LaneTrace | None) -> LaneMetrics:
    """Compute every metric of a lane; without a baseline those that compare are None.

    The baseline may be passed as its own baseline: its speedup is then 1.
    """
    counts = RunningCounts.of(lane.rounds)
    base = RunningCounts.of(baseline.rounds if baseline else ())
    step_ms = _ratio(base.verify_ms, base.num_rounds)
    drafting = RunningCounts.of(round_ for round_ in lane.rounds if round_.drafted)
    draft_cost = _ratio(_ratio(counts.draft_ms, counts.num_drafted), step_ms)
    verify_cost = _ratio(_ratio(drafting.verify_ms, drafting.num_rounds), step_ms)
    speedup = counts.speedup_over(base)
    predicted = _predicted_speedup(lane.rounds, counts.alpha, draft_cost, verify_cost)
    return LaneMetrics(
        num_rounds=counts.num_rounds,
        num_drafted=counts.num_drafted,
        num_accepted=counts.num_accepted,
        num_rejected=counts.num_rejected,
        num_discarded=counts.num_discarded,
        num_corrections=counts.num_corrections,
        num_bonuses=counts.num_bonuses,
        num_emitted=counts.num_emitted,
        num_target_forwards=counts.num_target_forwards,
        alpha=counts.alpha,
        alpha_overlap=_mean_overlap(lane.rounds),
        acceptance_rate=counts.acceptance_rate,
        acceptance_by_position=_acceptance_by_position(lane.rounds),
        tau=counts.tau,
        tokens_per_second=counts.tokens_per_second,
        ms_per_token=counts.ms_per_token,
        draft_cost=draft_cost,
        verify_cost=verify_cost,
        speedup=speedup,
        predicted_speedup=predicted,
        predicted_speedup_textbook=_predicted_speedup(lane.rounds, counts.alpha, draft_cost, 1.0),
        efficiency=_ratio(speedup, predicted),
        target_passes_saved=counts.target_passes_saved,
        wasted_fraction=counts.wasted_fraction,
    )


def race_metrics(trace: Trace) -> tuple[LaneMetrics, ...]:
    """Compute the metrics of every lane against the race's baseline lane."""
    baseline = baseline_lane(trace)
    return tuple(lane_metrics(lane, baseline) for lane in trace.lanes)


def baseline_lane(trace: Trace) -> LaneTrace | None:
    """Return the lane that decodes plainly, or None where the race had none."""
    return next((lane for lane in trace.lanes if lane.spec.method is Method.BASELINE), None)


class Agreement(StrEnum):
    """How a lane's output compares with the baseline's at temperature 0."""

    IDENTICAL = "identical"
    NEAR_TIE = "near-tie"
    DIVERGENT = "divergent"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a lane's output is the baseline's, and where it first is not."""

    agreement: Agreement
    num_compared: int
    """Tokens compared: fewer than emitted where a lane was stopped early."""
    first_difference: int | None
    """Index of the first token that differs, counted from 0; None where none does."""
    margin: float | None
    """Gap between the baseline's two largest logits at the first difference, where there is one."""


def lossless_verdict(lane: LaneTrace, baseline: LaneTrace, logit_noise: float) -> Verdict | None:
    """Compare a greedy lane's token ids with the baseline's.

    A first difference is a near-tie where the baseline's margin is below 2 · `logit_noise`, since
    rounding can move each of the two logits by the noise. A lane that was cancelled or failed is
    compared as far as it came. None where nothing can be said: a temperature above 0 (the baseline
    then records no margins), or no token to compare.
    """
    expected, got = baseline.emitted, lane.emitted
    if not expected or not got or all(token.margin is None for token in expected):
        return None
    num_common = min(len(expected), len(got))
    for index in range(num_common):
        if expected[index].id != got[index].id:
            margin = expected[index].margin
            is_tie = margin is not None and margin < 2.0 * logit_noise
            agreement = Agreement.NEAR_TIE if is_tie else Agreement.DIVERGENT
            return Verdict(agreement, num_common, index, margin)
    if len(expected) != len(got):
        shorter, longer = (lane, baseline) if len(got) < len(expected) else (baseline, lane)
        if shorter.stop_reason in (StopReason.EOS, StopReason.LENGTH):
            margin = longer.emitted[num_common].margin if longer is baseline else None
            return Verdict(Agreement.DIVERGENT, num_common, num_common, margin)
    return Verdict(Agreement.IDENTICAL, num_common, None, None)


def race_verdicts(trace: Trace) -> tuple[Verdict | None, ...]:
    """Give each lane's verdict; None for the baseline itself and where nothing can be said."""
    baseline = baseline_lane(trace)
    noise = trace.environment.logit_noise
    return tuple(
        None if baseline is None or lane is baseline else lossless_verdict(lane, baseline, noise)
        for lane in trace.lanes
    )


def _predicted_speedup(
    rounds: tuple[Round, ...],
    alpha: float | None,
    draft_cost: float | None,
    verify_cost: float | None,
) -> float | None:
    """Predict the speedup of these rounds from alpha, c and v.

    With g drafts in a round: Σ E(alpha, g) / Σ (g·c + v), summed over rounds, because a round near
    the length limit, or without a match to look up, drafts fewer than the lane's gamma; a round
    that drafts nothing is a plain step of cost 1. E(alpha, g) = 1 + alpha + … + alpha^g, so for a
    constant g this is E / (g·c + v), Leviathan et al. 2023, arXiv:2211.17192, Theorem 3.8 at v = 1.
    None for trees, which the formula does not describe.
    """
    if alpha is None or draft_cost is None or verify_cost is None:
        return None
    if not all(is_chain(round_) for round_ in rounds):
        return None
    lengths = [len(round_.drafted) for round_ in rounds]
    tokens = sum(alpha**count for length in lengths for count in range(length + 1))
    cost = sum(length * draft_cost + verify_cost if length else 1.0 for length in lengths)
    return _ratio(tokens, cost)


def _mean_overlap(rounds: tuple[Round, ...]) -> float | None:
    overlaps = [
        token.overlap
        for round_ in rounds
        for token in round_.drafted
        if token.overlap is not None and token.outcome is not Outcome.DISCARDED
    ]
    return _ratio(sum(overlaps), len(overlaps))


def accepted_path(round_: Round) -> tuple[int, int]:
    """Return how many guesses a round drafted one after the other, and how many of those it kept.

    In a tree both are depths: of its longest branch, and of the branch that was accepted.
    """
    nodes = _depths(round_)
    drafted = max((depth for depth, _ in nodes), default=0)
    return drafted, max((depth for depth, kept in nodes if kept), default=0)


def is_chain(round_: Round) -> bool:
    """Say whether each guess of a round follows the one before it."""
    return all(token.parent == index - 1 for index, token in enumerate(round_.drafted))


def _acceptance_by_position(rounds: tuple[Round, ...]) -> tuple[float, ...]:
    """Share of rounds whose accepted path is longer than j, for each depth j that was drafted."""
    paths = [accepted_path(round_) for round_ in rounds]
    return tuple(
        sum(kept > j for _, kept in paths) / sum(drafted > j for drafted, _ in paths)
        for j in range(max((drafted for drafted, _ in paths), default=0))
    )


def _depths(round_: Round) -> list[tuple[int, bool]]:
    """Depth of each drafted token, counted from 1, and whether it was accepted."""
    depths: list[int] = []
    for token in round_.drafted:
        depths.append(1 if token.parent < 0 else depths[token.parent] + 1)
    return [
        (depth, token.outcome is Outcome.ACCEPTED)
        for depth, token in zip(depths, round_.drafted, strict=True)
    ]


def _ratio(numerator: float | None, denominator: float | None) -> float | None:
    """Divide, or give None where either side is missing or the denominator is 0."""
    if numerator is None or not denominator:
        return None
    return numerator / denominator
