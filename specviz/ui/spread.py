"""How a lane's rounds spread: guesses kept a round, acceptance by position, and where time went.

Counts come with what theory expects of them: every judged guess is accepted with the lane's own
alpha, independently of the others. Trees have counts only, since the formula describes chains.
"""

from collections import Counter
from typing import Any

from specviz.trace.metrics import RunningCounts, accepted_path, is_chain
from specviz.trace.theory import kept_law
from specviz.trace.values import Round

SpreadView = dict[str, Any]
"""`rounds` that guessed; `kept[k]` = rounds that kept k guesses, and their share as a text;
`position[j]` = share of rounds that kept their first j + 1 guesses, and both counts behind it;
`expected` rounds for each k and `predicted` share for each j, absent where theory says nothing."""


class Spread:
    """Counts rounds by how many guesses they drafted and how many of those they kept."""

    def __init__(self) -> None:
        self._paths: Counter[tuple[int, int]] = Counter()
        self._are_chains = True

    def add(self, round_: Round) -> None:
        """Count one round more; a round that guessed nothing counts for nothing."""
        if round_.drafted:
            self._paths[accepted_path(round_)] += 1
            self._are_chains = self._are_chains and is_chain(round_)

    def view(self, alpha: float | None) -> SpreadView:
        """Return the counts so far with what `alpha` lets expect."""
        longest = max((drafted for drafted, _ in self._paths), default=0)
        rounds = self._paths.total()
        kept = [self._rounds_that(kept=length) for length in range(longest + 1)] if rounds else []
        view: SpreadView = {
            "rounds": rounds,
            "kept": [[count, f"{100 * count / rounds:.0f} %"] for count in kept],
            "position": [self._position(place) for place in range(longest)],
        }
        if alpha is not None and self._are_chains:
            view["expected"] = self._expected(alpha, longest)
            view["predicted"] = [round(alpha ** (place + 1), 4) for place in range(longest)]
        return view

    def _rounds_that(self, kept: int) -> int:
        return sum(count for (_, length), count in self._paths.items() if length == kept)

    def _position(self, place: int) -> list[float]:
        drafted = sum(count for (length, _), count in self._paths.items() if length > place)
        reached = sum(count for (_, length), count in self._paths.items() if length > place)
        return [round(reached / drafted, 4), reached, drafted]

    def _expected(self, alpha: float, longest: int) -> list[float]:
        rounds = [0.0] * (longest + 1)
        for (drafted, _), count in self._paths.items():
            for length, chance in enumerate(kept_law(alpha, drafted)):
                rounds[length] += count * chance
        return [round(number, 2) for number in rounds]


def time_shares(counts: RunningCounts) -> list[str]:
    """Say which part of a lane's clock went into drafting, verifying and the rest."""
    if not counts.ms:
        return []
    times = (counts.draft_ms, counts.verify_ms, counts.other_ms)
    return [f"{100 * ms / counts.ms:.1f} %" for ms in times]
