"""The command `sweep` on made-up races: what it asks for, prints, writes, refuses, goes on with."""

import csv
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from fake_race import FakeRace
from test_cli import MadeUpRaces

from specviz.bench.plan import read_gallery
from specviz.bench.sweep_files import read_sweep
from specviz.cli import main
from specviz.cli.sweep_options import DEFAULT_DRAFTS, PROMPTS_FOLDER
from specviz.host.sweep_costs import measure_check_costs, model_sizes
from specviz.trace.values import Event, Method, RaceRequest, StartRace, StopReason

CELL = ["draft", "method", "gamma", "category", "n", "speedup", "speedup_low", "speedup_high"]
CELL += ["alpha", "draft_cost", "verify_cost", "predicted_speedup"]
FEW = ("--gammas", "2,4", "--no-costs", "--minutes", "0.0001", "--max-new-tokens", "48")


@dataclass
class Races:
    """A factory of made-up races, with lanes that differ from each other."""

    requests: list[RaceRequest] = field(default_factory=list)
    ends_after: int | None = None
    """Races after which somebody interrupts."""

    def __call__(self, device: str, dtype: str) -> StartRace:
        return self.start_race

    def start_race(
        self, request: RaceRequest, should_stop: Callable[[], bool] = lambda: False
    ) -> Iterator[Event]:
        self.requests.append(request)
        if self.ends_after is not None and len(self.requests) > self.ends_after:
            raise KeyboardInterrupt
        return FakeRace(pause=0)(request, should_stop)


def sweep(*argv: str, races: Races | None = None) -> tuple[int, Races]:
    races = races or Races()
    return main(["sweep", *argv], races), races


@pytest.fixture
def lines(tmp_path: Path) -> str:
    path = tmp_path / "mine.txt"
    path.write_text("Once upon a time\nOne day\n")
    return str(path)


