"""transformers' own decoding, called the way it is timed, on tiny random models."""

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from specviz.models.loading import LoadedModel
from specviz.models.reference import run_generate

PROMPT = (3, 1, 4, 1, 5)


def tiny(seed: int, eos_ids: frozenset[int] = frozenset()) -> LoadedModel:
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=32,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        bos_token_id=None,
        eos_token_id=None,
    )
    model = LlamaForCausalLM(config).double().eval()
    return LoadedModel(f"tiny-{seed}", model, None, eos_ids)


@pytest.fixture(scope="module")
def target() -> LoadedModel:
    return tiny(0)


def greedy(loaded: LoadedModel, num_tokens: int) -> tuple[int, ...]:
    """The argmax of one full forward pass after the other."""
    ids = list(PROMPT)
    with torch.inference_mode():
        for _ in range(num_tokens):
            ids.append(int(loaded.model(torch.tensor([ids])).logits[0, -1].argmax()))
    return tuple(ids[len(PROMPT) :])


def test_plain_ids_are_the_greedy_ones_and_all_but_the_first_are_timed(target: LoadedModel) -> None:
    run = run_generate(target, PROMPT, 12)
    assert run.ids == greedy(target, 12)
    assert run.num_timed == 11
    assert run.timed_ms > 0


@pytest.mark.parametrize("gamma", [1, 3])
def test_assisted_ids_are_the_same(target: LoadedModel, gamma: int) -> None:
    run = run_generate(target, PROMPT, 12, tiny(1), gamma)
    assert run.ids == greedy(target, 12)
    assert 12 - 1 - gamma <= run.num_timed < 12


def test_an_equal_assistant_is_accepted_gamma_at_a_time(target: LoadedModel) -> None:
    # 1 + 3 tokens arrive in the first round, which is not timed.
    assert run_generate(target, PROMPT, 12, target, 3).num_timed == 8


def test_the_models_get_their_own_settings_back(target: LoadedModel) -> None:
    draft = tiny(1)
    own = target.model.generation_config, draft.model.generation_config
    run_generate(target, PROMPT, 4, draft, 2)
    assert target.model.generation_config is own[0]
    assert draft.model.generation_config is own[1]


def test_generation_settings_of_a_model_do_not_change_the_law(target: LoadedModel) -> None:
    expected = greedy(target, 12)
    target.model.generation_config.repetition_penalty = 5.0
    try:
        assert run_generate(target, PROMPT, 12).ids == expected
    finally:
        target.model.generation_config.repetition_penalty = None


def test_an_end_token_ends_the_text() -> None:
    text = greedy(tiny(0), 12)
    end = text[4]
    run = run_generate(tiny(0, frozenset({end})), PROMPT, 12)
    assert run.ids == text[: text.index(end) + 1]
