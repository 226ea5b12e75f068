"""A clock is read after the device has done all it was asked: a launch returns long before that."""

from types import SimpleNamespace

import pytest
import torch

from specviz.decoding import clock
from specviz.decoding.clock import DeviceClock


class FakeDevice:
    """Runs what was launched only when somebody waits for it, as a GPU seems to its process."""

    def __init__(self) -> None:
        self.seconds = 100.0
        self.waited_for: list[object] = []
        self._launched = 0.0

    def launch(self, seconds: float) -> None:
        self._launched += seconds

    def synchronize(self, device: object = None) -> None:
        self.waited_for.append(device)
        self.seconds += self._launched
        self._launched = 0.0


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> FakeDevice:
    """Stands for every accelerator, and for the time."""
    fake = FakeDevice()
    monkeypatch.setattr(torch.cuda, "synchronize", fake.synchronize)
    monkeypatch.setattr(torch.mps, "synchronize", fake.synchronize)
    monkeypatch.setattr(clock, "time", SimpleNamespace(perf_counter=lambda: fake.seconds))
    return fake


@pytest.mark.parametrize("name", ["cuda", "cuda:1", "mps"])
def test_a_time_holds_all_the_work_that_was_launched_before(device: FakeDevice, name: str) -> None:
    own = DeviceClock(torch.device(name))
    device.launch(3.0)
    begun = own.now_ms()
    assert begun == 103_000.0, "work of before does not run on into the next time"
    device.launch(0.040)
    assert own.now_ms() - begun == pytest.approx(40.0)


def test_each_clock_waits_for_its_own_device(device: FakeDevice) -> None:
    DeviceClock(torch.device("cuda:1")).now_ms()
    assert device.waited_for == [torch.device("cuda:1")]


def test_a_processor_needs_no_waiting(device: FakeDevice) -> None:
    assert DeviceClock(torch.device("cpu")).now_ms() == 100_000.0
    assert device.waited_for == []


def test_a_mark_is_noted_by_a_device_that_keeps_times_itself(
    device: FakeDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No mark waits, and marks tell the device's own times once it has reached them."""
    noted: list[float] = []

    class FakeEvent:
        def __init__(self, *, enable_timing: bool) -> None:
            assert enable_timing

        def record(self, stream: object) -> None:
            noted.append(device.seconds + device._launched)
            self.seconds = noted[-1]

        def elapsed_time(self, later: "FakeEvent") -> float:
            return (later.seconds - self.seconds) * 1000.0

    monkeypatch.setattr(torch.cuda, "Event", FakeEvent)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: object())
    own = DeviceClock(torch.device("cuda"))
    begun = own.mark()
    device.launch(0.040)
    drafted = own.mark()
    assert device.waited_for == []
    assert drafted.ms_since(begun) == pytest.approx(40.0)


def test_a_mark_elsewhere_is_a_time(device: FakeDevice) -> None:
    own = DeviceClock(torch.device("mps"))
    begun = own.mark()
    device.launch(0.040)
    assert own.mark().ms_since(begun) == pytest.approx(40.0)
