"""Hybrid models: states are copied before a verification and come back after a rejection."""

import random
from collections.abc import Iterator

import pytest
import torch
from fakes import make_decoder
from tiny_models import (
    CONTEXT,
    HYBRID_CONFIGS,
    HYBRIDS,
    VOCAB,
    prompts,
    random_model,
    tiny_model,
)
from transformers import (
    JambaConfig,
    Mamba2Config,
    MambaConfig,
    NemotronHConfig,
    PreTrainedModel,
    RecurrentGemmaConfig,
)
from transformers.models.falcon_h1 import modeling_falcon_h1
from transformers.models.granitemoehybrid import modeling_granitemoehybrid
from transformers.models.lfm2 import modeling_lfm2
from transformers.models.qwen3_5 import modeling_qwen3_5

from specviz.decoding.decoder import Decoder
from specviz.decoding.model_runner import ModelRunner
from specviz.decoding.proposal import Proposer
from specviz.decoding.proposers.draft_model import DraftModel
from specviz.decoding.proposers.no_draft import NoDraft
from specviz.decoding.proposers.prompt_lookup import PromptLookup
from specviz.decoding.split_runner import SplitRunner
from specviz.decoding.state_cache import MAX_READ_AGAIN, StateCache, StateLayer
from specviz.errors import IncompatibleModelError
from specviz.trace.values import Outcome, Sampling

GREEDY = Sampling()
NUM_ROUNDS = 200
NUM_TOKENS = 24
PROMPTS = tuple(tuple(prompt) for prompt in prompts(3))
EXACT = 1e-10


class Doubled:
    """The name `torch` of a module that writes float32 and is to compute in float64."""

    float32 = torch.float64

    def __getattr__(self, name: str) -> object:
        return getattr(torch, name)


