"""Reads the prompts that a draft is fitted on, and holds some of them out.

A file whose name ends in .jsonl or .json holds JSON lines: objects with `prompt`, or with `turns`,
of which the first is taken, or plain strings. Any other file is text with one prompt a line, in
which `\\n` stands for a line break, `\\t` for a tab and `\\\\` for a backslash. Empty lines and
repeated prompts are left out.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path

from specviz.errors import RequestError
from specviz.trace.fits import MIN_PROMPTS

HELD_OUT_SHARE = 0.2
MIN_HELD_OUT = 2
_SIGNS = {"n": "\n", "t": "\t", "\\": "\\"}


def read_prompts(path: Path, at_least: int = MIN_PROMPTS) -> tuple[str, ...]:
    """Read the prompts of a file, each once.

    Raises:
        RequestError: The file cannot be read, or holds a bad line or too few prompts.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise RequestError(f"{path} cannot be read: {reason}") from error
    read = _from_json if path.suffix in (".jsonl", ".json") else _from_text
    prompts = [
        read(line, f"{path.name} line {number}")
        for number, line in enumerate(lines, start=1)
        if line.strip()
    ]
    different = tuple(dict.fromkeys(prompts))
    if len(different) < at_least:
        raise RequestError(
            f"{path.name} holds {len(different)} different prompts, at least {at_least} are "
            "needed; write one a line, or one JSON object a line in a .jsonl file"
        )
    return different


def _from_text(line: str, where: str) -> str:
    return re.sub(r"\\([nt\\])", lambda found: _SIGNS[found[1]], line)


def _from_json(line: str, where: str) -> str:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise RequestError(f"{where} is not JSON: {error}; write one JSON object a line") from error
    if isinstance(row, dict):
        turns = row.get("turns")
        row = row.get("prompt", turns[0] if isinstance(turns, list) and turns else None)
    if not isinstance(row, str) or not row.strip():
        raise RequestError(
            f'{where} holds no prompt; a line is {{"prompt": "…"}}, {{"turns": ["…"]}} or "…"'
        )
    return row


def read_split(
    prompts_file: Path, held_out_file: Path | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Read the prompts to learn from and the held-out ones, from one file or from two.

    Raises: as `read_prompts` and `split_prompts`.
    """
    prompts = read_prompts(prompts_file)
    held_out = read_prompts(held_out_file, MIN_HELD_OUT) if held_out_file else ()
    return split_prompts(prompts, held_out)


def split_prompts(
    prompts: Sequence[str], held_out: Sequence[str] = ()
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split into prompts to learn from and held-out ones, never one in both.

    Without `held_out`, the fifth of the prompts with the lowest sha1 is held out, at least two: the
    same ones whatever their order in the file. With it, these are, and are no longer learned from.

    Raises:
        RequestError: Nothing is left to learn from.
    """
    if not held_out:
        count = max(MIN_HELD_OUT, round(HELD_OUT_SHARE * len(prompts)))
        held_out = sorted(prompts, key=lambda text: hashlib.sha1(text.encode()).digest())[:count]
    apart = set(held_out)
    learned = tuple(prompt for prompt in prompts if prompt not in apart)
    if not learned:
        raise RequestError("every prompt is held out; give prompts to learn from, too")
    return learned, tuple(held_out)
