"""Picks the device that models run on where nobody named one."""

import sys
from pathlib import Path

AUTO = "auto"
_NVIDIA = Path("/dev/nvidiactl")


def pick_device(asked: str = AUTO) -> str:
    """Return the device that was asked for, or the fastest there is: CUDA, then MPS, then CPU.

    torch is imported only where an accelerator can be, so that a page on a machine without one
    answers before the models are read.
    """
    if asked != AUTO:
        return asked
    if not (_NVIDIA.exists() or sys.platform == "darwin"):
        return "cpu"
    import torch

    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"
