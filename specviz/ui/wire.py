"""The wire: what the server tells a page, as types, and how a packet is written.

A packet carries the events of the trace in the trace's own field names, each as an object whose
`event` is the name of its class. Numbers are raw; figures are the dataclasses of `trace.metrics`
and `trace.verdict`, with the counts behind them. `assets/js/wire/packets.js` is the other side, and
`tests/fixtures/packets.json` holds both to it.
"""

import json
import zlib
from base64 import b64encode
from typing import Any, NotRequired, TypedDict

from specviz.trace.forecast import Forecast
from specviz.trace.metrics import LaneMetrics
from specviz.trace.other_gammas import OtherGamma
from specviz.trace.slower import Slowness
from specviz.trace.typed_json import encode
from specviz.trace.values import Event
from specviz.trace.verdict import Verdict
from specviz.ui.strings import Text

WORTH_CHARS = 600
"""A shorter packet is sent as it is."""

EventJson = dict[str, Any]
"""One of ModelLoading, RaceStarted, RoundFinished and LaneFinished.

RoundFinished has two figures more, for the charts: `alpha` and `speedup`, the lane's own after this
round, null where they are not defined. RaceStarted has `familiarity`, what `PromptGuide.about` says
of the prompt, and LaneFinished has `loop`, the text's `LaneLoop`; null where there is none.
"""


class LaneFigures(TypedDict):
    """How one lane stands; the baseline has figures too."""

    metrics: dict[str, Any]
    """A `LaneMetrics`."""
    verdict: dict[str, Any] | None
    """A `Verdict` once the race is over; None while it runs, and where nothing can be said."""
    forecast: dict[str, Any] | None
    """A `Forecast` from the lane's 20th round on; judged once the race is over."""
    slowness: dict[str, Any] | None
    """A `Slowness` once the race is over; None where the lane was not slower than the target."""
    other_gammas: list[dict[str, Any]]
    """The `OtherGamma` of γ 1 to 16 once the race is over; empty before, and where its rounds say
    nothing of them."""


class Status(TypedDict):
    """What the status strip says: `state` is a `stream.State`.

    While a race runs and at its end the page writes its own sentence, unless there is a `text`.
    """

    state: str
    text: NotRequired[Text]
    field: NotRequired[str]
    """The control that a refusal is about, where it is known: `prompt`."""


class Packet(TypedDict):
    """What is sent at once; packets of a run are numbered from 0."""

    run: str
    seq: int
    panel: str
    """Where on the page the race is shown."""
    events: list[EventJson]
    figures: NotRequired[list[LaneFigures]]
    """All lanes as they stand after the packet's events."""
    status: NotRequired[Status]
    is_run_out: NotRequired[bool]
    """There, and true, once the server holds the race no more since others wait."""


def event_json(event: Event, **figures: Any) -> EventJson:
    """Write an event in its own field names, with figures that belong to it."""
    return {"event": type(event).__name__, **encode(event), **figures}


def lane_figures(
    metrics: LaneMetrics,
    verdict: Verdict | None,
    forecast: Forecast | None,
    slowness: Slowness | None = None,
    others: tuple[OtherGamma, ...] = (),
) -> LaneFigures:
    """Write how a lane stands; the last two are for a race that is over."""
    return {
        "metrics": encode(metrics),
        "verdict": encode(verdict),
        "forecast": encode(forecast),
        "slowness": encode(slowness),
        "other_gammas": [encode(each) for each in others],
    }


def write_json(packet: Packet) -> str:
    """Write a packet as compact JSON."""
    return json.dumps(packet, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def pack(text: str) -> str:
    """Deflate a packet's JSON into base64, since Gradio streams text as it is, quotes escaped.

    What does not begin with `{` is deflated.
    """
    if len(text) < WORTH_CHARS:
        return text
    return b64encode(zlib.compress(text.encode())).decode("ascii")
