"""Which targets bring layers that draft, how those are read, and what is said of others."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from mtp_fixtures import FAMILIES, NUM_LAYERS, change_config, drop_drafting, load, write_family
from safetensors.torch import load_file, save_file
from test_pair_report import REQUEST, TARGET, LocalSource
from tiny_models import byte_tokenizer, tiny_model
from transformers import AutoModelForCausalLM

from specviz.errors import IncompatibleModelError, ModelLoadError
from specviz.models.loading import LoadedModel, ModelPool
from specviz.models.model_facts import ModelFacts, read_folder
from specviz.models.mtp_form import (
    declared_layers,
    folder_drafts_itself,
    mtp_problem,
    stored_layers,
    tensor_names,
)
from specviz.models.mtp_report import report_mtp
from specviz.models.mtp_weights import read_mtp
from specviz.models.pair_findings import Level
from specviz.texts import in_english


def config_of(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / "config.json").read_text())
    return content


@pytest.mark.parametrize("kind", FAMILIES)
def test_what_the_files_hold_counts(kind: str, tmp_path: Path) -> None:
    write_family(kind, tmp_path)
    config = config_of(tmp_path)
    assert stored_layers(config, tensor_names(tmp_path) or ()) == 1
    assert folder_drafts_itself(tmp_path)
    drop_drafting(tmp_path)
    assert stored_layers(config, tensor_names(tmp_path) or ()) == 0
    assert not folder_drafts_itself(tmp_path)


def test_a_config_around_a_text_config_is_looked_into() -> None:
    config = {
        "model_type": "qwen3_5",
        "text_config": {"model_type": "qwen3_5_text", "mtp_num_hidden_layers": 1},
    }
    assert declared_layers(config) == 1
    assert mtp_problem("big", config, None) is None
    assert mtp_problem("big", config, ("mtp.layers.0.mlp.up_proj.weight",)) is None
    found = mtp_problem("big", config, ("model.norm.weight",))
    assert found is not None
    assert found["id"] == "refusal.mtp_not_shipped"
    silent = {"model_type": "qwen3_5", "text_config": {"model_type": "qwen3_5_text"}}
    assert mtp_problem("big", silent, ("mtp.layers.0.mlp.up_proj.weight",)) is None


def test_an_index_is_read_in_place_of_the_files(tmp_path: Path) -> None:
    assert tensor_names(tmp_path) is None
    index = {"weight_map": {"mtp.fc.weight": "mtp.safetensors"}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    assert tensor_names(tmp_path) == ("mtp.fc.weight",)
    (tmp_path / "model.safetensors.index.json").write_text("[]")
    assert tensor_names(tmp_path) is None
    assert not folder_drafts_itself(tmp_path)
    (tmp_path / "config.json").write_text("[]")
    assert not folder_drafts_itself(tmp_path)


def test_layers_are_of_the_targets_dtype_and_read_once(tmp_path: Path) -> None:
    loaded = load(write_family("glm4_moe", tmp_path, dtype=torch.float32), "float64")
    layers = read_mtp(loaded)
    assert {weight.dtype for weight in layers.parameters()} == {torch.float64}
    assert not any(weight.requires_grad for weight in layers.parameters())
    assert layers.embed_tokens is loaded.model.get_input_embeddings()
    assert read_mtp(loaded) is layers
    assert not hasattr(loaded.model.config, "mtp_layer_types")


def refusal_of(folder: Path) -> str:
    with pytest.raises((IncompatibleModelError, ModelLoadError)) as caught:
        read_mtp(ModelPool().get(str(folder)))
    return str(caught.value)


def test_a_repository_that_declares_layers_and_ships_none_is_refused(tmp_path: Path) -> None:
    write_family("mellum", tmp_path)
    drop_drafting(tmp_path)
    assert "declares 1 layer for multi-token prediction, and its files hold none" in refusal_of(
        tmp_path
    )


def test_a_tensor_that_is_missing_is_named(tmp_path: Path) -> None:
    write_family("qwen3_5", tmp_path)
    tensors = load_file(tmp_path / "model.safetensors")
    del tensors["mtp.fc.weight"]
    save_file(tensors, tmp_path / "model.safetensors", metadata={"format": "pt"})
    assert "layers.0.eh_proj.weight" in refusal_of(tmp_path)


def test_a_target_without_such_layers_is_refused() -> None:
    plain = LoadedModel("plain", tiny_model("llama"), byte_tokenizer(), frozenset())
    with pytest.raises(IncompatibleModelError, match="plain has no extra layers that draft"):
        read_mtp(plain)


@pytest.mark.parametrize(
    ("config", "tensors", "words"),
    [
        ({"model_type": "step3p7", "num_nextn_predict_layers": 3}, None, "of the type step3p7"),
        ({"model_type": "llama"}, None, "has no extra layers"),
        ({"model_type": "glm4_moe", "num_nextn_predict_layers": 1}, (), "files hold none"),
        (
            {"model_type": "qwen3_next", "mtp_num_hidden_layers": 1, "quantization_config": {}},
            None,
            "is quantised",
        ),
    ],
)
def test_each_refusal_says_what_to_do(
    config: dict[str, Any], tensors: tuple[str, ...] | None, words: str
) -> None:
    found = mtp_problem("org/model", config, tensors)
    assert found is not None
    text = in_english(found)
    assert words in text
    assert text.startswith(("org/model", "the config of org/model"))


def facts(kind: str, folder: Path) -> ModelFacts:
    write_family(kind, folder)
    return read_folder(f"hub/{kind}", folder, has_safetensors=True)


def report(target: ModelFacts, **changes: Any) -> tuple[Any, dict[str, tuple[Level, str]]]:
    made = report_mtp(LocalSource(target), target.name, replace(REQUEST, **changes))
    return made, {x.text["id"]: (x.level, in_english(x.text)) for x in made.findings}


def test_a_report_on_a_target_that_drafts_itself(tmp_path: Path) -> None:
    target = facts("glm4_moe", tmp_path)
    made, found = report(target)
    assert made.fits
    assert (made.draft, made.draft_numbers, made.exit_layer) == (None, None, None)
    assert "glm4_moe brings 1 extra layer that was trained" in found["pair.mtp_layers"][1]
    with torch.device("meta"):
        plain = AutoModelForCausalLM.from_config(target.shapes.config)
    layer = sum(x.numel() for x in plain.model.layers[-1].parameters()) + 2 * 32 * 32
    whole = NUM_LAYERS * layer + 48 * 32
    share = round(100 * (layer + 48 * 32) / whole)
    assert f"about {share} %" in found["pair.mtp_cost"][1]
    assert made.target_numbers.weights_bytes == 4 * (target.num_parameters + layer)


def test_a_report_says_what_is_not_known_yet_and_what_cannot_be(tmp_path: Path) -> None:
    target = facts("qwen3_5", tmp_path)
    assert report(replace(target, tensor_names=()))[1]["pair.refused"][0] is Level.REFUSE
    assert report(target, quantize="4bit")[1]["pair.refused"][0] is Level.REFUSE
    change_config(tmp_path, mtp_num_hidden_layers=1)
    declared = read_folder("hub/declared", tmp_path, has_safetensors=True)
    level, text = report(replace(declared, tensor_names=None))[1]["pair.mtp_declared"]
    assert level is Level.WARN
    assert "is seen once they are here" in text
    assert not report(TARGET)[0].fits
    assert not report_mtp(LocalSource(), "hub/none", REQUEST).fits
