"""Heads that the published packages made, saved and ran: ours reads them and gives their logits.

`tests/independent_heads.py` writes the fixtures where the packages are installed.
"""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from tiny_models import byte_tokenizer, random_model
from transformers import LlamaConfig

from specviz.decoding.eagle3_pass import Eagle3Pass
from specviz.models.eagle_form import Reading
from specviz.models.loading import LoadedModel, ModelPool
from specviz.race.eagle_heads import build_head

FOLDER = Path(__file__).resolve().parents[1] / "fixtures" / "heads"
CLOSE = 1e-5
NAMES = ("speculators-llama", "speculators-qwen3", "modelopt")


def target_with(embedding: torch.Tensor | None) -> LoadedModel:
    """A target of the size that the heads were made for."""
    config = LlamaConfig(
        vocab_size=48,
        hidden_size=16,
        intermediate_size=24,
        num_hidden_layers=8,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        tie_word_embeddings=False,
    )
    model = random_model(config, 9, dtype=torch.float32)
    if embedding is not None:
        with torch.no_grad():
            model.get_input_embeddings().weight.copy_(embedding)
    return LoadedModel("target", model, byte_tokenizer(), frozenset())


@torch.inference_mode()
def largest_difference(name: str, reading: str | None = None) -> float:
    """Between our logits and the package's: where all slots are true, and in the last slot where
    its state is the head's own."""
    folder = FOLDER / name
    stored = load_file(folder / "reference.st")
    parsed = Reading.parse(
        reading or json.loads((folder / "reference.json").read_text())["reading"]
    )
    assert parsed is not None
    head = build_head(
        ModelPool(allow_hub=False).get_head(str(folder)), target_with(stored.get("embedding"))
    )
    head.form = head.form.read_as(parsed)
    drafting, ids = Eagle3Pass(head), stored["ids"].tolist()
    fused = head.fuse(stored["features"])
    states = drafting.read(fused, ids, drafting.new_cache(4))
    cache = drafting.new_cache(4)
    last = drafting.read(fused[:-1], ids[:-1], cache)[-1:]
    own = drafting.read(head.carried(last), ids[-1:], cache)
    found = torch.cat([drafting.predict(states), drafting.predict(own)])
    wanted = torch.cat([stored["logits"], stored["own_logits"][None]])
    assert found.shape == wanted.shape
    return float((found - wanted).abs().max())


@pytest.mark.parametrize("name", NAMES)
def test_our_logits_are_those_of_the_package_that_made_the_head(name: str) -> None:
    assert largest_difference(name) < CLOSE


def test_modelopts_head_as_its_files_state_is_another_one() -> None:
    """Its export writes a scaled rotation and no word of the second norm: what it trains differs,
    which the head doctor is there to find."""
    for reading in ("stated", "plain-rope", "double-norm"):
        assert largest_difference("modelopt", reading) > 100 * CLOSE


def test_the_taps_of_both_conventions_are_read() -> None:
    pool = ModelPool(allow_hub=False)
    for name in NAMES:
        head = build_head(pool.get_head(str(FOLDER / name)), target_with(None))
        assert head.form.taps == (2, 4, 5)
        assert head.draft_ids[:4].tolist() == [1, 2, 5, 7]
