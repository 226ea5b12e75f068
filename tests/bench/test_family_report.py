"""The family's report on races with known costs: what it chooses, measures, keeps apart, says."""

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from traces import ENVIRONMENT, chain, lane, plain

from specviz.bench.family_races import Races
from specviz.bench.family_report import (
    FamilyReport,
    Row,
    candidate_gammas,
    fastest_gamma,
    measure_family,
    summarise_runs,
)
from specviz.bench.plan import JOINED, Contender, GalleryPrompt, ReportPlan, read_gallery
from specviz.bench.repeats import Quartiles
from specviz.cli.family_questions import answer_questions
from specviz.errors import DecodingError
from specviz.race.validation import check_request
from specviz.trace.values import (
    Event,
    LaneSpec,
    LaneTrace,
    Method,
    RaceFinished,
    RaceRequest,
    Sampling,
    StopReason,
    Trace,
    TraceRequest,
)

STEP_MS = 10.0
DRAFT_COST = 0.1
GOOD, BAD = (
    Contender(f"specviz-{x}", Method.DRAFT_MODEL, f"specviz-{x}") for x in ("small", "bad")
)
LOOKUP = Contender("prompt-lookup", Method.PROMPT_LOOKUP)
ALPHA = {GOOD.draft: 0.99, BAD.draft: 0.5}


@dataclass
class KnownRaces:
    """A `start_race` where a draft step costs 0.1 and a verification 1 + 0.05 γ target steps."""

    requests: list[RaceRequest] = field(default_factory=list)
    slowed: Callable[[RaceRequest, LaneSpec], float] = lambda request, spec: 1.0
    """What the times of a drafting lane are multiplied with."""
    changed: Callable[[LaneTrace], LaneTrace] = lambda run: run

    def __call__(
        self, request: RaceRequest, should_stop: Callable[[], bool] = bool
    ) -> Iterator[Event]:
        check_request(request)
        self.requests.append(request)
        num = request.max_new_tokens
        shared = TraceRequest(request.prompt, (1, 2), num, request.sampling)
        lanes = [lane(plain(*range(num), ms=STEP_MS), Method.BASELINE, name="baseline")]
        lanes += [self.changed(self._lane(request, spec)) for spec in request.lanes[1:]]
        specs = zip(lanes, request.lanes, strict=True)
        named = tuple(replace(made, spec=spec) for made, spec in specs)
        yield RaceFinished(Trace(shared, ENVIRONMENT, named))

    def _lane(self, request: RaceRequest, spec: LaneSpec) -> LaneTrace:
        num, step = request.max_new_tokens, STEP_MS * self.slowed(request, spec)
        rounds, position = [], 0
        while position < num:
            if spec.method is Method.PROMPT_LOOKUP:
                rounds += plain(position, ms=step)
                position += 1
                continue
            gamma = min(spec.gamma, num - position - 1)
            coins = [random.Random(f"{request.prompt} {position + x}") for x in range(gamma)]
            misses = [x for x, coin in enumerate(coins) if coin.random() > ALPHA[spec.draft]]
            kept = misses[0] if misses else gamma
            ids = range(position, position + gamma)
            verify_ms = step * (1.0 + 0.05 * gamma) if gamma else step
            costs = {"draft_ms": DRAFT_COST * gamma * step, "verify_ms": verify_ms}
            rounds.append(chain(ids, kept, position + kept, **costs))
            position += kept + 1
        return lane(rounds)


def prompts(*groups: str, each: int = 3) -> tuple[GalleryPrompt, ...]:
    return tuple(
        GalleryPrompt(group, f"{group} {number}", f"a {group} of {number}")
        for group in groups
        for number in range(each)
    )


def plan(
    *groups: str, contenders: tuple[Contender, ...] = (GOOD, BAD), each: int = 3
) -> ReportPlan:
    return ReportPlan("specviz-target", contenders, prompts(*groups, each=each))


def test_each_contender_is_reported_at_its_fastest_draft_length() -> None:
    report = measure_family(KnownRaces(), plan("story"))
    good, bad = report.row("specviz-small", "story"), report.row("specviz-bad", "story")
    assert good is not None
    assert bad is not None
    assert (good.gamma, bad.gamma) == (8, 2)
    assert good.num_prompts == 3
    assert good.alpha == pytest.approx(0.99, abs=0.01)
    assert bad.alpha == pytest.approx(0.5, abs=0.1)
    assert good.alpha == good.num_accepted / good.num_judged
    assert good.draft_cost == pytest.approx(DRAFT_COST)
    assert good.verify_cost == pytest.approx(1.4, abs=0.03)
    assert good.speedup is not None
    assert good.best_speedup is not None
    assert good.best_speedup > good.speedup.median > 2
    assert good.speedup.n == 3
    assert good.verdict == bad.verdict == "identical"
    assert report.baseline_tokens_per_second == Quartiles(100.0, 100.0, 100.0, 3)
    assert report.failures == ()


