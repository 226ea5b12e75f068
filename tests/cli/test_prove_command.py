"""The command that proves: its JSON, its exit status, and what it refuses."""

import json
from typing import Any

import pytest
from fake_race import FakeRace
from test_cli import MadeUpRaces

from specviz.cli import main
from specviz.trace.values import Rule


def prove(
    capsys: pytest.CaptureFixture[str], pair: tuple[str, str], *argv: str
) -> tuple[int, dict[str, Any]]:
    options = ("--target", pair[0], "--draft", pair[1], "--gamma", "2", "--temperature", "0.7")
    status = main(["prove", "--prompt", "the fox", *options, "--json", *argv])
    return status, json.loads(capsys.readouterr().out)


def test_json_of_the_right_rule(
    capsys: pytest.CaptureFixture[str], tiny_pair: tuple[str, str]
) -> None:
    status, content = prove(capsys, tiny_pair, "--samples", "150")
    assert status == 0
    assert content["verdict"] == "consistent"
    assert (content["samples"], content["rule"], content["tokens"]) == (150, "right", 4)
    assert 0.01 <= content["p_value"] <= 1
    assert 0 < content["total_variation"] < content["bound"] < 1
    assert content["lane"] == "target + draft model"


def test_a_wrong_rule_ends_with_status_1_and_is_marked(
    capsys: pytest.CaptureFixture[str], tiny_pair: tuple[str, str]
) -> None:
    status, content = prove(capsys, tiny_pair, "--samples", "300", "--rule", "no-renormalise")
    assert (status, content["verdict"]) == (1, "different")
    assert content["lane"].endswith("WRONG: residual not renormalised")
    lane = f"draft={tiny_pair[1]},rule=argmax-softmax"
    status, content = prove(capsys, tiny_pair, "--samples", "300", "--lane", lane)
    assert (status, content["rule"]) == (1, "argmax-softmax")


def test_several_seeds_are_counted(
    capsys: pytest.CaptureFixture[str], tiny_pair: tuple[str, str]
) -> None:
    status, content = prove(capsys, tiny_pair, "--samples", "100", "--seeds", "3", "--seed", "5")
    assert [run["seed"] for run in content["runs"]] == [5, 6, 7]
    different = [run["verdict"] for run in content["runs"]].count("different")
    assert content["num_different"] == different
    assert status == int(different > 0)


def test_a_report_for_readers(
    capsys: pytest.CaptureFixture[str], tiny_pair: tuple[str, str]
) -> None:
    options = ("--target", tiny_pair[0], "--draft", tiny_pair[1], "--samples", "100")
    assert main(["prove", *options, "--temperature", "0.7"]) in (0, 1)
    printed = capsys.readouterr().out
    assert "target alone" in printed
    assert "whole continuation: χ²" in printed
    assert "over 100 continuations of up to 6 tokens" in " ".join(printed.split())


def test_greedy_texts_are_compared_over_the_gallery(capsys: pytest.CaptureFixture[str]) -> None:
    races = MadeUpRaces()
    assert main(["prove", "--temperature", "0", "--json"], races) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["verdict"] == "consistent"
    assert content["p_value"] is content["total_variation"] is content["bound"] is None
    assert content["identical"] == content["samples"] == len(races.requests) > 20
    assert content["near_ties"] == content["divergent"] == []
    assert len({request.prompt for request in races.requests}) == content["samples"]


def test_a_greedy_text_that_differs_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """Kept drafts leave the target's text at temperature 0 too."""
    options = ["--rule", str(Rule.KEEP_AFTER_REJECTION), "--prompt", "Once upon a time, a fox"]
    status = main(["prove", "--temperature", "0", *options, "--max-new-tokens", "32"])
    assert status == 1
    assert "own: divergent at token" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("argv", "problem"),
    [
        (["--lane", "gamma=2", "--lane", "gamma=3"], "prove holds one lane against its target"),
        (["--seeds", "0"], "--seeds must be 1 or more, got 0"),
        (["--lane", "rule=lucky"], "--lane rule must be one of right, target-resample"),
        (["--samples", "5"], "samples must be 100 to 100000, got 5"),
        (["--method", "prompt-lookup", "--rule", "argmax-softmax"], "divides by a draft's"),
    ],
)
def test_refusals(capsys: pytest.CaptureFixture[str], argv: list[str], problem: str) -> None:
    assert main(["prove", *argv], lambda device, dtype: FakeRace(pause=0)) == 2
    assert problem in " ".join(capsys.readouterr().err.split())
