"""Free memory and disk, as they are and as messages give them."""

from pathlib import Path

import pytest
import torch

from specviz.errors import ModelLoadError
from specviz.models.free_space import free_disk, free_memory, gigabytes


def test_memory_of_this_machine() -> None:
    free = free_memory("cpu")
    if Path("/proc/meminfo").exists():
        assert free is not None
        assert 10**6 < free < 10**15
    assert free_memory("meta") is None, "nobody says"


def test_memory_of_a_graphics_card(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def mem_get_info(device: str) -> tuple[int, int]:
        asked.append(device)
        return 3 * 10**9, 8 * 10**9

    monkeypatch.setattr(torch.cuda, "mem_get_info", mem_get_info)
    assert free_memory("cuda:1") == 3 * 10**9
    assert asked == ["cuda:1"]


@pytest.mark.parametrize("device", ["abacus", "cuda:99", ""])
def test_a_device_that_is_not_there_is_refused(device: str) -> None:
    with pytest.raises(ModelLoadError, match="cannot be used here") as caught:
        free_memory(device)
    assert "\n" not in str(caught.value)


def test_disk_of_a_folder_that_is_still_to_be_made(tmp_path: Path) -> None:
    assert free_disk(tmp_path / "a" / "b") > 0


@pytest.mark.parametrize(
    ("num_bytes", "expected"),
    [(16_234_567_890, 16.2), (100_000_000, 0.1), (27_400_000, 0.027), (900, 0.0)],
)
def test_gigabytes(num_bytes: int, expected: float) -> None:
    assert gigabytes(num_bytes) == expected
