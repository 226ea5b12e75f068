"""Where a model goes that fits its device, all devices together, or neither."""

from pathlib import Path

import pytest
import torch
from tiny_models import CONFIGS, byte_tokenizer, random_model

from specviz.errors import FullMemoryError
from specviz.models import placement
from specviz.models.loading import ModelPool
from specviz.models.placement import place_model
from specviz.models.precision import Precision

PLAIN, SMALL = Precision("bfloat16"), Precision("bfloat16", "4bit")
GB = 10**9
CUDA = torch.device("cuda")


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two graphics cards of 10 and 8 GB beside 30 GB of memory."""
    free = {"cuda": 10 * GB, "cuda:0": 10 * GB, "cuda:1": 8 * GB, "cpu": 30 * GB}
    monkeypatch.setattr(placement, "free_memory", lambda device: free.get(device))
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)


@pytest.mark.usefixtures("machine")
def test_a_model_goes_to_one_device_where_it_fits() -> None:
    assert place_model("m", 10 * GB, PLAIN, CUDA) == {"device_map": {"": "cuda"}}
    assert place_model("m", 30 * GB, PLAIN, torch.device("cpu")) == {}
    assert place_model("m", GB, SMALL, torch.device("cpu")) == {"device_map": {"": "cpu"}}
    assert place_model("m", 99 * GB, PLAIN, torch.device("mps")) == {"device_map": {"": "mps"}}, (
        "nobody knows what is free there"
    )


@pytest.mark.usefixtures("machine")
def test_a_model_that_is_larger_goes_to_all_devices() -> None:
    rooms = {0: 9 * GB, 1: int(7.2 * GB), "cpu": 27 * GB}
    asked = place_model("m", 11 * GB, PLAIN, CUDA)
    assert asked == {"device_map": "auto", "max_memory": rooms}
    del rooms["cpu"]
    asked = place_model("m", 11 * GB, SMALL, CUDA)
    assert asked == {"device_map": "auto", "max_memory": rooms}, "not computed on the processor"


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize(
    ("needed", "precision", "device", "sentence"),
    [
        (44 * GB, PLAIN, "cuda", "take 44 GB in bfloat16 and on all devices together 43.2 GB"),
        (20 * GB, SMALL, "cuda", "20 GB in 4-bit, computed in bfloat16 and on all .* 16.2 GB"),
        (31 * GB, PLAIN, "cpu", "take 31 GB in bfloat16 and 30 GB are free on cpu"),
    ],
)
def test_a_model_that_is_larger_than_all_is_refused_with_sizes(
    needed: int, precision: Precision, device: str, sentence: str
) -> None:
    with pytest.raises(FullMemoryError, match=sentence):
        place_model("m", needed, precision, torch.device(device))


def test_the_pool_spreads_a_model_that_is_too_large_and_leaves_it_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = random_model(CONFIGS["llama"](), dtype=torch.float32)
    whole.save_pretrained(tmp_path)
    byte_tokenizer().save_pretrained(tmp_path)
    rooms: dict[str, int] = {"cpu": 70_000, "disk": 10**9}
    monkeypatch.setattr(placement, "free_memory", lambda device: 1000)
    monkeypatch.setattr(placement, "device_rooms", lambda device, with_cpu: rooms)
    loaded = ModelPool().get(str(tmp_path))
    assert set(loaded.model.hf_device_map.values()) == {"cpu", "disk"}
    ids = torch.tensor([[5, 6, 7]])
    assert torch.allclose(loaded.model(ids).logits, whole(ids).logits)
    rooms.update(cpu=1000, disk=1000)
    with pytest.raises(FullMemoryError, match="on all devices together"):
        ModelPool().get(str(tmp_path))
