"""One growing text between two tokenizers: what a draft reads in place of the target's tokens, and
the target's tokens of what it writes.

The text itself is the truth. Where a tokenizer does not give it back, or a token holds half a
character, the bridge says less rather than something else: the worst that can come of it is a draft
that is not made.
"""

from collections.abc import Sequence
from typing import Any

from specviz.models.cut_text import MAX_HALF, TextCutter
from specviz.models.detokenizer import REPLACEMENT

MAX_OPEN = 48
"""Tokens of the target after which the older ones are cut for the draft once and for all."""
KEPT_OPEN = 16
"""How many of them are cut anew whenever the text grows, since the next ones may be joined to
them."""
_CONTEXT = 16
_MAX_TRIED = 3


class TextBridge:
    """What one lane's target and draft of another tokenizer tell each other.

    `read` comes before `write`: what is written follows what was read.
    """

    def __init__(
        self, target: Any, draft: Any, target_eos: frozenset[int], draft_eos: frozenset[int]
    ) -> None:
        """Join two tokenizers; `_eos` are the ids that end a text of each model."""
        self._target, self._draft = TextCutter(target), TextCutter(draft)
        self._specials = _specials_between(target, draft)
        self._opening = _opening(draft, self._draft)
        self._target_eos = end_id(target, target_eos)
        self.num_draft_ids = len(draft)
        """Ids of the draft that mean anything: its output layer may have more rows."""
        self.draft_eos = draft_eos
        self.draft_stops = draft_eos | special_ids(draft)
        """Ids of the draft that stand for no text; some of them end it."""
        self.reset()

    def reset(self) -> None:
        """Begin a new text."""
        self._committed: list[int] = []
        self._settled = list(self._opening)
        """Ids of the draft that no later text can change."""
        self._has_begun = False
        self._before: list[int] = []
        """Tokens of the target right before those that are open, in the same stretch of text."""
        self._open: list[int] = []
        self._max_open = MAX_OPEN
        self._num_half = 0
        self._last_read: list[int] = []

    @property
    def half(self) -> tuple[int, ...]:
        """Tokens of the target at the end of the text that hold the beginning of a character, which
        the draft could not be given."""
        return tuple(self._open[len(self._open) - self._num_half :])

    def read(self, committed_ids: Sequence[int]) -> list[int]:
        """Return what the draft reads for `committed_ids`; where these go on from those of last
        time, only the newest are cut anew.

        Special tokens become the draft's of the same name or role, or nothing.
        """
        committed_ids = list(committed_ids)
        if committed_ids[: len(self._committed)] != self._committed:
            self.reset()
        for token_id in committed_ids[len(self._committed) :]:
            special = self._specials.get(token_id)
            if special is None:
                self._open.append(token_id)
            else:
                self._end_stretch(special)
        self._committed = committed_ids
        text = self._open_text()
        ids = self._cut(text)
        if len(self._open) > self._max_open:
            self._settle(text, ids)
            ids = self._cut(self._open_text())
        self._last_read = [*self._settled, *ids]
        return list(self._last_read)

    def write(self, drafted_ids: Sequence[int], *, is_ended: bool) -> list[int]:
        """Return the target's tokens of what the draft wrote behind what was read last.

        Args:
            drafted_ids: Without the end token, which is `is_ended` and becomes the target's.

        Returns:
            As many as give exactly that text, or its beginning where the target's tokenizer does
            not give back all of it. None where the text ends inside a character that the draft
            goes on with otherwise.
        """
        written = self._draft.text_after(self._last_read, drafted_ids)
        text = written.partition(REPLACEMENT)[0]
        half, whole = self.half, self._whole_ids()
        ids = self._aligned(whole, self._target.go_on(text), text)
        if tuple(ids[: len(half)]) != half:
            return []
        is_all = text == written and self._target.text_after(whole, ids) == text
        ends = [self._target_eos] if is_ended and is_all and self._target_eos is not None else []
        return ids[len(half) :] + ends

    def _aligned(self, before: Sequence[int], ids: list[int], text: str) -> list[int]:
        """The most of `ids` that the target would read as the beginning of `text`; what it does not
        know, it cannot read."""
        known = next((x for x, token_id in enumerate(ids) if token_id in self._specials), len(ids))
        for num_ids in range(known, 0, -1):
            read = self._target.text_after(before, ids[:num_ids])
            if text.startswith(read.rstrip(REPLACEMENT)):
                return ids[:num_ids]
        return []

    def _whole_ids(self) -> list[int]:
        """Newest tokens of the text up to its last whole character."""
        return [*self._before, *self._open[: len(self._open) - self._num_half]]

    def _open_text(self) -> str:
        """Text of the open tokens up to the last whole character; notes what is behind it."""
        for num_half in range(min(MAX_HALF, len(self._open)) + 1):
            ids = self._open[: len(self._open) - num_half]
            text = self._target.text_after(self._before, ids)
            if not text.endswith(REPLACEMENT):
                self._num_half = num_half
                return text
        self._num_half = 0
        return self._target.text_after(self._before, self._open)

    def _cut(self, text: str) -> list[int]:
        if not text:
            return []
        return self._draft.go_on(text) if self._has_begun else self._draft.begin(text)

    def _end_stretch(self, special: Sequence[int]) -> None:
        self._settled += [*self._cut(self._open_text()), *special]
        self._has_begun = self._has_begun or bool(self._open)
        self._before, self._open, self._num_half = [], [], 0

    def _settle(self, text: str, ids: list[int]) -> None:
        """Cut the older part of the open text for good, where that changes no token of it."""
        num_tried = 0
        for end in range(len(self._open) - KEPT_OPEN, 0, -1):
            left = self._target.text_after(self._before, self._open[:end])
            right = text[len(left) :]
            if not text.startswith(left) or not right[:1].isspace():
                continue
            settled = self._cut(left)
            if settled + self._draft.go_on(right) == ids:
                self._settled += settled
                self._has_begun = True
                self._before = [*self._before, *self._open[:end]][-_CONTEXT:]
                del self._open[:end]
                return
            num_tried += 1
            if num_tried == _MAX_TRIED:
                break
        # It is tried again when there is twice as much, not in every round.
        self._max_open = 2 * len(self._open)


