"""The lean pass gives the numbers of the model's own forward pass."""

import pytest
import torch
from tiny_models import CONTEXT, VOCAB, random_model, tiny_model
from transformers import (
    GemmaConfig,
    LlamaConfig,
    MistralConfig,
    PretrainedConfig,
    PreTrainedModel,
    Qwen2Config,
    Qwen3Config,
)

from specviz.decoding.lean_cache import LeanCache
from specviz.decoding.lean_forward import FIRST_TABLE_LENGTH, LeanForward
from specviz.decoding.lean_weights import lean_norm

WINDOW = 5
SIZES = {
    "vocab_size": VOCAB,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": CONTEXT,
    "bos_token_id": 0,
    "eos_token_id": None,
    "pad_token_id": None,
}
LLAMA_3 = {
    "rope_type": "llama3",
    "rope_theta": 500.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 32,
}
MIXED = {
    "layer_types": ["full_attention", "sliding_attention", "full_attention"],
    "sliding_window": WINDOW,
    "use_sliding_window": True,
}
CONFIGS: dict[str, PretrainedConfig] = {
    "llama": LlamaConfig(**SIZES),
    "llama3": LlamaConfig(**SIZES, rope_parameters=LLAMA_3),
    "llama-bias": LlamaConfig(**SIZES, attention_bias=True, mlp_bias=True),
    "llama-one-group": LlamaConfig(**SIZES | {"num_key_value_heads": 4}),
    "qwen2": Qwen2Config(**SIZES),
    "qwen3": Qwen3Config(**SIZES, head_dim=16),
    "qwen3-mixed": Qwen3Config(**SIZES, head_dim=8, **MIXED),
    "mistral": MistralConfig(**SIZES, sliding_window=None),
    "mistral-window": MistralConfig(**SIZES, sliding_window=WINDOW),
    "gemma": GemmaConfig(**SIZES, head_dim=16),
}
PIECES = {
    "at once": [[3, 4, 5, 6, 7, 8, 9]],
    "one by one": [[3], [4], [5], [6], [7], [8], [9]],
    "mixed": [[3, 4, 5], [6], [7, 8, 9], [1, 2, 3, 4], [5]],
}


def model_of(shape: str, dtype: torch.dtype = torch.float64) -> PreTrainedModel:
    model = random_model(CONFIGS[shape], dtype=dtype)
    # Fresh norms and biases are all ones or zeros: nobody would see them mixed up.
    generator = torch.Generator().manual_seed(9)
    for parameter in model.parameters():
        if parameter.dim() == 1:
            noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
            parameter.add_(0.2 * noise.to(dtype))
    return model


@torch.inference_mode()
def largest_difference(model: PreTrainedModel, lean_reads: list[list[int]]) -> float:
    """Read the pieces one after the other, lean, and the whole at once by the model itself."""
    ids = torch.tensor([[i for piece in lean_reads for i in piece]])
    whole = model(input_ids=ids).logits[0]
    lean = LeanForward(model)
    cache, rows, place = LeanCache(4, lean.num_layers), [], 0
    for piece in lean_reads:
        rows.append(lean(piece, range(place, place + len(piece)), cache, len(piece)))
        place += len(piece)
    return float((torch.cat(rows) - whole).abs().max())


@pytest.mark.parametrize("pieces", PIECES.values(), ids=PIECES)
@pytest.mark.parametrize("shape", CONFIGS)
def test_equals_the_models_own_forward(shape: str, pieces: list[list[int]]) -> None:
    model = model_of(shape)
    assert LeanForward.fits(model)
    assert largest_difference(model, pieces) < 1e-12


