"""`models --hub` and `models --check`: what they list, report, and end with."""

import json
from pathlib import Path

import pytest

from specviz.cli import main


def test_the_catalogue_is_listed_with_sizes_and_gates(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "--hub"]) == 0
    shown = capsys.readouterr().out
    assert "HuggingFaceTB/SmolLM2-1.7B" in shown
    assert "exits after layer 4, 6, 8" in shown
    assert "1.7B + 135M" in shown
    assert main(["models", "--hub", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert set(content) == {"models", "pairs"}
    assert content["pairs"][0]["story"]["es"]
    assert content["models"]["google/gemma-7b-it"]["is_gated"] is True


def test_a_pair_that_fits_ends_with_0(
    tiny_pair: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["models", "--check", *tiny_pair]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "have the same" in shown
    assert "! " in shown, "the draft is as large as the target"
    assert f"{tiny_pair[1]} fits {tiny_pair[0]} here" in shown


def test_a_pair_that_does_not_fit_ends_with_1_and_its_json_says_why(
    tiny_pair: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["models", "--check", tiny_pair[0], "specviz-small", "--json", "--gamma", "7"]
    assert main([*argv, "--max-new-tokens", "100"]) == 1
    content = json.loads(capsys.readouterr().out)
    assert content["fits"] is False
    refused = [x for x in content["findings"] if x["level"] == "refuse"]
    assert [x["id"] for x in refused] == ["pair.refused"]
    assert "vocabular" in refused[0]["text"]
    assert (content["request"]["gamma"], content["request"]["max_new_tokens"]) == (7, 100)
    assert content["draft_numbers"]["num_parameters"] > 10**6


def test_a_hub_model_that_is_out_of_reach_is_a_refusal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The tests run offline (conftest.py)."""
    assert main(["models", "--check", "owner/name", "specviz-small"]) == 1
    assert "HF_HUB_OFFLINE keeps the hub out" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ("--gamma=17", "--gamma must be 1 to 16, got 17"),
        ("--gamma=0", "--gamma must be 1 to 16, got 0"),
        ("--max-new-tokens=9999", "--max-new-tokens must be 1 to 4096, got 9999"),
        ("--dtype=int8", "--dtype must be one of"),
        ("--device=abacus", "device 'abacus' cannot be used here"),
    ],
)
def test_what_cannot_be_asked_for(
    option: str, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["models", "--check", str(tmp_path), str(tmp_path), option]) == 2
    assert sentence in capsys.readouterr().err
