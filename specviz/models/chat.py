"""A prompt as a turn of a conversation, for models that were taught to answer."""

import json
from pathlib import Path
from typing import Any

from specviz.errors import PromptError
from specviz.texts import message


def has_chat_template(tokenizer: Any) -> bool:
    """Whether a tokenizer says how a conversation is written for its model."""
    return bool(getattr(tokenizer, "chat_template", None))


def folder_has_chat(folder: Path) -> bool:
    """Whether the tokenizer of a model folder has a chat template, without loading it."""
    if (folder / "chat_template.jinja").is_file():
        return True
    try:
        config = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(config, dict) and bool(config.get("chat_template"))


def encode_turn(tokenizer: Any, prompt: str, model_name: str) -> tuple[int, ...]:
    """Return the ids of the prompt as a user's turn, and of the beginning of the answer.

    Models that can think first are asked not to, where their template has that switch: what is
    raced is the answer. The template writes its own special tokens.

    Raises:
        PromptError: The template refuses the turn, or cannot be read.
    """
    turn = [{"role": "user", "content": prompt}]
    try:
        text = tokenizer.apply_chat_template(
            turn, tokenize=False, add_generation_prompt=True, enable_thinking=False
        )
    # A template is a program of its own, and raises what it likes.
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise PromptError(
            message("refusal.chat_template", model=model_name, reason=reason)
        ) from error
    return tuple(tokenizer(text, add_special_tokens=False)["input_ids"])
