"""How much memory and disk is free here."""

import shutil
from pathlib import Path

import torch

from specviz.errors import ModelLoadError
from specviz.models.location import one_line
from specviz.texts import message


def free_memory(device: str = "cpu") -> int | None:
    """Bytes of memory that a model may still take on a device; None where nobody says.

    Raises:
        ModelLoadError: There is no such device here.
    """
    try:
        kind = torch.device(device).type
        if kind == "cuda":
            # What torch keeps for itself and has not lent is free too.
            kept = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
            return int(torch.cuda.mem_get_info(device)[0]) + kept
    except (RuntimeError, AssertionError, ValueError) as error:
        raise ModelLoadError(
            message("refusal.device", device=repr(device), reason=one_line(error))
        ) from error
    if kind != "cpu":
        return None
    try:
        lines = Path("/proc/meminfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    return next(
        (int(line.split()[1]) * 1024 for line in lines if line[:13] == "MemAvailable:"), None
    )


def free_disk(folder: Path) -> int:
    """Bytes that may still be written where `folder` is, or would be made."""
    there = next(place for place in (folder, *folder.resolve().parents) if place.exists())
    return shutil.disk_usage(there).free


def gigabytes(num_bytes: float) -> float:
    """Bytes as a message gives them: GB with one decimal, and smaller sizes with three."""
    return round(num_bytes / 1e9, 1 if num_bytes >= 1e8 else 3)
