"""What a draft of another tokenizer needs of whoever knows both tokenizers."""

from collections.abc import Sequence
from typing import Protocol


class Bridge(Protocol):
    """One growing text between a target's token ids and a draft's.

    What it says is a function of the committed ids and of what it is given: nothing of the target's
    coins goes into it.
    """

    @property
    def num_draft_ids(self) -> int:
        """Ids of the draft that mean anything: its output layer may have more rows."""

    @property
    def draft_eos(self) -> frozenset[int]:
        """Ids with which the draft ends a text."""

    @property
    def draft_stops(self) -> frozenset[int]:
        """Those, and all that stand for no text."""

    @property
    def half(self) -> tuple[int, ...]:
        """Tokens of the target at the end of what was read that hold half a character, which the
        draft could not be given."""

    def reset(self) -> None:
        """Begin a new text."""

    def read(self, committed_ids: Sequence[int]) -> list[int]:
        """Return what the draft reads in place of the target's tokens."""

    def write(self, drafted_ids: Sequence[int], *, is_ended: bool) -> list[int]:
        """Return the target's tokens of what the draft wrote behind that: as many as give exactly
        its text, or the beginning of it."""
