"""Measures each contender on each group of prompts, at its best draft length for that group.

The draft length γ is chosen on the group's first prompts and half as many tokens: races at one γ
measure alpha, c and v, from these the theory names two candidates, and the candidates are raced.
What is reported then comes from fresh races of all prompts at the chosen γ alone, so that no number
owes anything to the luck that may have chosen its γ.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from specviz.bench.family_races import LaneRun, Races, Tell, pooled_counts, typical
from specviz.bench.plan import Contender, Lengths, ReportPlan
from specviz.bench.repeats import Quartiles, quartiles
from specviz.errors import DecodingError
from specviz.trace.theory import predicted_speedup
from specviz.trace.values import Environment, StartRace
from specviz.trace.verdict import Agreement

NUM_CANDIDATES = 2
_SEVERITY = tuple(Agreement)


@dataclass(frozen=True, slots=True)
class Row:
    """What one contender does on one group of prompts at its best draft length."""

    contender: str
    group: str
    gamma: int
    num_prompts: int
    alpha: float | None
    """Accepted / judged, over all prompts of the group."""
    num_accepted: int
    num_judged: int
    draft_cost: float | None
    """Median over the prompts, as are the next three."""
    verify_cost: float | None
    speedup: Quartiles | None
    efficiency: float | None
    best_prompt: str | None
    """Label of the prompt with the highest speedup."""
    best_speedup: float | None
    verdict: str | None
    """The worst of all prompts: identical, near-tie or divergent; None above temperature 0."""
    tau: float | None = None
    """Mean tokens of a round, prompt by prompt; their median."""


@dataclass(frozen=True, slots=True)
class FamilyReport:
    """Everything that was measured, and where."""

    environment: Environment
    plan: ReportPlan
    rows: tuple[Row, ...]
    baseline_tokens_per_second: Quartiles
    """Over the fresh races."""
    failures: tuple[str, ...]
    num_races: int
    seconds: float

    def row(self, contender: str, group: str) -> Row | None:
        """Return a contender's row of a group, or None where it was not measured."""
        return next((x for x in self.rows if (x.contender, x.group) == (contender, group)), None)


def measure_family(
    start_race: StartRace, plan: ReportPlan, tell: Tell = lambda phase, done, total: None
) -> FamilyReport:
    """Choose every contender's draft length for every group, then measure it there.

    Raises: what `start_race` raises; DecodingError where no baseline came to an end.
    """
    begun = time.monotonic()
    trial = Races(start_race, plan.for_choosing, tell)
    chosen = _choose(trial)
    fresh = Races(start_race, plan.for_measuring, tell)
    runs = fresh.run("measuring at the chosen γ", {key: (gamma,) for key, gamma in chosen.items()})
    if fresh.environment is None or not fresh.baseline_rates:
        raise DecodingError(f"no race came to an end: {(*fresh.failures, 'no prompt')[0]}")
    rows = (
        summarise_runs(contender, section, gamma, _among(runs, plan, section, contender, (gamma,)))
        for (section, contender), gamma in chosen.items()
    )
    return FamilyReport(
        environment=fresh.environment,
        plan=plan,
        rows=tuple(rows),
        baseline_tokens_per_second=quartiles(fresh.baseline_rates),
        failures=(*trial.failures, *fresh.failures),
        num_races=trial.num_races + fresh.num_races,
        seconds=time.monotonic() - begun,
    )


def summarise_runs(contender: Contender, group: str, gamma: int, runs: Sequence[LaneRun]) -> Row:
    """Sum up a contender's runs on the prompts of a group, one run a prompt."""
    pooled = pooled_counts(runs)
    speedups = [(x.summary.speedup, x.prompt.label) for x in runs if x.summary.speedup is not None]
    best_speedup, best_prompt = max(speedups, default=(None, None))
    verdicts = [Agreement(run.summary.verdict) for run in runs if run.summary.verdict is not None]
    return Row(
        contender=contender.name,
        group=group,
        gamma=gamma,
        num_prompts=len(runs),
        alpha=pooled.alpha,
        num_accepted=pooled.num_accepted,
        num_judged=pooled.num_accepted + pooled.num_rejected,
        draft_cost=typical([run.summary.draft_cost for run in runs]),
        verify_cost=typical([run.summary.verify_cost for run in runs]),
        speedup=quartiles([speedup for speedup, _ in speedups]) if speedups else None,
        efficiency=typical([run.summary.efficiency for run in runs]),
        best_prompt=best_prompt,
        best_speedup=best_speedup,
        verdict=max(verdicts, key=_SEVERITY.index, default=None),
        tau=typical([run.summary.tau for run in runs]),
    )


def candidate_gammas(runs: Sequence[LaneRun], gammas: Sequence[int]) -> tuple[int, ...]:
    """Name the draft lengths that the theory puts first, from runs at one draft length.

    v is taken to grow in a straight line from 1 at γ = 0 to what the runs measured at theirs.
    Where nothing was drafted nothing is known, and the answer is empty.
    """
    alpha = pooled_counts(runs).alpha
    draft_cost = typical([run.summary.draft_cost for run in runs])
    verify_cost = typical([run.summary.verify_cost for run in runs])
    if alpha is None or draft_cost is None or verify_cost is None:
        return ()
    slope = max(0.0, verify_cost - 1.0) / runs[0].gamma
    predicted = {
        gamma: predicted_speedup(alpha, gamma, draft_cost, 1.0 + slope * gamma) for gamma in gammas
    }
    return tuple(sorted(gammas, key=predicted.__getitem__, reverse=True)[:NUM_CANDIDATES])


def fastest_gamma(runs: Sequence[LaneRun]) -> int | None:
    """Return the draft length with the highest median speedup, or None where none was timed."""
    timed = [run for run in runs if run.summary.speedup is not None]
    medians = {
        gamma: typical([run.summary.speedup for run in timed if run.gamma == gamma]) or 0.0
        for gamma in sorted({run.gamma for run in timed})
    }
    return max(medians, key=medians.__getitem__, default=None)


def _choose(trial: Races) -> dict[tuple[str, Contender], int]:
    """Choose one draft length for each section and contender."""
    plan, middle = trial.plan, trial.plan.middle_gamma
    keys = [(section, contender) for section in plan.sections for contender in plan.contenders]
    runs = trial.run("measuring α, c and v", dict.fromkeys(keys, (middle,)))
    tried: Lengths = {
        key: candidate_gammas(_among(runs, plan, *key, (middle,)), plan.gammas) for key in keys
    }
    others = {key: tuple(gamma for gamma in tried[key] if gamma != middle) for key in keys}
    runs += trial.run("choosing γ", others)
    fastest = {key: fastest_gamma(_among(runs, plan, *key, (middle, *tried[key]))) for key in keys}
    return {key: middle if gamma is None else gamma for key, gamma in fastest.items()}


def _among(
    runs: Sequence[LaneRun],
    plan: ReportPlan,
    section: str,
    contender: Contender,
    gammas: Sequence[int],
) -> list[LaneRun]:
    """Pick the runs of one contender in one section at some draft lengths."""
    groups = plan.sections[section]
    return [
        run
        for run in runs
        if run.contender == contender and run.gamma in gammas and run.prompt.group in groups
    ]