def read(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(capsys.readouterr().out)
    return content


def test_without_options_three_drafts_run_on_the_gallery(
    capsys: pytest.CaptureFixture[str],
) -> None:
    status, races = sweep(*FEW, "--json")
    assert status == 0
    content = read(capsys)
    assert set(content["best"]) == set(DEFAULT_DRAFTS)
    assert [x["draft"] for x in content["verdicts"]] == list(DEFAULT_DRAFTS)
    gallery = read_gallery(PROMPTS_FOLDER)
    groups = {prompt.group for prompt in gallery}
    assert {cell["category"] for cell in content["cells"]} == {"all", *groups}
    assert {cell["gamma"] for cell in content["cells"]} == {2, 4}
    assert set(CELL) <= set(content["cells"][0])
    assert len(content["plan"]["prompts"]) == len(gallery)
    # The budget was spent at once, and every group has still been raced.
    assert len({request.prompt for request in races.requests}) == len(groups)
    assert content["costs"] is None
    assert {model["name"] for model in content["models"]} == {"specviz-target", *DEFAULT_DRAFTS}


def test_tables_say_what_was_measured(lines: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert sweep(*FEW, "--drafts", "specviz-small,specviz-misfit", "--prompts", lines)[0] == 0
    shown = capsys.readouterr().out
    for text in ("Each draft at its best γ", "Speedup against γ", "measured", "textbook", "R² ="):
        assert text in shown
    assert "specviz-misfit" in shown
    assert "rule of thumb" in shown
    assert "Speedup by category" not in shown
    assert sweep(*FEW)[0] == 0
    shown = capsys.readouterr().out
    assert "Speedup by category" in shown
    assert "summarise" in shown


def test_lanes_are_asked_for_one_by_one(lines: str, capsys: pytest.CaptureFixture[str]) -> None:
    lanes = ("--lane", "method=prompt-lookup,max_ngram=3", "--lane", "method=early-exit,gamma=3")
    status, races = sweep(*FEW, *lanes, "--prompts", lines, "--temperatures", "0,0.7", "--json")
    assert status == 0
    content = read(capsys)
    names = {f"{x} T={t}" for x in ("prompt-lookup", "early-exit") for t in ("0", "0.7")}
    assert set(content["best"]) == names
    gammas = {(x["draft"], x["gamma"]) for x in content["cells"]}
    assert ("early-exit T=0", 3) in gammas
    assert ("early-exit T=0", 4) not in gammas
    assert ("prompt-lookup T=0.7", 4) in gammas
    specs = {spec.method: spec for request in races.requests for spec in request.lanes}
    assert specs[Method.PROMPT_LOOKUP].max_ngram == 3
    assert specs[Method.PROMPT_LOOKUP].draft is None


def test_a_sweep_is_written_and_gone_on_with(lines: str, tmp_path: Path) -> None:
    out, table, page = (tmp_path / name for name in ("sweep.json", "cells.csv", "page.json"))
    where = ("--prompts", lines, "--out", str(out))
    assert sweep(*FEW, *where, races=Races(ends_after=2))[0] == 130
    part = read_sweep(out)
    assert 0 < len(part.runs) < 12
    status, races = sweep(*FEW, *where, "--csv", str(table), "--page", str(page))
    assert status == 0
    whole = read_sweep(out)
    assert whole.runs[: len(part.runs)] == part.runs
    # One turn of a suite without categories is one prompt: 3 drafts at 2 draft lengths.
    assert {(run.draft, run.gamma) for run in whole.runs} == {
        (draft, gamma) for draft in DEFAULT_DRAFTS for gamma in (2, 4)
    }
    with open(table, newline="", encoding="utf-8") as file:
        assert {row["draft"] for row in csv.DictReader(file)} == set(DEFAULT_DRAFTS)
    shown = json.loads(page.read_text(encoding="utf-8"))
    assert [lane["draft"] for lane in shown["lanes"]] == list(DEFAULT_DRAFTS)
    assert shown["cells"]
    assert races.requests


def test_a_file_of_another_sweep_is_not_touched(
    lines: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "sweep.json"
    where = ("--prompts", lines, "--out", str(out))
    sweep(*FEW, *where)
    before = out.read_bytes()
    assert sweep(*FEW, *where, "--seed", "3")[0] == 2
    assert "holds a sweep of something else" in capsys.readouterr().err
    assert out.read_bytes() == before
    out.write_text("{}")
    assert sweep(*FEW, *where)[0] == 2
    assert "sweep.json: this is no sweep" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "problem"),
    [
        (("--gammas", "0-4"), "must be whole numbers from 1 to 16"),
        (("--gammas", "4-2"), "a range begins with its smaller end"),
        (("--temperatures", "warm"), "must be numbers with commas between"),
        (("--temperatures", "9"), "temperature must be 0 to 5"),
        (("--minutes", "0"), "--minutes must be above 0"),
        (("--drafts", ","), "name at least one draft model"),
        (("--drafts", "a", "--lane", "draft=b"), "not with both"),
        (("--target", "other"), "name draft models of this target"),
        (("--lane", "method=prompt-lookup,gamma=99"), "must be 1 to 16, got 99"),
        (("--lane", "method=baseline"), "the baseline always runs"),
        (("--prompts", "/nowhere.txt"), "/nowhere.txt cannot be read"),
        (("--out", "/nowhere/x.json"), "cannot write /nowhere/x.json: its folder is not there"),
    ],
)
def test_what_cannot_be_swept_is_refused(
    argv: tuple[str, ...], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    races = Races()
    try:
        status = main(["sweep", *argv], races)
    except SystemExit as ended:
        status = int(str(ended.code))
    assert status == 2
    assert problem in " ".join(capsys.readouterr().err.split())
    assert races.requests == []


def test_costs_are_measured_for_the_file(
    lines: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_pair: tuple[str, str]
) -> None:
    monkeypatch.setattr("specviz.decoding.pass_times.NUM_TIMED", 1)
    costs = measure_check_costs(tiny_pair[0], "cpu", "float32")
    assert [time.tokens for time in costs.by_tokens][:3] == [1, 2, 4]
    assert {(time.batch, time.tokens) for time in costs.by_batch} == {
        (batch, tokens) for batch in (1, 2, 4, 8, 16) for tokens in (1, 5)
    }
    assert all(time.ms > 0 for time in (*costs.by_tokens, *costs.by_batch))
    monkeypatch.setattr("specviz.cli.sweep.measure_check_costs", lambda *given: costs)
    out = tmp_path / "sweep.json"
    argv = [arg for arg in FEW if arg != "--no-costs"]
    assert sweep(*argv, "--prompts", lines, "--out", str(out))[0] == 0
    assert read_sweep(out).costs == costs


def test_sizes_of_models_are_those_of_their_files() -> None:
    target, small = model_sizes(("specviz-target", "specviz-small", "some/hub-model"), "bfloat16")
    assert (target.name, small.name) == ("specviz-target", "specviz-small")
    assert target.weights_bytes == 2 * target.num_parameters
    (quantized,) = model_sizes(("specviz-small",), "bfloat16", "8bit")
    assert quantized.weights_bytes == small.num_parameters


def test_failed_lanes_are_told_and_set_the_status(
    lines: str, capsys: pytest.CaptureFixture[str]
) -> None:
    races = MadeUpRaces(
        changed=lambda run: replace(run, stop_reason=StopReason.ERROR, error="too hot")
    )
    assert main(["sweep", *FEW, "--prompts", lines], races) == 1
    shown = capsys.readouterr().out
    assert "nothing was measured" in shown
    assert "failed, and in no number: specviz-tiny γ=2 on lines, line 1: too hot" in shown