def test_the_theory_names_the_candidates() -> None:
    """With c = 0.1 and v = 1 + 0.05 γ they are long at alpha 0.99 and short at alpha 0.5."""
    runs = Races(KnownRaces(), plan("story"), lambda *x: None)
    good = runs.run("", {("story", GOOD): (4,)})
    bad = runs.run("", {("story", BAD): (4,)})
    assert candidate_gammas(good, (1, 2, 3, 6, 8)) == (8, 6)
    assert candidate_gammas(bad, (2, 3, 6, 8)) == (2, 3)


def test_no_number_comes_from_the_races_that_chose() -> None:
    """In the trial one draft length looks five times faster than it is; the report is not fooled
    about its speed."""

    def flattered(request: RaceRequest, spec: LaneSpec) -> float:
        return 0.2 if spec.gamma == 2 and request.sampling.seed == 0 else 1.0

    fooled = measure_family(KnownRaces(slowed=flattered), plan("story", contenders=(BAD,)))
    honest = measure_family(KnownRaces(), plan("story", contenders=(BAD,)))
    assert fooled.rows == honest.rows

    def flattered_middle(request: RaceRequest, spec: LaneSpec) -> float:
        return 0.2 if spec.gamma == 4 and request.sampling.seed == 0 else 1.0

    fooled = measure_family(KnownRaces(slowed=flattered_middle), plan("story", contenders=(BAD,)))
    (row,), (best,) = fooled.rows, honest.rows
    assert row.gamma == 4
    assert row.speedup is not None
    assert best.speedup is not None
    assert row.speedup.median < best.speedup.median < 2


def test_draft_lengths_are_chosen_on_few_prompts_and_half_the_tokens() -> None:
    races = KnownRaces()
    report = measure_family(races, plan("story", "edit", each=5))
    trial = [x for x in races.requests if x.sampling.seed == 0]
    fresh = [x for x in races.requests if x.sampling.seed == 1]
    assert len(trial) + len(fresh) == len(races.requests) == report.num_races
    assert {x.prompt for x in trial} == {f"a {g} of {n}" for g in ("story", "edit") for n in (0, 1)}
    assert {x.max_new_tokens for x in trial} == {48}
    assert [x.prompt for x in fresh] == [prompt.text for prompt in report.plan.prompts]
    assert {x.max_new_tokens for x in fresh} == {96}


def test_story_and_code_have_rows_together_and_apart() -> None:
    slow = {"story": 2, "code": 8}

    def slowed(request: RaceRequest, spec: LaneSpec) -> float:
        """Any draft length but one is slow, another one for each group."""
        return 1.0 if spec.gamma == slow[request.prompt.split()[1]] else 1.5

    races = KnownRaces(slowed=slowed)
    small = replace(plan("story", "code", contenders=(GOOD,)), gammas=(2, 4, 8))
    report = measure_family(races, small)
    assert list(small.sections) == [JOINED, "story", "code"]
    both, code = report.row("specviz-small", JOINED), report.row("specviz-small", "code")
    assert both is not None
    assert code is not None
    assert (both.num_prompts, code.num_prompts) == (6, 3)
    assert code.gamma == 8
    for request in races.requests:
        gammas = [spec.gamma for spec in request.lanes[1:]]
        assert len(set(gammas)) == len(gammas)
    assert JOINED not in plan("story", "edit").sections


def test_races_hold_as_many_lanes_as_are_allowed_beside_the_baseline() -> None:
    many = tuple(replace(GOOD, name=f"lane {number}") for number in range(7))
    races, told = KnownRaces(), []
    runner = Races(races, plan("story", contenders=many, each=1), lambda *x: told.append(x))
    runs = runner.run("racing", {("story", contender): (4,) for contender in many})
    assert [len(request.lanes) for request in races.requests] == [4, 4, 2]
    assert [run.contender for run in runs] == list(many)
    assert told == [("racing", 0, 3), ("racing", 1, 3), ("racing", 2, 3)]


def test_repeated_races_give_medians_and_count_tokens_once() -> None:
    paces = iter([1.0, 5.0, 2.0])

    def slowed(request: RaceRequest, spec: LaneSpec) -> float:
        return next(paces)

    one = plan("story", contenders=(GOOD,), each=1)
    (once,) = Races(KnownRaces(), one, print).run("", {("story", GOOD): (4,)})
    races = Races(KnownRaces(slowed=slowed), replace(one, num_repeats=3), lambda *x: None)
    (run,) = races.run("", {("story", GOOD): (4,)})
    assert races.num_races == 3
    assert run.counts == replace(once.counts, **times(run.counts))
    assert once.summary.speedup is not None
    assert run.summary.speedup == pytest.approx(once.summary.speedup / 2)


