"""Counts the continuations that a lane writes, and tests them against the target's law.

Chi-square looks at next tokens and at whole continuations, which thin out in a real vocabulary; the
scores of `text_scores` look at every position.
"""

from collections import Counter

import torch

from specviz.proof.joint_cells import JointCells
from specviz.proof.statistics import (
    ChiSquare,
    chi_square,
    squared_scores,
    total_variation,
    total_variation_bound,
)
from specviz.proof.text_scores import Score, Text, TextScores
from specviz.trace.proofs import LEVEL, CheckName, CheckResult


class Tally:
    """What one lane has written behind one prompt, beside the target's law there."""

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
        self._scored: dict[Text, tuple[Score, Score]] = {}
        self.first: Counter[int] = Counter()
        """How often each token came first."""
        self.num_texts = 0
        self.next_law = scores.law_after(())
        """`[vocab]`: the target's, behind the prompt."""

    def add(self, text: Text) -> None:
        """Count a continuation that the lane wrote."""
        if text not in self._scored:
            self._scored[text] = self._scores.scores_of(text)
        self._texts[text] += 1
        self.first[text[0]] += 1
        self.num_texts += 1

    def total_variation(self) -> tuple[float, float]:
        """Of the next token: how far its histogram is from the law, and how far one may be."""
        counts = torch.zeros_like(self.next_law)
        for token, count in self.first.items():
            counts[token] = count
        bound = total_variation_bound(self.next_law, max(1, self.num_texts), LEVEL)
        return total_variation(counts, self.next_law), bound

    def check(self) -> tuple[CheckResult, ...]:
        """Test all that was written."""
        expected = (self.next_law * self.num_texts).tolist()
        first = chi_square([self.first[token] for token in range(len(expected))], expected)
        law_after = self._scores.law_after
        cells = JointCells(law_after, self._num_tokens, self._end_ids, self.num_texts)
        return (
            _result(CheckName.NEXT_TOKEN, first),
            _result(CheckName.CONTINUATION, cells.test(self._texts)),
            _result(CheckName.FAVOURED, self._sum_of_scores(0)),
            _result(CheckName.PROBABILITY, self._sum_of_scores(1)),
        )

    def _sum_of_scores(self, which: int) -> ChiSquare:
        sums, variances = torch.zeros(2, self._num_tokens, dtype=torch.float64)
        for text, count in self._texts.items():
            score = self._scored[text][which]
            sums[: len(text)] += count * score.difference
            variances[: len(text)] += count * score.variance
        return squared_scores(sums.tolist(), variances.tolist())


def _result(name: CheckName, found: ChiSquare) -> CheckResult:
    return CheckResult(name, found.statistic, found.degrees, found.p_value)
