"""Weights in fewer bits: what they take, what is said of them, and where they are refused."""

from pathlib import Path

import pytest
import torch
from tiny_models import CONFIGS, byte_tokenizer, random_model
from transformers import (
    AutoModelForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    PretrainedConfig,
    PreTrainedModel,
)

from specviz.errors import ModelLoadError
from specviz.models import precision
from specviz.models.loading import ModelPool
from specviz.models.precision import Precision

WIDE = {
    "vocab_size": 320,
    "hidden_size": 128,
    "intermediate_size": 256,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 64,
}


def shapes(config: PretrainedConfig) -> PreTrainedModel:
    with torch.device("meta"):
        return AutoModelForCausalLM.from_config(config)


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the library were installed."""
    monkeypatch.setattr(precision, "is_bitsandbytes_available", lambda: True)
    monkeypatch.setattr(precision, "quantizing_devices", lambda: ("cpu", "cuda"))


@pytest.mark.parametrize("is_tied", [False, True])
def test_products_are_counted_in_bits_and_all_else_in_the_dtype(is_tied: bool) -> None:
    model = shapes(LlamaConfig(**WIDE, tie_word_embeddings=is_tied))
    products = 2 * (4 * 128 * 128 + 3 * 128 * 256)
    rest = (2 - is_tied) * 320 * 128 + (2 * 2 + 1) * 128
    assert Precision("float32").weights_bytes(model) == 4 * (products + rest)
    assert Precision("bfloat16", "8bit").weights_bytes(model) == products + 2 * rest
    assert Precision("bfloat16", "4bit").weights_bytes(model) == int(products * 0.5625) + 2 * rest


def test_traces_say_what_weights_are_held_in_and_computed_in() -> None:
    assert Precision("bfloat16").label == "bfloat16"
    assert Precision("bfloat16", "4bit").label == "4-bit, computed in bfloat16"
    assert Precision("float16", "8bit").label == "8-bit, computed in float16"


@pytest.mark.usefixtures("library")
def test_what_is_refused_where_the_library_is_installed() -> None:
    assert Precision.checked("float32", "8bit", "cuda:1") == Precision("float32", "8bit")
    with pytest.raises(
        ModelLoadError, match="device mps: the installed bitsandbytes computes on cpu, cuda;"
    ):
        Precision.checked("float32", "8bit", "mps")
    with pytest.raises(ModelLoadError, match="quantize must be one of 4bit, 8bit, got 2bit"):
        Precision.checked("float32", "2bit", "cuda")
    with pytest.raises(ModelLoadError, match="dtype must be one of bfloat16"):
        Precision.checked("int8", "4bit", "cuda")


def test_where_the_library_is_missing_the_pool_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(precision, "is_bitsandbytes_available", lambda: False)
    sentence = r"quantised \(4bit\): the library bitsandbytes is not installed here; install it"
    with pytest.raises(ModelLoadError, match=sentence):
        ModelPool(quantize="4bit")
    assert ModelPool().dtype == "float32"


@pytest.mark.usefixtures("library")
def test_the_pool_says_what_its_weights_are() -> None:
    assert ModelPool(dtype="bfloat16", quantize="8bit").dtype == "8-bit, computed in bfloat16"


def test_what_transformers_is_told() -> None:
    assert Precision("float16").loading_options() == {"dtype": torch.float16}
    four, eight = (Precision("bfloat16", bits).loading_options() for bits in ("4bit", "8bit"))
    assert four["dtype"] is eight["dtype"] is torch.bfloat16
    assert eight["quantization_config"].load_in_8bit
    assert four["quantization_config"].load_in_4bit
    assert four["quantization_config"].bnb_4bit_compute_dtype is torch.bfloat16
    assert four["quantization_config"].bnb_4bit_quant_type == "nf4"


def test_files_that_are_quantised_already_are_taken_as_large_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = CONFIGS["llama"]()
    config.quantization_config = {"quant_method": "of a stranger"}
    model = random_model(CONFIGS["llama"](), dtype=torch.float32)
    model.save_pretrained(tmp_path)
    stored = (tmp_path / "model.safetensors").stat().st_size
    pool = ModelPool()
    assert pool._weights_bytes(shapes(config), tmp_path) == stored
    assert pool._weights_bytes(model, tmp_path) == 4 * model.num_parameters() != stored


@pytest.mark.usefixtures("library")
def test_a_shape_that_no_kernel_takes_is_refused_when_it_is_loaded(
    tiny_pair: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Precision, "loading_options", lambda self: {"dtype": self.torch_dtype})
    assert ModelPool(quantize="4bit").get(tiny_pair[0]).model is not None
    lengths = []

    def fail(self: torch.nn.Module, input_ids: torch.Tensor, **kwargs: object) -> None:
        lengths.append(input_ids.shape[1])
        if lengths[-1] == 1:
            raise RuntimeError("shape '[128, 5]' is invalid\nfor input of size 704")

    monkeypatch.setattr(LlamaForCausalLM, "forward", fail)
    sentence = r"cannot be run in 4bit: bitsandbytes fails on it here \(shape '\[128, 5\]' is"
    with pytest.raises(ModelLoadError, match=sentence):
        ModelPool(quantize="4bit").get(tiny_pair[0])
    assert lengths == [4, 1]
    assert ModelPool().get(tiny_pair[0]).model is not None, "nothing is tried in full"


@pytest.mark.parametrize(("bits", "within"), [("8bit", 0.2), ("4bit", 1.0)])
def test_a_quantised_model_takes_what_was_counted_and_stays_near(
    bits: str, within: float, tmp_path: Path
) -> None:
    pytest.importorskip("bitsandbytes", reason="the library is not installed here")
    config = LlamaConfig(**WIDE)
    model = random_model(config, dtype=torch.float32)
    model.save_pretrained(tmp_path)
    byte_tokenizer().save_pretrained(tmp_path)
    loaded = ModelPool(quantize=bits).get(str(tmp_path))
    counted = Precision("float32", bits).weights_bytes(model)
    assert loaded.model.get_memory_footprint() == pytest.approx(counted, rel=0.05)
    assert "cpu" in precision.quantizing_devices()
    ids = torch.tensor([[5, 6, 7, 8]])
    expected = model(ids).logits
    assert (loaded.model(ids).logits - expected).abs().mean() < within * expected.abs().mean()
