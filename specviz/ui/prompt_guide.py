"""Says how far a race's prompt is from what its target has read, and which example is nearest."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from specviz.trace.reading import Distance, Reading, familiarity
from specviz.trace.typed_json import encode
from specviz.trace.values import RaceStarted
from specviz.ui.assets import Example

WORD = re.compile(r"\w+|[^\w\s]")
MIN_SIMILARITY = 0.2
"""Prompts that share less are not near one another."""


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
    """Finds the prompt that shares most words and signs with another; rare ones count more."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self._ids = [example.id for example in examples]
        words = [_words(example.prompt) for example in examples]
        in_how_many = Counter(word for each in words for word in each)
        self._weights = {
            word: math.log((1 + len(words)) / count) for word, count in in_how_many.items()
        }
        self._vectors = [self._vector(each) for each in words]

    def to(self, prompt: str) -> str | None:
        """Return the id of the nearest example; the first one where none is near, None where
        there is none at all."""
        vector = self._vector(_words(prompt))
        scores = [
            sum(value * other.get(word, 0.0) for word, value in vector.items())
            for other in self._vectors
        ]
        if not scores:
            return None
        best = max(scores)
        return self._ids[scores.index(best) if best >= MIN_SIMILARITY else 0]

    def _vector(self, words: set[str]) -> dict[str, float]:
        """Weights of the words, of length 1; words that no example has are left out."""
        values = {word: self._weights[word] for word in words if word in self._weights}
        length = math.sqrt(sum(value * value for value in values.values()))
        return {word: value / length for word, value in values.items()} if length else {}


def _words(text: str) -> set[str]:
    return set(WORD.findall(text.lower()))
