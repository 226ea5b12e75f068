"""Follows one race event by event, and writes its events and figures for the wire.

The work for an event is a few sums and one dictionary: it happens between rounds, never inside a
lane's clock, and must stay far below the time of a round.
"""

from specviz.trace.counts import RunningCounts
from specviz.trace.forecast import NUM_ROUNDS, Forecast, forecast_speedup
from specviz.trace.loops import loop_in_rounds
from specviz.trace.metrics import LaneMetrics, metrics_of
from specviz.trace.other_gammas import OtherGamma, other_gammas
from specviz.trace.slower import why_slower
from specviz.trace.typed_json import encode
from specviz.trace.values import (
    Event,
    LaneFinished,
    LaneSpec,
    RaceFinished,
    RaceStarted,
    Round,
    RoundFinished,
    StopReason,
)
from specviz.trace.verdict import Verdict, race_verdicts
from specviz.trace.window import common_window
from specviz.ui.prompt_guide import PromptGuide
from specviz.ui.wire import EventJson, LaneFigures, event_json, lane_figures


class RaceLog:
    """What the page is told of a running race: every lane against lane 0, the target alone."""

    def __init__(self, guide: PromptGuide | None = None) -> None:
        self._guide = guide or PromptGuide()
        self._counts: list[RunningCounts] = []
        self._rounds: list[list[Round]] = []
        self._specs: tuple[LaneSpec, ...] = ()
        self._max_new_tokens = 0
        self._forecasts: dict[int, Forecast] = {}
        """By lane, once it has run long enough."""
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
                self._specs = event.specs
                self._max_new_tokens = event.request.max_new_tokens
                return event_json(event, familiarity=self._guide.about(event))
            case RoundFinished():
                return self._take_round(event)
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
        verdicts = race_verdicts(self._finished.trace) if self._finished else None
        return [
            self._lane_figures(lane, None if verdicts is None else verdicts[lane])
            for lane in range(len(self._counts))
        ]

    def _take_round(self, event: RoundFinished) -> EventJson:
        counts, baseline = self._counts[event.lane], self._counts[0]
        counts.add(event.round)
        self._rounds[event.lane].append(event.round)
        if event.lane > 0 and counts.num_rounds == NUM_ROUNDS:
            forecast = forecast_speedup(counts, baseline, self._max_new_tokens)
            if forecast is not None:
                self._forecasts[event.lane] = forecast
        speedup = common_window(counts, baseline).speedup
        return event_json(event, alpha=counts.alpha, speedup=speedup)

    def _lane_figures(self, lane: int, verdict: Verdict | None) -> LaneFigures:
        metrics = metrics_of(self._counts[lane], self._counts[0])
        forecast = self._forecasts.get(lane)
        if forecast is not None and self._finished is not None:
            forecast = forecast.judged(metrics.speedup)
        if self._finished is None:
            return lane_figures(metrics, verdict, forecast)
        others = self._other_gammas(lane, metrics)
        return lane_figures(metrics, verdict, forecast, why_slower(metrics), others)

    def _other_gammas(self, lane: int, metrics: LaneMetrics) -> tuple[OtherGamma, ...]:
        """What other draft lengths would have given; empty where the costs are not known."""
        draft_cost, verify_cost = metrics.draft_cost, metrics.verify_cost
        if draft_cost is None or verify_cost is None:
            return ()
        gamma = self._specs[lane].gamma
        return other_gammas(self._rounds[lane], gamma, draft_cost, verify_cost)
