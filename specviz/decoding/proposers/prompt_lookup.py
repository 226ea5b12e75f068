"""Drafts by copying what followed the same words earlier in the text; no model."""

from collections.abc import Sequence

from specviz.decoding.proposal import NOTHING, Proposal, chain
from specviz.decoding.sampling import Chance
from specviz.trace.limits import MIN_NGRAM


class PromptLookup:
    """Looks for the longest earlier match of the newest tokens; of equally long ones the most
    recent wins.

    Example with max_ngram 3: after "a b c d … a b c" it finds "a b c" and drafts "d …". A match
    that reaches the end of the text goes on copying what it has just drafted, so "x y x y" drafts
    "x y x y …".
    """

    def __init__(self, max_ngram: int, eos_ids: frozenset[int]) -> None:
        self._sizes = range(max(max_ngram, MIN_NGRAM), MIN_NGRAM - 1, -1)
        self._eos_ids = eos_ids
        self._follower: dict[tuple[int, ...], int] = {}
        self._num_indexed = 0

    def reset(self, prompt_ids: Sequence[int]) -> None:
        """Forget the last text and index the prompt."""
        self._follower.clear()
        self._num_indexed = 0
        self._index(prompt_ids)

    def propose(self, committed_ids: Sequence[int], gamma: int, chance: Chance) -> Proposal:
        """Copy up to `gamma` tokens from behind the match; nothing where there is none."""
        self._index(committed_ids)
        for size in self._sizes:
            start = self._follower.get(tuple(committed_ids[-size:]))
            if start is not None and len(committed_ids) >= size:
                return chain(self._copy(committed_ids, start, gamma))
        return NOTHING

    def _index(self, ids: Sequence[int]) -> None:
        """Note for every n-gram that something follows where its newest follower stands."""
        for end in range(self._num_indexed, len(ids)):
            for size in self._sizes:
                if end >= size:
                    self._follower[tuple(ids[end - size : end])] = end
        self._num_indexed = len(ids)

    def _copy(self, ids: Sequence[int], start: int, gamma: int) -> list[int]:
        text = list(ids)
        for source in range(start, start + gamma):
            text.append(text[source])
            if text[-1] in self._eos_ids:
                break
        return text[len(ids) :]
