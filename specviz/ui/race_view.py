"""Follows one race event by event and keeps what the page shows of it up to date.

The work for an event is a few sums and one small dictionary: it happens between rounds, never
inside a lane's clock, and must stay far below the time of a round.
"""

from specviz.metrics import RunningCounts, race_verdicts
from specviz.trace import (
    Event,
    LaneFinished,
    RaceFinished,
    RaceStarted,
    RoundFinished,
    StopReason,
)
from specviz.ui.figures import Figures, chart_point, live_figures, output_figure
from specviz.ui.view_models import Item, narration, round_item, start_item

_ENDS = {
    StopReason.EOS: "end of text",
    StopReason.LENGTH: "length reached",
    StopReason.CANCELLED: "stopped",
    StopReason.ERROR: "failed",
}


class RaceView:
    """What the page shows of a running race; lane 1 is the lane whose figures are shown."""

    def __init__(self) -> None:
        self._counts: list[RunningCounts] = []
        self._is_greedy = True
        self._finished: RaceFinished | None = None
        self.narration = ""
        self.is_cancelled = False
        """Whether a lane was ended before its text was complete."""
        self.errors: list[str] = []
        """One sentence for each lane that failed."""

    def take(self, event: Event) -> Item | None:
        """Take one event in and return what the browser must draw for it, if anything."""
        match event:
            case RaceStarted():
                self._counts = [RunningCounts() for _ in event.specs]
                self._is_greedy = event.request.sampling.temperature == 0.0
                return start_item(event)
            case RoundFinished():
                return self._take_round(event)
            case LaneFinished():
                return self._take_end(event)
            case RaceFinished():
                self._finished = event
                return None

    def figures(self) -> Figures | None:
        """Return the key figures as they stand, or None before the race has lanes."""
        if len(self._counts) < 2:
            return None
        verdict = race_verdicts(self._finished.trace)[1] if self._finished else None
        output = output_figure(verdict, self._is_greedy, is_running=self._finished is None)
        return live_figures(self._counts, 1, output)

    def closing_sentence(self) -> str:
        """Say in one sentence how the race ended."""
        speedup = self._counts[1].speedup_over(self._counts[0]) if len(self._counts) > 1 else None
        if speedup is None:
            return "The race ended before there was anything to compare."
        if speedup >= 1.0:
            return f"Finished: guessing made the target {speedup:.2f}× as fast."
        return (
            f"Finished: guessing was slower than the target alone here ({speedup:.2f}×). "
            "Making and checking the guesses cost more time than the kept ones saved."
        )

    def _take_end(self, event: LaneFinished) -> Item:
        self.is_cancelled |= event.stop_reason is StopReason.CANCELLED
        if event.error:
            self.errors.append(event.error)
        return {"k": "end", "lane": event.lane, "why": _ENDS[event.stop_reason]}

    def _take_round(self, event: RoundFinished) -> Item:
        before = self._counts[event.lane]
        counts = before.plus(event.round)
        self._counts[event.lane] = counts
        if event.lane == 1:
            self.narration = narration(event.round)
        return round_item(event.lane, event.round, chart_point(counts, before, self._counts[0]))
