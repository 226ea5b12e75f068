"""The static form gives what the growing one gives, from tensors that keep their place."""

import random
from collections.abc import Callable

import pytest
import torch
from static_fakes import FakeGraphs
from tiny_models import CONTEXT, HYBRIDS, SHAPES, VOCAB, WINDOW, random_model, tiny_model
from transformers import MistralConfig, PreTrainedModel

from specviz.decoding.lean_forward import LeanForward
from specviz.decoding.model_runner import ModelRunner
from specviz.decoding.static_runner import STEP, StaticRunner
from specviz.errors import IncompatibleModelError

EXACT = 1e-10
SINGLE = 1e-5
"""For Gemma 2, whose attention takes its softmax in float32 whatever the model's dtype."""
NUM_ROUNDS = 200
WIDTHS = (1, 2, 4, 9)


def bound(shape: str) -> float:
    return SINGLE if shape == "gemma2" else EXACT


def random_ids(rng: random.Random, count: int) -> list[int]:
    return [rng.randrange(VOCAB) for _ in range(count)]


def fresh(model: PreTrainedModel, ids: list[int]) -> torch.Tensor:
    with torch.inference_mode():
        return model(input_ids=torch.tensor([ids]), use_cache=False).logits[0]


@pytest.mark.parametrize("shape", [s for s in SHAPES if s != "mistral"])
@pytest.mark.parametrize("passes", ["lean", "wrapped"])
def test_chains_of_random_fate(shape: str, passes: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if passes == "wrapped":
        monkeypatch.setattr(LeanForward, "fits", staticmethod(lambda model: False))
    _play_chains(tiny_model(shape), bound(shape))


def test_chains_past_a_window() -> None:
    _play_chains(tiny_model("mistral"), EXACT)


def _play_chains(model: PreTrainedModel, tolerance: float) -> None:
    rng, graphs = random.Random(1), FakeGraphs()
    runner = StaticRunner(model, CONTEXT, WIDTHS, graphs)
    runner.prepare()
    graphs.may_capture = False
    ids = random_ids(rng, 5)
    for round_ in range(NUM_ROUNDS):
        drafts = random_ids(rng, rng.randint(0, 8))
        logits = runner.forward([*ids, *drafts], len(drafts) + 1)
        if round_ % 5 == 0 or len(ids) in (WINDOW, WINDOW + 1):
            expected = fresh(model, [*ids, *drafts])[-len(drafts) - 1 :]
            assert float((logits - expected).abs().max()) < tolerance
        num_accepted = rng.choice([0, rng.randint(0, len(drafts)), len(drafts)])
        runner.keep(len(ids), range(num_accepted))
        ids += [*drafts[:num_accepted], *random_ids(rng, 1)]
        if len(ids) > CONTEXT - 10:
            ids = ids[: rng.randint(1, 6)]
    assert graphs.num_captures == len(WIDTHS)
    assert graphs.num_replays > NUM_ROUNDS / 2


@pytest.mark.parametrize("shape", ["llama", "gpt2", "gpt_neox", "qwen3"])
def test_trees_of_random_shape_and_fate(shape: str) -> None:
    model, rng = tiny_model(shape), random.Random(2)
    runner, ids = StaticRunner(model, CONTEXT, WIDTHS, FakeGraphs()), random_ids(rng, 3)
    for round_ in range(NUM_ROUNDS):
        size = rng.randint(1, 7)
        tokens, parents = random_ids(rng, size), [rng.randint(-1, node - 1) for node in range(size)]
        logits = runner.read_tree(ids, tokens, parents)
        paths: list[list[int]] = [[]]
        for node, parent in enumerate(parents):
            paths.append([*paths[parent + 1], node])
        if round_ % 10 == 0:
            for row, path in enumerate(paths):
                expected = fresh(model, [*ids, *(tokens[node] for node in path)])[-1]
                assert float((logits[row] - expected).abs().max()) < EXACT
        path = rng.choice(paths)
        runner.keep(len(ids), path)
        ids += [tokens[node] for node in path]
        ids += random_ids(rng, 1)
        if round_ % 7 == 0:
            chain = runner.forward(ids, 1)
            assert float((chain - fresh(model, ids)[-1:]).abs().max()) < EXACT
            ids += random_ids(rng, 1)
        if len(ids) > CONTEXT - 12:
            ids = ids[:3]


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
