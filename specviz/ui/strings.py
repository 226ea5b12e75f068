"""The texts of `specviz.texts` as the page needs them: its refusals, its languages, its labels."""

from typing import Any

import gradio as gr

from specviz.errors import PromptError, RequestError
from specviz.texts import (
    PLACEHOLDER,
    STRINGS_FOLDER,
    Message,
    Text,
    in_english,
    message,
    read_table,
)

__all__ = [
    "PLACEHOLDER",
    "Message",
    "PageError",
    "PagePromptError",
    "Text",
    "in_english",
    "label",
    "languages",
    "message",
    "read_table",
    "translations",
]


class PageError(RequestError):
    """A refusal by the page itself, named by its text."""

    def __init__(self, id_: str, **values: object) -> None:
        super().__init__(message(id_, **values))


class PagePromptError(PageError, PromptError):
    """A refusal of the prompt."""


def languages() -> tuple[str, ...]:
    """Return the languages that have a table, English first."""
    found = sorted(path.stem for path in STRINGS_FOLDER.glob("*.json"))
    return tuple(sorted(found, key=lambda language: language != "en"))


def translations() -> gr.I18n:
    """Return every table, as `launch` takes them for Gradio's own labels."""
    return gr.I18n(**{language: read_table(language) for language in languages()})


def label(id_: str) -> Any:
    """Return a text for a label of a Gradio component, translated in the browser."""
    return gr.I18n()(message(id_)["id"])
