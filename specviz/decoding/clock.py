"""Times blocks of work between device synchronisations."""

import time
from dataclasses import dataclass
from typing import Protocol

import torch


class Mark(Protocol):
    """A point in the work that was asked of a device."""

    def ms_since(self, earlier: "Mark") -> float:
        """Milliseconds from another mark of the same clock; both must be reached by now."""


class Clock(Protocol):
    """Tells the time in milliseconds, after everything asked of the device is done."""

    def now_ms(self) -> float:
        """Return a monotonic time in milliseconds."""

    def mark(self) -> Mark:
        """Note this point in the device's work, without waiting for it where the device notes
        times by itself."""


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

    def mark(self) -> Mark:
        """Record a CUDA event; on other devices wait and take the time."""
        if self._device.type != "cuda":
            return HostMark(self.now_ms())
        event = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
        event.record(torch.cuda.current_stream(self._device))
        return EventMark(event)


@dataclass(frozen=True, slots=True)
class HostMark:
    """A time of this process."""

    ms: float

    def ms_since(self, earlier: Mark) -> float:
        """Milliseconds from another mark."""
        assert isinstance(earlier, HostMark)
        return self.ms - earlier.ms


@dataclass(frozen=True, slots=True)
class EventMark:
    """A time that the device notes."""

    event: torch.cuda.Event

    def ms_since(self, earlier: Mark) -> float:
        """Milliseconds from another mark."""
        assert isinstance(earlier, EventMark)
        elapsed: float = earlier.event.elapsed_time(self.event)
        return elapsed
