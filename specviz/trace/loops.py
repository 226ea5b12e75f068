"""Notices where a text repeats itself, which makes its tokens easy to guess.

A loop is a stretch of tokens in which each is the same as the one `period` before it, that holds at
least three whole periods and at least 24 tokens. It may lie anywhere in the text: what is written
after a loop does not unmake it. Token ids decide, never text. Example: "a b c a b c a" has period 3
and holds two whole periods, so it is too short to be one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from specviz.trace.counts import RunningCounts
from specviz.trace.values import LaneTrace, Round

MIN_REPEATS = 3
MIN_TOKENS = 24
MAX_PERIOD = 64
"""Longest unit that is looked for; it would have to stand three times."""


@dataclass(frozen=True, slots=True)
class Loop:
    """A stretch of a text that repeats itself."""

    start: int
    """Index of its first token in the output."""
    period: int
    """Tokens of the unit that is repeated."""
    num_tokens: int
    """Tokens of the whole stretch; the last unit may be cut short."""


@dataclass(frozen=True, slots=True)
class LaneLoop:
    """The longest loop of a lane, and how well guesses did in it and before it."""

    loop: Loop
    alpha_before: float | None
    num_judged_before: int
    """Guesses judged before the unit was written for the first time to its end."""
    alpha_inside: float | None
    num_judged_inside: int


def find_loop(ids: Sequence[int]) -> Loop | None:
    """Return the longest loop, of several the one with the shortest period, then the first."""
    best: Loop | None = None
    for period in range(1, min(MAX_PERIOD, len(ids) // MIN_REPEATS) + 1):
        found = _longest_of_period(ids, period)
        if found and (best is None or found.num_tokens > best.num_tokens):
            best = found
    return best


def _longest_of_period(ids: Sequence[int], period: int) -> Loop | None:
    best, start = None, 0
    for end in range(period, len(ids) + 1):
        if end < len(ids) and ids[end] == ids[end - period]:
            continue
        num_tokens = end - start
        is_loop = num_tokens >= max(MIN_REPEATS * period, MIN_TOKENS)
        if is_loop and (best is None or num_tokens > best.num_tokens):
            best = Loop(start, period, num_tokens)
        start = end + 1 - period
    return best


def loop_in_rounds(rounds: Sequence[Round]) -> LaneLoop | None:
    """Return the longest loop of what these rounds wrote, None where there is none.

    A round belongs to the loop where it begins inside the stretch, after the unit stood there once.
    """
    loop = find_loop([token.id for round_ in rounds for token in round_.emitted])
    if loop is None:
        return None
    first, last = loop.start + loop.period, loop.start + loop.num_tokens
    before = RunningCounts.of(each for each in rounds if each.position < first)
    inside = RunningCounts.of(each for each in rounds if first <= each.position < last)
    return LaneLoop(loop, before.alpha, before.num_judged, inside.alpha, inside.num_judged)


def loop_of(lane: LaneTrace) -> LaneLoop | None:
    """Return the longest loop of a finished lane."""
    return loop_in_rounds(lane.rounds)
