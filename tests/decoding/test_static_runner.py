"""The static form gives what the growing one gives, from tensors that keep their place."""

import random
from collections.abc import Callable

import pytest
import torch
from static_fakes import FakeGraphs
from tiny_models import CONTEXT, HYBRIDS, VOCAB, random_model, tiny_model
from transformers import MistralConfig, PreTrainedModel

from specviz.decoding.lean_forward import LeanForward
from specviz.decoding.model_runner import ModelRunner
from specviz.decoding.static_pass import STEP
from specviz.decoding.static_runner import StaticRunner
from specviz.errors import IncompatibleModelError

EXACT = 1e-10


def random_ids(rng: random.Random, count: int) -> list[int]:
    return [rng.randrange(VOCAB) for _ in range(count)]


def fresh(model: PreTrainedModel, ids: list[int]) -> torch.Tensor:
    with torch.inference_mode():
        return model(input_ids=torch.tensor([ids]), use_cache=False).logits[0]


@pytest.mark.parametrize("shape", ["llama", "gpt2"])
def test_a_text_past_its_room_moves_into_larger_buffers(shape: str) -> None:
    model = tiny_model(shape)
    graphs = FakeGraphs()
    runner = StaticRunner(model, 16, (1, 2), graphs)
    rng = random.Random(3)
    text = random_ids(rng, STEP + 20)
    for end in range(1, len(text) + 1):
        logits = runner.forward(text[:end], 1)
    assert float((logits - fresh(model, text)[-1:]).abs().max()) < EXACT
    assert graphs.num_captures == 2, "the step of one token, before and after"


def test_what_was_returned_outlives_the_next_replay() -> None:
    runner = StaticRunner(tiny_model("llama"), CONTEXT, (1,), FakeGraphs())
    first = runner.forward([3], 1)
    kept = first.clone()
    runner.forward([3, 4], 1)
    assert torch.equal(first, kept)


def test_a_new_text_needs_no_new_recording() -> None:
    graphs = FakeGraphs()
    runner = StaticRunner(tiny_model("llama"), CONTEXT, (1, 4), graphs)
    runner.prepare()
    expected = ModelRunner(tiny_model("llama"))
    for seed in range(3):
        ids = random_ids(random.Random(seed), 9)
        runner.reset()
        expected.reset()
        runner.forward(ids[:6], 1)
        found = runner.forward(ids, 3)
        assert float((found - expected.forward(ids, 3)).abs().max()) < EXACT
    assert graphs.num_captures == 2
    assert graphs.num_replays == 3, "a block of each text; its first part is wider than any step"


def test_a_window_that_only_the_class_knows_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LeanForward, "fits", staticmethod(lambda model: False))
    config: Callable[..., MistralConfig] = type(tiny_model("mistral").config)
    model = random_model(config(**tiny_model("mistral").config.to_dict()))
    with pytest.raises(IncompatibleModelError, match="MistralForCausalLM"):
        StaticRunner(model)


@pytest.mark.parametrize("shape", HYBRIDS)
def test_models_that_keep_states_are_refused(shape: str) -> None:
    with pytest.raises(IncompatibleModelError, match="fixed buffers"):
        StaticRunner(tiny_model(shape))
