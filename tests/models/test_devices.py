"""The device is picked by what is there, and torch is left alone where nothing can be."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from specviz.models import devices
from specviz.models.devices import pick_device


@pytest.mark.parametrize(
    ("has_cuda", "has_mps", "expected"),
    [(True, True, "cuda"), (False, True, "mps"), (False, False, "cpu")],
)
def test_the_fastest_there_is(
    has_cuda: bool, has_mps: bool, expected: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(devices, "_NVIDIA", tmp_path)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: has_cuda)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: has_mps)
    assert pick_device() == expected


@pytest.mark.parametrize("asked", ["cpu", "cuda:1", "mps"])
def test_what_was_asked_for_is_taken(asked: str) -> None:
    assert pick_device(asked) == asked


@pytest.mark.skipif(sys.platform == "darwin", reason="every Mac may have an accelerator")
def test_without_an_accelerator_torch_is_not_imported(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from specviz.models import devices; "
        f"devices._NVIDIA = Path({str(tmp_path / 'none')!r}); "
        "assert devices.pick_device() == 'cpu'; assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
