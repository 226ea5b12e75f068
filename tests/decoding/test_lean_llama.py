"""The lean pass gives the numbers of the model's own forward pass."""

import pytest
import torch
from tiny_models import tiny_model

from specviz.decoding.lean_llama import FIRST_TABLE_LENGTH, LeanLlama
from specviz.decoding.rollback_cache import rollback_cache


@torch.inference_mode()
def largest_difference(lean_reads: list[list[int]]) -> float:
    """Read the pieces one after the other, lean, and the whole at once by the model itself."""
    model = tiny_model("llama")
    lean, cache = LeanLlama(model), rollback_cache()
    rows, place = [], 0
    for piece in lean_reads:
        rows.append(lean(piece, range(place, place + len(piece)), cache, len(piece)))
        place += len(piece)
    whole = model(input_ids=torch.tensor([[i for piece in lean_reads for i in piece]])).logits[0]
    return float((torch.cat(rows) - whole).abs().max())


@pytest.mark.parametrize(
    "pieces",
    [[[3, 4, 5, 6]], [[3], [4], [5]], [[3, 4, 5], [6], [7, 8, 9]]],
    ids=["at once", "one by one", "mixed"],
)
def test_equals_the_models_own_forward(pieces: list[list[int]]) -> None:
    assert largest_difference(pieces) < 1e-12


def test_rotations_grow_with_the_text() -> None:
    long = [i % 7 for i in range(FIRST_TABLE_LENGTH)]
    assert largest_difference([long[:-2], long[-2:], [1, 2, 3], [4]]) < 1e-12


def test_fits_only_what_it_was_proved_on() -> None:
    model = tiny_model("llama")
    assert LeanLlama.fits(model)
    assert not LeanLlama.fits(tiny_model("qwen3"))
    model.set_attn_implementation("eager")
    try:
        assert not LeanLlama.fits(model)
    finally:
        model.set_attn_implementation("sdpa")


@pytest.mark.parametrize("num_first", [FIRST_TABLE_LENGTH - 1, FIRST_TABLE_LENGTH])
def test_rotations_reach_just_past_their_first_length(num_first: int) -> None:
    long = [i % 7 for i in range(num_first)]
    assert largest_difference([long, [3], [4]]) < 1e-12
