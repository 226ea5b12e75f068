"""Puts one syntax error, of the kinds that people make, into a source that has none."""

import random
import re

_RETURN = re.compile(r"\breturn (?=[\w\"])(?!not\b)")  # before "not", "(" or "-" it would compile


def break_syntax(source: str, rng: random.Random) -> str:
    """Break one line: a lost colon, parenthesis or quote, `retrun`, or `=` for `==`.

    The source has a line that ends in a colon, and its only triple quotes are docstrings.
    """
    lines = source.split("\n")
    broken: dict[str, list[tuple[int, str]]] = {}
    for place, line in enumerate(lines):
        for kind, wrong in _wrong_lines(line).items():
            broken.setdefault(kind, []).append((place, wrong))
    place, wrong = rng.choice(broken[rng.choice(list(broken))])
    return "\n".join([*lines[:place], wrong, *lines[place + 1 :]])


def _wrong_lines(line: str) -> dict[str, str]:
    """The line with each of the errors that it can have."""
    wrong: dict[str, str] = {}
    if '"""' in line:
        return wrong
    if line.endswith(":"):
        wrong["colon"] = line[:-1]
    if ")" in line:
        wrong["parenthesis"] = _without_last(line, ")")
    if '"' in line:
        wrong["quote"] = _without_last(line, '"')
    if _RETURN.search(line):
        wrong["return"] = line.replace("return", "retrun", 1)
    if " == " in line and line.lstrip().startswith(("if ", "elif ", "while ")):
        wrong["equals"] = line.replace(" == ", " = ", 1)
    return wrong


def _without_last(line: str, sign: str) -> str:
    before, _, after = line.rpartition(sign)
    return before + after
