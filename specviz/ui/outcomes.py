"""The one table of token fates: label, mark, css class and meaning of all that a page can draw.

Python sends it to the browser once, so that the legend, the lanes and the cards cannot disagree.
"""

from dataclasses import asdict, dataclass

from specviz.trace import Outcome, Source


@dataclass(frozen=True, slots=True)
class OutcomeStyle:
    """How one fate is shown; the mark carries the meaning where colour cannot."""

    label: str
    mark: str
    """Raised sign after the token; empty where an underline or a strike is the mark."""
    css_class: str
    meaning: str


OUTCOMES: tuple[OutcomeStyle, ...] = (
    OutcomeStyle("accepted", "", "accepted", "Guessed by the draft, kept by the target."),
    OutcomeStyle("rejected", "✗", "rejected", "Guessed by the draft, thrown away by the target."),
    OutcomeStyle(
        "discarded", "", "discarded", "Guessed after a rejected token, so it was never judged."
    ),
    OutcomeStyle(
        "correction", "↻", "correction", "The target's own choice in place of a rejected guess."
    ),
    OutcomeStyle(
        "bonus", "★", "bonus", "All guesses were kept, so the same target pass gave one token more."
    ),
    OutcomeStyle("plain", "", "plain", "One target pass, one token: nothing was guessed."),
)

_INDEX = {style.label: index for index, style in enumerate(OUTCOMES)}

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
