"""What a target has read, and how far a prompt is from it: the `reading.json` in a model's folder.

The format is the dataclass `Reading`, as `specviz.trace.typed_json` writes it, and `"format": 1`.
The training command `reading` writes it from texts that the target never saw. Standard
library only.
"""

from bisect import bisect_right
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from pathlib import Path

from specviz.errors import FormatError
from specviz.texts import message
from specviz.trace.typed_json import decode, encode, kind_of, quoted, read_json, refusal
from specviz.trace.values import LogProb, Probability

READING_FILE = "reading.json"
FORMAT = 1
MAX_BYTES = 200_000
FAR_BELOW = 0.05
UNUSUAL_BELOW = 0.15
"""Shares of the held-out texts that begin less probably than a prompt."""
ENOUGH_TOKENS = 4
"""A shorter prompt is at most unusual: one odd word says little about the text after it."""


@dataclass(frozen=True, slots=True)
class Beginnings:
    """How probable held-out texts are under the target, from their start on."""

    num_tokens: int
    """Tokens of each text that were looked at, not counting the one every text begins with."""
    num_texts: int
    log_probs: tuple[LogProb, ...]
    """Quantiles, one for each of the reading's `shares`, of the texts' mean log-probability."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a target has read."""

    kinds: tuple[str, ...]
    """Keys of the texts `reading.KIND` in `assets/strings`, what there was most of first."""
    languages: tuple[str, ...]
    """Codes, keys of the texts `reading.in_CODE`."""
    shares: tuple[Probability, ...]
    """Rising; which quantiles were taken."""
    beginnings: tuple[Beginnings, ...]
    """By rising `num_tokens`."""


class Distance(StrEnum):
    """How a prompt stands to what its target has read."""

    NEAR = "near"
    UNUSUAL = "unusual"
    FAR = "far"


@dataclass(frozen=True, slots=True)
class Familiarity:
    """A prompt beside the held-out texts."""

    distance: Distance
    log_prob: float
    """Mean of the prompt's tokens, in nats a token."""
    usual_log_prob: float
    """Median of the held-out texts."""
    share_below: float
    """Share of the held-out texts that begin less probably; 0 where fewer do than the lowest
    quantile tells, 1 where more than the highest."""
    num_tokens: int
    """Tokens of the prompt that were predicted."""
    num_compared_tokens: int
    """Tokens of each held-out text that were looked at: at most as many."""
    num_texts: int


def familiarity(log_prob: float | None, num_tokens: int, reading: Reading) -> Familiarity | None:
    """Compare a prompt's mean log-probability with beginnings of held-out texts about as long.

    A short beginning is less probable a token than a long one, so the longest beginnings are taken
    that are no longer than the prompt. Shares between two quantiles are interpolated. None where
    the prompt has no number or there is nothing to compare it with.

    Example: with quantiles -6, -4, -2 at the shares 0.1, 0.5, 0.9, a prompt at -5 has a share of
    0.3 below it.
    """
    fitting = [each for each in reading.beginnings if each.num_tokens <= num_tokens]
    if log_prob is None or not fitting:
        return None
    compared = fitting[-1]
    share = _share_below(log_prob, compared.log_probs, reading.shares)
    return Familiarity(
        distance=_distance(share, num_tokens),
        log_prob=log_prob,
        usual_log_prob=_interpolated(0.5, reading.shares, compared.log_probs),
        share_below=share,
        num_tokens=num_tokens,
        num_compared_tokens=compared.num_tokens,
        num_texts=compared.num_texts,
    )


def _distance(share: float, num_tokens: int) -> Distance:
    if share < FAR_BELOW and num_tokens >= ENOUGH_TOKENS:
        return Distance.FAR
    return Distance.UNUSUAL if share < UNUSUAL_BELOW else Distance.NEAR


def _share_below(log_prob: float, quantiles: tuple[float, ...], shares: tuple[float, ...]) -> float:
    if log_prob < quantiles[0]:
        return 0.0
    return 1.0 if log_prob > quantiles[-1] else _interpolated(log_prob, quantiles, shares)


def _interpolated(x: float, xs: tuple[float, ...], ys: tuple[float, ...]) -> float:
    """The value at `x` on the line through rising points; beyond its ends that of the end."""
    right = bisect_right(xs, x)
    if right == 0 or right == len(xs):
        return ys[0] if right == 0 else ys[-1]
    low, high = xs[right - 1], xs[right]
    return ys[right - 1] + (ys[right] - ys[right - 1]) * (x - low) / (high - low)


def read_reading(folder: Path) -> Reading | None:
    """Read the `reading.json` of a model's folder; None where it has none.

    Raises:
        FormatError: It cannot be read or does not hold what it should; names the first bad path.
    """
    path = folder / READING_FILE
    if not path.exists():
        return None
    try:
        return reading_from_json(read_json(path, MAX_BYTES))
    except FormatError as error:
        raise FormatError(message("format.in_file", path=str(path), problem=error.text)) from error


def reading_from_json(content: object) -> Reading:
    """Build a reading from parsed JSON.

    Raises:
        FormatError: Names the first path that does not fit the format.
    """
    if not isinstance(content, dict):
        raise FormatError(message("format.no_object", found=kind_of(content)))
    if content.get("format") != FORMAT:
        problem = message("format.must_be", wanted=str(FORMAT), found=quoted(content.get("format")))
        raise refusal("format", problem)
    body = {key: value for key, value in content.items() if key != "format"}
    reading: Reading = decode(Reading, body)
    _check_rising("shares", reading.shares)
    _check_rising("beginnings", tuple(each.num_tokens for each in reading.beginnings))
    for index, each in enumerate(reading.beginnings):
        path = f"beginnings[{index}].log_probs"
        if len(each.log_probs) != len(reading.shares):
            values = {"n": len(reading.shares), "found": len(each.log_probs)}
            raise refusal(path, message("format.num_entries", **values))
        _check_rising(path, each.log_probs, may_stay=True)
    return reading


def reading_to_json(reading: Reading) -> dict[str, object]:
    """Return a reading as a value that `json` can write."""
    return {"format": FORMAT, **encode(reading)}


def _check_rising(path: str, values: tuple[float, ...], *, may_stay: bool = False) -> None:
    if not values:
        raise refusal(path, message("format.empty"))
    for index, (low, high) in enumerate(pairwise(values), 1):
        if high < low or (high == low and not may_stay):
            told = {"index": str(index), "found": str(high), "before": str(low)}
            raise refusal(path, message("format.rising", **told))
