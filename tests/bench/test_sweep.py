"""A sweep on races with known costs: what it races, in which order, how long, how it goes on."""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

import pytest
from test_family_report import ALPHA, BAD, GOOD, KnownRaces, prompts

from specviz.bench.suites import ALL
from specviz.bench.sweep import SweepProgress, run_sweep
from specviz.bench.sweep_plan import SweepPlan, make_lanes
from specviz.bench.sweep_record import SweepRecord
from specviz.bench.sweep_results import results_of
from specviz.errors import DecodingError, PromptError, RequestError
from specviz.trace.theory import best_gamma
from specviz.trace.values import (
    Event,
    LaneSpec,
    LaneTrace,
    Method,
    RaceFinished,
    RaceRequest,
    StartRace,
    StopReason,
)

GAMMAS = tuple(range(1, 9))
DRAFTS = [LaneSpec(None, Method.DRAFT_MODEL, "specviz-target", draft=x.draft) for x in (GOOD, BAD)]


def plan(
    *groups: str, each: int = 3, gammas: tuple[int, ...] = GAMMAS, num_tokens: int = 48
) -> SweepPlan:
    lanes = make_lanes((spec, gammas) for spec in DRAFTS)
    return SweepPlan("specviz-target", lanes, prompts(*groups, each=each), num_tokens)


@dataclass
class Minutes:
    """A clock that goes on by so many minutes whenever it is read."""

    step: float
    now: float = 0.0

    def __call__(self) -> float:
        self.now += 60 * self.step
        return self.now


def noisy(request: RaceRequest, spec: LaneSpec) -> float:
    return random.Random(f"{request.prompt} {spec.name}").gauss(1.0, 0.03)


def sweep(
    races: StartRace, wanted: SweepPlan, minutes: float = 1e9, clock: Callable[[], float] = float
) -> list[SweepProgress]:
    return list(run_sweep(races, SweepRecord(wanted), minutes=minutes, clock=clock))


def once(races: StartRace, wanted: SweepPlan) -> SweepRecord:
    """Run everything once and nothing again."""
    steps = run_sweep(races, SweepRecord(wanted), minutes=1e9, clock=float)
    return list(_until_repeating(steps))[-1].record


def _until_repeating(steps: Iterator[SweepProgress]) -> Iterator[SweepProgress]:
    for step in steps:
        if step.is_repeating:
            return
        yield step


def test_every_draft_is_raced_at_every_length_on_every_prompt() -> None:
    wanted, races = plan("story", "code"), KnownRaces()
    record = once(races, wanted)
    counts = Counter((run.draft, run.gamma, run.prompt) for run in record.runs)
    asked = {(x.draft, g, p.id) for x in wanted.lanes for g in x.gammas for p in wanted.prompts}
    assert counts == Counter(asked)
    warm_up, *measured = races.requests
    assert warm_up.max_new_tokens == 16
    assert record.num_races == len({run.race for run in record.runs})
    for request in measured:
        assert 2 <= len(request.lanes) <= 4
        assert request.max_new_tokens == 48
        assert not request.record_top


def test_prompts_come_in_turns_and_coarse_lengths_first() -> None:
    wanted, races = plan("story", "code", gammas=(1, 2, 3, 4, 5)), KnownRaces()
    once(races, wanted)
    asked = [request.prompt for request in races.requests[1:]]
    assert list(dict.fromkeys(asked))[:2] == ["a story of 0", "a code of 0"]
    first = [x.gamma for x in races.requests[1].lanes[1:]]
    assert first == [1, 1, 3]
    coarse = [
        lane.gamma
        for request in races.requests[1:]
        if request.prompt == "a story of 0"
        for lane in request.lanes[1:]
    ]
    assert set(coarse[:6]) == {1, 3, 5}
    assert set(coarse[6:10]) == {2, 4}


def test_every_second_race_comes_in_reverse_order() -> None:
    races = KnownRaces()
    record = once(races, plan("story", gammas=(2,)))
    orders = [[lane.draft for lane in request.lanes[1:]] for request in races.requests[1:4]]
    assert orders == [[GOOD.draft, BAD.draft], [BAD.draft, GOOD.draft], [GOOD.draft, BAD.draft]]
    for run in record.runs:
        request = races.requests[1 + run.race]
        assert f"{run.draft} γ={run.gamma}" in [lane.name for lane in request.lanes]


