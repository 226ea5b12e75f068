"""What two tokenizers have in common, token by token, though their ids differ."""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from specviz.models.token_bytes import token_bytes

ORDINARY = (
    "Once upon a time there was a quick little fox who lived in a big forest. One day he met a "
    'bear. "Why are you so sad?" asked the fox. The bear looked at the river and said, "My '
    "friends went home before the rain, and I don't know where they are.\"\n"
    "Question: Which of these materials would you use to keep a house warm in winter, and why? "
    "Answer: Wool, because it holds a lot of air; the price was about 12 dollars in 2019.\n"
    "def find_largest(numbers):\n    largest = None\n    for number in numbers:\n"
    "        if largest is None or number > largest:\n            largest = number\n"
    "    return largest\n"
)
"""A text of the kinds that are raced most, on which two tokenizers are compared."""
MIN_CUT_ALIKE = 0.8
"""Share of tokens cut alike from which drafting shared tokens serves better than text: of the rest
none can be drafted, while text loses the overlap of two laws against the probability of one token,
about as much."""


def shared_tokens(target: Any, draft: Any) -> dict[int, int]:
    """Map ids of the draft's tokenizer to those of the target's that stand for the same bytes.

    One to one: of several ids with the same bytes each side takes the first that `token_bytes`
    gives. Special tokens are left out. Empty where the bytes of one side are not known.
    """
    ours, theirs = token_bytes(target), token_bytes(draft)
    if ours is None or theirs is None:
        return {}
    first_ours, first_theirs = _first_ids(ours), _first_ids(theirs)
    return {
        theirs_id: first_ours[data]
        for data, theirs_id in first_theirs.items()
        if data in first_ours
    }


def share_cut_alike(target: Any, draft: Any) -> float:
    """Return the share of the target's tokens of an ordinary text that are tokens of the draft
    too, at the same place in that text; 0 where the bytes of one side are not known."""
    ours, theirs = _spans(target), _spans(draft)
    return len(ours & theirs) / len(ours) if ours and theirs else 0.0


def are_cut_alike(target: Any, draft: Any) -> bool:
    """Whether a draft of another tokenizer does well to draft only tokens that both have."""
    return share_cut_alike(target, draft) >= MIN_CUT_ALIKE


def tokens_a_token(target: Any, draft: Any) -> float:
    """Return how many tokens the draft reads an ordinary text as, for one of the target's."""
    ours, theirs = (len(ordinary_ids(each)) for each in (target, draft))
    return theirs / max(ours, 1)


def ordinary_ids(tokenizer: Any) -> Sequence[int]:
    """Cut the ordinary text into tokens."""
    ids: list[int] = tokenizer.encode(ORDINARY, add_special_tokens=False)
    return ids


def _first_ids(pieces: Mapping[int, bytes]) -> dict[bytes, int]:
    result: dict[bytes, int] = {}
    for token_id, data in pieces.items():
        result.setdefault(data, token_id)
    return result


def _spans(tokenizer: Any) -> set[tuple[int, int]]:
    """Begin and end of each token of the ordinary text, in bytes before its end: some tokenizers
    put a space before it."""
    pieces = token_bytes(tokenizer)
    if pieces is None:
        return set()
    lengths = [len(pieces.get(token_id, b"")) for token_id in ordinary_ids(tokenizer)]
    ends = list(accumulate(lengths))
    return {
        (end - length - ends[-1], end - ends[-1]) for end, length in zip(ends, lengths, strict=True)
    }
