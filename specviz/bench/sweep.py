"""Runs a sweep: races in turns, repeated where their medians are still unsure; can go on later.

Knows no model: it is given `start_race`. A race has the baseline and up to three drafting lanes,
which take turns on one device; every second race they come in reverse order. The prompts come in
turns with one of each category, of each prompt a coarse grid of draft lengths first, then those
around the best so far of each draft, then the rest. Every draft length is raced on the first turn
whatever the budget is, unless it is a strict one. Once all are raced on all prompts, those races
are repeated whose cells have an interval of more than 5 % of their speedup, the best draft lengths
first.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from specviz.bench.plan import GalleryPrompt
from specviz.bench.repeats import finish_race
from specviz.bench.suites import ALL
from specviz.bench.sweep_best import best_of
from specviz.bench.sweep_cells import Cell, cells_of, median_of
from specviz.bench.sweep_plan import SweepLane
from specviz.bench.sweep_record import SweepRecord, SweepRun, run_of
from specviz.errors import DecodingError, PromptError
from specviz.trace.limits import MAX_LANES
from specviz.trace.metrics import race_metrics
from specviz.trace.values import (
    LaneSpec,
    Method,
    RaceFinished,
    RaceRequest,
    StartRace,
    StopReason,
    Trace,
)
from specviz.trace.verdict import race_verdicts

MAX_WIDTH = 0.05
"""Of a cell's interval, as a share of its speedup, below which it is not raced again."""
MAX_RACES = 20
"""Of one prompt with one draft at one draft length; more bring next to nothing."""
WARM_UP_TOKENS = 16
Clock = Callable[[], float]
_Entry = tuple[SweepLane, int]


@dataclass(frozen=True, slots=True)
class SweepProgress:
    """Where a sweep stands after one more race."""

    record: SweepRecord
    """What was measured so far, from which cells, curves and verdicts can be computed."""
    done: int
    of: int
    """Races that are planned so far; repeats are added as they turn out to be needed."""
    seconds_left: float
    """By the races so far, and no more than the budget."""
    is_repeating: bool
    """Everything was raced once."""


@dataclass(frozen=True, slots=True)
class _Race:
    """One race to run."""

    prompt: GalleryPrompt
    entries: tuple[_Entry, ...]
    """Of one temperature."""


def run_sweep(
    start_race: StartRace,
    record: SweepRecord,
    *,
    minutes: float,
    is_strict: bool = False,
    should_stop: Callable[[], bool] = lambda: False,
    clock: Clock = time.monotonic,
) -> Iterator[SweepProgress]:
    """Race what a record's plan asks for and the record lacks; yield after every race.

    A record without runs begins anew; one that was read from a file goes on where it ended, with a
    budget of its own. Closing the iterator, or `should_stop`, ends it: the record of the last
    progress holds all races that came to an end.

    Args:
        minutes: Budget.
        is_strict: Whether it cuts the first turn short too.

    Raises:
        RequestError, ModelLoadError, IncompatibleModelError: What `start_race` raises; only a
            prompt that the target cannot read is left out and noted among the failures.
        DecodingError: The baseline failed.
    """
    sweep = _Sweep(start_race, record, 60.0 * minutes, should_stop, clock)
    yield from sweep.first_races(may_overrun=not is_strict)
    yield from sweep.repeats()


