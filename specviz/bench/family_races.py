"""Runs the races of a plan, several contenders beside one baseline, and sums up every lane."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from specviz.bench.plan import Contender, GalleryPrompt, Lengths, ReportPlan
from specviz.bench.repeats import LaneSummary, median_summary, repeat_race, summarise
from specviz.trace.counts import RunningCounts
from specviz.trace.values import (
    MAX_LANES,
    Environment,
    LaneSpec,
    LaneTrace,
    Method,
    RaceRequest,
    StartRace,
    StopReason,
    Trace,
)

Tell = Callable[[str, int, int], None]
"""Is told what is being done, how many races of it are over, and how many there are."""
_Entry = tuple[Contender, int]


@dataclass(frozen=True, slots=True)
class LaneRun:
    """One contender at one draft length on one prompt, beside the baseline."""

    contender: Contender
    gamma: int
    prompt: GalleryPrompt
    summary: LaneSummary
    """Of several races the medians."""
    counts: RunningCounts
    """Of one race: repeated races judge the same tokens again."""


class Races:
    """The races of one plan, and what belongs to all of them."""

    def __init__(self, start_race: StartRace, plan: ReportPlan, tell: Tell) -> None:
        self._start_race, self.plan, self._tell = start_race, plan, tell
        self.environment: Environment | None = None
        self.baseline_rates: list[float] = []
        """Tokens a second of the target alone, one entry a race."""
        self.failures: list[str] = []
        """One sentence for each lane that failed; it is in no number."""
        self.num_races = 0

    def run(self, phase: str, lengths: Lengths) -> list[LaneRun]:
        """Race every prompt with the draft lengths of the sections that it is in."""
        races = list(self._divided(lengths))
        runs: list[LaneRun] = []
        for done, (prompt, entries) in enumerate(races):
            self._tell(phase, done, len(races))
            runs += self._race(prompt, entries)
        return runs

    def _divided(self, lengths: Lengths) -> Iterator[tuple[GalleryPrompt, list[_Entry]]]:
        """Divide what is to be run into races of as many lanes as a race may have."""
        sections = self.plan.sections
        for prompt in self.plan.prompts:
            wanted = dict.fromkeys(
                (contender, gamma)
                for (section, contender), gammas in lengths.items()
                if prompt.group in sections[section]
                for gamma in gammas
            )
            entries = list(wanted)
            for start in range(0, len(entries), MAX_LANES - 1):
                yield prompt, entries[start : start + MAX_LANES - 1]

    def _race(self, prompt: GalleryPrompt, entries: Sequence[_Entry]) -> Iterator[LaneRun]:
        """Run one prompt, as often as the plan says; a lane that failed gives no run."""
        plan = self.plan
        baseline = LaneSpec(None, Method.BASELINE, plan.target)
        request = RaceRequest(
            prompt.text,
            (baseline, *(contender.lane(plan.target, gamma) for contender, gamma in entries)),
            plan.sampling,
            plan.max_new_tokens,
            record_top=False,
        )
        traces = list(repeat_race(self._start_race, request, plan.num_repeats))
        self.num_races += len(traces)
        self.environment = traces[-1].environment
        first, *others = _by_lane(traces)
        if (reason := _error(first)) is not None:
            self.failures.append(f"baseline on {prompt.group}, {prompt.label}: {reason}")
            return
        if (rate := _summary(traces, 0).tokens_per_second) is not None:
            self.baseline_rates.append(rate)
        for index, ((contender, gamma), lanes) in enumerate(zip(entries, others, strict=True), 1):
            if (reason := _error(lanes)) is not None:
                self.failures.append(
                    f"{contender.name} γ={gamma} on {prompt.group}, {prompt.label}: {reason}"
                )
            else:
                counts = RunningCounts.of(lanes[0].rounds)
                yield LaneRun(contender, gamma, prompt, _summary(traces, index), counts)


def pooled_counts(runs: Sequence[LaneRun]) -> RunningCounts:
    """Count the judged tokens of several runs together."""
    return RunningCounts(
        num_accepted=sum(run.counts.num_accepted for run in runs),
        num_rejected=sum(run.counts.num_rejected for run in runs),
    )


def typical(values: Sequence[float | None]) -> float | None:
    """Median of what was measured; None where nothing was."""
    measured = [value for value in values if value is not None]
    return median(measured) if measured else None


def _by_lane(traces: Sequence[Trace]) -> list[tuple[LaneTrace, ...]]:
    return list(zip(*(trace.lanes for trace in traces), strict=True))


def _summary(traces: Sequence[Trace], index: int) -> LaneSummary:
    return median_summary([summarise(trace)[index] for trace in traces])


def _error(lanes: Sequence[LaneTrace]) -> str | None:
    failed = [lane for lane in lanes if lane.stop_reason is StopReason.ERROR]
    return (failed[0].error or "it failed") if failed else None
