"""`models --hub` and `models --check`: what they list, report, and end with."""

import json
from pathlib import Path

import pytest
from eagle_fixtures import make_head, write_specforge

from specviz.cli import main
from specviz.models import precision


def test_the_catalogue_is_listed_with_sizes_and_gates(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "--hub"]) == 0
    shown = capsys.readouterr().out
    assert "HuggingFaceTB/SmolLM2-1.7B" in shown
    assert "exits after layer 4, 6, 8" in shown
    assert "1.7B + 135M" in shown
    assert "yuhuili/EAGLE3-LLaMA3.1" in shown
    assert "8.0B + 425M" in shown
    assert main(["models", "--hub", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert set(content) == {"models", "pairs", "heads"}
    assert content["pairs"][0]["story"]["es"]
    assert content["models"]["google/gemma-7b-it"]["is_gated"] is True


def test_a_pair_that_fits_ends_with_0(
    tiny_pair: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["models", "--check", *tiny_pair]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "have the same" in shown
    assert "! " in shown, "the draft is as large as the target"
    assert f"{tiny_pair[1]} beside {tiny_pair[0]} fits here" in shown


def test_a_pair_that_does_not_fit_ends_with_1_and_its_json_says_why(
    capsys: pytest.CaptureFixture[str],
) -> None:
    argv = ["models", "--check", "specviz-target", "specviz-small", "--json", "--gamma", "7"]
    assert main([*argv, "--max-new-tokens", "600"]) == 1
    content = json.loads(capsys.readouterr().out)
    assert content["fits"] is False
    refused = [x for x in content["findings"] if x["level"] == "refuse"]
    assert [x["id"] for x in refused] == ["pair.context_target"]
    assert "512" in refused[0]["text"]
    assert (content["request"]["gamma"], content["request"]["max_new_tokens"]) == (7, 600)
    assert content["draft_numbers"]["num_parameters"] > 10**6


def test_a_target_alone_is_looked_at_for_early_exit(capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["models", "--check", "specviz-target", "--method", "early-exit"]
    assert main(argv) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "its config names 4, 8" in shown
    assert "specviz-target with an exit after layer 4 fits here" in shown
    assert main([*argv, "--exit-layer", "24", "--json"]) == 1
    content = json.loads(capsys.readouterr().out)
    assert (content["draft"], content["draft_numbers"], content["exit_layer"]) == (None, None, 24)
    refused = [each["text"] for each in content["findings"] if each["level"] == "refuse"]
    assert len(refused) == 1
    assert "may leave after layer 1 to 23; 24 was asked for" in refused[0]


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["a", "--method", "prompt-lookup"], "--check TARGET looks at early-exit or mtp"),
        (["a", "--method", "mtp", "--exit-layer", "2"], "--exit-layer is no part of mtp"),
        (["a", "b", "--method", "mtp"], "--check TARGET DRAFT looks at the draft"),
        (["a", "b", "--method", "early-exit"], "--check TARGET DRAFT looks at the draft"),
        (["a", "b", "--exit-layer", "2"], "leave it out for early exit"),
        (["a", "b", "c"], "--check takes a target and a draft, got 3 names"),
    ],
)
def test_names_and_methods_that_do_not_go_together(
    argv: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["models", "--check", *argv]) == 2
    assert sentence in capsys.readouterr().err


def test_fewer_bits_are_counted_or_refused(
    tiny_pair: tuple[str, str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    argv = ["models", "--check", *tiny_pair, "--json"]
    main(argv)
    whole = json.loads(capsys.readouterr().out)["target_numbers"]["weights_bytes"]
    monkeypatch.setattr(precision, "is_bitsandbytes_available", lambda: True)
    monkeypatch.setattr(precision, "quantizing_devices", lambda: ("cpu",))
    assert main([*argv, "--quantize", "4bit"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["request"]["quantize"] == "4bit"
    assert 0.2 * whole < content["target_numbers"]["weights_bytes"] < 0.8 * whole
    monkeypatch.setattr(precision, "is_bitsandbytes_available", lambda: False)
    for command in (
        argv,
        ["race", "--prompt", "x"],
        ["bench"],
        ["bench", "--against=transformers"],
    ):
        assert main([*command, "--quantize", "8bit"]) == 2
        assert "the library bitsandbytes is not installed here" in capsys.readouterr().err
    assert main(["bench", "--out", "x.json", "--quantize", "8bit"]) == 2
    assert "leave out --quantize" in capsys.readouterr().err


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


def test_a_head_is_looked_at_for_its_target(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    head = str(write_specforge(make_head(), tmp_path))
    argv = ["models", "--check", "specviz-target", "--head", head]
    assert main([*argv, "--json"]) == 1
    content = json.loads(capsys.readouterr().out)
    assert (content["head"], content["draft"]) == (head, None)
    assert content["head_numbers"]["num_parameters"] > 1000
    refused = [each["id"] for each in content["findings"] if each["level"] == "refuse"]
    assert refused == ["pair.head_width"], "it reads states of width 32"
    for more in (["--head", "other"], ["--method", "early-exit"], ["--exit-layer", "2"]):
        assert main([*argv, *more]) == 2
