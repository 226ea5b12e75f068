"""Follows one race event by event and keeps what the page shows of it up to date.

The work for an event is a few sums and one small dictionary: it happens between rounds, never
inside a lane's clock, and must stay far below the time of a round.
"""

from specviz.trace.metrics import RunningCounts, race_verdicts
from specviz.trace.values import (
    Event,
    LaneFinished,
    ModelLoading,
    RaceFinished,
    RaceStarted,
    RoundFinished,
    StopReason,
)
from specviz.ui.figures import (
    Figures,
    chart_point,
    compared_figures,
    live_figures,
    output_figure,
)
from specviz.ui.lane_names import lane_names
from specviz.ui.spread import Spread
from specviz.ui.strings import Message, Text, message
from specviz.ui.view_models import Item, narration, round_item, start_item


class RaceView:
    """What the page shows of a running race: every lane against lane 0, the target alone."""

    def __init__(self) -> None:
        self._names: list[Text] = []
        self._counts: list[RunningCounts] = []
        self._spreads: list[Spread] = []
        self._is_greedy = True
        self._finished: RaceFinished | None = None
        self.narration: Text = ""
        self.has_started = False
        self.is_cancelled = False
        """Whether a lane was ended before its text was complete."""
        self.errors: list[str] = []
        """One sentence for each lane that failed."""

    def take(self, event: Event) -> Item | None:
        """Take one event in and return what the browser must draw for it, if anything."""
        match event:
            case ModelLoading():
                self.narration = message(
                    "status.loading_model",
                    model=event.model,
                    number=event.number,
                    count=event.count,
                )
                return None
            case RaceStarted():
                self.has_started = True
                self._names = lane_names(event.specs)
                self._counts = [RunningCounts() for _ in event.specs]
                self._spreads = [Spread() for _ in event.specs]
                self.narration = message("round.prompt_read")
                self._is_greedy = event.request.sampling.temperature == 0.0
                return start_item(event)
            case RoundFinished():
                return self._take_round(event)
            case LaneFinished():
                return self._take_end(event)
            case RaceFinished():
                self._finished = event
                return None

    def figures(self) -> list[Figures]:
        """Return the figures of each lane as they stand; empty before the race has lanes."""
        verdicts = race_verdicts(self._finished.trace) if self._finished else ()
        shown = [live_figures(counts) for counts in self._counts]
        for lane, counts in enumerate(self._counts[1:], 1):
            verdict = verdicts[lane] if verdicts else None
            output = output_figure(verdict, self._is_greedy, is_running=not verdicts)
            shown[lane] |= compared_figures(counts, self._counts[0], output)
            shown[lane]["spread"] = self._spreads[lane].view(counts.alpha)
        return shown

    def closing_sentence(self) -> Message:
        """Say in one sentence how the race ended."""
        speedups = [counts.speedup_over(self._counts[0]) for counts in self._counts[1:]]
        told = [
            message("closing.lane", lane=name, speedup=f"{speedup:.2f}")
            for name, speedup in zip(self._names[1:], speedups, strict=True)
            if speedup is not None
        ]
        if not told:
            return message("closing.nothing")
        if len(told) > 1:
            rest = told[0]
            for each in told[1:]:
                rest = message("closing.and", first=rest, second=each)
            return message("closing.several", lanes=rest)
        speedup = next(each for each in speedups if each is not None)
        name = "faster" if speedup >= 1.0 else "slower"
        return message(f"closing.{name}", speedup=f"{speedup:.2f}")

    def _take_end(self, event: LaneFinished) -> Item:
        self.is_cancelled |= event.stop_reason is StopReason.CANCELLED
        if event.error:
            self.errors.append(event.error)
        return {
            "k": "end",
            "lane": event.lane,
            "why": message(f"end.{event.stop_reason.value}"),
            "whole": event.stop_reason in (StopReason.EOS, StopReason.LENGTH),
        }

    def _take_round(self, event: RoundFinished) -> Item:
        before = self._counts[event.lane]
        counts = before.plus(event.round)
        self._counts[event.lane] = counts
        self._spreads[event.lane].add(event.round)
        if event.lane == len(self._counts) - 1:
            whose = self._names[-1] if len(self._counts) > 2 else None
            self.narration = narration(event.round, whose)
        return round_item(event.lane, event.round, chart_point(counts, before, self._counts[0]))
