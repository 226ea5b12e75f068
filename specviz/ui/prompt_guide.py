"""Says how far a race's prompt is from what its target has read, and which example is nearest."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from specviz.trace.reading import Distance, Reading, familiarity
from specviz.trace.typed_json import encode
from specviz.trace.values import RaceStarted
from specviz.ui.assets import Example

PIECE = 3
"""Characters of the pieces by which two prompts are compared."""


class PromptGuide:
    """Compares prompts with what the offered targets have read, and with the gallery's prompts."""

    def __init__(
        self, readings: Mapping[str, Reading] | None = None, examples: Sequence[Example] = ()
    ) -> None:
        self._readings = readings or {}
        self._nearest = NearestExample([each for each in examples if not each.is_odd])

    def about(self, started: RaceStarted) -> dict[str, Any] | None:
        """Return a `Familiarity`, and as `example` the id of the nearest prompt of the gallery.

        The example is None where the prompt is near enough. None altogether where it is not known
        what the target has read, or the prompt was not scored.
        """
        reading = self._readings.get(started.specs[0].target)
        request = started.request
        if reading is None:
            return None
        found = familiarity(request.prompt_log_prob, len(request.prompt_ids) - 1, reading)
        if found is None:
            return None
        is_near = found.distance is Distance.NEAR
        example = None if is_near else self._nearest.to(request.prompt)
        return {**encode(found), "example": example}


class NearestExample:
    """Finds the prompt that shares most with another: rare pieces of text count more."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self._ids = [example.id for example in examples]
        pieces = [_pieces(example.prompt) for example in examples]
        in_how_many = Counter(piece for each in pieces for piece in each)
        self._weights = {
            piece: math.log((1 + len(pieces)) / count) for piece, count in in_how_many.items()
        }
        self._vectors = [self._vector(each) for each in pieces]

    def to(self, prompt: str) -> str | None:
        """Return the id of the nearest example, the first of several; None where there is none."""
        vector = self._vector(_pieces(prompt))
        scores = [
            sum(value * other.get(piece, 0.0) for piece, value in vector.items())
            for other in self._vectors
        ]
        return self._ids[scores.index(max(scores))] if scores else None

    def _vector(self, pieces: Counter[str]) -> dict[str, float]:
        """Weights of the pieces, of length 1; pieces that no example has are left out."""
        values = {
            piece: count * self._weights[piece]
            for piece, count in pieces.items()
            if piece in self._weights
        }
        length = math.sqrt(sum(value * value for value in values.values()))
        return {piece: value / length for piece, value in values.items()} if length else {}


def _pieces(text: str) -> Counter[str]:
    plain = f" {' '.join(text.lower().split())} "
    return Counter(plain[start : start + PIECE] for start in range(len(plain) - PIECE + 1))