@pytest.fixture
def all_double(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the hybrids compute in the dtype of their weights throughout.

    The delta rule of Qwen3.5, the scans of Falcon-H1 and Granite and the norms compute, and keep
    their states, in float32 whatever the weights are: rounding alone moves the logits of these wide
    random weights by up to 1e-3 from one way of reading to another, in which mistakes could hide.
    """
    for module in (modeling_qwen3_5, modeling_lfm2, modeling_falcon_h1, modeling_granitemoehybrid):
        monkeypatch.setattr(module, "torch", Doubled())
    monkeypatch.setattr(torch.Tensor, "float", torch.Tensor.double)


def fresh(model: PreTrainedModel, ids: list[int]) -> torch.Tensor:
    """Logits `[len(ids), vocab]` of a forward pass without any cache."""
    with torch.inference_mode():
        return model(input_ids=torch.tensor([ids]), use_cache=False).logits[0]


def difference(found: torch.Tensor, model: PreTrainedModel, ids: list[int]) -> float:
    return float((found - fresh(model, ids)[-len(found) :]).abs().max())


def random_ids(rng: random.Random, count: int) -> list[int]:
    return [rng.randrange(VOCAB) for _ in range(count)]


@pytest.mark.usefixtures("all_double")
@pytest.mark.parametrize("shape", HYBRIDS)
def test_chains_of_random_fate(shape: str) -> None:
    model, rng = tiny_model(shape), random.Random(1)
    runner, ids = ModelRunner(model), random_ids(rng, 5)
    worst = 0.0
    for round_ in range(NUM_ROUNDS):
        drafts = random_ids(rng, rng.randint(0, 8))
        logits = runner.forward([*ids, *drafts], len(drafts) + 1)
        if round_ % 3 == 0:
            worst = max(worst, difference(logits, model, [*ids, *drafts]))
        num_accepted = rng.choice([0, rng.randint(0, len(drafts)), len(drafts)])
        runner.keep(len(ids), range(num_accepted))
        assert runner._ids == [*ids, *drafts[:num_accepted]][: len(runner._ids)]
        ids += [*drafts[:num_accepted], *random_ids(rng, 1)]
        if len(ids) > CONTEXT - 10:
            ids = ids[: rng.randint(1, 6)]
    assert worst < EXACT


@pytest.mark.usefixtures("all_double")
@pytest.mark.parametrize("shape", HYBRIDS)
def test_any_order_of_calls(shape: str) -> None:
    """Texts that jump about, chains of single tokens that are taken back or not, said or not."""
    model, rng = tiny_model(shape), random.Random(2)
    runner, text = ModelRunner(model), random_ids(rng, 40)
    worst = 0.0
    for _ in range(NUM_ROUNDS // 4):
        end = rng.randint(1, len(text))
        if rng.random() < 0.5:
            runner.expect_return_to(rng.randint(1, len(text)))
        for num_single in range(rng.randint(1, 4)):
            ids = text[: end + num_single]
            num_logits = 1 if num_single else rng.randint(1, len(ids))
            worst = max(worst, difference(runner.forward(ids, num_logits), model, ids))
        text[rng.randrange(len(text))] = rng.randrange(VOCAB)
    assert worst < EXACT


def test_a_check_of_the_check() -> None:
    """States that have read a rejected token, and are left so, are seen."""
    model, rng = tiny_model("lfm2"), random.Random(3)
    runner, ids = ModelRunner(model), random_ids(rng, 6)
    runner.forward([*ids, 1, 2], 1)
    for layer in runner._cache.layers:
        if not isinstance(layer, StateLayer):
            layer.truncate(len(ids))
    runner._ids = list(ids)  # what a lost rollback would look like
    assert difference(runner.forward([*ids, 3], 1), model, [*ids, 3]) > 1e-3


def decode(decoder: Decoder, prompt: tuple[int, ...]) -> tuple[tuple[int, ...], list[Outcome]]:
    decoder.prefill(prompt)
    fates: list[Outcome] = []
    while decoder.stop_reason is None:
        fates += [token.outcome for token in decoder.step().drafted]
    return decoder.output_ids, fates


def lane(model: PreTrainedModel, proposer: Proposer, gamma: int) -> Decoder:
    return make_decoder(ModelRunner(model), proposer, gamma=gamma, max_new_tokens=NUM_TOKENS)


def draft_of(model: PreTrainedModel) -> DraftModel:
    return DraftModel(ModelRunner(model), GREEDY, VOCAB, frozenset())


def generated(model: PreTrainedModel, prompt: tuple[int, ...]) -> tuple[int, ...]:
    """What transformers makes of it, with its own cache."""
    ids = torch.tensor([prompt])
    output = model.generate(
        ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=NUM_TOKENS
    )
    return tuple(output[0, len(prompt) :].tolist())


@pytest.mark.parametrize("gamma", [1, 4, 8])
@pytest.mark.parametrize("shape", HYBRIDS)
def test_greedy_texts_are_those_of_the_baseline_and_of_generate(shape: str, gamma: int) -> None:
    model = tiny_model(shape)
    half_right = tiny_model(shape, noise=0.03)
    fates: list[Outcome] = []
    for prompt in PROMPTS:
        expected = generated(model, prompt)
        assert decode(lane(model, NoDraft(), 0), prompt)[0] == expected
        output, found = decode(lane(model, draft_of(half_right), gamma), prompt)
        assert output == expected
        fates += found
        assert decode(lane(model, PromptLookup(3, frozenset()), gamma), prompt)[0] == expected
    assert Outcome.ACCEPTED in fates
    assert Outcome.REJECTED in fates


@pytest.mark.parametrize("gamma", [1, 4, 8])
@pytest.mark.parametrize("shape", HYBRIDS)
def test_a_draft_that_is_the_target_is_always_accepted(shape: str, gamma: int) -> None:
    output, fates = decode(lane(tiny_model(shape), draft_of(tiny_model(shape)), gamma), PROMPTS[1])
    assert output == generated(tiny_model(shape), PROMPTS[1])
    assert set(fates) == {Outcome.ACCEPTED}


def test_a_plain_draft_serves_a_hybrid_and_a_hybrid_a_plain_target() -> None:
    for target, draft in (("lfm2", "llama"), ("llama", "lfm2")):
        decoder = lane(tiny_model(target), draft_of(tiny_model(draft)), 4)
        assert decode(decoder, PROMPTS[0])[0] == generated(tiny_model(target), PROMPTS[0])


class Watched:
    """Counts copies of states and tokens read, model by model."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.copies: dict[StateCache, int] = {}
        save = StateLayer.save
        owners: dict[StateLayer, StateCache] = {}
        whole = StateCache.save

        def remember(cache: StateCache, num_tokens: int) -> None:
            owners.update((layer, cache) for layer in cache.layers)
            whole(cache, num_tokens)

        def count(layer: StateLayer) -> None:
            cache = owners[layer]
            if layer is next(each for each in cache.layers if isinstance(each, StateLayer)):
                self.copies[cache] = self.copies.get(cache, 0) + 1
            save(layer)

        monkeypatch.setattr(StateCache, "save", remember)
        monkeypatch.setattr(StateLayer, "save", count)

    def rounds(self, decoder: Decoder, prompt: tuple[int, ...]) -> Iterator[list[int]]:
        """The copies that each round made, a number a cache that made any."""
        decoder.prefill(prompt)
        while decoder.stop_reason is None:
            self.copies.clear()
            decoder.step()
            yield list(self.copies.values())


@pytest.mark.parametrize("shape", HYBRIDS)
def test_the_baseline_copies_nothing(shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    decoder = lane(tiny_model(shape), NoDraft(), 0)
    watched = Watched(monkeypatch)
    assert sum(len(copies) for copies in watched.rounds(decoder, PROMPTS[1])) == 0


@pytest.mark.parametrize("gamma", [1, 4, 8])
@pytest.mark.parametrize("shape", HYBRIDS)
def test_a_round_copies_the_states_of_a_model_once_at_most(
    shape: str, gamma: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoder = lane(tiny_model(shape), draft_of(tiny_model(shape, noise=0.03)), gamma)
    watched = Watched(monkeypatch)
    rounds = list(watched.rounds(decoder, PROMPTS[1]))
    assert {count for copies in rounds for count in copies} == {1}
    assert max(len(copies) for copies in rounds) == (1 if gamma == 1 else 2)


def test_what_is_read_again_stays_short() -> None:
    """Where every round rejects, the tail is read on its own before it grows."""
    model, rng = random_model(HYBRID_CONFIGS["lfm2"]()), random.Random(4)
    runner, ids = ModelRunner(model), random_ids(rng, 30)
    lengths: list[int] = []
    runner.forward(ids[:-1], 1)
    model.get_input_embeddings().register_forward_hook(
        lambda module, args, output: lengths.append(args[0].shape[-1])
    )
    for _ in range(60):
        logits = runner.forward([*ids, 1, 2, 3, 4], 5)
        assert difference(logits, model, [*ids, 1, 2, 3, 4]) < EXACT
        del lengths[-1]  # that of the fresh pass
        runner.keep(len(ids), [])
        ids += random_ids(rng, 1)
    assert max(lengths) == 5 + MAX_READ_AGAIN
    assert len(lengths) == 60 + 60 // (MAX_READ_AGAIN + 1)


def test_tokens_that_were_never_copied_are_not_returned_to() -> None:
    cache = ModelRunner(tiny_model("lfm2"))._cache
    with pytest.raises(ValueError, match="states of 3 tokens were never copied"):
        cache.truncate(3)


@pytest.mark.parametrize("shape", HYBRIDS)
def test_trees_are_refused_by_name(shape: str) -> None:
    model = tiny_model(shape)
    with pytest.raises(IncompatibleModelError, match=f"{type(model).__name__} cannot read token"):
        ModelRunner(model).forward_tree([1, 2, 3], [4, 5], [-1, -1])


@pytest.mark.parametrize("shape", HYBRIDS)
def test_early_exit_is_refused_by_name(shape: str) -> None:
    model = tiny_model(shape)
    with pytest.raises(IncompatibleModelError, match=f"supported for {type(model).__name__}"):
        SplitRunner(model, 1)


SMALL = {
    "vocab_size": VOCAB,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "eos_token_id": None,
    "pad_token_id": 0,
}
LOST = {
    "mamba": MambaConfig(vocab_size=VOCAB, hidden_size=32, num_hidden_layers=2, state_size=4),
    "mamba2": Mamba2Config(
        vocab_size=VOCAB, hidden_size=32, num_hidden_layers=2, num_heads=8, head_dim=8, state_size=8
    ),
    "jamba": JambaConfig(
        **SMALL, num_experts=2, attn_layer_period=2, attn_layer_offset=1, use_mamba_kernels=False
    ),
    "recurrent_gemma": RecurrentGemmaConfig(**SMALL, lru_width=32, head_dim=8),
}


@pytest.mark.parametrize("name", LOST)
def test_states_that_cannot_be_put_back_are_refused_by_name(name: str) -> None:
    """Jamba reads a block as if nothing stood before it; Mamba's cache has no place for keys."""
    model = random_model(LOST[name])
    with pytest.raises(IncompatibleModelError, match=type(model).__name__):
        ModelRunner(model)


def test_layers_that_hold_nothing_are_passed_over() -> None:
    config = NemotronHConfig(
        vocab_size=VOCAB,
        hidden_size=32,
        intermediate_size=48,
        layers_block_type=["linear_attention", "mlp", "full_attention", "mlp"],
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        mamba_num_heads=4,
        mamba_head_dim=16,
        ssm_state_size=8,
        n_groups=1,
    )
    model, ids = random_model(config), [5, 3, 8, 1]
    runner = ModelRunner(model)
    runner.forward([*ids, 7, 9, 4], 4)
    runner.keep(len(ids), [])
    found = runner.forward([*ids, 2, 6], 2)
    assert torch.equal(found.argmax(-1), fresh(model, [*ids, 2, 6])[-2:].argmax(-1))


@pytest.mark.parametrize("shape", HYBRIDS)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_rounding_in_16_bit_is_no_reason_to_refuse(shape: str, dtype: torch.dtype) -> None:
    for seed in range(4):
        ModelRunner(tiny_model(shape, seed, dtype=dtype))
