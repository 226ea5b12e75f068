"""The prompts of a sweep: the gallery, a file in the form of Spec-Bench, or a text of own lines."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from specviz.bench.plan import GalleryPrompt
from specviz.errors import RequestError
from specviz.texts import Message, Text, message, read_table

ALL = "all"
"""What stands for all categories together, so that no category may have this name."""
OWN_LINES = "lines"
"""The category of prompts that came without one."""
MAX_BYTES = 20_000_000
MAX_PROMPTS = 2000


def read_suite(path: Path) -> tuple[GalleryPrompt, ...]:
    """Read prompts from a file: `.jsonl` in the form of Spec-Bench, else a prompt a line.

    Raises:
        RequestError: The file cannot be read or holds more than 20 MB, and as `suite_of_text`.
    """
    try:
        with open(path, "rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        problem = {"path": str(path), "reason": str(error.strerror)}
        raise RequestError(message("refusal.unreadable", **problem)) from error
    if len(content) > MAX_BYTES:
        raise _refusal(str(path), message("format.too_big", allowed=MAX_BYTES // 10**6))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _refusal(str(path), message("sweep.no_utf8")) from error
    return suite_of_text(text, str(path), is_questions=path.suffix == ".jsonl")


def suite_of_text(text: str, name: str, *, is_questions: bool) -> tuple[GalleryPrompt, ...]:
    """Read prompts from the text of a file: a prompt a line, or Spec-Bench's questions.

    A line of Spec-Bench is an object with `question_id`, `category` and `turns`, of which the first
    turn is the prompt; other keys are left alone.

    Raises:
        RequestError: It holds no prompt, more than 2,000 of them, or a line that does not fit;
            names `name` and the line.
    """
    read = _question if is_questions else _own_line
    # Not splitlines, which also cuts at characters that JSON allows within a line.
    lines = enumerate(text.split("\n"), 1)
    prompts = tuple(read(name, number, line) for number, line in lines if line.strip())
    if not prompts:
        raise _refusal(name, message("sweep.no_prompts"))
    if len(prompts) > MAX_PROMPTS:
        raise _refusal(name, message("sweep.many_prompts", n=len(prompts), most=MAX_PROMPTS))
    seen: set[str] = set()
    for prompt in prompts:
        if prompt.id in seen:
            raise _refusal(name, message("sweep.id_twice", found=prompt.id))
        seen.add(prompt.id)
    return prompts


def _own_line(name: str, number: int, line: str) -> GalleryPrompt:
    return GalleryPrompt(OWN_LINES, f"line_{number}", line.strip())


def _question(name: str, number: int, line: str) -> GalleryPrompt:
    try:
        found: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _refusal(name, message("sweep.line_no_json", line=number)) from error
    if not isinstance(found, dict):
        raise _refusal(name, message("sweep.line_no_json", line=number))
    category, turns = found.get("category"), found.get("turns")
    first = turns[0] if isinstance(turns, list) and turns else None
    is_named = isinstance(category, str) and bool(category.strip()) and category != ALL
    if type(found.get("question_id")) not in (int, str) or not is_named:
        raise _refusal(name, message("sweep.line_lacks", line=number, all=ALL))
    if not isinstance(first, str) or not first.strip():
        raise _refusal(name, message("sweep.line_lacks", line=number, all=ALL))
    return GalleryPrompt(str(category), f"{category}_{found['question_id']}", first)


def own_kinds(prompts: Sequence[GalleryPrompt]) -> tuple[str, ...]:
    """Which categories of prompts are of this house: those of the gallery, and `OWN_LINES`.

    Their names are texts (`kind.NAME`); those of anybody else's suite stay as they are written.
    """
    table = read_table("en")
    categories = dict.fromkeys(prompt.group for prompt in prompts)
    foreign = {
        prompt.group
        for prompt in prompts
        if prompt.group != OWN_LINES and f"prompt.{prompt.id}" not in table
    }
    return tuple(name for name in categories if name not in foreign and f"kind.{name}" in table)


def kind_name(category: str, own: Sequence[str]) -> Text:
    """What a reader is told of a category, given those of this house."""
    return message(f"kind.{category}") if category in own else category


def _refusal(name: str, problem: Message) -> RequestError:
    return RequestError(message("format.in_file", path=name, problem=problem))
