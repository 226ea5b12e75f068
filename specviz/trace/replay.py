"""Turns a trace back into the events it came from, in the order in which they happened."""

from collections.abc import Iterator

from specviz.trace.values import (
    Event,
    LaneFinished,
    RaceFinished,
    RaceStarted,
    RoundFinished,
    Trace,
)


def events_of(trace: Trace) -> Iterator[Event]:
    """Yield the events of a finished race again.

    The order is the race's own: always the lane whose clock is furthest behind goes next, the first
    of several, and a lane ends with its last round.
    """
    yield RaceStarted(
        trace.request,
        trace.environment,
        tuple(lane.spec for lane in trace.lanes),
        tuple(lane.prefill_ms for lane in trace.lanes),
    )
    clocks = [0.0] * len(trace.lanes)
    turns = [0] * len(trace.lanes)
    running = list(range(len(trace.lanes)))
    while running:
        index = min(running, key=lambda lane: clocks[lane])
        lane = trace.lanes[index]
        if turns[index] < len(lane.rounds):
            round_ = lane.rounds[turns[index]]
            clocks[index] += round_.ms
            turns[index] += 1
            yield RoundFinished(index, round_)
        if turns[index] >= len(lane.rounds):
            running.remove(index)
            yield LaneFinished(index, lane.stop_reason, lane.error)
    yield RaceFinished(trace)
