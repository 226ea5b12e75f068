"""The page's texts: one table a language, and messages that name a text and what goes into it.

A translation is one file, `assets/strings/LANGUAGE.json`, with the sections and keys of `en.json`.
What the server says travels as a message and becomes words in the browser, so that a recorded race
speaks every language. Placeholders: `{name}` is replaced by a value, `{n|guess|guesses}` by the
first form where the number n takes the language's singular and by the second form elsewhere.
"""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import gradio as gr

from specviz.errors import PromptError, RequestError
from specviz.ui.assets import STRINGS_FOLDER

Message = dict[str, Any]
"""`{"id": "section.key", name: value, …}`; a value is a number, a text, or a message itself."""
Text = str | Message
"""What a reader sees: a text in no language of ours (a model's name, a prompt), or a message."""

PLACEHOLDER = re.compile(r"\{(\w+)(?:\|([^|{}]*)\|([^|{}]*))?\}")


class PageError(RequestError):
    """A refusal that the page tells in the visitor's language, and programs in English."""

    def __init__(self, id_: str, **values: object) -> None:
        self.message = message(id_, **values)
        super().__init__(in_english(self.message))


class PagePromptError(PageError, PromptError):
    """A refusal of the prompt."""


def message(id_: str, **values: object) -> Message:
    """Name a text of the table and give the values of its placeholders.

    Raises:
        ValueError: the table has no such text, or its placeholders are others.
    """
    english = read_table("en").get(id_)
    if english is None:
        raise ValueError(f"no text {id_!r} in the table")
    expected = {found[1] for found in PLACEHOLDER.finditer(english)}
    if expected != set(values):
        raise ValueError(f"text {id_!r} takes {sorted(expected)}, got {sorted(values)}")
    return {"id": id_, **values}


def in_english(text: Text) -> str:
    """Write a message out in English; a plain text stays as it is."""
    if isinstance(text, str):
        return text

    def fill(found: re.Match[str]) -> str:
        value = text[found[1]]
        if found[2] is not None:
            return found[2] if value == 1 else found[3]
        return _number(value) if isinstance(value, int | float) else in_english(value)

    return PLACEHOLDER.sub(fill, read_table("en")[text["id"]])


def _number(value: float) -> str:
    """Write a number as the page writes it in English, with at most three decimals."""
    return f"{value:,.3f}".rstrip("0").rstrip(".")


def languages() -> tuple[str, ...]:
    """Return the languages that have a table, English first."""
    found = sorted(path.stem for path in STRINGS_FOLDER.glob("*.json"))
    return tuple(sorted(found, key=lambda language: language != "en"))


@cache
def read_table(language: str) -> dict[str, str]:
    """Return a language's texts by `section.key`."""
    path: Path = STRINGS_FOLDER / f"{language}.json"
    sections = json.loads(path.read_text(encoding="utf-8"))
    return {
        f"{section}.{key}": text
        for section, texts in sections.items()
        for key, text in texts.items()
    }


def translations() -> gr.I18n:
    """Return every table, as `launch` takes them for Gradio's own labels."""
    return gr.I18n(**{language: read_table(language) for language in languages()})


def label(id_: str) -> Any:
    """Return a text for a label of a Gradio component, translated in the browser."""
    return gr.I18n()(message(id_)["id"])
