"""Counts the continuations that a lane writes, and tests them against the target's law.

Chi-square looks at next tokens and at whole continuations, which thin out in a real vocabulary; the
scores of `text_scores` look at every position.
"""

from collections import Counter
from typing import NamedTuple

import torch

from specviz.proof.joint_cells import Cell, JointCells
from specviz.proof.known_laws import KnownLaws
from specviz.proof.statistics import (
    ChiSquare,
    chi_square,
    squared_scores,
    total_variation,
    total_variation_bound,
)
from specviz.proof.text_scores import Score, Text, TextScores
from specviz.trace.proofs import LEVEL, CheckName, CheckResult


class CountedCell(NamedTuple):
    """One cell of the histograms of whole continuations."""

    cell: Cell
    prob: float
    num_alone: int
    num_lane: int


class Tally:
    """What one lane and the target alone have written behind one prompt, beside the law there."""

    def __init__(self, scores: TextScores, end_ids: frozenset[int], num_tokens: int) -> None:
        """Begin with nothing written.

        Args:
            end_ids: Any of these ends a continuation.
            num_tokens: Most tokens of a continuation.
        """
        self._scores = scores
        self._end_ids = end_ids
        self._num_tokens = num_tokens
        self._texts: Counter[Text] = Counter()
        self._alone: Counter[Text] = Counter()
        self._scored: dict[Text, tuple[Score, Score]] = {}
        self.laws = KnownLaws(scores.law_after)
        self.first: Counter[int] = Counter()
        """How often the lane wrote each token first."""
        self.first_alone: Counter[int] = Counter()
        """How often the target alone did."""
        self.num_texts = 0
        self._newest: tuple[int, JointCells] | None = None
        """The cells, and for how many texts."""
        self.next_law = self.laws.after(())
        """`[vocab]`: the target's, behind the prompt."""

    def add(self, text: Text, alone: Text) -> None:
        """Count a continuation that the lane wrote, and one of the target alone."""
        if text not in self._scored:
            self._scored[text] = self._scores.scores_of(text)
        self._texts[text] += 1
        self._alone[alone] += 1
        self.first[text[0]] += 1
        self.first_alone[alone[0]] += 1
        self.num_texts += 1

    def total_variation(self) -> tuple[float, float]:
        """Of the next token: how far its histogram is from the law, and how far one may be."""
        counts = torch.zeros_like(self.next_law)
        for token, count in self.first.items():
            counts[token] = count
        return self._variation(counts, self.next_law)

    def cells(self) -> tuple[CountedCell, ...]:
        """The cells of whole continuations, as fine as so many draws allow, and what they hold."""
        if self.num_texts == 0:
            return ()
        cells = self._cells()
        both = zip(
            cells.count(self._alone).values(), cells.count(self._texts).values(), strict=True
        )
        return tuple(
            CountedCell(cell, expected / self.num_texts, alone, lane)
            for (cell, expected), (alone, lane) in zip(cells.expected.items(), both, strict=True)
        )

    def joint_variation(self, cells: tuple[CountedCell, ...]) -> tuple[float, float]:
        """As `total_variation`, over the cells of whole continuations."""
        counts = torch.tensor([each.num_lane for each in cells], dtype=torch.float64)
        probs = torch.tensor([each.prob for each in cells], dtype=torch.float64)
        return self._variation(counts, probs)

    def check(self) -> tuple[CheckResult, ...]:
        """Test all that was written."""
        expected = (self.next_law * self.num_texts).tolist()
        first = chi_square([self.first[token] for token in range(len(expected))], expected)
        return (
            _result(CheckName.NEXT_TOKEN, first),
            _result(CheckName.CONTINUATION, self._cells().test(self._texts)),
            _result(CheckName.FAVOURED, self._sum_of_scores(0)),
            _result(CheckName.PROBABILITY, self._sum_of_scores(1)),
        )

    def _cells(self) -> JointCells:
        if self._newest is None or self._newest[0] != self.num_texts:
            cells = JointCells(self.laws.after, self._num_tokens, self._end_ids, self.num_texts)
            self._newest = self.num_texts, cells
        return self._newest[1]

    def _variation(self, counts: torch.Tensor, probs: torch.Tensor) -> tuple[float, float]:
        bound = total_variation_bound(probs, max(1, self.num_texts), LEVEL)
        return total_variation(counts, probs), bound

    def _sum_of_scores(self, which: int) -> ChiSquare:
        sums, variances = torch.zeros(2, self._num_tokens, dtype=torch.float64)
        for text, count in self._texts.items():
            score = self._scored[text][which]
            sums[: len(text)] += count * score.difference
            variances[: len(text)] += count * score.variance
        return squared_scores(sums.tolist(), variances.tolist())


def _result(name: CheckName, found: ChiSquare) -> CheckResult:
    return CheckResult(name, found.statistic, found.degrees, found.p_value)
