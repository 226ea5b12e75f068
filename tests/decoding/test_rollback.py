"""Cached logits equal those of a fresh forward pass, whatever was accepted and rejected before."""

import random
from collections.abc import Callable

import pytest
import torch
from static_fakes import FakeGraphs
from tiny_models import CONTEXT, SHAPES, VOCAB, WINDOW, random_model, tiny_model
from transformers import (
    GPTNeoConfig,
    LlamaConfig,
    MistralConfig,
    OpenAIGPTConfig,
    PreTrainedModel,
)
from transformers.models.mistral import modeling_mistral

from specviz.decoding.lean_cache import DEFAULT_ROOM
from specviz.decoding.lean_forward import LeanForward
from specviz.decoding.model_runner import ModelRunner
from specviz.decoding.split_runner import SplitRunner
from specviz.decoding.static_runner import StaticRunner
from specviz.errors import IncompatibleModelError

EXACT = 1e-10
SINGLE = 1e-5
"""For Gemma 2, whose attention takes its softmax in float32 whatever the model's dtype."""
NUM_ROUNDS = 200
WIDTHS = (1, 2, 4, 9)
"""Of the blocks that are recorded in static form."""
SPLITTABLE = ("llama", "qwen3", "mistral")


def fresh(model: PreTrainedModel, ids: list[int]) -> torch.Tensor:
    """Logits `[len(ids), vocab]` of a forward pass without any cache."""
    with torch.inference_mode():
        return model(input_ids=torch.tensor([ids]), use_cache=False).logits[0]


def random_ids(rng: random.Random, count: int) -> list[int]:
    return [rng.randrange(VOCAB) for _ in range(count)]


