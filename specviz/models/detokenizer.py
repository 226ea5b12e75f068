"""Token ids to text, one at a time and as a growing output."""

from collections.abc import Sequence
from typing import Any

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
MAX_PENDING = 8
"""Tokens after which an incomplete character is shown as it is: no character takes more than four
bytes."""
MAX_PROMPT_CONTEXT = 32
"""Newest tokens of a prompt among which its last visible text is looked for."""


class IncrementalDetokenizer:
    """Texts of the tokens of one lane.

    A token can hold part of a character; `append` then gives nothing until the token that completes
    it, so the pieces joined are exactly the decoded output.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._texts: dict[int, str] = {}
        self.reset(())

    def reset(self, prompt_ids: Sequence[int]) -> None:
        """Start a new output, the one that follows a prompt.

        Some tokenizers drop the space of a first word, so the last visible text of the prompt
        stands before the output wherever that is decoded.
        """
        self._context: list[int] = []
        self._pending: list[int] = []
        self._shown = ""
        for num_ids in range(1, min(len(prompt_ids), MAX_PROMPT_CONTEXT) + 1):
            context = list(prompt_ids[-num_ids:])
            text = self._decode(context, skip_special=True)
            if text.startswith(REPLACEMENT):
                # It begins inside a character and would spoil the bytes that follow it.
                continue
            self._context, self._shown = context, text
            if text:
                return

    def token_text(self, token_id: int) -> str:
        """Text of one token by itself; an incomplete character shows as a replacement sign."""
        text = self._texts.get(token_id)
        if text is None:
            text = self._texts[token_id] = self._token_text(token_id)
        return text

    def append(self, token_id: int) -> str:
        """Text that this token adds to the output; empty for end marks and incomplete
        characters."""
        self._pending.append(token_id)
        text = self._decode(self._context + self._pending, skip_special=True)
        if text.endswith(REPLACEMENT) and len(self._pending) < MAX_PENDING:
            complete = text.rstrip(REPLACEMENT)
            added = complete[len(self._shown) :]
            self._shown = complete if added else self._shown
            return added
        added = text[len(self._shown) :]
        # The last piece stays as context, as the prompt's did; all of its tokens, for a part of a
        # character would spoil the bytes that follow it.
        self._context = self._pending if added else self._context + self._pending
        self._pending = []
        self._shown = self._decode(self._context, skip_special=True)
        return added

    def _token_text(self, token_id: int) -> str:
        piece = self._tokenizer.convert_ids_to_tokens(token_id)
        if piece is None:
            return f"[{token_id}]"
        text = self._decode([token_id], skip_special=False)
        return f" {text}" if piece.startswith("\u2581") and not text.startswith(" ") else text

    def _decode(self, ids: list[int], *, skip_special: bool) -> str:
        text: str = self._tokenizer.decode(
            ids, skip_special_tokens=skip_special, clean_up_tokenization_spaces=False
        )
        return text
