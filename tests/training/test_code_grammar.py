"""The code grammar writes right and repeatable Python, and tasks whose answers are right."""

import random
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from specviz.training.code_errors import break_syntax
from specviz.training.code_grammar import MAX_CHARACTERS, renamable, rename, write_code
from specviz.training.code_patterns import (
    ClassPattern,
    Pattern,
    load_grammar,
    write_class,
    write_function,
)

NUM_ROWS = 4_000
PATTERNS = [pattern for topic in load_grammar().topics.values() for pattern in topic]
CLASSES = load_grammar().classes
SEEDS = range(8)


@cache
def sample() -> tuple[dict[str, str], ...]:
    return tuple(write_code(NUM_ROWS, seed=0))


def tasks(kind: str) -> list[dict[str, str]]:
    return [row for row in sample() if row.get("task") == kind]


def given(row: dict[str, str]) -> tuple[str, str]:
    """The instruction and the code of a prompt."""
    instruction, code = row["prompt"].split("\n\n", 1)
    return instruction, code


def compiles(source: str) -> bool:
    try:
        compile(source, "row", "exec")
    except SyntaxError:
        return False
    return True


def run(source: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(source, names)
    return names


def test_same_seed_gives_same_rows() -> None:
    assert list(write_code(60, seed=3)) == list(write_code(60, seed=3))


def test_fewer_rows_are_the_first_rows() -> None:
    assert tuple(write_code(60, seed=0)) == sample()[:60]


def test_other_seed_gives_other_rows() -> None:
    assert list(write_code(60, seed=3)) != list(write_code(60, seed=4))


def test_most_rows_are_distinct() -> None:
    assert len({str(row) for row in sample()}) >= 0.9 * NUM_ROWS


def test_there_are_many_patterns() -> None:
    assert len(PATTERNS) >= 60
    assert len(CLASSES) >= 10


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.names)
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_functions_do_what_they_say(pattern: Pattern, tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    for seed in SEEDS:
        path.write_text("one\ntwo\n")
        code = write_function(pattern, random.Random(seed))
        function = run(code.source())[code.name]
        assert eval(pattern.check, {"f": function, "path": str(path)}), code.source()


@pytest.mark.parametrize("pattern", CLASSES, ids=lambda pattern: pattern.names)
def test_classes_do_what_they_say(pattern: ClassPattern) -> None:
    for seed in SEEDS:
        code = write_class(pattern, random.Random(seed), num_methods=len(pattern.parts) - 1)
        exec(pattern.check, {"C": run(code.source())[code.name]})


def test_every_source_compiles() -> None:
    sources = [row.get("text") or row["response"] for row in sample()]
    assert [source for source in sources if not compiles(source)] == []


def test_rows_are_short_and_cleanly_written() -> None:
    for row in sample():
        assert sum(map(len, row.values())) < MAX_CHARACTERS
        for text in row.values():
            assert not re.search(r"\$|<\w*\||[ \t]$|\n{4}|\t", text, re.MULTILINE), text
            assert text == text.strip()


def test_every_docstring_is_one_sentence() -> None:
    text = "\n".join(row.get("text") or row["response"] for row in sample())
    for docstring in re.findall(r'"""(.*?)"""', text, re.DOTALL):
        assert re.fullmatch(r"[A-Z][^\n]*[^.]\.", docstring), docstring


def test_plain_rows_hold_functions_or_a_class() -> None:
    texts = [row["text"] for row in sample() if "text" in row]
    classes = [text for text in texts if text.startswith("class ")]
    assert 0.24 <= len(classes) / len(texts) <= 0.36
    for text in texts:
        assert 1 <= len(re.findall(r"^(?:def|class) ", text, re.MULTILINE)) <= 3


def test_shares_of_the_rows() -> None:
    counts = Counter(row.get("task", "plain") for row in sample())
    assert counts["plain"] / NUM_ROWS == pytest.approx(0.55, abs=0.04)
    num_tasks = NUM_ROWS - counts["plain"]
    shares = {"code_write": 0.40, "code_rename": 0.25, "code_docstring": 0.15, "code_fix": 0.20}
    assert {kind: counts[kind] / num_tasks for kind in shares} == pytest.approx(shares, abs=0.04)


def test_written_function_has_the_asked_docstring() -> None:
    for row in tasks("code_write"):
        asked = row["prompt"].removeprefix("Write a Python function: ")
        assert f'    """{asked}"""\n' in row["response"]


def test_added_docstring_is_all_that_is_added() -> None:
    for row in tasks("code_docstring"):
        instruction, code = given(row)
        match = re.fullmatch(r'Add the docstring "(.+)" to this code\.', instruction)
        assert match
        assert row["response"].replace(f'    """{match[1]}"""\n', "") == code


def test_rename_undone_gives_the_input_back() -> None:
    for row in tasks("code_rename"):
        instruction, code = given(row)
        match = re.fullmatch(r"Rename the variable (\w+) to (\w+)\.", instruction)
        assert match
        old, new = match.groups()
        assert old in renamable(code)
        assert not re.search(rf"\b{new}\b", code)
        assert not re.search(rf"\b{old}\b", row["response"])
        assert rename(row["response"], new, old) == code


def test_variable_that_a_docstring_names_is_not_renamable() -> None:
    source = 'def half(n):\n    """Return half of n."""\n    result = n / 2\n    return result'
    assert renamable(source) == ["result"]


def test_fix_tasks_have_one_broken_line() -> None:
    for row in tasks("code_fix"):
        instruction, broken = given(row)
        assert instruction == "Fix the syntax error."
        assert not compiles(broken), broken
        pairs = zip(broken.split("\n"), row["response"].split("\n"), strict=True)
        assert sum(one != other for one, other in pairs) == 1


def test_all_kinds_of_errors_are_made() -> None:
    source = 'def f(x):\n    if x == 1:\n        return "one"\n    return x'
    broken = {break_syntax(source, random.Random(seed)) for seed in range(200)}
    assert {
        source.replace("(x):", "(x)"),
        source.replace("(x)", "(x"),
        source.replace('one"', "one"),
        source.replace("return x", "retrun x"),
        source.replace("==", "="),
    } <= broken
    assert not any(map(compiles, broken))


@pytest.mark.parametrize("returned", ["not x", "-x", "(x, 1)", "[x]"])
def test_misspelled_return_never_compiles(returned: str) -> None:
    source = f"def f(x):\n    return {returned}"
    assert not any(compiles(break_syntax(source, random.Random(seed))) for seed in range(50))