def times(counts: object) -> dict[str, float]:
    return {name: getattr(counts, name) for name in ("draft_ms", "verify_ms", "other_ms")}


def test_where_nothing_is_drafted_nothing_is_claimed() -> None:
    report = measure_family(KnownRaces(), plan("story", contenders=(LOOKUP,)))
    (row,) = report.rows
    assert row.gamma == report.plan.middle_gamma
    assert row.alpha is row.draft_cost is row.efficiency is None
    assert row.num_judged == 0
    assert row.speedup is not None
    assert row.speedup.median == pytest.approx(1.0)
    assert candidate_gammas([], (2, 4)) == ()
    assert fastest_gamma([]) is None


def test_a_lane_that_failed_is_named_and_in_no_number() -> None:
    def failing(run: LaneTrace) -> LaneTrace:
        is_bad = run.rounds[0].draft_ms > 0 and run.spec.gamma != 0 and len(run.rounds) > 30
        return replace(run, stop_reason=StopReason.ERROR, error="no numbers") if is_bad else run

    report = measure_family(KnownRaces(changed=failing), plan("story"))
    bad = report.row("specviz-bad", "story")
    assert bad is not None
    assert bad.num_prompts == 0
    assert bad.speedup is bad.best_prompt is bad.verdict is None
    assert report.failures[-1] == "specviz-bad γ=2 on story, story 2: no numbers"


def test_without_any_race_there_is_no_report() -> None:
    with pytest.raises(DecodingError, match="no race came to an end"):
        measure_family(KnownRaces(), plan())


def test_the_gallery_is_read_by_groups(tmp_path: Path) -> None:
    for name, word in (("2-code", "code_add_up"), ("1-story", "story_fox")):
        examples = [{"id": word, "prompt": f"a {word}"}]
        (tmp_path / f"{name}.json").write_text(json.dumps({"examples": examples}))
    gallery = read_gallery(tmp_path)
    assert gallery == (
        GalleryPrompt("story", "story_fox", "a story_fox"),
        GalleryPrompt("code", "code_add_up", "a code_add_up"),
    )
    assert [prompt.label for prompt in gallery] == ["fox", "add up"]


def row(contender: str, group: str, speedup: float | None, alpha: float = 0.5) -> Row:
    made = summarise_runs(Contender(contender, Method.DRAFT_MODEL), group, 4, [])
    found = None if speedup is None else Quartiles(speedup, speedup, speedup, 4)
    return replace(made, speedup=found, alpha=alpha, best_speedup=speedup, efficiency=0.95)


def report_of(*rows: Row, temperature: float = 0.0) -> FamilyReport:
    exits = Contender("early-exit 4", Method.EARLY_EXIT, exit_layer=4)
    asked = replace(plan("story", contenders=(exits,)), sampling=Sampling(temperature))
    return FamilyReport(ENVIRONMENT, asked, rows, Quartiles(1.0, 1.0, 1.0, 1), (), 1, 1.0)


def test_questions_are_answered_from_the_rows() -> None:
    answers = answer_questions(
        report_of(
            row("specviz-small", JOINED, 2.5, alpha=0.8),
            row("specviz-large", JOINED, 2.0, alpha=0.88),
            row("specviz-misfit", "story", 1.2),
            row("early-exit 4", "story", 1.15),
            row("prompt-lookup", "edit", None),
        )
    )
    found = {answer.text: (answer.wanted, answer.value, answer.is_met) for answer in answers}
    assert found == {
        "specviz-small on story + code, median speedup": ("≥ 2", 2.5, True),
        "specviz-small on story + code, median efficiency": ("≥ 0.9", 0.95, True),
        "specviz-small on the best prompt of story + code, None, speedup": ("≥ 3", 2.5, False),
        "prompt-lookup on edit, median speedup": ("≥ 2", None, None),
        "early-exit 4 on story, median speedup": ("≥ 1.15", 1.15, True),
        "specviz-misfit on story, median speedup": ("< 1", 1.2, False),
        "α of specviz-large over specviz-small on story + code": (
            "> 1",
            pytest.approx(1.1),
            True,
        ),
        "median speedup of specviz-large over specviz-small on story + code": ("< 1", 0.8, True),
    }


def test_only_what_was_run_is_asked() -> None:
    small = row("specviz-small", JOINED, 1.2)
    (sampled,) = answer_questions(report_of(small, temperature=1.0))
    assert (sampled.wanted, sampled.is_met) == ("≥ 1.3", False)
    assert answer_questions(report_of(small, temperature=0.7)) == ()
    assert answer_questions(report_of()) == ()
