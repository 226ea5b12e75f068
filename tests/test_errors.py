"""Errors that can reach the page name a text of the table; the command line reads it in English."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from specviz import errors
from specviz.errors import FormatError, RequestError, SpecvizError, TraceFormatError
from specviz.texts import PLACEHOLDER, message, read_table

ROOT = Path(__file__).resolve().parents[1]
ON_THE_PAGE = ("trace", "models", "decoding", "race", "ui")
"""Rooms whose errors a visitor of the page can meet."""
KINDS = {name for name, kind in vars(errors).items() if isinstance(kind, type)}


def _calls(source: str) -> Iterator[ast.Call]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node


def _files() -> list[Path]:
    return [file for room in ON_THE_PAGE for file in (ROOT / "specviz" / room).rglob("*.py")]


def _spelled_out(source: str) -> list[int]:
    """Lines where an error is given a sentence of its own."""
    found = [call for call in _calls(source) if call.func.id in KINDS]  # type: ignore[attr-defined]
    return [call.lineno for call in found if isinstance(call.args[0], ast.Constant | ast.JoinedStr)]


def _with_other_values(source: str) -> list[str]:
    """Ids of messages that are not in the table, or not with these values."""
    table, wrong = read_table("en"), []
    for call in _calls(source):
        if call.func.id != "message" or not isinstance(call.args[0], ast.Constant):  # type: ignore[attr-defined]
            continue
        id_ = str(call.args[0].value)
        wanted = {found[1] for found in PLACEHOLDER.finditer(table.get(id_, ""))}
        given = {keyword.arg for keyword in call.keywords}
        is_right = given - {None} <= wanted if None in given else given == wanted
        if id_ not in table or not is_right:
            wrong.append(id_)
    return wrong


def test_what_is_spelled_out_or_misses_a_value_would_be_found() -> None:
    assert _spelled_out('raise RequestError("no")\nraise FormatError(f"{x}")') == [1, 2]
    source = 'message("refusal.top_p")\nmessage("refusal.nowhere")\nmessage("refusal.no_token")'
    assert _with_other_values(source) == ["refusal.top_p", "refusal.nowhere"]


def test_no_error_on_the_page_is_spelled_out_in_the_code() -> None:
    assert len(_files()) > 50
    assert [
        (file.name, found) for file in _files() if (found := _spelled_out(file.read_text()))
    ] == []


def test_every_message_has_its_text_and_its_values() -> None:
    files = [*(ROOT / "specviz").rglob("*.py")]
    assert [
        (file.name, found) for file in files if (found := _with_other_values(file.read_text()))
    ] == []


@pytest.mark.parametrize("section", ["refusal", "format", "error"])
def test_every_refusal_is_translated_with_the_same_values(section: str) -> None:
    english, spanish = read_table("en"), read_table("es")
    keys = [key for key in english if key.startswith(f"{section}.")]
    assert len(keys) > 20
    for key in keys:
        named = [
            {found[1] for found in PLACEHOLDER.finditer(table[key])} for table in (english, spanish)
        ]
        assert named[0] == named[1], key
        if len(english[key].split()) > 3 and "{problem}" not in english[key]:
            assert english[key] != spanish[key], key


def test_an_error_speaks_english_and_keeps_its_message() -> None:
    error = RequestError(message("refusal.top_p", found="2"))
    assert str(error) == "top_p must be above 0 and at most 1, got 2"
    assert error.text == {"id": "refusal.top_p", "found": "2"}
    assert RequestError("as it is {n}").text == str(RequestError("as it is {n}")) == "as it is {n}"


def test_a_problem_travels_inside_another() -> None:
    inner = message("format.at", path="lanes[0]", problem=message("format.missing"))
    outer = FormatError(message("format.in_file", path="race.json", problem=inner))
    assert str(outer) == "race.json: lanes[0] is missing"


def test_all_errors_are_of_one_kind() -> None:
    assert issubclass(TraceFormatError, FormatError)
    assert all(issubclass(getattr(errors, name), SpecvizError) for name in KINDS)


def test_the_texts_need_no_gradio() -> None:
    code = "import specviz.errors, sys; sys.exit('gradio' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