def test_the_best_draft_length_is_that_of_the_known_costs() -> None:
    wanted = plan("story", "code", each=8)
    results = results_of(once(KnownRaces(slowed=noisy), wanted))
    good, bad = results.best
    for best in (good, bad):
        # With these known costs neighbours of the best differ by less than a hundredth.
        truth = best_gamma(ALPHA[best.draft], 0.1, lambda gamma: 1.0 + 0.05 * gamma, GAMMAS[-1])
        assert abs(best.gamma - truth) <= 1
        assert best.gamma_low <= best.gamma <= best.gamma_high
    assert good.gamma > bad.gamma
    assert results.leaders == (good, bad)
    assert results.prediction.r_squared is not None
    assert results.prediction.r_squared_textbook is not None
    assert results.prediction.r_squared > 0.9 > results.prediction.r_squared_textbook


def test_the_best_draft_length_comes_out_again() -> None:
    wanted = plan("story", "code", each=8)

    def again(number: int) -> list[int]:
        def slowed(request: RaceRequest, spec: LaneSpec) -> float:
            return random.Random(f"{number} {request.prompt} {spec.name}").gauss(1.0, 0.03)

        return [best.gamma for best in results_of(once(KnownRaces(slowed=slowed), wanted)).best]

    first = again(0)
    assert all(again(number) == first for number in range(1, 5))


def test_unsure_cells_are_raced_again_until_they_are_sure() -> None:
    def slowed(request: RaceRequest, spec: LaneSpec) -> float:
        return next(factors)

    coin = random.Random(5)
    factors = iter(lambda: coin.gauss(1.0, 0.04), None)
    wanted = plan("story", each=4, gammas=(2, 4))
    *_, last = sweep(KnownRaces(slowed=slowed), wanted)
    assert last.is_repeating
    assert last.done == last.of
    for cell in results_of(last.record).cells:
        assert cell.speedup is not None
        assert cell.speedup_low is not None
        assert cell.speedup_high is not None
        is_sure = cell.speedup_high - cell.speedup_low <= 0.05 * cell.speedup
        assert is_sure or cell.n == 20 * cell.num_prompts


def test_the_budget_ends_a_sweep_but_not_its_first_turn() -> None:
    wanted = plan("story", "code", each=4)
    steps = sweep(KnownRaces(), wanted, minutes=0.5, clock=Minutes(1.0))
    record = steps[-1].record
    assert {run.prompt for run in record.runs} == {"story 0", "code 0"}
    cells = results_of(record).cells
    asked = {(x.draft, g, c) for x in wanted.lanes for g in GAMMAS for c in (ALL, "story", "code")}
    assert {(cell.draft, cell.gamma, cell.category) for cell in cells} == asked
    assert all(step.seconds_left == 0 for step in steps)
    assert steps[-1].done < steps[-1].of
    assert len(sweep(KnownRaces(), wanted, minutes=1e9, clock=Minutes(0.001))) > len(steps)


def test_a_sweep_that_was_stopped_keeps_what_is_done_and_goes_on() -> None:
    wanted = plan("story", gammas=(1, 2, 3))
    whole = once(KnownRaces(), wanted)
    part = list(islice(run_sweep(KnownRaces(), SweepRecord(wanted), minutes=1e9), 4))[-1].record
    assert 0 < len(part.runs) < len(whole.runs)
    races = KnownRaces()
    steps = run_sweep(races, part, minutes=1e9, clock=float)
    resumed = list(_until_repeating(steps))[-1].record
    assert resumed.runs[: len(part.runs)] == part.runs
    assert resumed.num_races >= whole.num_races
    keys = Counter((run.draft, run.gamma, run.prompt) for run in resumed.runs)
    assert keys == Counter((run.draft, run.gamma, run.prompt) for run in whole.runs)
    assert [x.speedup for x in results_of(resumed).cells] == pytest.approx(
        [x.speedup for x in results_of(whole).cells]
    )


def test_a_race_that_is_cut_short_is_in_no_number() -> None:
    def cut(run: LaneTrace) -> LaneTrace:
        return replace(run, stop_reason=StopReason.CANCELLED)

    answers = iter([False] * 6 + [True] * 100)
    steps = run_sweep(
        KnownRaces(changed=cut),
        SweepRecord(plan("story")),
        minutes=1e9,
        should_stop=lambda: next(answers),
    )
    assert [step.record.runs for step in steps] == []


