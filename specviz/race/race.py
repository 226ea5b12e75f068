"""Runs lanes side by side on one device, fairly, and yields what happens."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from specviz.trace.values import (
    Environment,
    Event,
    LaneFinished,
    LaneSpec,
    LaneTrace,
    RaceFinished,
    RaceStarted,
    Round,
    RoundFinished,
    StopReason,
    Trace,
    TraceRequest,
)

WARM_UP_ROUNDS = 3


class LaneDecoder(Protocol):
    """What a race needs of a decoder."""

    @property
    def stop_reason(self) -> StopReason | None:
        """Why the lane has ended; None while it runs."""

    def prefill(self, prompt_ids: Sequence[int]) -> float:
        """Forget the last text, read the prompt, return milliseconds."""

    def step(self) -> Round:
        """Run one round."""


class _Lane:
    """One runner in the race."""

    def __init__(self, index: int, spec: LaneSpec, decoder: LaneDecoder) -> None:
        self.index = index
        self.spec = spec
        self._decoder = decoder
        self.clock_ms = 0.0
        self.prefill_ms = 0.0
        self.rounds: list[Round] = []
        self.stop_reason: StopReason | None = None
        self.error: str | None = None

    def prepare(self, prompt_ids: Sequence[int]) -> None:
        """Warm up on the prompt, then read it again for the race."""
        with self._guarded():
            self._decoder.prefill(prompt_ids)
            for _ in range(WARM_UP_ROUNDS):
                if self._decoder.stop_reason is None:
                    self._decoder.step()
            self.prefill_ms = self._decoder.prefill(prompt_ids)

    def step(self) -> Round | None:
        """Run one round; None where it failed."""
        with self._guarded():
            finished = self._decoder.step()
            self.rounds.append(finished)
            self.clock_ms += finished.ms
            self.stop_reason = self._decoder.stop_reason
            return finished
        return None

    def trace(self) -> LaneTrace:
        """Everything the lane did."""
        assert self.stop_reason is not None
        return LaneTrace(
            self.spec,
            self.prefill_ms,
            tuple(self.rounds),
            self.stop_reason,
            self.error,
        )

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Turn a failure inside the lane into its end; the other lanes go on."""
        try:
            yield
        # Whatever a model of whatever make raises, it is this lane's end and no other's.
        except Exception as error:  # noqa: BLE001
            reason = str(error).strip().splitlines()
            self.stop_reason = StopReason.ERROR
            self.error = reason[0][:300] if reason else type(error).__name__


def run_race(
    specs: Sequence[LaneSpec],
    decoders: Sequence[LaneDecoder],
    request: TraceRequest,
    environment: Environment,
    should_stop: Callable[[], bool],
) -> Iterator[Event]:
    """Race the decoders, always stepping the lane whose own clock is furthest behind.

    Lanes so stay level on one device's time: whoever is ahead on the screen is ahead on the clock.
    Nothing that the receiver of an event does is inside a clock: rounds are timed by the decoders
    themselves.
    """
    lanes = [
        _Lane(index, spec, decoder)
        for index, (spec, decoder) in enumerate(zip(specs, decoders, strict=True))
    ]
    for lane in lanes:
        lane.prepare(request.prompt_ids)
    yield RaceStarted(request, environment, tuple(specs), tuple(lane.prefill_ms for lane in lanes))
    for lane in lanes:
        if lane.stop_reason is not None:
            yield LaneFinished(lane.index, lane.stop_reason, lane.error)
    yield from _run(lanes, should_stop)
    yield RaceFinished(Trace(request, environment, tuple(lane.trace() for lane in lanes)))


def _run(lanes: Sequence[_Lane], should_stop: Callable[[], bool]) -> Iterator[Event]:
    while running := [lane for lane in lanes if lane.stop_reason is None]:
        if should_stop():
            for lane in running:
                lane.stop_reason = StopReason.CANCELLED
                yield LaneFinished(lane.index, lane.stop_reason, None)
            return
        lane = min(running, key=lambda lane: lane.clock_ms)
        finished = lane.step()
        if finished is not None:
            yield RoundFinished(lane.index, finished)
        if lane.stop_reason is not None:
            yield LaneFinished(lane.index, lane.stop_reason, lane.error)
