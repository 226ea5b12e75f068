"""Whether the ids of two tokenizers mean the same."""

from dataclasses import dataclass
from typing import Any

from specviz.texts import Message, message

PROBES = (
    "Once upon a time there was a fox.",
    "def add(a, b):\n    return a + b\n",
    "  two  spaces\tand a tab",
    "naïve café, Übermut, 東京, 🦊",
    "3.14159 + 2,718 = ?",
)
MAX_MISSING = 0.01
"""Share of the target's entries that only one of the two tokenizers may have."""


@dataclass(frozen=True, slots=True)
class SharedVocabulary:
    """What the maps of two tokenizers have in common."""

    num_shared: int
    num_only_one: int
    """Entries that only one of the two has."""
    problem: Message | None
    """Why one cannot draft for the other; None where it can."""


def compare_vocabularies(
    target_name: str, target: Any, draft_name: str, draft: Any
) -> SharedVocabulary:
    """Compare two tokenizers entry by entry, and how they cut probe texts.

    Vocabularies of equal size can differ, and equal ones can stand in output layers of different
    size, so the maps themselves are compared.
    """
    ours, theirs = target.get_vocab(), draft.get_vocab()
    num_shared, num_only_one = len(ours.keys() & theirs.keys()), len(ours.keys() ^ theirs.keys())
    pair = {"draft": draft_name, "target": target_name}
    differing = [piece for piece, number in ours.items() if theirs.get(piece, number) != number]
    problem: Message | None = None
    if differing:
        piece = differing[0]
        problem = message(
            "refusal.pair_ids",
            **pair,
            piece=repr(piece),
            ours=str(ours[piece]),
            theirs=str(theirs[piece]),
        )
    elif num_only_one > MAX_MISSING * len(ours):
        problem = message("refusal.pair_entries", **pair, shared=num_shared, all=len(ours))
    else:
        cut = [text for text in PROBES if target.encode(text) != draft.encode(text)]
        if cut:
            problem = message("refusal.pair_cuts", **pair, text=repr(cut[0]))
    return SharedVocabulary(num_shared, num_only_one, problem)
