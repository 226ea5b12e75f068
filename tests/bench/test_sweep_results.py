"""What a sweep says of its runs: cells and intervals by hand, verdicts, files read back."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from test_family_report import KnownRaces
from test_sweep import once, plan
from traces import ENVIRONMENT, small_race

from specviz.bench.suites import ALL
from specviz.bench.sweep_cells import Cell, cells_of, prediction_of
from specviz.bench.sweep_files import (
    cells_csv,
    parse_sweep,
    read_cells_csv,
    read_sweep,
    sweep_json,
    write_sweep,
)
from specviz.bench.sweep_plan import SweepPlan, make_lanes
from specviz.bench.sweep_record import (
    CheckCosts,
    Kept,
    ModelSize,
    PassTime,
    SweepRecord,
    SweepRun,
    run_of,
)
from specviz.bench.sweep_results import results_of
from specviz.errors import FormatError, RequestError
from specviz.texts import in_english
from specviz.trace.metrics import race_metrics
from specviz.trace.values import LaneSpec, Method
from specviz.trace.verdict import Agreement, race_verdicts

DRAFT = "specviz-small"
RUN = SweepRun(
    draft=DRAFT,
    gamma=4,
    prompt="story 0",
    race=0,
    num_rounds=10,
    num_emitted=30,
    num_accepted=20,
    num_rejected=5,
    paths=(Kept(4, 0, 2), Kept(4, 1, 2), Kept(4, 2, 1), Kept(4, 4, 4)),
    draft_ms=40.0,
    verify_ms=120.0,
    other_ms=2.0,
    baseline_tokens_per_second=100.0,
    speedup=2.0,
    speedup_low=1.8,
    speedup_high=2.2,
    draft_cost=0.1,
    verify_cost=1.2,
    round_cost=1.6,
    agreement=Agreement.IDENTICAL,
)


def record(*runs: SweepRun, gammas: tuple[int, ...] = (4,)) -> SweepRecord:
    wanted = plan("story", "code", gammas=gammas)
    return SweepRecord(wanted, runs, ENVIRONMENT, num_races=len(runs), seconds=3.0)


def at(speedup: float, prompt: str = "story 0", race: int = 0, **changes: object) -> SweepRun:
    ends = {"speedup_low": 0.99 * speedup, "speedup_high": 1.01 * speedup}
    values = {"speedup": speedup, "prompt": prompt, "race": race} | ends | changes
    return replace(RUN, **values)  # type: ignore[arg-type]


def cell(cells: tuple[Cell, ...], category: str, gamma: int = 4) -> Cell:
    return next(x for x in cells if (x.category, x.gamma) == (category, gamma))


def told(sweep: SweepRecord, index: int = 0) -> str:
    return " ".join(map(in_english, results_of(sweep).verdicts[index].sentences))


def test_a_run_keeps_what_its_race_said() -> None:
    race = small_race()
    metrics, verdicts = race_metrics(race), race_verdicts(race)
    run = run_of(race.lanes[1], metrics[1], verdicts[1], metrics[0], draft="x", prompt="p", race=7)
    assert (run.draft, run.gamma, run.prompt, run.race) == ("x", 3, "p", 7)
    assert run.paths == (Kept(1, 1, 1), Kept(3, 1, 1), Kept(3, 3, 1))
    assert run.alpha == pytest.approx(5 / 6)
    assert run.tau == pytest.approx(8 / 3)
    assert run.speedup == pytest.approx(80 / 44)
    # 44 ms for three rounds beside 10 ms a token.
    assert run.round_cost == pytest.approx(44 / 30)
    assert run.predicted_speedup == pytest.approx(80 / 43)
    assert run.baseline_tokens_per_second == pytest.approx(100.0)
    assert run.agreement is Agreement.IDENTICAL


def test_a_cell_is_the_mean_of_its_prompts_medians() -> None:
    runs = (
        at(1.0, "story 0", 0),
        at(3.0, "story 0", 1),
        at(2.2, "story 0", 2),
        at(1.4, "story 1", 3),
        at(5.0, "code 0", 4, num_accepted=5),
    )
    cells = cells_of(record(*runs))
    story, code, both = (cell(cells, name) for name in ("story", "code", ALL))
    assert story.speedup == pytest.approx((2.2 * 1.4) ** (1 / 2))
    assert (story.n, story.num_prompts) == (4, 2)
    assert both.speedup == pytest.approx((2.2 * 1.4 * 5.0) ** (1 / 3))
    assert (both.n, both.num_prompts) == (5, 3)
    # Repeated races judge the same tokens again and are counted once.
    assert (story.num_accepted, story.num_judged) == (40, 50)
    assert both.alpha == pytest.approx(45 / 60)
    assert code.draft_cost == pytest.approx(0.1)
    assert code.tau == pytest.approx(3.0)
    assert code.draft_ms == pytest.approx(40 / 30)
    assert code.rounds_by_kept == (2, 2, 1, 0, 4)
    assert code.acceptance_by_position == pytest.approx((7 / 9, 5 / 9, 4 / 9, 4 / 9))
    assert code.tokens_per_second == pytest.approx(30 / 0.162)
    assert code.agreement is Agreement.IDENTICAL


def test_a_race_that_was_held_up_does_not_decide() -> None:
    runs = [at(2.0, f"story {number}", number) for number in range(3)]
    held_up = at(0.001, "code 0", 3)
    found = cell(cells_of(record(*runs, held_up)), ALL)
    assert found.speedup == pytest.approx(2.0)
    assert found.num_prompts == 4


def test_predicted_speedups_by_hand() -> None:
    (run,) = (at(2.0),)
    # Nine rounds drafted 4 (1.6 passes each), one nothing; 10 + 20 tokens.
    assert run.predicted_speedup == pytest.approx(30 / (9 * 1.6 + 1))
    found = cell(cells_of(record(run)), "story")
    expected = 9 * (1 + 0.8 + 0.8**2 + 0.8**3 + 0.8**4) + 1
    assert found.predicted_speedup_textbook == pytest.approx(expected / (9 * 1.4 + 1))


def test_an_interval_narrows_as_races_are_repeated_and_holds_the_speedup() -> None:
    def width(num_races: int) -> float:
        runs = [at(2.0 + 0.1 * (race % 3 - 1), "story 0", race) for race in range(num_races)]
        found = cell(cells_of(record(*runs)), "story")
        assert found.speedup_low is not None
        assert found.speedup is not None
        assert found.speedup_high is not None
        assert found.speedup_low < found.speedup < found.speedup_high
        return found.speedup_high - found.speedup_low

    assert width(1) == pytest.approx(0.04, rel=0.2)
    assert width(20) < width(6) < width(3)


def test_a_race_of_few_rounds_is_no_surer_than_the_others() -> None:
    known = at(2.0, "story 0")
    short = at(2.0, "story 1", 1, speedup_low=None, speedup_high=None)
    both = cell(cells_of(record(known, short)), "story")
    fewer = cell(cells_of(record(known, replace(short, num_rounds=1))), "story")
    same = cell(cells_of(record(known, at(2.0, "story 1", 1))), "story")
    assert (both.speedup_low, both.speedup_high) == (same.speedup_low, same.speedup_high)
    assert fewer.speedup_low is not None
    assert both.speedup_low is not None
    assert fewer.speedup_low < both.speedup_low


def test_where_nothing_says_how_sure_a_speedup_is_there_is_no_interval() -> None:
    found = cell(cells_of(record(at(2.0, speedup_low=None, speedup_high=None))), "story")
    assert (found.speedup, found.speedup_low, found.speedup_high) == (2.0, None, None)
    none = cell(cells_of(record(replace(RUN, speedup=None))), "story")
    assert none.speedup is None
    assert results_of(record(replace(RUN, speedup=None))).best == ()


def test_r_squared_by_hand() -> None:
    (made,) = (x for x in cells_of(record(RUN)) if x.category == "story")
    cells = [
        replace(made, speedup=x, predicted_speedup=y, predicted_speedup_textbook=x)
        for x, y in ((1.0, 1.0), (2.0, 2.5), (3.0, 3.0))
    ]
    found = prediction_of([*cells, replace(made, category=ALL, speedup=9.0)])
    assert found.num_cells == 3
    # 0.25 of 2 is left over.
    assert found.r_squared == pytest.approx(1 - 0.25 / 2)
    assert found.r_squared_textbook == pytest.approx(1.0)
    assert prediction_of(cells[:2]).r_squared is None


def test_a_draft_that_pays_is_called_so() -> None:
    runs = [at(2.0, f"story {number}", number) for number in range(3)]
    runs += [at(0.8, f"code {number}", number) for number in range(2)]
    sweep = record(*runs)
    (verdict,) = results_of(sweep).verdicts
    assert verdict.is_worth_it
    text = told(sweep)
    assert text.startswith("specviz-small is worth it here: 1.47× at γ = 4 (1.4")
    assert "A round brings 3 tokens and takes as long as 1.6 tokens of the target alone" in text
    assert "It gains on story (2.00×). It loses on code (0.80×)." in text
    assert "calls its acceptance α = 0.8 excellent (0.7 or more). The measurement agrees." in text
    assert "Only γ = 4 was measured." in text
    assert "Draft nothing, or less, on code (0.80×)." in text


def test_the_rules_of_thumb_are_contradicted_where_they_are_wrong() -> None:
    sizes = (ModelSize("specviz-target", 600, 2400), ModelSize(DRAFT, 200, 800))
    slow = replace(record(at(0.8, draft_cost=0.4)), models=sizes)
    text = told(slow)
    assert "is not worth it here: even at its best γ = 4 it makes 0.8×" in text
    assert "The measurement contradicts the rule: a round still costs more" in text
    assert "It has only 3 times fewer parameters than the target" in text
    assert "cheaper guesses: fewer layers, or an earlier exit (now 0.4 of a pass each)" in text
    fast = replace(record(at(1.4, num_accepted=4, num_rejected=6)), models=sizes)
    text = told(fast)
    assert "α = 0.4: look for another draft (below 0.5)." in text
    assert "The measurement contradicts the rule: the draft pays all the same." in text
    assert "It pays all the same, since time counts and a guess costs 0.1 of a pass." in text
    small = replace(record(at(0.8)), models=(replace(sizes[0], num_parameters=4000), sizes[1]))
    assert "That is not enough here: a guess costs 0.1 of a pass." in told(small)
    poor = told(record(at(0.8, num_accepted=4, num_rejected=6)))
    assert "(below 0.5). The measurement agrees." in poor
    assert "python -m specviz distill" in poor


def test_a_draft_that_makes_no_difference_is_not_judged() -> None:
    sweep = record(at(1.0))
    assert results_of(sweep).verdicts[0].is_worth_it is None
    assert "makes no clear difference here: 1×" in told(sweep)
    assert "more minutes or more prompts" in told(sweep)
    unknown = record(at(1.5, speedup_low=None, speedup_high=None))
    assert "from too few rounds to say how sure that is" in told(unknown)


def test_a_better_draft_can_lose() -> None:
    sweep = record(at(2.0, num_rejected=10), at(1.2, draft="specviz-bad", draft_cost=0.3))
    text = told(sweep, 1)
    assert "its guesses are kept more often than those of specviz-small (α 0.8 against" in text
    assert "specviz-small makes 2× at γ = 4" in text
    worse = record(at(2.0), at(1.2, draft="specviz-bad", num_rejected=10))
    assert "specviz-small does better: 2× at γ = 4." in told(worse, 1)
    assert "does better" not in told(worse, 0)


def test_the_longest_draft_length_is_not_called_the_last_word() -> None:
    sweep = record(at(1.2, gamma=2), at(2.0, gamma=4), gammas=(2, 4))
    assert "γ = 4 is the longest that was measured: try longer ones, up to 16." in told(sweep)
    other = record(at(2.0, gamma=2), at(1.2, gamma=4), gammas=(2, 4))
    assert "Of the draft lengths that were measured, γ = 2 was the fastest." in told(other)
    assert "Take it with γ = 2." in told(other)


def test_a_sweep_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    costs = CheckCosts((PassTime(1, 1, 2.5), PassTime(1, 2, 2.6)), (PassTime(4, 5, 9.5),))
    sweep = once(KnownRaces(), plan("story", "code", each=2, num_tokens=160))
    sweep = replace(sweep, costs=costs, models=(ModelSize("specviz-target", 10, 40),))
    path = tmp_path / "sweep.json"
    write_sweep(sweep, path)
    assert [each.name for each in tmp_path.iterdir()] == ["sweep.json"]
    assert read_sweep(path) == sweep
    assert results_of(read_sweep(path)) == results_of(sweep)
    content = json.loads(path.read_text("utf-8"))
    assert list(content)[:5] == ["format", "cells", "best", "prediction", "verdicts"]
    assert set(content["best"]) == {"specviz-small", "specviz-bad"}
    for key in ("draft", "method", "gamma", "category", "n", "speedup", "speedup_low"):
        assert key in content["cells"][0]
    for key in ("speedup_high", "alpha", "draft_cost", "verify_cost", "predicted_speedup"):
        assert key in content["cells"][0]
    assert content["verdicts"][0]["text"].startswith("specviz-small is worth it here")
    assert content["verdicts"][0]["sentences"][0]["id"] == "sweep.worth_it"
    assert content == json.loads(json.dumps(sweep_json(sweep)))


def test_a_sweep_that_lacks_what_came_later_is_read() -> None:
    sweep = once(KnownRaces(), plan("story", num_tokens=160))
    content = json.loads(json.dumps(sweep_json(sweep)))
    for lane in content["plan"]["lanes"]:
        later = "schedule", "confidence", "flipped_coin", "head", "head_reading", "translation"
        for name in later:
            del lane["spec"][name]
    assert parse_sweep(json.dumps(content)) == sweep


def test_cells_are_read_back_from_a_table() -> None:
    lanes = make_lanes([(LaneSpec(None, Method.PROMPT_LOOKUP, "specviz-target"), (4,))])
    wanted = SweepPlan("specviz-target", lanes, record().plan.prompts)
    plain = at(1.0, paths=(), draft="prompt-lookup", draft_cost=None, verify_cost=None)
    plain = replace(plain, num_accepted=0, num_rejected=0, agreement=None)
    cells = (*cells_of(record(RUN)), *cells_of(SweepRecord(wanted, (plain,))))
    assert cells[-1].predicted_speedup == cells[-1].predicted_speedup_textbook == 1.0
    assert read_cells_csv(cells_csv(cells)) == cells


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no table of a sweep"),
        ("draft,gamma\nx,1\n", "no table of a sweep"),
        ("{head}\nx,1\n", "line 2 does not hold the columns"),
        ("{head}\n{row}\n{row}".replace("{row}", "{bad}"), "line 2 does not hold the columns"),
    ],
)
def test_a_table_that_is_none_is_refused(text: str, problem: str) -> None:
    head, row, *_ = cells_csv(cells_of(record(RUN))).splitlines()
    text = text.replace("{head}", head).replace("{bad}", row.replace(",4,", ",four,", 1))
    with pytest.raises(FormatError, match=problem):
        read_cells_csv(text)


def test_what_is_no_sweep_is_refused(tmp_path: Path) -> None:
    content = sweep_json(record(RUN))
    assert parse_sweep(json.dumps(content)) == record(RUN)
    for text in ("[]", "{}", '{"format": 1}'):
        with pytest.raises(FormatError, match="this is no sweep"):
            parse_sweep(text)
    with pytest.raises(FormatError, match="format must be 1, is 2"):
        parse_sweep(json.dumps(content | {"format": 2}))
    stranger = dict(content["runs"][0]) | {"prompt": "nowhere"}
    with pytest.raises(FormatError, match=r"runs\[0\] names a draft or a prompt"):
        parse_sweep(json.dumps(content | {"runs": [stranger]}))
    with pytest.raises(FormatError, match=r"runs\[0\]\.gamma must be an integer"):
        parse_sweep(json.dumps(content | {"runs": [stranger | {"gamma": "4"}]}))
    path = tmp_path / "sweep.json"
    path.write_text("{")
    with pytest.raises(FormatError, match=r"sweep\.json: it is JSON that was cut short"):
        read_sweep(path)
    with pytest.raises(RequestError, match="cannot write"):
        write_sweep(record(RUN), tmp_path / "nowhere" / "sweep.json")
