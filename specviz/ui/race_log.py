"""Follows one race event by event, and writes its events and figures for the wire.

The work for an event is a few sums and one dictionary: it happens between rounds, never inside a
lane's clock, and must stay far below the time of a round.
"""

from specviz.trace.counts import RunningCounts
from specviz.trace.metrics import metrics_of
from specviz.trace.values import (
    Event,
    LaneFinished,
    RaceFinished,
    RaceStarted,
    RoundFinished,
    StopReason,
)
from specviz.trace.verdict import race_verdicts
from specviz.ui.wire import EventJson, LaneFigures, event_json, lane_figures


class RaceLog:
    """What the page is told of a running race: every lane against lane 0, the target alone."""

    def __init__(self) -> None:
        self._counts: list[RunningCounts] = []
        self._finished: RaceFinished | None = None
        self.is_cancelled = False
        """Whether a lane was ended before its text was complete."""
        self.errors: list[str] = []
        """One sentence for each lane that failed."""

    @property
    def has_started(self) -> bool:
        """Whether the lanes are known."""
        return bool(self._counts)

    def take(self, event: Event) -> EventJson | None:
        """Take one event in and return it for the wire; None for the end, which is a status."""
        match event:
            case RaceStarted():
                self._counts = [RunningCounts() for _ in event.specs]
            case RoundFinished():
                counts = self._counts[event.lane]
                counts.add(event.round)
                speedup = counts.speedup_over(self._counts[0])
                return event_json(event, alpha=counts.alpha, speedup=speedup)
            case LaneFinished():
                self.is_cancelled |= event.stop_reason is StopReason.CANCELLED
                if event.error:
                    self.errors.append(event.error)
            case RaceFinished():
                self._finished = event
                return None
        return event_json(event)

    def figures(self) -> list[LaneFigures]:
        """Return the figures of each lane as they stand; empty before the race has lanes."""
        verdicts = race_verdicts(self._finished.trace) if self._finished else [None] * 4
        return [
            lane_figures(metrics_of(counts, self._counts[0]), verdict)
            for counts, verdict in zip(self._counts, verdicts, strict=False)
        ]
