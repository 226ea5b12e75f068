"""The device report: a synthetic pair of known size, measured whole, as a file and as a table."""

import json
from pathlib import Path

import pytest
import torch

from specviz.bench.device_report import DevicePlan, measure_device
from specviz.cli import main
from specviz.decoding.lean_forward import LeanForward
from specviz.decoding.pass_times import weight_bytes
from specviz.models.synthetic import DRAFT, SHAPES, TARGET, NumberTokenizer, synthetic_pool


@pytest.mark.parametrize("wanted", [0.5, 0.9])
def test_a_pair_agrees_as_often_as_wanted(wanted: float) -> None:
    pool = synthetic_pool("tiny", agreement=wanted)
    assert abs(pool.agreement - wanted) < 0.1


def test_the_draft_is_the_targets_first_layers() -> None:
    pool = synthetic_pool("tiny", draft_layers=3)
    target, draft = pool.get(TARGET).model, pool.get(DRAFT).model
    assert len(draft.model.layers) == 3
    assert all(
        ours is theirs
        for ours, theirs in zip(draft.model.layers, target.model.layers, strict=False)
    )
    ids = torch.tensor([[1, 2, 3]])
    with torch.inference_mode():
        hidden = target(input_ids=ids, output_hidden_states=True, use_cache=False).hidden_states[3]
        expected = target.lm_head(target.model.norm(hidden))
        assert torch.allclose(draft(input_ids=ids, use_cache=False).logits, expected, atol=1e-5)


def test_layers_of_two_models_are_joined_once() -> None:
    pool = synthetic_pool("tiny")
    target, draft = pool.get(TARGET).model, pool.get(DRAFT).model
    before = weight_bytes(target)
    layers = [LeanForward(model)._layers[0] for model in (target, draft, target)]
    pointers = {layer.query_key_value.weight.data_ptr() for layer in layers}
    assert len(pointers) == 1
    assert weight_bytes(target) == before


def test_numbers_are_read_and_written() -> None:
    tokenizer = NumberTokenizer(100)
    assert tokenizer("7 99 100 x")["input_ids"] == [7, 99, 0, ord("x") % 100]
    assert tokenizer.decode([7, 99]) == " 7 99"


def test_a_report_holds_what_was_measured() -> None:
    told: list[str] = []
    plan = DevicePlan("cpu", "float32", ("tiny",), max_new_tokens=24, gammas=(1, 4))
    report = measure_device(plan, told.append)
    (pair,) = report.pairs
    assert [row["gamma"] for row in pair["gammas"]] == [1, 4]
    for row in pair["gammas"]:
        assert row["verdict"] in ("identical", "near-tie")
        assert row["speedup"] > 0
        assert 0 < row["alpha"] <= 1
    assert list(pair["pass_ms"]) == [1, 2, 4, 8, 16, 32, 64, 128, 256]
    assert all(ms > 0 for ms in pair["pass_ms"].values())
    size = SHAPES["tiny"]
    assert pair["weight_gb"] * 1e9 > 4 * size["vocab_size"] * size["hidden_size"]
    assert pair["form"] == "growing"
    assert report.environment["device"] == "cpu"
    assert report.copy_gb_per_second > 0
    assert told


def test_a_shape_that_time_does_not_allow_is_named() -> None:
    plan = DevicePlan("cpu", "float32", ("tiny",), minutes=0.0)
    report = measure_device(plan, lambda text: None)
    assert (report.pairs, report.left_out) == ([], ["tiny"])


def test_the_command_writes_a_file_and_prints_a_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "device.json"
    options = ["--out", str(out), "--shapes", "tiny", "--max-new-tokens", "12", "--compile", "on"]
    assert main(["bench", *options]) == 0
    content = json.loads(out.read_text())
    assert content["pairs"][0]["form"] == "static"
    printed = capsys.readouterr().out
    assert "baseline / generate()" in printed
    assert "identical" in printed


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--out", "/nowhere/at/all.json"], "/nowhere/at/all.json"),
        (["--out", "{folder}/x.json", "--shapes", "70B"], "--shapes takes tiny, 1B, 3B, 8B"),
    ],
)
def test_what_cannot_be_measured_is_refused_first(
    options: list[str], reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [option.format(folder=tmp_path) for option in options]
    assert main(["bench", *given]) == 2
    assert reason in capsys.readouterr().err.replace("\n", " ")
