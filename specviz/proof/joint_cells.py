"""The law of whole continuations in cells: as fine as so many draws can tell apart."""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import torch

from specviz.proof.statistics import LEAST_EXPECTED, ChiSquare, chi_square
from specviz.proof.text_scores import Text

NextLaw = Callable[[Text], torch.Tensor]
"""From the tokens behind the prompt to the law `[vocab]`, float64, of the next one."""


class Cell(NamedTuple):
    """All texts that begin alike and have no finer cell."""

    text: Text
    """How they begin."""
    is_rest: bool
    """Whether it holds those that go on with a token that is no branch of its own there."""


class JointCells:
    """Cells of all texts of a few tokens, with what each is expected to hold.

    Texts form a tree. From the root on, each token that is expected often enough becomes a branch
    of its own and all others of that place one cell together, and so on until the branches are too
    thin. Which cells there are follows from the law and the number of draws alone, never from what
    was drawn, so chi-square's law holds.

    Example with 20 draws of (.6, .3, .1), two tokens: the branches 0 (expected 12) and 1 (6), the
    rest 2; below 0 again 0 (7.2) and the rest (4.8); 1 is too thin to be split.
    """

    def __init__(
        self, next_law: NextLaw, num_tokens: int, end_ids: Iterable[int], num_draws: int
    ) -> None:
        self._next_law = next_law
        self._num_tokens = num_tokens
        self._end_ids = frozenset(end_ids)
        self._num_draws = num_draws
        self._branches: dict[Text, frozenset[int]] = {}
        self.expected: dict[Cell, float] = {}
        """How many of the draws each cell is expected to hold; they sum to their number."""
        self._split((), 1.0)

    def _split(self, text: Text, prob: float) -> None:
        """Make the cells below `text`, whose probability is `prob`."""
        is_complete = len(text) == self._num_tokens or not self._end_ids.isdisjoint(text[-1:])
        if is_complete or prob * self._num_draws < 2 * LEAST_EXPECTED:
            self.expected[Cell(text, False)] = prob * self._num_draws
            return
        law = self._next_law(text)
        tokens = (law * prob * self._num_draws >= LEAST_EXPECTED).nonzero()[:, 0].tolist()
        probs = law[tokens].tolist()
        self._branches[text] = frozenset(tokens)
        for token, share in zip(tokens, probs, strict=True):
            self._split((*text, token), prob * share)
        self.expected[Cell(text, True)] = max(0.0, 1 - sum(probs)) * prob * self._num_draws

    def count(self, texts: Mapping[Text, int]) -> dict[Cell, int]:
        """Count drawn texts by their cells, in the order of `expected`."""
        counts = dict.fromkeys(self.expected, 0)
        for text, count in texts.items():
            counts[self._cell(text)] += count
        return counts

    def test(self, texts: Mapping[Text, int]) -> ChiSquare:
        """Test how often texts were drawn, as many in all as were announced."""
        return chi_square(list(self.count(texts).values()), list(self.expected.values()))

    def _cell(self, text: Text) -> Cell:
        """The branch that a text ends in, or the rest there."""
        prefix: Text = ()
        for token in text:
            if prefix not in self._branches:
                break
            if token not in self._branches[prefix]:
                return Cell(prefix, True)
            prefix = (*prefix, token)
        return Cell(prefix, False)
