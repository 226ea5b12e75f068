"""Fixtures: a hub on this machine with tiny models, one in working order and one for each fault."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from hub_stand_in import HUB_CONFIG, Fault, HubStandIn, serving_hub, use_hub
from huggingface_hub import constants
from tiny_models import byte_tokenizer, random_model

from specviz.models import hub_files


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository: a tiny model in two files of weights, and files that nobody needs."""
    folder = tmp_path_factory.mktemp("repository")
    model = random_model(HUB_CONFIG, dtype=torch.float32)
    model.save_pretrained(folder, max_shard_size="60KB")
    byte_tokenizer().save_pretrained(folder)
    (folder / "pytorch_model.bin").write_bytes(b"never read")
    (folder / "onnx").mkdir()
    (folder / "onnx" / "model.safetensors").write_bytes(b"nor this")
    (folder / "README.md").write_text("# A model")
    assert len(list(folder.glob("*.safetensors"))) > 1
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def hub(repository: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubStandIn]:
    """A hub with one model in working order, and one for each fault."""
    with serving_hub() as hub:
        use_hub(monkeypatch, hub.address, cache)
        # Small steps and no waiting, so that what happens in between can be seen in milliseconds.
        monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 4096)
        monkeypatch.setattr(constants, "HF_HUB_DOWNLOAD_TIMEOUT", 0.3)
        monkeypatch.setattr(hub_files, "ANSWER_SECONDS", 0.3)
        monkeypatch.setattr(time, "sleep", lambda seconds: None)
        hub.add("tiny/model", repository)
        for fault in Fault:
            hub.add(f"tiny/{fault}", repository, fault)
        yield hub
    # Clients keep connections to a hub that is gone.
    use_hub(monkeypatch, hub.address, cache)
