"""The command line on made-up races: what it asks for, prints, writes and refuses."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import pytest
from traces import chain, lane, small_race

from specviz.bench.repeats import LaneSummary
from specviz.cli import main
from specviz.cli.race_report import (
    MAX_ROUNDS_SHOWN,
    lane_text,
    lane_titles,
    one_line,
    printable,
    rounds_table,
)
from specviz.models import threads
from specviz.race.validation import check_request
from specviz.trace import files
from specviz.trace.names import lane_names, names_of
from specviz.trace.values import (
    Event,
    LaneSpec,
    LaneTrace,
    Method,
    RaceFinished,
    RaceRequest,
    Sampling,
    StartRace,
    StopReason,
    Trace,
    Tree,
)


@dataclass
class MadeUpRaces:
    """A factory of races that are over at once; remembers what it was asked."""

    verify_ms: list[float] = field(default_factory=lambda: [12.0])
    """Time of one verification in each race, in turn."""
    changed: Callable[[LaneTrace], LaneTrace] = lambda drafting: drafting
    requests: list[RaceRequest] = field(default_factory=list)
    places: list[tuple[str, str]] = field(default_factory=list)

    def __call__(self, device: str, dtype: str) -> StartRace:
        self.places.append((device, dtype))
        return self.start_race

    def start_race(
        self, request: RaceRequest, should_stop: Callable[[], bool] = bool
    ) -> Iterator[Event]:
        check_request(request)
        self.requests.append(request)
        yield RaceFinished(self._trace(request))

    def _trace(self, request: RaceRequest) -> Trace:
        race = small_race()
        verify_ms = self.verify_ms[(len(self.requests) - 1) % len(self.verify_ms)]
        baseline, drafting = race.lanes
        rounds = tuple(replace(round_, verify_ms=verify_ms) for round_ in drafting.rounds)
        drafting = self.changed(replace(drafting, rounds=rounds))
        lanes = tuple(
            replace(drafting if index else baseline, spec=spec)
            for index, spec in enumerate(request.lanes)
        )
        return replace(race, request=replace(race.request, prompt=request.prompt), lanes=lanes)


def race(*argv: str, races: MadeUpRaces | None = None) -> tuple[int, MadeUpRaces]:
    races = races or MadeUpRaces()
    return main(["race", "--prompt", "Once upon a time", *argv], races), races


def test_without_options_the_shipped_pair_races(capsys: pytest.CaptureFixture[str]) -> None:
    status, races = race()
    assert status == 0
    assert races.places == [("cpu", "float32")]
    assert races.requests == [
        RaceRequest(
            prompt="Once upon a time",
            lanes=(
                LaneSpec(None, Method.BASELINE, "specviz-target"),
                LaneSpec(None, Method.DRAFT_MODEL, "specviz-target", "specviz-small", 4),
            ),
            sampling=Sampling(),
            max_new_tokens=128,
        )
    ]


def test_every_option_reaches_the_request() -> None:
    options = "--temperature 0.7 --top-k 5 --top-p 0.9 --seed 3 --max-new-tokens 9 --gamma 2"
    models = "--target some/target --draft some/draft --device cuda --dtype bfloat16"
    _, races = race(*options.split(), *models.split())
    (request,) = races.requests
    assert request.sampling == Sampling(0.7, 5, 0.9, 3)
    assert request.max_new_tokens == 9
    assert request.lanes[0].target == request.lanes[1].target == "some/target"
    assert (request.lanes[1].draft, request.lanes[1].gamma) == ("some/draft", 2)
    assert races.places == [("cuda", "bfloat16")]


def test_lanes_take_what_they_leave_out_from_the_options() -> None:
    _, races = race(
        *("--method", "prompt-lookup", "--gamma", "6"),
        *("--lane", "method=draft-model,gamma=8,draft=./folder"),
        *("--lane", "method=early-exit,exit_layer=3,name=early,max_ngram=2"),
    )
    target = "specviz-target"
    assert races.requests[0].lanes[1:] == (
        LaneSpec(None, Method.PROMPT_LOOKUP, target, None, 6),
        LaneSpec(None, Method.DRAFT_MODEL, target, "./folder", 8),
        LaneSpec("early", Method.EARLY_EXIT, target, None, 6, 3, 2),
    )


def test_lanes_alone_replace_the_default_lane_and_get_names_of_their_own() -> None:
    _, races = race("--lane", "gamma=2", "--lane", "gamma=8")
    lanes = races.requests[0].lanes
    assert [spec.gamma for spec in lanes] == [0, 2, 8]
    assert lane_names(lanes) == (
        "target alone",
        "target + draft model (γ 2)",
        "target + draft model (γ 8)",
    )


def test_a_target_named_in_a_lane_is_the_target_of_the_race() -> None:
    _, races = race("--lane", "method=prompt-lookup,target=some/target")
    assert {spec.target for spec in races.requests[0].lanes} == {"some/target"}


def test_json_has_exactly_the_documented_keys(capsys: pytest.CaptureFixture[str]) -> None:
    status, _ = race("--json")
    content: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert status == 0
    assert list(content) == ["device", "dtype", "lanes"]
    assert (content["device"], content["dtype"]) == ("cpu", "float32")
    baseline, drafting = content["lanes"]
    assert list(baseline) == list(drafting) == [field.name for field in fields(LaneSummary)]
    assert baseline["method"] == "baseline"
    assert baseline["alpha"] is baseline["verdict"] is None
    assert drafting["num_emitted"] == 8
    assert drafting["alpha"] == pytest.approx(5 / 6)
    assert drafting["tau"] == pytest.approx(8 / 3)
    assert drafting["speedup"] == pytest.approx(80 / 44)
    assert drafting["target_passes_saved"] == pytest.approx(5 / 8)
    assert drafting["verdict"] == "identical"


def test_repeat_gives_medians_over_the_races(capsys: pytest.CaptureFixture[str]) -> None:
    races = MadeUpRaces(verify_ms=[10.0, 30.0, 12.0])
    status, _ = race("--json", "--repeat", "3", races=races)
    drafting = json.loads(capsys.readouterr().out)["lanes"][1]
    assert status == 0
    assert len(races.requests) == 3
    assert drafting["verify_cost"] == pytest.approx(1.2)
    assert drafting["speedup"] == pytest.approx(80 / 44)


def test_the_page_of_a_race_shows_texts_marks_rounds_and_numbers(
    capsys: pytest.CaptureFixture[str],
) -> None:
    race("--gamma", "3")
    shown = capsys.readouterr().out
    assert "Once upon a time t10 t11 t12 t13 t14 t15 t16 t17" in shown
    assert "Once upon a time t10 t11 t12 t13★ t14 t90✗ t15↻ t16 t17★" in shown
    assert "t14 t90✗ t91 1/3 t15↻ 3.00 12.00 0.00" in " ".join(shown.split())
    for row in ("1.82×", "0.83 (5/6)", "0.71 (5/7)", "2.67 (8/3)", "identical ✓", "62% saved"):
        assert row in shown


def test_a_wrong_lane_is_not_called_identical(capsys: pytest.CaptureFixture[str]) -> None:
    race("--lane", "gamma=3,rule=target-resample")
    shown = capsys.readouterr().out
    assert "identical" not in shown
    assert "WRONG: no harm in this text" in shown


def test_a_lane_slower_than_the_baseline_is_called_slower(
    capsys: pytest.CaptureFixture[str],
) -> None:
    race(races=MadeUpRaces(verify_ms=[50.0]))
    assert "target + draft model is slower than the baseline here" in capsys.readouterr().out


def test_a_speedup_is_shown_with_its_interval_and_its_doubts(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rounds = [chain((1, 2, 3), each, 9, verify_ms=9.0) for each in (3, 1, 2, 0) * 3]
    races = MadeUpRaces(changed=lambda drafting: replace(drafting, rounds=lane(rounds).rounds))
    race("--gamma", "3", races=races)
    shown = " ".join(capsys.readouterr().out.split())
    assert re.search(r"\d\.\d\d× \(\d\.\d to \d\.\d\)", shown)
    assert "γ=3: noisy machine: checking several tokens looked cheaper" in shown
    assert "(v = 0.90)" in shown


def test_a_difference_is_named_with_its_place_and_margin(
    capsys: pytest.CaptureFixture[str],
) -> None:
    other = lane([chain((10, 11, 12), 3, 99), chain((1, 2), 2, 3), chain((), 0, 4)])
    race(races=MadeUpRaces(changed=lambda _: other))
    assert "divergent at token 4 (margin 1.5e+00)" in capsys.readouterr().out


def test_a_failed_lane_is_said_and_sets_the_exit_status(
    capsys: pytest.CaptureFixture[str],
) -> None:
    failed = lane([], stop_reason=StopReason.ERROR, error="logits [b]are[/b] not numbers")
    status, _ = race(races=MadeUpRaces(changed=lambda _: failed))
    assert status == 1
    assert "ended by an error: logits [b]are[/b] not numbers" in capsys.readouterr().out


def test_a_full_context_and_a_loop_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    looped = lane([chain((5, 5), 2, 5)] * 10, stop_reason=StopReason.CONTEXT)
    race(races=MadeUpRaces(changed=lambda _: looped))
    shown = " ".join(capsys.readouterr().out.split())
    assert "context full: the target reads at most 33 tokens, the prompt included" in shown
    assert "repeats itself from token 1 on: 1 over and over, for 30 tokens; α is 100%" in shown


def test_the_trace_is_written(tmp_path: Path) -> None:
    path = tmp_path / "race.json"
    race("--trace", str(path), "--json")
    written = files.read_trace(path)
    assert list(names_of(written)) == ["target alone", "target + draft model"]
    assert written.lanes[1].rounds == small_race().lanes[1].rounds


def test_bench_prints_medians_with_quartiles(capsys: pytest.CaptureFixture[str]) -> None:
    races = MadeUpRaces(verify_ms=[10.0, 12.0, 14.0])
    assert main(["bench", "--repeat", "3"], races) == 0
    shown = capsys.readouterr().out
    assert "medians [quartiles] of 3 races" in shown
    assert "1.82× [" in shown
    assert main(["bench", "--repeat", "3", "--json"], races) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["num_races"] == 3
    low, high = content["lanes"][1]["speedup_quartiles"]
    assert low < content["lanes"][1]["speedup"] < high


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        ("", "COMMAND"),
        ("fly", "invalid choice: 'fly'"),
        ("race", "--prompt"),
        ("race --prompt x --method magic", "argument --method: invalid choice: 'magic'"),
        ("bench --against llama", "argument --against: invalid choice: 'llama'"),
    ],
)
def test_unreadable_arguments_end_in_one_sentence(
    argv: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(argv.split(), MadeUpRaces())
    shown = capsys.readouterr()
    assert ended.value.code == 2
    assert shown.out == ""
    assert sentence in shown.err
    assert shown.err.count("\n") == 1


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["--gamma", "40"], "gamma of lane 'target + draft model' must be 1 to 16, got 40"),
        (["--temperature", "nan"], "temperature must be 0 to 5, got nan"),
        (["--top-p", "0"], "top_p must be above 0"),
        (["--max-new-tokens", "0"], "max_new_tokens must be 1 to"),
        (["--repeat", "0"], "--repeat must be 1 or more, got 0"),
        (["--target", "some/target"], "lane 'target + draft model' needs a draft model"),
        (["--method", "prompt-lookup", "--draft", "d"], "takes no draft model"),
        (["--lane", "tempo=3"], "--lane has no key 'tempo'; its keys are name, method, target"),
        (["--lane", "translation=sound"], "--lane translation must be one of text, shared, got"),
        (["--lane", "gamma"], "--lane is written key=value,key=value; cannot read 'gamma'"),
        (["--lane", "gamma=two"], "--lane gamma must be a whole number, auto, heuristic or "),
        (["--gamma", "two"], "--gamma must be a whole number, auto, heuristic or confidence:0.4"),
        (["--gamma", "auto:3"], "got 'auto:3'"),
        (["--gamma", "auto<=six"], "got 'auto<=six'"),
        (["--gamma", "auto<=17"], "must be 1 to 16, got 17"),
        (["--gamma", "confidence:1.5"], "'target + draft model' must be 0.01 to 0.99, got 1.5"),
        (
            ["--method", "prompt-lookup", "--gamma", "confidence:0.4"],
            "the lane 'target + prompt lookup' copies tokens that have none",
        ),
        (["--lane", "tree=oak"], "--lane tree must be one of none, static, dynamic, got 'oak'"),
        (["--lane", "branches=2"], "drafts a chain, which has no branches and no budget"),
        (["--lane", "tree=static,branches=many"], "--lane branches must be a whole number"),
        (["--lane", "tree=static,branches=11"], "must be 2 to 10, got 11"),
        (["--lane", "tree=dynamic,budget=65"], "must be 2 to 64, got 65"),
        (["--lane", "tree=dynamic,method=early-exit"], "early-exit makes one draft for each place"),
        (["--lane", "tree=dynamic,gamma=auto"], "schedule must be fixed, is auto"),
        (["--lane", "tree=dynamic,rule=no-renormalise"], "wrong rules are defined for chains"),
        (["--lane", "gamma=2,gamma=3"], "--lane names 'gamma' twice"),
        (["--lane", "method=baseline"], "--lane method must be one of draft-model, prompt-lookup"),
        (["--lane", "name=a", "--lane", "name=a"], "lanes need different names"),
        (["--lane", "gamma=1"] * 4, "number of lanes must be 2 to 4, got 5"),
        (["--trace", "/no/such/folder/race.json"], "cannot write /no/such/folder/race.json"),
        (["--prompt", "   "], "the prompt is empty"),
    ],
)
def test_bad_input_ends_with_status_2_and_one_sentence(
    argv: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, _ = race(*argv)
    shown = capsys.readouterr()
    assert status == 2
    assert shown.out == ""
    assert shown.err.startswith("specviz: ")
    assert sentence in shown.err
    assert shown.err.count("\n") == 1


def test_full_memory_is_one_sentence_and_other_failures_are_not_hidden(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(error: Exception) -> Callable[[str, str], StartRace]:
        def factory(device: str, dtype: str) -> StartRace:
            raise error

        return factory

    assert main(["race", "--prompt", "x"], fail(RuntimeError("CUDA out of memory.\nTried"))) == 2
    assert "specviz: memory is full (CUDA out of memory. Tried); take" in capsys.readouterr().err
    with pytest.raises(RuntimeError, match="shapes differ"):
        main(["race", "--prompt", "x"], fail(RuntimeError("shapes differ")))


def test_an_interrupt_ends_quietly(capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(device: str, dtype: str) -> StartRace:
        raise KeyboardInterrupt

    assert main(["race", "--prompt", "x"], interrupted) == 130
    assert "interrupted" in capsys.readouterr().err


def test_model_text_cannot_steer_the_terminal() -> None:
    assert printable("a\x1b[2Jb\u202ec\n\t") == "a�[2Jb�c\n\t"
    assert one_line("\r\n\tx") == "⏎⇥x"
    made = lane([chain((1,), 1, 2)])
    token = replace(made.rounds[0].emitted[0], text="[red]\x1b]0;title\x07")
    round_ = replace(made.rounds[0], emitted=(token, made.rounds[0].emitted[1]))
    shown = lane_text("[b]\x9b", replace(made, rounds=(round_,))).plain
    assert shown == "[b]�[red]�]0;title� t2★"


def test_marks_stand_before_line_breaks() -> None:
    made = lane([chain((1,), 1, 2)])
    bonus = replace(made.rounds[0].emitted[1], text="\n")
    round_ = replace(made.rounds[0], emitted=(made.rounds[0].emitted[0], bonus))
    assert lane_text("x", replace(made, rounds=(round_,))).plain == "x t1⏎★\n"


def test_of_a_tree_the_text_has_what_was_tried_where_it_was_corrected() -> None:
    """And its table the guesses level by level."""
    race = files.read_trace(Path(__file__).parents[1] / "fixtures" / "trace_tree.json")
    shown = lane_text("The small", race.lanes[1]).plain
    assert shown == "The small dog ran home✗ away↻ and hid.★"
    guessed = list(rounds_table("tree", race.lanes[1]).columns[1].cells)
    assert str(guessed[0]) == " fox✗ dog │  ran ran sat │  home✗ fast"
    assert [str(cell) for cell in rounds_table("tree", race.lanes[1]).columns[2].cells] == [
        "2/7",
        "2/3",
    ]


def test_a_lane_is_titled_with_its_tree_once() -> None:
    race = small_race()
    spec = replace(race.lanes[1].spec, name=None, tree=Tree.DYNAMIC, branches=2, budget=8)
    planted = replace(race.lanes[1], spec=spec)
    chain_lane = replace(planted, spec=replace(spec, tree=Tree.NONE, branches=0, budget=0))
    alone = replace(race, lanes=(race.lanes[0], planted))
    both = replace(race, lanes=(race.lanes[0], planted, chain_lane))
    tree = "dynamic tree, 2 branches, 8 nodes"
    assert lane_titles(alone)[1] == f"target + draft model γ={spec.gamma}, {tree}"
    assert lane_titles(both)[1:] == (
        f"target + draft model ({tree}) γ={spec.gamma}",
        f"target + draft model (chain) γ={spec.gamma}",
    )


def test_a_long_race_shows_its_first_rounds(capsys: pytest.CaptureFixture[str]) -> None:
    many = lane([chain((1,), 1, 2)] * (MAX_ROUNDS_SHOWN + 5))
    race(races=MadeUpRaces(changed=lambda _: many))
    shown = capsys.readouterr().out
    assert f"the first {MAX_ROUNDS_SHOWN} of {MAX_ROUNDS_SHOWN + 5}" in shown


def test_a_baseline_has_no_rounds_table(capsys: pytest.CaptureFixture[str]) -> None:
    race()
    shown = capsys.readouterr().out
    assert "Rounds of target + draft model" in shown
    assert "Rounds of baseline" not in shown


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["--temperature", "1"], "--against compares greedy decoding; leave out --temperature"),
        (["--method", "prompt-lookup"], "--against needs a lane with the method draft-model"),
    ],
)
def test_what_generate_cannot_be_compared_on_is_refused(
    argv: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "--against", "transformers", *argv], MadeUpRaces()) == 2
    assert sentence in capsys.readouterr().err


def test_a_real_race_from_two_folders(
    tiny_pair: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target, draft = tiny_pair
    path = tmp_path / "race.json"
    models = ["--target", target, "--draft", draft, "--dtype", "float64", "--trace", str(path)]
    lookup = ["--method", "draft-model", "--lane", "method=prompt-lookup,gamma=3"]
    status = main(
        ["race", "--prompt", "the fox", "--max-new-tokens", "24", "--json", *models, *lookup]
    )
    lanes = json.loads(capsys.readouterr().out)["lanes"]
    assert status == 0
    assert [found["verdict"] for found in lanes] == [None, "identical", "identical"]
    assert 0 < lanes[1]["alpha"] < 1
    assert files.read_trace(path).environment.dtype == "float64"


def test_our_lanes_are_held_against_generate(
    tiny_pair: tuple[str, str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    target, draft = tiny_pair
    chosen_for: list[list[object]] = []
    monkeypatch.setattr(threads, "choose_threads", chosen_for.append)
    argv = ["--against", "transformers", "--target", target, "--draft", draft, "--repeat", "2"]
    argv += ["--prompt", "the fox", "--dtype", "float64", "--gamma", "2"]
    assert main(["bench", "--max-new-tokens", "24", "--json", *argv]) == 0
    assert len(chosen_for[0]) == 2, "both sides run on the threads of a race"
    plain_, assisted = json.loads(capsys.readouterr().out)["comparisons"]
    assert (plain_["name"], plain_["reference"]) == ("target alone", "generate()")
    assert (assisted["gamma"], assisted["reference"]) == (2, "generate(assistant_model=…)")
    for found in (plain_, assisted):
        assert found["is_same_text"] is True
        assert found["num_tokens"] >= 20
        assert found["ratio"]["n"] == 2
        assert found["ratio"]["low"] <= found["ratio"]["median"] <= found["ratio"]["high"]
    assert main(["bench", "--max-new-tokens", "24", *argv]) == 0
    assert "2 turns, 23 tokens timed in each, the same ids" in " ".join(
        capsys.readouterr().out.split()
    )
    assert main(["bench", "--max-new-tokens", "4", *argv]) == 2
    assert "the text ends too early to be timed" in capsys.readouterr().err
