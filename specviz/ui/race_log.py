"""Follows one race event by event, and writes its events and figures for the wire.

The work for an event is a few sums and one dictionary: it happens between rounds, never inside a
lane's clock, and must stay far below the time of a round.
"""

from specviz.trace.counts import RunningCounts
from specviz.trace.loops import loop_in_rounds
from specviz.trace.metrics import metrics_of
from specviz.trace.slower import why_slower
from specviz.trace.typed_json import encode
from specviz.trace.values import (
    Event,
    LaneFinished,
    RaceFinished,
    RaceStarted,
    Round,
    RoundFinished,
    StopReason,
)
from specviz.trace.verdict import race_verdicts
from specviz.ui.prompt_guide import PromptGuide
from specviz.ui.wire import EventJson, LaneFigures, event_json, lane_figures


class RaceLog:
    """What the page is told of a running race: every lane against lane 0, the target alone."""

    def __init__(self, guide: PromptGuide | None = None) -> None:
        self._guide = guide or PromptGuide()
        self._counts: list[RunningCounts] = []
        self._rounds: list[list[Round]] = []
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
                self._rounds = [[] for _ in event.specs]
                return event_json(event, familiarity=self._guide.about(event))
            case RoundFinished():
                counts = self._counts[event.lane]
                counts.add(event.round)
                self._rounds[event.lane].append(event.round)
                speedup = counts.speedup_over(self._counts[0])
                return event_json(event, alpha=counts.alpha, speedup=speedup)
            case LaneFinished():
                self.is_cancelled |= event.stop_reason is StopReason.CANCELLED
                if event.error:
                    self.errors.append(event.error)
                return event_json(event, loop=encode(loop_in_rounds(self._rounds[event.lane])))
            case RaceFinished():
                self._finished = event
                return None
        return event_json(event)

    def figures(self) -> list[LaneFigures]:
        """Return the figures of each lane as they stand; empty before the race has lanes."""
        verdicts = race_verdicts(self._finished.trace) if self._finished else [None] * 4
        metrics = [metrics_of(counts, self._counts[0]) for counts in self._counts]
        return [
            lane_figures(each, verdict, why_slower(each) if self._finished else None)
            for each, verdict in zip(metrics, verdicts, strict=False)
        ]
