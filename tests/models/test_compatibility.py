"""Which pairs belong together and which caches can be rolled back."""

import pytest
import torch
from tiny_models import SHAPES, byte_tokenizer, random_model, sentence_tokenizer, tiny_model
from transformers import (
    FalconH1Config,
    JambaConfig,
    Lfm2Config,
    LlamaConfig,
    MambaConfig,
    PretrainedConfig,
    PreTrainedTokenizerFast,
    Qwen3NextConfig,
)

from specviz.decoding.model_runner import ModelRunner
from specviz.errors import IncompatibleModelError
from specviz.models.compatibility import check_pair, check_rollback
from specviz.models.loading import LoadedModel

SMALL = {
    "vocab_size": 48,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "eos_token_id": None,
    "pad_token_id": 0,
}
MIXER = {"mamba_n_heads": 4, "mamba_d_head": 8, "mamba_d_state": 8, "mamba_n_groups": 1}
GATED = {
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 2,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
    "moe_intermediate_size": 16,
    "shared_expert_intermediate_size": 16,
    "num_experts": 4,
    "num_experts_per_tok": 2,
}

RECURRENT: dict[str, PretrainedConfig] = {
    "mamba": MambaConfig(vocab_size=48, hidden_size=32, num_hidden_layers=2, state_size=4),
    "lfm2-of-convolutions": Lfm2Config(**SMALL, layer_types=["conv"] * 4),
}
HYBRID: dict[str, PretrainedConfig] = {
    "falcon-h1": FalconH1Config(**SMALL, **MIXER, mamba_d_ssm=32),
    "qwen3-next": Qwen3NextConfig(**SMALL, **GATED, head_dim=8),
    "lfm2": Lfm2Config(**SMALL, layer_types=["conv", "full_attention"] * 2),
}


def loaded(name: str, model: object = None, tokenizer: object = None) -> LoadedModel:
    return LoadedModel(name, model, tokenizer, frozenset())  # type: ignore[arg-type]


@pytest.mark.parametrize("name", RECURRENT)
def test_recurrent_models_are_refused_by_name(name: str) -> None:
    model = random_model(RECURRENT[name], dtype=torch.float32)
    with pytest.raises(IncompatibleModelError, match="cannot be rolled back") as caught:
        check_rollback(loaded(name, model))
    assert name in str(caught.value)
    assert type(model).__name__ in str(caught.value)


@pytest.mark.parametrize("name", HYBRID)
def test_hybrids_whose_states_can_be_put_back_pass(name: str) -> None:
    model = random_model(HYBRID[name], dtype=torch.float32)
    check_rollback(loaded(name, model))
    ModelRunner(model)


def test_a_hybrid_that_forgets_its_state_is_refused_by_its_runner() -> None:
    """Its config looks like that of the others."""
    layers = {"attn_layer_period": 2, "attn_layer_offset": 1, "num_experts": 2}
    config = JambaConfig(**SMALL, **layers, use_mamba_kernels=False)
    model = random_model(config, dtype=torch.float32)
    check_rollback(loaded("jamba", model))
    with pytest.raises(IncompatibleModelError, match="JambaForCausalLM does not carry on"):
        ModelRunner(model)


@pytest.mark.parametrize("shape", SHAPES)
def test_models_of_plain_attention_pass(shape: str) -> None:
    check_rollback(loaded(shape, tiny_model(shape)))


def pair(target: PreTrainedTokenizerFast, draft: PreTrainedTokenizerFast) -> None:
    check_pair(loaded("big", tokenizer=target), loaded("small", tokenizer=draft))


def test_equal_tokenizers_pass_whatever_the_size_of_the_output_layers() -> None:
    pair(byte_tokenizer(), byte_tokenizer())
    pair(byte_tokenizer(), PreTrainedTokenizerFast(tokenizer_object=byte_tokenizer()._tokenizer))


def test_other_vocabularies_of_equal_size_are_refused() -> None:
    other = byte_tokenizer(text="zebras zigzag through quizzes " * 9)
    assert len(other) <= len(byte_tokenizer())
    with pytest.raises(IncompatibleModelError, match="small cannot be fitted to big: their vocab"):
        pair(byte_tokenizer(len(other)), other)


def permuted(
    tokenizer: PreTrainedTokenizerFast, first: str, second: str
) -> PreTrainedTokenizerFast:
    """The same pieces with two of the ids exchanged."""
    text = tokenizer._tokenizer.to_str()
    vocab = tokenizer.get_vocab()
    marks = f'"{first}":{vocab[first]}', f'"{second}":{vocab[second]}'
    assert all(text.count(mark) == 1 for mark in marks)
    text = text.replace(marks[0], f'"{first}":{vocab[second]}').replace(
        marks[1], f'"{second}":{vocab[first]}'
    )
    return PreTrainedTokenizerFast(tokenizer_object=type(tokenizer._tokenizer).from_str(text))


def test_the_same_pieces_under_other_ids_are_refused_with_both_ids() -> None:
    vocab = byte_tokenizer().get_vocab()
    with pytest.raises(
        IncompatibleModelError, match=r"is \d+ for the target and \d+ for"
    ) as caught:
        pair(byte_tokenizer(), permuted(byte_tokenizer(), "q", "z"))
    assert str(vocab["q"]) in str(caught.value)
    assert str(vocab["z"]) in str(caught.value)


def test_a_few_added_tokens_of_one_side_pass() -> None:
    more = PreTrainedTokenizerFast(tokenizer_object=byte_tokenizer()._tokenizer)
    more = type(more)(tokenizer_object=type(more._tokenizer).from_str(more._tokenizer.to_str()))
    more.add_tokens(["<|image|>"])
    pair(byte_tokenizer(), more)
    pair(more, byte_tokenizer())


def test_another_family_is_refused() -> None:
    with pytest.raises(IncompatibleModelError, match="choose a draft of the same family"):
        pair(byte_tokenizer(), sentence_tokenizer())


def test_equal_pieces_cut_in_another_way_are_refused() -> None:
    text = byte_tokenizer()._tokenizer.to_str()
    assert '"add_prefix_space":false' in text
    cut = text.replace('"add_prefix_space":false', '"add_prefix_space":true')
    other = PreTrainedTokenizerFast(
        tokenizer_object=type(byte_tokenizer()._tokenizer).from_str(cut)
    )
    with pytest.raises(IncompatibleModelError, match="into different tokens"):
        pair(byte_tokenizer(), other)


def test_a_plain_llama_without_layer_types_passes() -> None:
    check_rollback(loaded("llama", random_model(LlamaConfig(**SMALL))))
