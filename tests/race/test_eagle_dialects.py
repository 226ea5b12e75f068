"""Heads of all dialects, read from their files, against a plain implementation: logits, not text.

A head that is read wrongly still drafts, and the text stays the target's; only its logits show it.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from eagle_fixtures import (
    WRITERS,
    PlainHead,
    Reference,
    make_head,
    table_of,
    write_modelopt,
    write_safeailab,
    write_specforge,
    write_speculators,
)
from safetensors.torch import load_file, save_file
from tiny_models import byte_tokenizer, prompts, random_model, tiny_model

from specviz.decoding import head_doctor
from specviz.decoding.eagle3_pass import Eagle3Pass
from specviz.decoding.model_runner import ModelRunner
from specviz.decoding.proposers.eagle3 import Eagle3
from specviz.decoding.sampling import SeededChance
from specviz.errors import IncompatibleModelError, ModelLoadError, SpecvizError
from specviz.models.eagle_files import plain_name, read_head_files
from specviz.models.eagle_form import Reading
from specviz.models.eagle_head import LoadedHead
from specviz.models.loading import LoadedModel
from specviz.race.eagle_heads import build_head
from specviz.trace.values import Sampling

CLOSE = 1e-5
FAR = 1e-2
TEXT = prompts(3)[1]
MODEL = tiny_model("llama", dtype=torch.float32)
TARGET = LoadedModel("target", MODEL, byte_tokenizer(), frozenset())


def read(folder: Path, reading: Reading | None = None, target: LoadedModel = TARGET) -> Eagle3Pass:
    head = build_head(LoadedHead(read_head_files(str(folder))), target)
    if reading is not None:
        head.form = head.form.read_as(reading)
    return Eagle3Pass(head)


def proposed(
    drafting: Eagle3Pass, ids: list[int], gamma: int = 5
) -> tuple[list[int], torch.Tensor]:
    """Greedy drafts and their logits over the draft vocabulary."""
    runner = ModelRunner(MODEL)
    proposer = Eagle3(drafting, runner, Sampling(), frozenset(), 32)
    runner.forward(ids[:-1], 1)
    proposer.reset(ids)
    proposal = proposer.propose(ids, gamma, SeededChance(0))
    assert proposal.shown_logits is not None
    return list(proposal.token_ids), proposal.shown_logits[:, drafting.head.draft_ids]


def difference(drafting: Eagle3Pass, head: PlainHead, ids: list[int] = TEXT) -> float:
    """The largest over true slots and five drafts; the drafts are the same where it is small."""
    reference = Reference(head, MODEL)
    drafts, logits = proposed(drafting, ids)
    expected_drafts, expected = reference.drafts(ids, 5)
    with torch.inference_mode():
        runner = ModelRunner(MODEL)
        runner.tap(drafting.form.taps)
        states = drafting.head.fuse(runner.features(ids[:-1], 0))
        true = drafting.predict(drafting.read(states, ids[1:], drafting.new_cache(0)))
    found = float((true - reference.true_logits(ids)).abs().max())
    found = max(found, float((logits - expected).abs().max()))
    if found < CLOSE:
        assert drafts == expected_drafts
    return found


@pytest.mark.parametrize("dialect", WRITERS)
def test_every_dialect_gives_the_reference_logits(dialect: str, tmp_path: Path) -> None:
    theta = 10_000.0 if dialect in ("safeailab", "modelopt") else 3_000.0
    taps = (2, 2, 1) if dialect == "safeailab" else (2, 3, 4)
    yarn = 32.0 if dialect == "modelopt" else 0.0
    head = make_head(1, theta=theta, taps=taps, yarn_factor=yarn)
    if dialect == "modelopt":
        head = replace(head, taps=(2, 3, 3))
    folder = WRITERS[dialect](head, tmp_path)
    if dialect == "specforge":
        config = json.loads((folder / "config.json").read_text())
        config["eagle_config"] = {"eagle_aux_hidden_state_layer_ids": [2, 3, 4]}
        (folder / "config.json").write_text(json.dumps(config))
    assert difference(read(folder), head) < CLOSE


VARIANTS: dict[str, dict[str, Any]] = {
    "norms of taps": {"features": ("tap norms",)},
    "norm of all taps": {"features": ("joint norm",)},
    "norms of heads": {"features": ("head norms",), "head_dim": 10},
    "biases": {"features": ("biases",)},
    "own embedding": {"features": ("own embedding",)},
    "no matrix before": {"features": ("no fuse",), "taps": (4,)},
    "three layers": {"num_layers": 3},
    "five taps": {"taps": (0, 1, 2, 3, 4)},
    "normalised residual": {"norm_before_residual": True},
    "normalised state": {"feeds_norm": True},
    "whole vocabulary": {"draft_ids": tuple(range(48))},
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_gives_the_reference_logits(variant: str, tmp_path: Path) -> None:
    head = make_head(2, **VARIANTS[variant])
    assert difference(read(write_speculators(head, tmp_path)), head) < CLOSE


def test_further_layers_are_read_under_each_name(tmp_path: Path) -> None:
    head = make_head(3, num_layers=2, taps=(2, 2, 1))
    other = {
        key.replace("layers.1.input_layernorm", "layers.1.hidden_norm").replace(
            "layers.1.", "additional_layers.0."
        ): value
        for key, value in head.tensors.items()
    }
    folder = write_specforge(replace(head, tensors=other), tmp_path)
    assert difference(read(folder), head) < CLOSE
    assert plain_name("draft_model.model.aux_norm_mid.weight") == "fc_norm.1.weight"
    assert plain_name("draft_id_to_target_id") == "d2t"


def test_readings_that_files_do_not_state(tmp_path: Path) -> None:
    """As ModelOpt 0.42 trains: no YaRN, both norms, ids of layers."""
    trained = make_head(4, doubles_norm=True)
    folder = write_modelopt(trained, tmp_path)
    assert difference(read(folder), trained) > FAR
    reading = Reading(has_plain_rope=True, doubles_norm=True)
    assert difference(read(folder, reading), trained) < CLOSE
    assert Reading.parse(reading.text) == reading


BUGS: dict[str, Callable[[PlainHead], PlainHead]] = {
    "taps off by one": lambda head: replace(head, taps=tuple(tap - 1 for tap in head.taps)),
    "the state is fed after the norm": lambda head: replace(head, feeds_norm=True),
    "the residual is normalised": lambda head: replace(head, norm_before_residual=True),
    "feature before embedding": lambda head: replace(
        head,
        tensors={
            key: value.roll(value.shape[1] // 2, 1) if ".0.self_attn.q" in key else value
            for key, value in head.tensors.items()
        },
    ),
    "the target's theta": lambda head: replace(head, theta=500_000.0),
    "the norms swapped": lambda head: replace(
        head,
        tensors=head.tensors
        | {
            "layers.0.hidden_norm.weight": head.tensors["layers.0.input_layernorm.weight"],
            "layers.0.input_layernorm.weight": head.tensors["layers.0.hidden_norm.weight"],
        },
    ),
}


@pytest.mark.parametrize("bug", BUGS)
def test_planted_bugs_are_caught(bug: str, tmp_path: Path) -> None:
    head = make_head(5)
    drafting = read(write_modelopt(replace(head), tmp_path), Reading(has_plain_rope=True))
    assert difference(drafting, head) < CLOSE
    assert difference(drafting, BUGS[bug](head)) > FAR


def test_ids_taken_for_differences_are_refused_and_differences_are_added(tmp_path: Path) -> None:
    head = make_head(6)
    folder = write_specforge(head, tmp_path)
    assert read(folder, target=deep()).head.draft_ids.tolist() == list(head.draft_ids)
    tensors = load_file(folder / "model.safetensors")
    for number, (changed, problem) in enumerate(
        (
            ({"d2t": torch.tensor(head.draft_ids)}, "mask t2d|does not have"),
            ({"d2t": tensors["d2t"].half()}, "type float16"),
            ({"d2t": tensors["d2t"][:-1]}, "19 entries and the output layer 20 rows"),
            ({"d2t": tensors["d2t"].flip(0)}, "rising"),
            ({"d2t": tensors["d2t"] + 1}, "does not have|mask"),
        )
    ):
        other = tmp_path / str(number)
        other.mkdir()
        (other / "config.json").write_text((folder / "config.json").read_text())
        save_file(tensors | changed, other / "model.safetensors")
        with pytest.raises(ModelLoadError, match=problem):
            read(other, target=deep())


def deep() -> LoadedModel:
    config = type(MODEL.config)(**MODEL.config.to_dict() | {"num_hidden_layers": 8})
    model = random_model(config, dtype=torch.float32)
    return LoadedModel("deep", model, byte_tokenizer(), frozenset())


@pytest.mark.parametrize(
    ("num_layers", "config", "taps"),
    [
        (8, {}, (2, 4, 5)),
        (8, {"eagle_aux_hidden_state_layer_ids": [1, 3, 4]}, (1, 3, 4)),
        (8, {"eagle_config": {"eagle_aux_hidden_state_layer_ids": [1, 3, 4]}}, (2, 4, 5)),
        (8, {"eagle_config": {"eagle_aux_hidden_state_layer_ids": [2, 4, 7]}}, (2, 4, 7)),
        (8, {"eagle_config": {"eagle_aux_hidden_state_layer_ids": [1, 4, 8]}}, (1, 4, 8)),
    ],
)
def test_where_states_are_tapped(
    num_layers: int, config: dict[str, Any], taps: tuple[int, ...], tmp_path: Path
) -> None:
    folder = write_specforge(replace(make_head(7), extra=config), tmp_path)
    assert read(folder, target=deep()).form.taps == taps
    assert num_layers == deep().model.config.num_hidden_layers


REFUSALS: dict[str, tuple[dict[str, Any], dict[str, torch.Tensor], str]] = {
    "P-EAGLE": ({"speculators_model_type": "p_eagle"}, {}, "another kind .P-EAGLE."),
    "parallel": ({"eagle_config": {"parallel_draft_step": 4}}, {}, "P-EAGLE"),
    "DFlash": ({"architectures": ["DFlashDraftModel"]}, {}, "DFlash"),
    "MLA": ({"architectures": ["Eagle3DeepseekV2ForCausalLM"]}, {}, "MLA"),
    "MLA by its tensors": ({}, {"layers.0.self_attn.kv_a_proj.weight": torch.ones(2, 2)}, "MLA"),
    "quantised": ({"quantization_config": {"bits": 8}}, {}, "is quantised"),
    "bytes": ({}, {"norm.weight": torch.ones(32, dtype=torch.int8)}, "is quantised"),
    "unknown tensor": ({}, {"gate.weight": torch.ones(2)}, "no EAGLE-3 head has.*gate.weight"),
    "rotation": ({"rope_scaling": {"type": "dynamic", "factor": 2.0}}, {}, "turns positions by"),
    "heads": ({"num_attention_heads": 0}, {}, "num_attention_heads = 0"),
    "count of taps": ({"eagle_aux_hidden_state_layer_ids": [1, 2]}, {}, "names 2 layers.*for 3"),
    "width": ({"target_hidden_size": 40}, {}, "does not fit the width"),
    "too deep": ({"eagle_aux_hidden_state_layer_ids": [1, 2, 9]}, {}, "at 9, .* has 4 layers"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_what_is_no_such_head_is_refused_by_name(name: str, tmp_path: Path) -> None:
    config, tensors, sentence = REFUSALS[name]
    head = make_head(8)
    settings = {"eagle_aux_hidden_state_layer_ids": [2, 2, 1]} | config
    extended = replace(head, tensors=head.tensors | tensors, extra=settings)
    with pytest.raises((ModelLoadError, IncompatibleModelError), match=sentence):
        read(write_specforge(extended, tmp_path))


class Program:
    """What a pickle can hold besides numbers."""

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str]]:
        return (Path.touch, (Path("run"),))


def test_a_pickle_that_holds_a_program_is_not_run(tmp_path: Path) -> None:
    head = make_head(9)
    folder = write_safeailab(head, tmp_path)
    program = {"midlayer.x": Program(), **table_of(head)}
    torch.save(program, folder / "pytorch_model.bin")
    with pytest.raises(SpecvizError, match="cannot be loaded"):
        read(folder)
    assert not Path("run").exists()


def test_a_folder_without_weights_says_so(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ModelLoadError, match="holds no weights"):
        read(tmp_path)


def test_the_doctor_finds_how_a_head_was_trained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A target that chooses as the head was trained to: ids too low, YaRN injected, both norms."""
    trained = make_head(10, taps=(3, 4, 4), doubles_norm=True)
    wrong = replace(trained, taps=(2, 3, 3))
    reference, draft_ids = Reference(trained, MODEL), torch.tensor(trained.draft_ids)
    write = head_doctor._write

    def agreeing(*args: Any) -> list[head_doctor._Text]:
        return [
            replace(
                text, wanted=draft_ids[reference.true_logits(text.ids).argmax(-1)][text.first :]
            )
            for text in write(*args)
        ]

    monkeypatch.setattr(head_doctor, "_write", agreeing)
    built = build_head(LoadedHead(read_head_files(str(write_modelopt(wrong, tmp_path)))), TARGET)
    found = head_doctor.diagnose(built, MODEL, [[1, 2, 3], [5, 6]])
    assert found.used == Reading(1, has_plain_rope=True, doubles_norm=True)
    assert found.agreement(found.used) == 1.0 > found.agreement(Reading())
    assert built.form.taps == trained.taps
    assert not found.is_as_stated


def test_a_reading_that_is_hardly_better_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_specforge(replace(make_head(11), taps=(2, 2, 1)), tmp_path)
    built = build_head(LoadedHead(read_head_files(str(folder))), TARGET)
    for gain, wins in ((4, False), (5, True)):

        def marks(head: Any, form: Any, texts: Any, gain: int = gain) -> torch.Tensor:
            is_double = form.doubles_norm and form.taps == (2, 2, 1)
            return torch.arange(100) < 50 + gain * is_double

        monkeypatch.setattr(head_doctor, "_marks", marks)
        found = head_doctor.diagnose(built, MODEL, [[1, 2]])
        assert found.used == (Reading(doubles_norm=True) if wins else Reading())
        built.form = built.form.read_as(Reading())
