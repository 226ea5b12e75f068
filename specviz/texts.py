"""The texts that specviz speaks with: one table a language, and messages that name a text of it.

A translation is one file, `assets/strings/LANGUAGE.json`, with the sections and keys of `en.json`.
What is said travels as a message: the page writes it in the reader's language, command line and
programs in English. Placeholders: `{name}` is replaced by a value, `{n|guess|guesses}` by the first
form where the number n takes the language's singular and by the second form elsewhere.
"""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

STRINGS_FOLDER = Path(__file__).resolve().parents[1] / "assets" / "strings"

Message = dict[str, Any]
"""`{"id": "section.key", name: value, …}`; a value is a number, a text, or a message itself."""
Text = str | Message
"""What a reader sees: a text in no language of ours (a model's name, a prompt), or a message."""

PLACEHOLDER = re.compile(r"\{(\w+)(?:\|([^|{}]*)\|([^|{}]*))?\}")


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
