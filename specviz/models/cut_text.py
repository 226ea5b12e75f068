"""Text to token ids and back as it stands inside a longer text, with any tokenizer.

Nothing is put before a text or cleaned up behind it, and the names of special tokens are read as
the letters that they are written with.
"""

from collections.abc import Sequence
from typing import Any

from specviz.models.detokenizer import REPLACEMENT

_BEFORE = "\n"
"""A text before a text: nothing is merged across it."""
MAX_HALF = 8
"""Most tokens at the end of a text that are taken for the beginning of one character."""
_MAX_CONTEXT = 16


class TextCutter:
    """One tokenizer."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        before, after = self.begin(_BEFORE), self.begin("x")
        self._before = before if self.begin(_BEFORE + "x") != before + after else []
        """Ids of what is put before a text so that the tokenizer puts nothing there itself, as
        SentencePiece puts a space before the first word."""

    def begin(self, text: str) -> list[int]:
        """Cut a text that nothing stands before."""
        ids: list[int] = self._tokenizer.encode(
            text, add_special_tokens=False, split_special_tokens=True
        )
        return ids

    def go_on(self, text: str) -> list[int]:
        """Cut a text that follows another."""
        if not self._before:
            return self.begin(text)
        ids = self.begin(_BEFORE + text)
        num_before = len(self._before)
        return ids[num_before:] if ids[:num_before] == self._before else self.begin(text)

    def text(self, ids: Sequence[int]) -> str:
        """Join tokens; bytes that are no character are written as replacement signs."""
        text: str = self._tokenizer.decode(
            list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return text

    def text_after(self, before_ids: Sequence[int], ids: Sequence[int]) -> str:
        """Write what `ids` add to the text of the tokens before them.

        Some tokenizers drop the space of a first word, so these are joined with their last
        neighbours: as few as begin with a whole character and are seen.
        """
        context: Sequence[int] = ()
        shown = ""
        for num_ids in range(1, min(len(before_ids), _MAX_CONTEXT) + 1):
            tried = before_ids[len(before_ids) - num_ids :]
            text = self.text(tried)
            if text.startswith(REPLACEMENT):
                continue
            context, shown = tried, text
            if text:
                break
        whole = self.text([*context, *ids])
        # An incomplete character at the end of what was shown is complete now.
        return whole[len(shown.rstrip(REPLACEMENT)) :] if shown else whole
