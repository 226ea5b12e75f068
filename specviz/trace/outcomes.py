"""The one table of token fates: mark and css class of all that a page can draw.

Python sends it to the browser once, so that the legend, the lanes and the cards cannot disagree.
Label and meaning of a fate are the texts `fate.NAME` and `fate.NAME_meaning`.
"""

from dataclasses import asdict, dataclass

from specviz.trace.values import Outcome, Source


@dataclass(frozen=True, slots=True)
class OutcomeStyle:
    """How one fate is shown; the mark carries the meaning where colour cannot."""

    name: str
    """Also its css class, and its key among the texts."""
    mark: str
    """Raised sign after the token; empty where an underline or a strike is the mark."""


OUTCOMES: tuple[OutcomeStyle, ...] = (
    OutcomeStyle("accepted", ""),
    OutcomeStyle("rejected", "✗"),
    OutcomeStyle("discarded", ""),
    OutcomeStyle("correction", "↻"),
    OutcomeStyle("bonus", "★"),
    OutcomeStyle("plain", ""),
)

_INDEX = {style.name: index for index, style in enumerate(OUTCOMES)}

FATE_OF_OUTCOME: dict[Outcome, int] = {
    Outcome.ACCEPTED: _INDEX["accepted"],
    Outcome.REJECTED: _INDEX["rejected"],
    Outcome.DISCARDED: _INDEX["discarded"],
}
"""Row of `OUTCOMES` for each fate of a drafted token."""

FATE_OF_SOURCE: dict[Source, int] = {
    Source.DRAFT: _INDEX["accepted"],
    Source.CORRECTION: _INDEX["correction"],
    Source.BONUS: _INDEX["bonus"],
    Source.TARGET: _INDEX["plain"],
}
"""Row of `OUTCOMES` for each source of an emitted token."""


def outcome_table() -> list[dict[str, str]]:
    """Return the table as plain values for the browser."""
    return [asdict(style) for style in OUTCOMES]