def special_ids(tokenizer: Any) -> frozenset[int]:
    """Return the ids of all tokens that stand for no text."""
    added = tokenizer.added_tokens_decoder
    return frozenset(tokenizer.all_special_ids) | {
        token_id for token_id, token in added.items() if token.special
    }


def _specials_between(target: Any, draft: Any) -> dict[int, list[int]]:
    """What each special token of the target is for the draft: the one of the same name, or the end
    for the end, else nothing. What begins a text is nothing: the draft's own stands there."""
    theirs = {draft.convert_ids_to_tokens(token_id): token_id for token_id in special_ids(draft)}
    result: dict[int, list[int]] = {}
    for token_id in special_ids(target) - {target.bos_token_id}:
        same = theirs.get(target.convert_ids_to_tokens(token_id))
        if same is None and token_id == target.eos_token_id:
            same = draft.eos_token_id
        result[token_id] = [] if same is None else [same]
    return result | {target.bos_token_id: []}


def _opening(tokenizer: Any, cutter: TextCutter) -> list[int]:
    """What a tokenizer puts before every text."""
    with_opening, plain = tokenizer("x")["input_ids"], cutter.begin("x")
    for start in range(len(with_opening) - len(plain) + 1):
        if with_opening[start : start + len(plain)] == plain:
            return list(with_opening[:start])
    return []


def end_id(tokenizer: Any, eos_ids: frozenset[int]) -> int | None:
    """Return the id that ends a text, the tokenizer's own if it does; None where nothing does."""
    own = getattr(tokenizer, "eos_token_id", None)
    return own if own in eos_ids else min(eos_ids, default=None)
