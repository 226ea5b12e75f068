"""Counts of a lane's rounds, added up round by round, and the rates that follow from them alone.

A rate that is not defined (nothing drafted, no time) is None, never a guess. Prefill is in no
number.

Of trees (EAGLE-2, Li et al. 2024, arXiv:2406.16858) every node counts as drafted, each sibling that
was tried as judged. What goes by places in the text goes by levels: a level is one draft step, and
a chain has as many as tokens.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from specviz.trace.values import Outcome, Round, Source


class Mark(NamedTuple):
    """Where a lane stood after one of its rounds: sums from its first round on."""

    ms: float
    """The lane's clock."""
    num_emitted: int
    draft_ms: float
    num_levels: int
    verify_ms: float
    num_drafting_rounds: int
    drafting_verify_ms: float

    @property
    def ms_per_token(self) -> float | None:
        """Time over emitted tokens, in milliseconds."""
        return ratio(self.ms or None, self.num_emitted)


@dataclass(slots=True)
class RunningCounts:
    """Counts and times of the rounds so far; `add` takes one round more, cheap while a race
    runs."""

    num_rounds: int = 0
    num_drafted: int = 0
    num_levels: int = 0
    """Drafted tokens one behind the other: the depths of all drafts, added up."""
    num_accepted: int = 0
    num_rejected: int = 0
    """At most one a round in a chain; in a tree several siblings of one round can be rejected."""
    num_corrections: int = 0
    num_bonuses: int = 0
    num_emitted: int = 0
    draft_ms: float = 0.0
    verify_ms: float = 0.0
    other_ms: float = 0.0
    num_overlaps: int = 0
    overlap_sum: float = 0.0
    """Σ over the judged tokens whose overlap was recorded of Σ min(target_probs, draft_probs)."""
    num_drafting_rounds: int = 0
    drafting_verify_ms: float = 0.0
    """Verify time of the rounds that drafted anything."""
    draft_lengths: Counter[int] = field(default_factory=Counter)
    """Rounds by how many tokens they drafted one behind the other."""
    paths: Counter[tuple[int, int]] = field(default_factory=Counter)
    """Rounds that drafted, by `accepted_path`."""
    are_chains: bool = True
    marks: list[Mark] = field(default_factory=list)
    """One for each round."""

    @classmethod
    def of(cls, rounds: Iterable[Round]) -> "RunningCounts":
        """Count all the rounds given."""
        counts = cls()
        for round_ in rounds:
            counts.add(round_)
        return counts

    def add(self, round_: Round) -> None:
        """Count one round more."""
        self.num_rounds += 1
        self.draft_ms += round_.draft_ms
        self.verify_ms += round_.verify_ms
        self.other_ms += round_.other_ms
        self.num_emitted += len(round_.emitted)
        for emitted in round_.emitted:
            self.num_corrections += emitted.source is Source.CORRECTION
            self.num_bonuses += emitted.source is Source.BONUS
        path = accepted_path(round_)
        self.draft_lengths[path[0]] += 1
        if round_.drafted:
            self.paths[path] += 1
            self._add_drafts(round_)
            self.num_levels += path[0]
        self.marks.append(
            Mark(
                self.ms,
                self.num_emitted,
                self.draft_ms,
                self.num_levels,
                self.verify_ms,
                self.num_drafting_rounds,
                self.drafting_verify_ms,
            )
        )

    def _add_drafts(self, round_: Round) -> None:
        self.num_drafting_rounds += 1
        self.drafting_verify_ms += round_.verify_ms
        self.num_drafted += len(round_.drafted)
        for token in round_.drafted:
            self.num_accepted += token.outcome is Outcome.ACCEPTED
            self.num_rejected += token.outcome is Outcome.REJECTED
            if token.overlap is not None and token.outcome is not Outcome.DISCARDED:
                self.num_overlaps += 1
                self.overlap_sum += token.overlap
        self.are_chains = self.are_chains and is_chain(round_)

    @property
    def num_judged(self) -> int:
        """Drafted tokens that were accepted or rejected."""
        return self.num_accepted + self.num_rejected

    @property
    def num_discarded(self) -> int:
        """Drafted tokens that were never judged."""
        return self.num_drafted - self.num_judged

    @property
    def num_target_forwards(self) -> int:
        """Forward passes of the target: one a round."""
        return self.num_rounds

    @property
    def ms(self) -> float:
        """The lane's clock in milliseconds."""
        return self.draft_ms + self.verify_ms + self.other_ms

    @property
    def alpha(self) -> float | None:
        """Chance that a judged token is accepted.

        In a tree siblings are judged one by one and at most one is accepted, so it is lower than
        that of a chain with the same draft, and goes into no formula of chains.
        """
        return ratio(self.num_accepted, self.num_judged)

    @property
    def ms_per_token(self) -> float | None:
        """The lane's clock over emitted tokens, in milliseconds."""
        return ratio(self.ms or None, self.num_emitted)

    def round_times(self) -> list[float]:
        """Return the time of each round, in milliseconds."""
        return [mark.ms - before for before, mark in zip(self._begins(), self.marks, strict=True)]

    def _begins(self) -> list[float]:
        return [0.0, *(mark.ms for mark in self.marks[:-1])] if self.marks else []


def accepted_path(round_: Round) -> tuple[int, int]:
    """Return how many tokens a round drafted one after the other, and how many of those it kept.

    In a tree both are depths: of its longest branch, and of the branch that was accepted.
    """
    levels, last = levels_of(round_), last_accepted(round_)
    return max(levels, default=0), 0 if last < 0 else levels[last]


def levels_of(round_: Round) -> list[int]:
    """Return how deep each drafted token stands: 1 behind the text, in a chain 1, 2, 3, …"""
    levels: list[int] = []
    for token in round_.drafted:
        levels.append(1 if token.parent < 0 else levels[token.parent] + 1)
    return levels


def last_accepted(round_: Round) -> int:
    """Return the index of the drafted token that the accepted branch ends with, or -1."""
    accepted = (
        index for index, token in enumerate(round_.drafted) if token.outcome is Outcome.ACCEPTED
    )
    return max(accepted, default=-1)


def is_chain(round_: Round) -> bool:
    """Say whether each drafted token of a round follows the one before it."""
    return all(token.parent == index - 1 for index, token in enumerate(round_.drafted))


def ratio(numerator: float | None, denominator: float | None) -> float | None:
    """Divide, or give None where either side is missing or the denominator is 0."""
    if numerator is None or not denominator:
        return None
    return numerator / denominator
