"""A model whose weights lie on several devices runs as the whole one does, in the plain form."""

from pathlib import Path
from typing import Any

import pytest
import torch
from test_lanes import FakePool
from tiny_models import CONFIGS, byte_tokenizer, random_model
from transformers import AutoModelForCausalLM, PreTrainedModel

from specviz.decoding.forms import Compile, Forms
from specviz.decoding.model_runner import ModelRunner
from specviz.decoding.split_runner import SplitRunner
from specviz.decoding.spread import device_of, is_spread
from specviz.models.loading import LoadedModel
from specviz.race.wiring import make_start_race
from specviz.trace.values import Form, LaneSpec, Method, RaceFinished, RaceRequest


@pytest.fixture(scope="module")
def whole() -> PreTrainedModel:
    config = CONFIGS["llama"]()
    config.vocab_size = len(byte_tokenizer())
    return random_model(config, dtype=torch.float32)


@pytest.fixture(scope="module")
def folder(whole: PreTrainedModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("spread")
    whole.save_pretrained(folder)
    byte_tokenizer().save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def spread(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> PreTrainedModel:
    """Half in memory, half on disk, which accelerate treats as one more device."""
    model: PreTrainedModel = AutoModelForCausalLM.from_pretrained(
        folder,
        dtype=torch.float32,
        device_map="auto",
        max_memory={"cpu": 150_000},
        offload_folder=tmp_path_factory.mktemp("offload"),
    )
    return model.eval().requires_grad_(False)


def test_a_spread_model_is_known_by_its_map(
    whole: PreTrainedModel, spread: PreTrainedModel
) -> None:
    assert set(spread.hf_device_map.values()) == {"cpu", "disk"}
    assert (is_spread(spread), is_spread(whole)) == (True, False)
    assert any(parameter.is_meta for parameter in spread.parameters())
    spread.hf_device_map = {"": "cpu"}
    assert not is_spread(spread), "one device is none to spread over"
    spread.hf_device_map = {"model.layers.0": "cpu", "lm_head": "disk"}


def test_ids_go_where_the_embedding_computes(spread: PreTrainedModel) -> None:
    assert device_of(spread) == torch.device("cpu")

    class Far:
        execution_device: Any = 1

    class Model:
        device = torch.device("meta")
        _hf_hook = Far()

        def get_input_embeddings(self) -> "Model":
            return self

    far: Any = Model()
    assert device_of(far) == torch.device("cuda:1")
    Far.execution_device = None
    assert device_of(far) == torch.device("meta")


def test_a_spread_model_gives_the_logits_of_the_whole(
    whole: PreTrainedModel, spread: PreTrainedModel
) -> None:
    ids = [5, 1, 4, 1, 3, 9, 2, 6]
    for runner in (ModelRunner, lambda model: SplitRunner(model, 2)):
        ours, theirs = runner(spread), runner(whole)
        ours.forward(ids[:4], 1)
        theirs.forward(ids[:4], 1)
        assert torch.allclose(ours.forward(ids, 3), theirs.forward(ids, 3), atol=1e-5)
        ours.keep(5, [])
        assert torch.allclose(
            ours.forward([*ids[:5], 7], 1), theirs.forward([*ids[:5], 7], 1), atol=1e-5
        )


def test_a_race_of_a_spread_model_is_the_race_of_the_whole_and_records_nothing(
    whole: PreTrainedModel, spread: PreTrainedModel
) -> None:
    request = RaceRequest(
        "the fox and the fox",
        (
            LaneSpec(None, Method.BASELINE, "target"),
            LaneSpec("copied", Method.PROMPT_LOOKUP, "target", gamma=3),
            LaneSpec("drafted", Method.DRAFT_MODEL, "target", "draft", gamma=2),
        ),
        max_new_tokens=12,
    )
    outputs = []
    for target in (whole, spread):
        pool = FakePool(target=CONFIGS["llama"])
        for name, model in (("target", target), ("draft", whole)):
            pool._configs[name] = CONFIGS["llama"]
            pool._loaded[name] = LoadedModel(name, model, byte_tokenizer(), frozenset())
        *_, last = make_start_race(pool, Compile.ON)(request)  # type: ignore[arg-type]
        assert isinstance(last, RaceFinished)
        outputs.append([[token.id for token in lane.emitted] for lane in last.trace.lanes])
        place = last.trace.environment
        is_static = target is whole
        assert (place.form, place.form_reason) == (
            (Form.STATIC, "proved") if is_static else (Form.GROWING, "spread")
        )
    assert outputs[0] == outputs[1]
    assert len(outputs[0][0]) == 12


def test_recording_is_not_tried_where_one_model_is_spread(
    whole: PreTrainedModel, spread: PreTrainedModel
) -> None:
    forms = Forms.on(torch.device("cpu"), Compile.ON)
    lanes = (LaneSpec(None, Method.BASELINE, "target"),)
    assert forms.of_race([whole, spread], lanes).reason == "spread"
    assert forms.of_race([whole], lanes).reason == "proved"