class _Sweep:
    """A sweep that runs."""

    def __init__(
        self,
        start_race: StartRace,
        record: SweepRecord,
        budget: float,
        should_stop: Callable[[], bool],
        clock: Clock,
    ) -> None:
        self._start_race, self._should_stop, self._clock = start_race, should_stop, clock
        self._record, self._budget = record, budget
        self._begun = self._race_begun = clock()
        self._seconds_before = record.seconds
        self._done, self._of = 0, 0
        self._unread: set[str] = set()
        """Prompts that the target cannot read."""
        self._is_warm = False

    def first_races(self, *, may_overrun: bool) -> Iterator[SweepProgress]:
        """Race everything once, as far as the budget goes, or at least the first turn."""
        turns = self._record.plan.prompt_turns()
        self._of = sum(self._count(prompt) for turn in turns for prompt in turn)
        for number, turn in enumerate(turns):
            for choose in (self._coarse, self._fine):
                for prompt in turn:
                    for race in self._lacking(prompt, choose):
                        if self._is_over(may_spend_more=may_overrun and number == 0):
                            return
                        yield from self._run(race, is_repeating=False)

    def repeats(self) -> Iterator[SweepProgress]:
        """Race again what is not sure enough, until it is or the budget ends."""
        while not self._is_over():
            races = self._unsure()
            self._of = self._done + len(races)
            if not races:
                return
            for race in races:
                if self._is_over():
                    return
                yield from self._run(race, is_repeating=True)

    def _is_over(self, may_spend_more: bool = False) -> bool:
        is_spent = self._clock() - self._begun >= self._budget
        return self._should_stop() or (is_spent and not may_spend_more)

    def _count(self, prompt: GalleryPrompt) -> int:
        choices = (self._coarse, self._fine)
        return sum(len(list(self._lacking(prompt, choose))) for choose in choices)

    def _lacking(
        self, prompt: GalleryPrompt, choose: Callable[[SweepLane], Sequence[int]]
    ) -> Iterator[_Race]:
        """Give the races of a prompt that were not run yet, drafts side by side."""
        measured = {(run.draft, run.gamma) for run in self._record.runs if run.prompt == prompt.id}
        wanted = {
            lane.draft: [gamma for gamma in choose(lane) if (lane.draft, gamma) not in measured]
            for lane in self._record.plan.lanes
        }
        yield from self._divided(prompt, wanted)

    def _divided(self, prompt: GalleryPrompt, wanted: dict[str, list[int]]) -> Iterator[_Race]:
        """Divide draft lengths of one prompt, by draft, into races of one temperature each."""
        if prompt.id in self._unread:
            return
        plan = self._record.plan
        for temperature in plan.temperatures:
            lanes = [lane for lane in plan.lanes if lane.temperature == temperature]
            longest = max((len(wanted[lane.draft]) for lane in lanes), default=0)
            entries = [
                (lane, wanted[lane.draft][index])
                for index in range(longest)
                for lane in lanes
                if index < len(wanted[lane.draft])
            ]
            for start in range(0, len(entries), MAX_LANES - 1):
                yield _Race(prompt, tuple(entries[start : start + MAX_LANES - 1]))

    def _coarse(self, lane: SweepLane) -> Sequence[int]:
        return lane.coarse_gammas

    def _fine(self, lane: SweepLane) -> Sequence[int]:
        """The draft lengths between, those around the best so far first."""
        left = [gamma for gamma in lane.gammas if gamma not in lane.coarse_gammas]
        own = [run for run in self._record.runs if run.draft == lane.draft]
        medians = {
            gamma: median_of(run.speedup for run in own if run.gamma == gamma) or 0.0
            for gamma in lane.coarse_gammas
        }
        best = max(medians, key=medians.__getitem__)
        return sorted(left, key=lambda gamma: abs(gamma - best))

    def _unsure(self) -> list[_Race]:
        """Give the races to repeat: around the best of each draft, and if all of those are sure,
        all others."""
        cells = cells_of(self._record)
        best = {each.draft: each.gamma for each in best_of(self._record, cells)}
        wide = {(x.draft, x.gamma, x.category) for x in cells if x.category != ALL and _is_wide(x)}
        near = {key for key in wide if abs(key[1] - best[key[0]]) <= 1}
        return self._repeated(near) or self._repeated(wide)

    def _repeated(self, keys: set[tuple[str, int, str]]) -> list[_Race]:
        counts = Counter((run.draft, run.gamma, run.prompt) for run in self._record.runs)
        races: list[_Race] = []
        for prompt in self._record.plan.prompts:
            wanted = {
                lane.draft: [
                    gamma
                    for gamma in lane.gammas
                    if (lane.draft, gamma, prompt.group) in keys
                    and 0 < counts[lane.draft, gamma, prompt.id] < MAX_RACES
                ]
                for lane in self._record.plan.lanes
            }
            races += self._divided(prompt, wanted)
        return races

    def _run(self, race: _Race, is_repeating: bool) -> Iterator[SweepProgress]:
        """Run one race and note what it brought."""
        if race.prompt.id in self._unread:
            return
        try:
            trace = self._trace(race)
        except PromptError as error:
            self._unread.add(race.prompt.id)
            self._note((), (f"{race.prompt.group}, {race.prompt.label}: {error}",))
            trace = None
        else:
            if trace is None:
                return
            self._note(*self._runs(race, trace))
        self._done += 1
        self._of = max(self._of, self._done)
        yield SweepProgress(self._record, self._done, self._of, self._seconds_left(), is_repeating)

    def _trace(self, race: _Race) -> Trace | None:
        """Run a race to its end; None where it was stopped before."""
        request = self._request(race)
        if not self._is_warm:
            # Models are loaded, and everything runs for the first time, outside of any number.
            finish_race(self._start_race, replace(request, max_new_tokens=WARM_UP_TOKENS))
            self._is_warm = True
            self._race_begun = self._clock()
        trace = None
        for event in self._start_race(request, self._should_stop):
            if isinstance(event, RaceFinished):
                trace = event.trace
        if trace is None:
            raise DecodingError("the race ended without a trace")
        is_cut = any(lane.stop_reason is StopReason.CANCELLED for lane in trace.lanes)
        return None if is_cut else trace

    def _request(self, race: _Race) -> RaceRequest:
        plan = self._record.plan
        lanes = [
            replace(lane.spec, name=f"{lane.draft} γ={gamma}", gamma=gamma)
            for lane, gamma in self._ordered(race)
        ]
        return RaceRequest(
            race.prompt.text,
            (LaneSpec(None, Method.BASELINE, plan.target), *lanes),
            plan.sampling(race.entries[0][0].temperature),
            plan.max_new_tokens,
            plan.uses_chat,
            record_top=False,
        )

    def _ordered(self, race: _Race) -> Sequence[_Entry]:
        return race.entries[:: -1 if self._record.num_races % 2 else 1]

    def _runs(self, race: _Race, trace: Trace) -> tuple[list[SweepRun], list[str]]:
        runs: list[SweepRun] = []
        failures: list[str] = []
        metrics, verdicts = race_metrics(trace), race_verdicts(trace)
        if trace.lanes[0].stop_reason is StopReason.ERROR:
            raise DecodingError(trace.lanes[0].error or "the baseline failed")
        self._record = replace(self._record, environment=trace.environment)
        for index, (lane, gamma) in enumerate(self._ordered(race), 1):
            done = trace.lanes[index]
            if done.stop_reason is StopReason.ERROR:
                about = f"{lane.draft} γ={gamma} on {race.prompt.group}, {race.prompt.label}"
                failures.append(f"{about}: {done.error or 'it failed'}")
                continue
            runs.append(
                run_of(
                    done,
                    metrics[index],
                    verdicts[index],
                    metrics[0],
                    draft=lane.draft,
                    prompt=race.prompt.id,
                    race=self._record.num_races,
                )
            )
        return runs, failures

    def _note(self, runs: Sequence[SweepRun], failures: Sequence[str]) -> None:
        self._record = replace(
            self._record,
            runs=(*self._record.runs, *runs),
            failures=(*self._record.failures, *failures),
            num_races=self._record.num_races + 1,
            seconds=self._seconds_before + self._clock() - self._begun,
        )

    def _seconds_left(self) -> float:
        now = self._clock()
        by_races = (now - self._race_begun) / self._done * (self._of - self._done)
        return max(0.0, min(by_races, self._begun + self._budget - now))


def _is_wide(cell: Cell) -> bool:
    if cell.speedup is None:
        return False
    if cell.speedup_low is None or cell.speedup_high is None:
        return True
    return cell.speedup_high - cell.speedup_low > MAX_WIDTH * cell.speedup