@pytest.mark.parametrize("shape", CONFIGS)
def test_narrow_numbers_are_as_near_as_their_rounding(shape: str) -> None:
    ids = torch.tensor([PIECES["at once"][0]])
    with torch.inference_mode():
        exact = model_of(shape, torch.float32)(input_ids=ids).logits[0]
        own = model_of(shape, torch.bfloat16)(input_ids=ids).logits[0]
        model = model_of(shape, torch.bfloat16)
        lean = LeanForward(model)
        mine = lean(ids[0].tolist(), range(7), LeanCache(4, 3), 7)
    assert mine.dtype == torch.bfloat16
    assert (mine - exact).abs().mean() < 1.5 * (own - exact).abs().mean()
    assert largest_difference(model_of(shape, torch.float32), PIECES["mixed"]) < 1e-4


@pytest.mark.parametrize("shape", CONFIGS)
def test_the_model_itself_runs_on_with_the_same_weights(shape: str) -> None:
    model = model_of(shape)
    ids = torch.tensor([[3, 4, 5, 6]])
    with torch.inference_mode():
        before = model(input_ids=ids).logits
        state = {name: tensor.clone() for name, tensor in model.state_dict().items()}
        LeanForward(model)
        assert (model(input_ids=ids).logits - before).abs().max() < 1e-12
    assert all(torch.equal(state[name], tensor) for name, tensor in model.state_dict().items())


@pytest.mark.parametrize("size", [0.0, 1e-4, 1.0, 1e4])
def test_norms_of_single_precision_are_those_of_the_model(size: float) -> None:
    model = model_of("llama", torch.float32)
    module = model.model.layers[1].input_layernorm
    norm = lean_norm(model, module)
    states = size * torch.randn(6, 32, generator=torch.Generator().manual_seed(3))
    expected = module(states)
    nearly = {"rtol": 1e-5, "atol": 1e-30}
    torch.testing.assert_close(norm(states), expected, **nearly)
    one_by_one = torch.cat([norm.of_one(state[None]) for state in states])
    torch.testing.assert_close(one_by_one, expected, **nearly)


def test_joined_weights_are_held_once() -> None:
    model = model_of("qwen2")
    first, second = LeanForward(model), LeanForward(model)
    attention = model.model.layers[0].self_attn
    joined = first._layers[0].query_key_value
    assert joined is second._layers[0].query_key_value
    storage = joined.weight.untyped_storage().data_ptr()
    parts = (attention.q_proj, attention.k_proj, attention.v_proj)
    assert {part.weight.untyped_storage().data_ptr() for part in parts} == {storage}
    biases = {part.bias.untyped_storage().data_ptr() for part in parts}
    assert biases == {joined.bias.untyped_storage().data_ptr()}


def test_weights_that_were_moved_are_joined_anew() -> None:
    model = model_of("llama")
    LeanForward(model)
    model.to(torch.float32).to(torch.float64)
    assert largest_difference(model, PIECES["mixed"]) < 1e-12


@pytest.mark.parametrize(
    "num_first", [FIRST_TABLE_LENGTH - 2, FIRST_TABLE_LENGTH - 1, FIRST_TABLE_LENGTH]
)
def test_tables_grow_with_the_text(num_first: int) -> None:
    long = [i % 7 for i in range(num_first)]
    assert largest_difference(model_of("llama"), [long, [3], [4, 5], [1, 2, 3], [4]]) < 1e-12


def test_fits_only_what_it_was_proved_on() -> None:
    model = tiny_model("llama")
    assert LeanForward.fits(model)
    assert not LeanForward.fits(tiny_model("gemma2"))
    assert not LeanForward.fits(tiny_model("gpt2"))
    model.set_attn_implementation("eager")
    try:
        assert not LeanForward.fits(model)
    finally:
        model.set_attn_implementation("sdpa")


def test_fits_no_rotation_that_depends_on_the_length() -> None:
    dynamic = {"rope_type": "dynamic", "rope_theta": 10000.0, "factor": 2.0}
    assert not LeanForward.fits(random_model(LlamaConfig(**SIZES, rope_parameters=dynamic)))


def test_fits_no_weights_that_are_being_trained() -> None:
    model = model_of("llama")
    model.model.layers[1].mlp.up_proj.requires_grad_(True)
    assert not LeanForward.fits(model)
