"""Times blocks of work between device synchronisations."""

import time
from typing import Protocol

import torch


class Clock(Protocol):
    """Tells the time in milliseconds, after everything asked of the device is done."""

    def now_ms(self) -> float:
        """Return a monotonic time in milliseconds."""


class DeviceClock:
    """The monotonic clock of this process, read after a synchronisation of the device."""

    def __init__(self, device: torch.device) -> None:
        self._device = device

    def now_ms(self) -> float:
        """Wait for the device, then return the time in milliseconds."""
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)
        elif self._device.type == "mps":
            torch.mps.synchronize()
        return time.perf_counter() * 1000.0