def test_what_fails_is_noted_and_in_no_number() -> None:
    def failed(run: LaneTrace) -> LaneTrace:
        is_bad = run.spec.gamma == 4
        return replace(run, stop_reason=StopReason.ERROR, error="too hot") if is_bad else run

    record = once(KnownRaces(changed=failed), plan("story", each=1, gammas=(2, 4)))
    assert {run.gamma for run in record.runs} == {2}
    assert record.failures[0].startswith("specviz-")
    assert record.failures[0].endswith("γ=4 on story, story 0: too hot")
    assert len(record.failures) == 2


def test_a_prompt_that_cannot_be_read_is_left_out() -> None:
    class Short(KnownRaces):
        def __call__(
            self, request: RaceRequest, should_stop: Callable[[], bool] = bool
        ) -> Iterator[Event]:
            if request.prompt == "a story of 1":
                raise PromptError("the prompt is too long")
            return super().__call__(request, should_stop)

    record = once(Short(), plan("story", gammas=(2, 4)))
    assert {run.prompt for run in record.runs} == {"story 0", "story 2"}
    assert record.failures == ("story, story 1: the prompt is too long",)


def test_a_baseline_that_fails_or_a_race_without_an_end_is_told() -> None:
    class Broken(KnownRaces):
        def __call__(
            self, request: RaceRequest, should_stop: Callable[[], bool] = bool
        ) -> Iterator[Event]:
            for event in super().__call__(request, should_stop):
                assert isinstance(event, RaceFinished)
                first, *others = event.trace.lanes
                dead = replace(first, stop_reason=StopReason.ERROR, error="no numbers")
                yield RaceFinished(replace(event.trace, lanes=(dead, *others)))

    with pytest.raises(DecodingError, match="no numbers"):
        sweep(Broken(), plan("story"))

    def endless(request: RaceRequest, should_stop: Callable[[], bool] = bool) -> Iterator[Event]:
        is_warm_up = request.max_new_tokens == 16
        return KnownRaces()(request) if is_warm_up else iter(())

    with pytest.raises(DecodingError, match="without a trace"):
        sweep(endless, plan("story"))


def test_lanes_have_names_of_their_own() -> None:
    target = "specviz-target"
    wanted = [
        (LaneSpec(None, Method.DRAFT_MODEL, target, "/models/mine"), (2, 4)),
        (LaneSpec(None, Method.EARLY_EXIT, target, exit_layer=4), (3,)),
        (LaneSpec(None, Method.PROMPT_LOOKUP, target, max_ngram=2), (8,)),
        (LaneSpec(None, Method.PROMPT_LOOKUP, target, max_ngram=4), (8,)),
        (LaneSpec(None, Method.DRAFT_MODEL, target, "/models/mine", gamma=6), (6,)),
    ]
    lanes = make_lanes(wanted)
    assert [(x.draft, x.gammas) for x in lanes] == [
        ("mine", (2, 4, 6)),
        ("early-exit 4", (3,)),
        ("prompt-lookup 2", (8,)),
        ("prompt-lookup 4", (8,)),
    ]
    warm = make_lanes(wanted[:1], (0.0, 0.8))
    assert [(x.draft, x.temperature) for x in warm] == [("mine T=0", 0.0), ("mine T=0.8", 0.8)]
    with pytest.raises(RequestError, match="got mine, mine"):
        make_lanes([*wanted[:1], (LaneSpec(None, Method.DRAFT_MODEL, target, "/x/mine"), (2,))])
    with pytest.raises(RequestError, match="1 to 24 ways to draft, got 0"):
        make_lanes([])


@pytest.mark.parametrize(
    ("gammas", "coarse"),
    [((4,), (4,)), ((2, 4), (2, 4)), ((1, 2, 3), (1, 3)), (tuple(range(1, 11)), (1, 3, 5, 7, 10))],
)
def test_the_coarse_grid_has_both_ends(gammas: tuple[int, ...], coarse: tuple[int, ...]) -> None:
    (lane,) = make_lanes([(DRAFTS[0], gammas)])
    assert lane.coarse_gammas == coarse


def test_lanes_of_two_temperatures_never_share_a_race() -> None:
    races = KnownRaces()
    lanes = make_lanes(((spec, (2, 4)) for spec in DRAFTS), (0.0, 0.5))
    once(races, SweepPlan("specviz-target", lanes, prompts("story", each=1), 32))
    laws = {request.sampling.temperature for request in races.requests}
    assert laws == {0.0, 0.5}
    for request in races.requests[1:]:
        is_warm = request.sampling.temperature == 0.5
        assert all(("T=0.5" in (x.name or "")) is is_warm for x in request.lanes[1:])
