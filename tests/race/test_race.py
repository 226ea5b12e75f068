"""Fair turns, the order of events, cancellation, and lanes that fail alone."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from specviz.errors import DecodingError
from specviz.race.race import WARM_UP_ROUNDS, run_race
from specviz.trace.values import (
    EmittedToken,
    Environment,
    Event,
    LaneFinished,
    LaneSpec,
    Method,
    RaceFinished,
    RaceStarted,
    Round,
    RoundFinished,
    Sampling,
    Source,
    StopReason,
    Trace,
    TraceRequest,
)

REQUEST = TraceRequest("once", (1, 2, 3), 100, Sampling())
ENVIRONMENT = Environment("cpu", "a test", "float32", 1, "0", "0", "0", "2026-01-01T00:00:00", 0.0)


class FakeDecoder:
    """Runs `num_rounds` rounds that take `ms` each; may fail in prefill or in a round."""

    def __init__(
        self,
        ms: Sequence[float],
        *,
        fails_in_round: int | None = None,
        fails_in_prefill: bool = False,
        error: Exception | None = None,
    ) -> None:
        self._ms = ms
        self._fails_in_round = fails_in_round
        self._fails_in_prefill = fails_in_prefill
        self._error = error or DecodingError("it broke\nsecond line")
        self.stop_reason: StopReason | None = None
        self.num_steps = 0
        self.num_prefills = 0

    def prefill(self, prompt_ids: Sequence[int]) -> float:
        assert tuple(prompt_ids) == REQUEST.prompt_ids
        if self._fails_in_prefill:
            raise self._error
        self.num_prefills += 1
        self._index = 0
        self.stop_reason = None
        return 7.0 * self.num_prefills

    def step(self) -> Round:
        assert self.stop_reason is None
        if self.num_prefills > 1 and self._index == self._fails_in_round:
            raise self._error
        self.num_steps += 1
        ms = self._ms[self._index]
        token = EmittedToken(self._index, "x", Source.TARGET, None, None)
        finished = Round(self._index, self._index, 0, (), (token,), ms, 0.0, 0.0)
        self._index += 1
        if self._index == len(self._ms):
            self.stop_reason = StopReason.LENGTH
        return finished


def race(
    *decoders: FakeDecoder, stop_after: int | None = None, asked: list[int] | None = None
) -> Iterator[Event]:
    specs = [LaneSpec(f"lane {i}", Method.BASELINE, "m") for i in range(len(decoders))]
    calls = asked if asked is not None else []

    def should_stop() -> bool:
        calls.append(1)
        return stop_after is not None and len(calls) > stop_after

    return run_race(specs, decoders, REQUEST, ENVIRONMENT, should_stop)


def trace_of(events: Sequence[Event]) -> Trace:
    assert isinstance(events[-1], RaceFinished)
    return events[-1].trace


def test_the_lane_furthest_behind_goes_next() -> None:
    events = list(race(FakeDecoder([10.0] * 20), FakeDecoder([3.0] * 66), FakeDecoder([7.5] * 26)))
    clocks = [0.0, 0.0, 0.0]
    ended: set[int] = set()
    for event in events:
        if isinstance(event, RoundFinished):
            running = [clock for lane, clock in enumerate(clocks) if lane not in ended]
            assert clocks[event.lane] == min(running)
            clocks[event.lane] += event.round.ms
            if not ended:
                assert max(clocks) - min(clocks) <= 10.0
        elif isinstance(event, LaneFinished):
            ended.add(event.lane)
    assert clocks == pytest.approx([200.0, 198.0, 195.0])


def test_the_order_of_events() -> None:
    events = list(race(FakeDecoder([1.0] * 4), FakeDecoder([2.0] * 3)))
    started = events[0]
    assert isinstance(started, RaceStarted)
    assert started.request is REQUEST
    assert started.environment is ENVIRONMENT
    assert [spec.name for spec in started.specs] == ["lane 0", "lane 1"]
    assert isinstance(events[-1], RaceFinished)
    kinds = [type(event) for event in events[1:-1]]
    assert kinds.count(RoundFinished) == 7
    assert kinds.count(LaneFinished) == 2
    for lane in (0, 1):
        own = [e for e in events[1:-1] if getattr(e, "lane", None) == lane]
        assert isinstance(own[-1], LaneFinished)
        indices = [e.round.index for e in own[:-1] if isinstance(e, RoundFinished)]
        assert indices == list(range(len(indices)))
        assert trace_of(events).lanes[lane].rounds == tuple(
            e.round for e in own if isinstance(e, RoundFinished)
        )


def test_warm_up_rounds_are_forgotten() -> None:
    decoders = FakeDecoder([1.0] * 9), FakeDecoder([1.0])
    events = list(race(*decoders))
    assert decoders[0].num_steps == 9 + WARM_UP_ROUNDS
    assert decoders[1].num_steps == 1 + 1, "a short lane ends inside the warm-up"
    assert all(decoder.num_prefills == 2 for decoder in decoders)
    assert isinstance(events[0], RaceStarted)
    assert events[0].prefill_ms == (14.0, 14.0)
    assert [len(lane.rounds) for lane in trace_of(events).lanes] == [9, 1]


def test_cancellation_between_rounds_delivers_what_there_is() -> None:
    asked: list[int] = []
    events = list(race(FakeDecoder([1.0] * 90), FakeDecoder([1.0] * 90), stop_after=5, asked=asked))
    rounds = [event for event in events if isinstance(event, RoundFinished)]
    finished = [event for event in events if isinstance(event, LaneFinished)]
    assert len(rounds) == 5
    assert len(asked) == 6
    assert [(f.lane, f.stop_reason, f.error) for f in finished] == [
        (0, StopReason.CANCELLED, None),
        (1, StopReason.CANCELLED, None),
    ]
    lanes = trace_of(events).lanes
    assert sum(len(lane.rounds) for lane in lanes) == 5
    assert {lane.stop_reason for lane in lanes} == {StopReason.CANCELLED}


def test_cancellation_leaves_lanes_that_are_done_alone() -> None:
    events = list(race(FakeDecoder([1.0]), FakeDecoder([1.0] * 50), stop_after=8))
    reasons = [lane.stop_reason for lane in trace_of(events).lanes]
    assert reasons == [StopReason.LENGTH, StopReason.CANCELLED]


def test_closing_the_iterator_stops_the_race() -> None:
    decoders = FakeDecoder([1.0] * 50), FakeDecoder([1.0] * 50)
    events = race(*decoders)
    for _ in range(4):
        next(events)
    steps = [decoder.num_steps for decoder in decoders]
    events.close()  # type: ignore[attr-defined]
    assert [decoder.num_steps for decoder in decoders] == steps
    assert next(events, None) is None


@pytest.mark.parametrize(
    "error",
    [
        DecodingError("it broke\nsecond line"),
        RuntimeError("it broke"),
        IndexError("it broke"),
        ValueError("it broke"),
        TypeError("it broke"),
        KeyError("it broke"),
        AttributeError("it broke"),
        NotImplementedError("it broke"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_lane_that_fails_ends_alone_with_its_reason(error: Exception) -> None:
    events = list(
        race(FakeDecoder([1.0] * 6, fails_in_round=2, error=error), FakeDecoder([1.0] * 6))
    )
    broken, whole = trace_of(events).lanes
    assert broken.stop_reason is StopReason.ERROR
    assert broken.error is not None
    assert "it broke" in broken.error
    assert "\n" not in broken.error
    assert len(broken.rounds) == 2
    assert whole.stop_reason is StopReason.LENGTH
    assert len(whole.rounds) == 6


def test_a_lane_that_fails_before_the_start() -> None:
    events = list(race(FakeDecoder([1.0], fails_in_prefill=True), FakeDecoder([1.0] * 3)))
    assert isinstance(events[0], RaceStarted)
    assert events[1] == LaneFinished(0, StopReason.ERROR, "it broke")
    lanes = trace_of(events).lanes
    assert [len(lane.rounds) for lane in lanes] == [0, 3]
    assert lanes[0].error == "it broke"


def test_an_interrupt_is_never_swallowed() -> None:
    error = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        list(race(FakeDecoder([1.0] * 6, fails_in_round=2, error=error)))  # type: ignore[arg-type]


class TimedDecoder(FakeDecoder):
    """Its rounds take their time in one part alone."""

    def __init__(self, ms: Sequence[float], part: str) -> None:
        super().__init__(ms)
        self._part = part

    def step(self) -> Round:
        finished = super().step()
        return replace(finished, **{"draft_ms": 0.0, self._part: finished.ms})


@pytest.mark.parametrize("part", ["draft_ms", "verify_ms", "other_ms"])
def test_every_part_of_a_round_moves_the_clock_of_its_lane(part: str) -> None:
    events = race(TimedDecoder([10.0] * 2, part), FakeDecoder([4.0] * 5))
    order = [event.lane for event in events if isinstance(event, RoundFinished)]
    assert order == [0, 1, 1, 1, 0, 1, 1]


def test_a_lane_that_fails_gives_no_event_for_the_round_it_failed_in() -> None:
    events = list(race(FakeDecoder([1.0] * 6, fails_in_round=2), FakeDecoder([1.0] * 6)))
    rounds = [event for event in events if isinstance(event, RoundFinished)]
    for index, lane in enumerate(trace_of(events).lanes):
        assert tuple(event.round for event in rounds if event.lane == index) == lane.rounds


def test_a_lane_that_fails_in_prefill_has_no_time_of_it() -> None:
    started = next(race(FakeDecoder([1.0], fails_in_prefill=True), FakeDecoder([1.0])))
    assert isinstance(started, RaceStarted)
    assert started.prefill_ms == (0.0, 14.0)


@pytest.mark.parametrize(
    ("error", "sentence"),
    [(RuntimeError(), "RuntimeError"), (RuntimeError("x" * 1000), "x" * 300)],
    ids=["no reason", "a long reason"],
)
def test_the_reason_of_a_failure_is_a_short_line(error: Exception, sentence: str) -> None:
    events = list(race(FakeDecoder([1.0], fails_in_round=0, error=error)))
    assert trace_of(events).lanes[0].error == sentence


def test_every_lane_needs_a_decoder() -> None:
    specs = [LaneSpec(name, Method.BASELINE, "m") for name in "ab"]
    decoder = FakeDecoder([1.0])
    with pytest.raises(ValueError, match="shorter"):
        list(run_race(specs, [decoder], REQUEST, ENVIRONMENT, lambda: False))