@pytest.fixture(params=["lean", "wrapped"])
def either_pass(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run models lean where they fit, and once more through transformers' own modules."""
    if request.param == "wrapped":
        monkeypatch.setattr(LeanForward, "fits", staticmethod(lambda model: False))


def growing(model: PreTrainedModel) -> ModelRunner:
    return ModelRunner(model)


def static(model: PreTrainedModel) -> StaticRunner:
    """Its steps are recorded before a text is read, and none after."""
    graphs = FakeGraphs()
    runner = StaticRunner(model, CONTEXT, WIDTHS, graphs)
    runner.prepare()
    assert graphs.num_captures == len(WIDTHS)
    graphs.may_capture = False
    return runner


either_form = pytest.mark.parametrize("make_runner", [growing, static])


@pytest.mark.usefixtures("either_pass")
@either_form
@pytest.mark.parametrize("shape", SHAPES)
def test_chains_of_random_fate(
    shape: str, make_runner: Callable[[PreTrainedModel], ModelRunner]
) -> None:
    model, rng = tiny_model(shape), random.Random(1)
    if make_runner is static and shape == "mistral" and not LeanForward.fits(model):
        with pytest.raises(IncompatibleModelError, match="MistralForCausalLM"):
            make_runner(model)
        return
    runner, ids = make_runner(model), random_ids(rng, 5)
    for round_ in range(NUM_ROUNDS):
        drafts = random_ids(rng, rng.randint(0, 8))
        logits = runner.forward([*ids, *drafts], len(drafts) + 1)
        if round_ % 5 == 0 or len(ids) in (WINDOW, WINDOW + 1):
            expected = fresh(model, [*ids, *drafts])[-len(drafts) - 1 :]
            assert float((logits - expected).abs().max()) < (SINGLE if shape == "gemma2" else EXACT)
        num_accepted = rng.choice([0, rng.randint(0, len(drafts)), len(drafts)])
        runner.keep(len(ids), range(num_accepted))
        assert runner._ids == [*ids, *drafts[:num_accepted]]
        ids += [*drafts[:num_accepted], *random_ids(rng, 1)]
        assert len(runner._ids) == len(ids) - 1
        if len(ids) > CONTEXT - 10:
            ids = ids[: rng.randint(1, 6)]


@pytest.mark.usefixtures("either_pass")
@either_form
@pytest.mark.parametrize("shape", ["llama", "gpt2", "gpt_neox", "qwen3"])
def test_trees_of_random_shape_and_fate(
    shape: str, make_runner: Callable[[PreTrainedModel], ModelRunner]
) -> None:
    model, rng = tiny_model(shape), random.Random(2)
    runner, ids = make_runner(model), random_ids(rng, 3)
    for round_ in range(NUM_ROUNDS):
        size = rng.randint(1, 7)
        tokens, parents = random_ids(rng, size), [rng.randint(-1, node - 1) for node in range(size)]
        logits = runner.forward_tree(ids, tokens, parents)
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
        assert runner._ids == ids
        ids += random_ids(rng, 1)
        if round_ % 7 == 0:
            single = runner.forward(ids, 1)
            assert float((single - fresh(model, ids)[-1:]).abs().max()) < EXACT
            ids += random_ids(rng, 1)
        if len(ids) > CONTEXT - 12:
            ids = ids[:3]


@pytest.mark.parametrize("shape", ["mistral", "gemma2"])
def test_trees_past_a_sliding_window_are_refused(shape: str) -> None:
    runner = ModelRunner(tiny_model(shape))
    ids = list(range(WINDOW - 3))
    logits = runner.forward_tree(ids, [1, 2], [-1, -1])
    expected = fresh(tiny_model(shape), [*ids, 2])[-1]
    assert float((logits[2] - expected).abs().max()) < (SINGLE if shape == "gemma2" else EXACT)
    runner.keep(len(ids), [1])
    with pytest.raises(IncompatibleModelError, match=f"window of {WINDOW} tokens"):
        runner.forward_tree([*ids, 2, 3, 4], [1, 2], [-1, -1])


def test_windows_are_known_by_each_name_that_configs_give_them() -> None:
    neo = GPTNeoConfig(
        vocab_size=VOCAB,
        hidden_size=32,
        num_layers=2,
        num_heads=4,
        attention_types=[[["global", "local"], 1]],
        window_size=WINDOW,
        max_position_embeddings=CONTEXT,
    )
    chunked = LlamaConfig(**tiny_model("llama").config.to_dict() | {"attention_chunk_size": WINDOW})
    for config in (neo, chunked):
        with pytest.raises(IncompatibleModelError, match=f"window of {WINDOW} tokens"):
            ModelRunner(random_model(config)).forward_tree(list(range(WINDOW)), [1, 2], [-1, -1])


def mixed_model() -> PreTrainedModel:
    """Qwen3 with full and sliding layers by turns."""
    types = ["full_attention", "sliding_attention"] * 2
    plain = tiny_model("qwen3").config.to_dict()
    plain |= {"layer_types": types, "sliding_window": WINDOW, "use_sliding_window": True}
    return random_model(type(tiny_model("qwen3").config)(**plain))


@pytest.mark.usefixtures("either_pass")
@pytest.mark.parametrize("shape", [*SPLITTABLE, "mixed"])
def test_an_early_exit_and_its_target_keep_their_caches_level(shape: str) -> None:
    """Random drafts of random fate; exit logits equal those of a model of the first layers."""
    model, rng = mixed_model() if shape == "mixed" else tiny_model(shape), random.Random(3)
    runner, ids = SplitRunner(model, 2), random_ids(rng, 4)
    front = _first_layers(model, 2)
    for round_ in range(NUM_ROUNDS):
        drafts: list[int] = []
        for _ in range(rng.randint(0, 5)):
            exit_logits = runner.exit_logits([*ids, *drafts])
            if round_ % 10 == 0:
                expected = fresh(front, [*ids, *drafts])[-1:]
                assert float((exit_logits - expected).abs().max()) < EXACT
            drafts += random_ids(rng, 1)
        drafts = drafts[: rng.randint(0, len(drafts))] if round_ % 9 == 0 else drafts
        logits = runner.forward([*ids, *drafts], len(drafts) + 1)
        if round_ % 5 == 0:
            expected = fresh(model, [*ids, *drafts])[-len(drafts) - 1 :]
            assert float((logits - expected).abs().max()) < EXACT
        num_accepted = rng.choice([0, rng.randint(0, len(drafts)), len(drafts)])
        runner.keep(len(ids), range(num_accepted))
        ids += [*drafts[:num_accepted], *random_ids(rng, 1)]
        assert len(runner._ids) == len(ids) - 1
        if len(ids) > CONTEXT - 10:
            ids = ids[: rng.randint(1, 6)]


def _first_layers(model: PreTrainedModel, num_layers: int) -> PreTrainedModel:
    """A model of its own with the first layers, the norm and the output layer of `model`."""
    settings = {**model.config.to_dict(), "num_hidden_layers": num_layers}
    if settings.get("layer_types"):
        settings["layer_types"] = settings["layer_types"][:num_layers]
    config = type(model.config)(**settings)
    short = random_model(config)
    short.load_state_dict(model.state_dict(), strict=False)
    return short


def test_any_order_of_calls_to_a_split_runner() -> None:
    """Texts that jump about: shorter than what is cached, equal to it, unrelated to it."""
    model, rng = tiny_model("llama"), random.Random(4)
    runner, front = SplitRunner(model, 1), _first_layers(tiny_model("llama"), 1)
    text = random_ids(rng, 30)
    for _ in range(NUM_ROUNDS):
        ids = text[: rng.randint(1, len(text))]
        if rng.random() < 0.3:
            text[rng.randrange(len(text))] = rng.randrange(VOCAB)
        if rng.random() < 0.5:
            found, expected = runner.exit_logits(ids), fresh(front, ids)[-1:]
        else:
            num_logits = rng.randint(1, len(ids))
            found, expected = runner.forward(ids, num_logits), fresh(model, ids)[-num_logits:]
        assert float((found - expected).abs().max()) < EXACT


def test_any_order_of_calls_to_a_runner() -> None:
    model, rng = tiny_model("mistral"), random.Random(5)
    runner, text = ModelRunner(model), random_ids(rng, 40)
    for _ in range(NUM_ROUNDS):
        ids = text[: rng.randint(1, len(text))]
        text[rng.randrange(len(text))] = rng.randrange(VOCAB)
        num_logits = rng.randint(1, len(ids))
        found, expected = runner.forward(ids, num_logits), fresh(model, ids)[-num_logits:]
        assert float((found - expected).abs().max()) < EXACT


def test_the_cache_grows_past_its_room() -> None:
    config = LlamaConfig(
        vocab_size=VOCAB,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=2 * DEFAULT_ROOM,
    )
    model, rng = random_model(config), random.Random(6)
    ids = random_ids(rng, DEFAULT_ROOM + 60)
    runner = ModelRunner(model)
    for end in (1, DEFAULT_ROOM, DEFAULT_ROOM + 1, DEFAULT_ROOM + 2, len(ids)):
        found = runner.forward(ids[:end], 1)
        assert float((found - fresh(model, ids[:end])[-1:]).abs().max()) < EXACT


def test_a_model_without_a_cache_is_refused_by_name() -> None:
    """The first GPT forgets what it has read: every token would be predicted from one alone."""
    config = OpenAIGPTConfig(vocab_size=48, n_embd=32, n_layer=2, n_head=4, n_positions=64)
    runner = ModelRunner(random_model(config))
    with pytest.raises(IncompatibleModelError, match="OpenAIGPTLMHeadModel does not keep"):
        runner.forward([1, 2, 3], 1)


def test_a_check_of_the_check() -> None:
    """Keys of a rejected token, left in the place of the one that replaced it, are seen."""
    model, rng = tiny_model("llama"), random.Random(7)
    runner, ids = ModelRunner(model), random_ids(rng, 6)
    runner.forward([*ids, 1, 2], 3)
    runner._ids = [*ids, 3, 2]  # what a lost rollback would look like
    found = runner.forward([*ids, 3, 2, 4], 1)
    assert float((found - fresh(model, [*ids, 3, 2, 4])[-1:]).abs().max()) > 1e-3


def test_a_split_runner_leaves_model_and_config_as_they_were() -> None:
    model = random_model(tiny_model("qwen3").config)
    config, ids = model.config.to_dict(), list(range(9))
    layers, before = list(model.model.layers), fresh(model, ids)
    runner = SplitRunner(model, 1)
    runner.exit_logits(ids)
    runner.forward([*ids, 3], 2)
    assert model.config.to_dict() == config
    assert list(model.model.layers) == layers
    assert torch.equal(fresh(model, ids), before)


@pytest.mark.parametrize("shape", sorted(set(SHAPES) - set(SPLITTABLE)))
def test_shapes_without_an_early_exit_are_refused_by_name(shape: str) -> None:
    model = tiny_model(shape)
    with pytest.raises(IncompatibleModelError, match=type(model).__name__):
        SplitRunner(model, 1)


@pytest.mark.parametrize("exit_layer", [-1, 0, 4, 9])
def test_exit_layers_outside_the_model_are_refused(exit_layer: int) -> None:
    with pytest.raises(IncompatibleModelError, match=f"1 to 3 .* got {exit_layer}"):
        SplitRunner(tiny_model("llama"), exit_layer)


def test_capped_logits_too_small_to_notice_are_refused_all_the_same() -> None:
    """A soft cap bends small logits by less than any rounding tolerance, large ones by a lot."""
    config = tiny_model("gemma2").config
    model = random_model(config)
    with torch.no_grad():
        model.get_output_embeddings().weight *= 0.01
    with pytest.raises(IncompatibleModelError, match="Gemma2ForCausalLM"):
        SplitRunner(model, 1)


def test_a_window_longer_than_any_text_needs_no_refusal() -> None:
    config = MistralConfig(
        **{**tiny_model("mistral").config.to_dict(), "sliding_window": 4 * CONTEXT}
    )
    model = random_model(config)
    ids = list(range(20))
    found = SplitRunner(model, 2).forward(ids, 5)
    assert float((found - fresh(model, ids)[-5:]).abs().max()) < EXACT


@pytest.mark.usefixtures("either_pass")
def test_a_window_that_the_class_ignores_is_ignored_by_its_parts() -> None:
    """Llama attends to everything, whatever `sliding_window` a converted config still holds."""
    settings = tiny_model("llama").config.to_dict()
    model, rng = random_model(LlamaConfig(**settings, sliding_window=WINDOW)), random.Random(8)
    ids = random_ids(rng, 3 * WINDOW)
    runner = SplitRunner(model, 2)
    runner.exit_logits(ids[:-2])
    found = runner.forward(ids, 2 * WINDOW)
    assert float((found - fresh(model, ids)[-2 * WINDOW :]).abs().max()) < EXACT


def test_parts_that_lose_a_window_are_found_out_before_a_text_reaches_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The window is longer than any text that is worth trying."""
    settings = {**tiny_model("mistral").config.to_dict(), "sliding_window": CONTEXT - 1}
    monkeypatch.setattr(LeanForward, "fits", staticmethod(lambda model: False))
    model = random_model(MistralConfig(**settings))
    SplitRunner(model, 2)
    whole = len(model.model.layers)
    sliding = modeling_mistral.create_sliding_window_causal_mask

    def forgetful(config: MistralConfig, **kwargs: object) -> object:
        is_part = config.num_hidden_layers < whole
        return (modeling_mistral.create_causal_mask if is_part else sliding)(config, **kwargs)

    monkeypatch.setattr(modeling_mistral, "create_sliding_window_causal_mask", forgetful)
    with pytest.raises(IncompatibleModelError, match="MistralForCausalLM"):
        SplitRunner(model, 2)
