"""What a sweep measured, as values: the raw facts that tables, curves and verdicts are made of."""

from dataclasses import dataclass
from typing import NamedTuple

from specviz.bench.sweep_plan import SweepPlan
from specviz.trace.counts import RunningCounts, ratio
from specviz.trace.metrics import LaneMetrics
from specviz.trace.theory import speedup_by_position
from specviz.trace.values import Environment, LaneTrace
from specviz.trace.verdict import Agreement, Verdict


class Kept(NamedTuple):
    """Rounds that drafted and kept so many tokens, one after the other."""

    drafted: int
    kept: int
    rounds: int


@dataclass(frozen=True, slots=True)
class SweepRun:
    """One lane of one race, beside the baseline of that race."""

    draft: str
    """The lane of the plan that it is of, by its name."""
    gamma: int
    prompt: str
    """Id of the prompt."""
    race: int
    """Number of the race, from 0: lanes of one race ran at the same time."""
    num_rounds: int
    num_emitted: int
    num_accepted: int
    num_rejected: int
    paths: tuple[Kept, ...]
    """Rounds that drafted anything, by what became of it."""
    draft_ms: float
    verify_ms: float
    other_ms: float
    baseline_tokens_per_second: float | None
    speedup: float | None
    """Over the common window, as are the next five."""
    speedup_low: float | None
    speedup_high: float | None
    draft_cost: float | None
    verify_cost: float | None
    round_cost: float | None
    """Time of a round, all of it, over the baseline's time of a token."""
    agreement: Agreement | None
    """identical, near-tie or divergent; None above temperature 0."""

    @property
    def alpha(self) -> float | None:
        """Chance that a judged token was accepted."""
        return ratio(self.num_accepted, self.num_accepted + self.num_rejected)

    @property
    def tau(self) -> float | None:
        """Tokens a round."""
        return ratio(self.num_emitted, self.num_rounds)

    @property
    def predicted_speedup(self) -> float | None:
        """What acceptance by position, c and v let expect; 1 where nothing was drafted."""
        return speedup_by_position(
            {(path.drafted, path.kept): path.rounds for path in self.paths},
            self.num_rounds,
            self.draft_cost,
            self.verify_cost,
        )


class PassTime(NamedTuple):
    """Median time of one pass of the target."""

    batch: int
    """Texts that it continues at once."""
    tokens: int
    """Tokens that it reads of each."""
    ms: float


@dataclass(frozen=True, slots=True)
class CheckCosts:
    """What checking costs on a device: passes over many tokens, and over many texts at once."""

    by_tokens: tuple[PassTime, ...]
    """One text, 1 to 256 tokens."""
    by_batch: tuple[PassTime, ...]
    """1 to 16 texts, one token and `tokens` of a check each."""


@dataclass(frozen=True, slots=True)
class ModelSize:
    """How large a model of the sweep is."""

    name: str
    num_parameters: int
    weights_bytes: int


@dataclass(frozen=True, slots=True)
class SweepRecord:
    """A sweep, finished or not."""

    plan: SweepPlan
    runs: tuple[SweepRun, ...] = ()
    environment: Environment | None = None
    """None before the first race is over."""
    failures: tuple[str, ...] = ()
    """One sentence for each lane or prompt that failed; it is in no number."""
    num_races: int = 0
    seconds: float = 0.0
    costs: CheckCosts | None = None
    """None where they were not measured."""
    models: tuple[ModelSize, ...] = ()
    """Target and drafts, as far as their sizes are known."""


def run_of(
    lane: LaneTrace,
    metrics: LaneMetrics,
    verdict: Verdict | None,
    baseline: LaneMetrics,
    *,
    draft: str,
    prompt: str,
    race: int,
) -> SweepRun:
    """Keep of one lane of a race what a sweep is made of."""
    counts = RunningCounts.of(lane.rounds)
    window = metrics.window
    return SweepRun(
        draft=draft,
        gamma=lane.spec.gamma,
        prompt=prompt,
        race=race,
        num_rounds=counts.num_rounds,
        num_emitted=counts.num_emitted,
        num_accepted=counts.num_accepted,
        num_rejected=counts.num_rejected,
        paths=tuple(
            Kept(drafted, kept, number)
            for (drafted, kept), number in sorted(counts.paths.items())
            if drafted
        ),
        draft_ms=counts.draft_ms,
        verify_ms=counts.verify_ms,
        other_ms=counts.other_ms,
        baseline_tokens_per_second=baseline.tokens_per_second,
        speedup=metrics.speedup,
        speedup_low=metrics.speedup_low,
        speedup_high=metrics.speedup_high,
        draft_cost=metrics.draft_cost,
        verify_cost=metrics.verify_cost,
        round_cost=None
        if window is None
        else ratio(
            ratio(window.ms, window.num_rounds),
            ratio(window.baseline_ms, window.baseline_num_emitted),
        ),
        agreement=None if verdict is None else verdict.agreement,
    )
