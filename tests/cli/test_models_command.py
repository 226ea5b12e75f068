"""The command `models` on made-up races: what it lists, measures, prints and refuses."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from eagle_fixtures import make_head, write_specforge
from test_cli import MadeUpRaces
from tiny_models import CONFIGS, random_model
from traces import lane

from specviz.bench.plan import JOINED, read_gallery
from specviz.cli import main
from specviz.cli.models_report import PROMPTS_FOLDER
from specviz.models.catalogue import shipped_models
from specviz.models.description import MEASURES_FILE
from specviz.trace.values import Method, Sampling, StopReason

FEW = ("--gammas", "3", "--group", "story")
LISTED = ["name", "role", "num_layers", "hidden_size", "num_parameters", "folder_bytes", "context"]
LISTED += ["exit_layers", "measures", "fitted_from"]


def models(*argv: str, races: MadeUpRaces | None = None) -> tuple[int, MadeUpRaces]:
    races = races or MadeUpRaces()
    return main(["models", *argv], races), races


def read_json(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(capsys.readouterr().out)
    return content


@pytest.fixture
def fitted(tmp_path: Path) -> str:
    """A folder with a fitted draft and stored measures."""
    random_model(CONFIGS["llama"](), dtype=torch.float32).save_pretrained(tmp_path)
    score = {"alpha": 0.5, "greedy": 0.5, "num_tokens": 10}
    fit = {"format": 1, "target": "specviz-target", "draft_before": "specviz-small"}
    fit |= {"made_by": "a test", "before": score, "after": score, "held_out": []}
    fit |= {"num_prompts": 1, "num_held_out": 0, "num_tokens_written": 1, "seconds": 1.0}
    (tmp_path / "fit.json").write_text(json.dumps(fit | {"num_tokens_trained": 1}))
    measures = {"held_out_loss": {"tales": 2.5, "code": 3.5}, "exit_loss": {}, "alpha": {}}
    (tmp_path / MEASURES_FILE).write_text(json.dumps(measures))
    return str(tmp_path)


@pytest.fixture
def head(tmp_path: Path) -> str:
    """A folder with an EAGLE-3 head."""
    return str(write_specforge(make_head(), tmp_path))


def test_the_shipped_models_are_listed_without_a_race(capsys: pytest.CaptureFixture[str]) -> None:
    status, races = models()
    shown = capsys.readouterr().out
    assert status == 0
    assert races.requests == []
    for model in shipped_models():
        assert model.name in shown
    assert "MB on disk" in shown
    models("--json")
    target, *drafts = read_json(capsys)["models"]
    assert list(target) == LISTED
    assert target["exit_layers"]
    assert target["num_parameters"] > drafts[0]["num_parameters"] > 0
    assert drafts[0]["fitted_from"] is None


def test_a_fitted_draft_says_where_it_comes_from(
    fitted: str, capsys: pytest.CaptureFixture[str]
) -> None:
    models("--json", "--draft", fitted)
    found = read_json(capsys)["models"][-1]
    assert (found["name"], found["role"]) == (fitted, "draft")
    assert found["fitted_from"] == "specviz-small, for specviz-target"
    (Path(fitted) / "fit.json").write_text("{}")
    assert models("--draft", fitted)[0] == 2
    assert "fit.json: this is not a fit: it has no format" in capsys.readouterr().err


def test_everything_of_the_family_is_measured_on_every_group() -> None:
    status, races = models("--report", "--gammas", "3", "--repeat", "1")
    specs = {
        (spec.method, spec.draft, spec.exit_layer, spec.gamma)
        for request in races.requests
        for spec in request.lanes[1:]
    }
    drafts = {
        (Method.DRAFT_MODEL, model.name, None, 3)
        for model in shipped_models()
        if model.role == "draft"
    }
    assert status == 0
    assert drafts < specs
    assert (Method.PROMPT_LOOKUP, None, None, 3) in specs
    assert (Method.EARLY_EXIT, None, 4, 3) in specs
    assert {request.lanes[0].target for request in races.requests} == {"specviz-target"}
    assert all(request.sampling.temperature == 0 for request in races.requests)
    gallery = {prompt.text for prompt in read_gallery(PROMPTS_FOLDER)}
    assert {request.prompt for request in races.requests} == gallery


def test_options_narrow_what_is_measured() -> None:
    options = "--report --draft specviz-small --group story --group edit --gammas 8,2"
    more = "--temperature 1 --max-new-tokens 10 --repeat 2 --device cuda --dtype bfloat16"
    _, races = models(*options.split(), *more.split())
    assert races.places == [("cuda", "bfloat16")]
    specs = [spec for request in races.requests for spec in request.lanes[1:]]
    assert {(spec.draft, spec.gamma) for spec in specs} <= {
        ("specviz-small", 2),
        ("specviz-small", 8),
    }
    prompts = [x for x in read_gallery(PROMPTS_FOLDER) if x.group in ("story", "edit")]
    fresh = [x for x in races.requests if x.max_new_tokens == 10]
    assert {request.prompt for request in fresh} == {prompt.text for prompt in prompts}
    assert len(fresh) == 2 * len(prompts)
    assert {request.sampling for request in fresh} == {Sampling(1.0, seed=1)}
    _, races = models("--report", "--method", "prompt-lookup", *FEW)
    lanes = [spec for request in races.requests for spec in request.lanes[1:]]
    assert {spec.method for spec in lanes} == {Method.PROMPT_LOOKUP}


def test_heads_are_listed_and_measured_beside_drafts(
    head: str, capsys: pytest.CaptureFixture[str]
) -> None:
    models("--json", "--head", head)
    found = read_json(capsys)["models"][-1]
    assert (found["name"], found["role"], found["num_layers"]) == (head, "head", 1)
    assert found["num_parameters"] == sum(each.numel() for each in make_head().tensors.values())
    argv = ["--head", head, "--draft", "specviz-small", "--group", "story", "--gammas", "3"]
    status, races = models("--report", "--json", *argv)
    assert status == 0
    specs = {(spec.method, spec.head) for race in races.requests for spec in race.lanes[1:]}
    assert specs == {(Method.DRAFT_MODEL, None), (Method.EAGLE3, head)}
    content = read_json(capsys)
    assert [row["contender"] for row in content["rows"]] == ["specviz-small", head]
    for row in content["rows"]:
        assert row["tau"] > 1
    asked = {question["text"]: question["value"] for question in content["questions"]}
    assert asked[f"τ of {head} over specviz-small, in the group where it is the least"] == 1.0


def test_the_json_of_a_report_has_every_number(capsys: pytest.CaptureFixture[str]) -> None:
    status, _ = models("--report", "--json", "--gammas", "3", "--group", "story", "--group", "code")
    content = read_json(capsys)
    assert status == 0
    assert list(content) == [
        *("models", "environment", "temperature", "max_new_tokens", "gammas", "num_repeats"),
        *("baseline_tokens_per_second", "rows", "questions", "failures", "num_races", "seconds"),
    ]
    assert {row["group"] for row in content["rows"]} == {JOINED, "story", "code"}
    (row,) = (
        row
        for row in content["rows"]
        if (row["contender"], row["group"]) == ("specviz-small", JOINED)
    )
    assert row["gamma"] == 3
    assert row["alpha"] == pytest.approx(5 / 6)
    assert row["num_judged"] == 6 * row["num_prompts"]
    assert row["speedup"]["median"] == row["speedup"]["low"] == pytest.approx(80 / 44)
    assert row["verdict"] == "identical"
    asked = {question["text"]: question for question in content["questions"]}
    assert asked["specviz-small on story + code, median speedup"]["is_met"] is False
    assert content["environment"]["device_name"] == "a test"


def test_the_page_of_a_report_says_how_it_was_measured(
    fitted: str, capsys: pytest.CaptureFixture[str]
) -> None:
    models("--report", "--gammas", "3", "--draft", "specviz-small", "--draft", fitted)
    shown = " ".join(capsys.readouterr().out.split())
    for part in (
        "a test (cpu), float32, 2 threads; greedy, up to 96 tokens",
        "The family",
        "story + code,",
        "1.82× [1.82×–1.82×]",
        "identical",
        "Held-out loss in nats a token",
        "What the family is meant to show",
        "≥ 2 1.82 ✗ not reached",
        "the runs that chose it are in none of them",
    ):
        assert part in shown
    # Models that ship have losses of other sources.
    assert re.search(r"\btales( –)* 2\.500", shown)


def test_a_failed_lane_is_said_and_sets_the_exit_status(
    capsys: pytest.CaptureFixture[str],
) -> None:
    failed = lane([], stop_reason=StopReason.ERROR, error="logits are not numbers")
    races = MadeUpRaces(changed=lambda _: failed)
    status, _ = models("--report", "--method", "prompt-lookup", *FEW, races=races)
    assert status == 1
    assert "failed, and in no number: prompt-lookup γ=3 on story" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["--group", "poem"], "--group must be one of story, code"),
        (["--repeat", "0"], "--repeat must be 1 or more, got 0"),
        (["--temperature", "-1", *FEW], "temperature must be 0 to 5, got -1.0"),
        (["--draft", "d", "--method", "prompt-lookup"], "--draft needs --method draft-model too"),
        (["--head", "h", "--method", "prompt-lookup"], "--head needs --method eagle3 too"),
    ],
)
def test_what_cannot_be_reported_is_refused(
    argv: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, _ = models("--report", *argv)
    shown = capsys.readouterr()
    assert status == 2
    assert shown.out == ""
    assert sentence in shown.err


@pytest.mark.parametrize("text", ["2,x", "0,2", "17", ""])
def test_draft_lengths_that_cannot_be_are_refused(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        models("--report", "--gammas", text)
    assert ended.value.code == 2
    assert f"must be whole numbers from 1 to 16, got {text!r}" in capsys.readouterr().err
