"""Rotary embeddings that change with the length of a text, and positions that no tree can have."""

from collections.abc import Callable

import pytest
import torch
from fakes import make_decoder, run_to_end
from tiny_models import VOCAB, random_model
from transformers import (
    BartConfig,
    BloomConfig,
    FalconConfig,
    LlamaConfig,
    MptConfig,
    Phi3Config,
    PretrainedConfig,
    PreTrainedModel,
)

from specviz.decoding.model_runner import ModelRunner
from specviz.decoding.positions import context_of
from specviz.decoding.proposal import Proposer
from specviz.decoding.proposers.draft_model import DraftModel
from specviz.decoding.proposers.early_exit import EarlyExit
from specviz.decoding.proposers.no_draft import NoDraft
from specviz.decoding.split_runner import SplitRunner
from specviz.errors import IncompatibleModelError
from specviz.trace.values import Sampling, StopReason

ORIGINAL = 24
LONGEST = 64
PROMPT = (3, 14, 15, 9, 26, 5)
SIZE = {
    "vocab_size": VOCAB,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "bos_token_id": 0,
    "eos_token_id": None,
    "pad_token_id": None,
}


def longrope() -> PretrainedConfig:
    """As Phi-3 with 128k tokens: other factors for a text longer than the original context."""
    rope = {"rope_type": "longrope", "short_factor": [1.0] * 4, "long_factor": [2.0, 3.0, 5.0, 8.0]}
    return Phi3Config(
        **SIZE,
        max_position_embeddings=LONGEST,
        original_max_position_embeddings=ORIGINAL,
        rope_parameters=rope,
    )


def dynamic() -> PretrainedConfig:
    """Frequencies that fall with every token past the original context."""
    rope = {"rope_type": "dynamic", "factor": 4.0}
    return LlamaConfig(**SIZE, max_position_embeddings=ORIGINAL, rope_parameters=rope)


def greedy_without_cache(model: PreTrainedModel, num_tokens: int) -> tuple[int, ...]:
    """What the model writes when it reads the whole text anew for every token."""
    ids = list(PROMPT)
    with torch.inference_mode():
        for _ in range(num_tokens):
            logits = model(input_ids=torch.tensor([ids]), use_cache=False).logits
            ids.append(int(logits[0, -1].argmax()))
    return tuple(ids[len(PROMPT) :])


@pytest.mark.parametrize("method", ["baseline", "draft", "exit"])
@pytest.mark.parametrize("gamma", [1, 5])
@pytest.mark.parametrize("config", [longrope, dynamic])
def test_a_text_ends_where_cached_keys_would_go_stale(
    config: Callable[[], PretrainedConfig], gamma: int, method: str
) -> None:
    model, sampling = random_model(config()), Sampling()
    runner = SplitRunner(model, 1) if method == "exit" else ModelRunner(model)
    draft = ModelRunner(random_model(config(), noise=0.05))
    proposers: dict[str, Proposer] = {
        "baseline": NoDraft(),
        "draft": DraftModel(draft, sampling, VOCAB, frozenset()),
    }
    proposer = EarlyExit(runner, sampling, frozenset()) if method == "exit" else proposers[method]  # type: ignore[arg-type]
    decoder = make_decoder(runner, proposer, gamma=gamma, max_new_tokens=50, context=runner.context)
    output = run_to_end(decoder, PROMPT)
    assert decoder.stop_reason is StopReason.CONTEXT
    assert len(PROMPT) + len(output) == ORIGINAL
    assert output == greedy_without_cache(model, len(output))


def test_past_the_original_context_a_cache_is_wrong() -> None:
    """What the limit is for: were the keys still right there, it could go."""
    model, ids = random_model(longrope()), [i % VOCAB for i in range(ORIGINAL + 4)]
    runner = ModelRunner(model)
    for end in range(ORIGINAL - 2, len(ids) + 1):
        cached = runner.forward(ids[:end], 1)
        with torch.inference_mode():
            fresh = model(input_ids=torch.tensor([ids[:end]]), use_cache=False).logits[0, -1:]
        assert (float((cached - fresh).abs().max()) < 1e-6) is (end <= ORIGINAL)


def test_one_kind_of_layer_with_longrope_limits_every_text() -> None:
    model = random_model(longrope())
    rope = model.config.rope_parameters
    plain = {"rope_type": "default", "rope_theta": 10_000.0}
    model.config.rope_parameters = {"full_attention": rope, "sliding_attention": plain}
    assert context_of(model) == ORIGINAL


def test_other_scaled_embeddings_keep_their_whole_context() -> None:
    for rope in (
        {"rope_type": "linear", "factor": 2.0},
        {"rope_type": "yarn", "factor": 2.0, "original_max_position_embeddings": ORIGINAL},
    ):
        config = LlamaConfig(**SIZE, max_position_embeddings=LONGEST, rope_parameters=rope)
        assert ModelRunner(random_model(config)).context == LONGEST


def bloom() -> PretrainedConfig:
    return BloomConfig(vocab_size=VOCAB, hidden_size=32, n_layer=2, n_head=4)


def mpt() -> PretrainedConfig:
    return MptConfig(vocab_size=VOCAB, d_model=32, n_layers=2, n_heads=4, max_seq_len=LONGEST)


def falcon(*, alibi: bool) -> PretrainedConfig:
    return FalconConfig(
        vocab_size=VOCAB, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, alibi=alibi
    )


def bart() -> PretrainedConfig:
    """Positions by order in the cache, whatever `position_ids` say."""
    return BartConfig(
        vocab_size=VOCAB,
        d_model=32,
        decoder_layers=2,
        decoder_attention_heads=4,
        decoder_ffn_dim=48,
        max_position_embeddings=LONGEST,
        is_decoder=True,
        is_encoder_decoder=False,
    )


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
@pytest.mark.parametrize(
    ("config", "name"),
    [
        (bloom(), "BloomForCausalLM"),
        (mpt(), "MptForCausalLM"),
        (falcon(alibi=True), "FalconForCausalLM"),
        (bart(), "BartForCausalLM"),
    ],
)
def test_trees_are_refused_by_name_where_positions_follow_the_cache(
    config: PretrainedConfig, name: str, dtype: torch.dtype
) -> None:
    runner = ModelRunner(random_model(config, dtype=dtype))
    with pytest.raises(IncompatibleModelError, match=f"{name} .* trees"):
        runner.forward_tree([1, 2, 3], [4, 5, 6], [-1, -1, 1])
    assert runner.forward([1, 2, 3], 1).shape == (1, VOCAB), "chains are read all the same"


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("config", [falcon(alibi=False), longrope()])
def test_trees_are_read_where_positions_are_given(
    config: PretrainedConfig, dtype: torch.dtype
) -> None:
    model = random_model(config, dtype=dtype)
    last = ModelRunner(model).forward_tree([1, 2, 3], [4, 5, 6], [-1, -1, 1])[3]
    expected = ModelRunner(model).forward([1, 2, 3, 5, 6], 1)[0]
    tolerance = 1e-5 if dtype is torch.float32 else 0.05
    assert float((last - expected).abs().max() / expected.abs().max()) < tolerance
