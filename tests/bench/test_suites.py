"""Prompts of a sweep from files: Spec-Bench's form, own lines, and what is refused."""

import json
from pathlib import Path

import pytest

from specviz.bench import suites
from specviz.bench.plan import GalleryPrompt, read_gallery
from specviz.bench.suites import kind_name, own_kinds, read_suite, suite_of_text
from specviz.errors import RequestError
from specviz.texts import message

PROMPTS = Path(__file__).resolve().parents[2] / "assets" / "prompts"


def question(number: object, category: object = "writing", *turns: object) -> str:
    return json.dumps({"question_id": number, "category": category, "turns": turns, "more": 1})


def test_the_first_turn_of_a_question_is_its_prompt(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    lines = [question(81, "writing", "Say it.\u2028Twice.", "Again."), question("b", "math", "1+1")]
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    assert read_suite(path) == (
        GalleryPrompt("writing", "writing_81", "Say it.\u2028Twice."),
        GalleryPrompt("math", "math_b", "1+1"),
    )


def test_own_lines_are_a_prompt_each(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_bytes("\ufeffOnce upon\r\n\r\n  def f():\n".encode())
    first, second = read_suite(path)
    assert (first.group, first.text, first.label) == ("lines", "Once upon", "line 1")
    assert (second.id, second.text) == ("line_3", "def f():")


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.txt", " \n\n", "holds no prompt"),
        ("a.jsonl", "nonsense", "line 1 is no JSON object"),
        ("a.jsonl", "[1]", "line 1 is no JSON object"),
        ("a.jsonl", question(1, "all", "x"), "line 1 needs question_id, category"),
        ("a.jsonl", question(None, "math", "x"), "line 1 needs question_id"),
        ("a.jsonl", question(True, "math", "x"), "line 1 needs question_id"),
        ("a.jsonl", question(1, "math"), "line 1 needs"),
        ("a.jsonl", question(1, "math", " "), "line 1 needs"),
        ("a.jsonl", f"{question(1, 'm', 'x')}\n{question(1, 'm', 'y')}", "prompt m_1 twice"),
        ("a.txt", b"\xff\xfe", "is not written in UTF-8"),
    ],
)
def test_what_is_no_suite_is_refused(
    name: str, content: str | bytes, problem: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(RequestError, match=problem) as caught:
        read_suite(path)
    assert str(caught.value).startswith(str(path))


def test_a_file_that_is_missing_or_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(RequestError, match="cannot be read: No such file"):
        read_suite(tmp_path / "nowhere.txt")
    path = tmp_path / "long.txt"
    path.write_text("one\ntwo\nthree\n")
    monkeypatch.setattr(suites, "MAX_PROMPTS", 2)
    with pytest.raises(RequestError, match="holds 3 prompts, and a sweep takes at most 2"):
        read_suite(path)
    monkeypatch.setattr(suites, "MAX_BYTES", 4)
    with pytest.raises(RequestError, match="more than the"):
        read_suite(path)


def test_kinds_of_the_gallery_have_names_in_each_language_and_own_ones_stay() -> None:
    gallery = read_gallery(PROMPTS)
    own = suite_of_text(
        '{"question_id": 1, "category": "code", "turns": ["x"]}\n', "own.jsonl", is_questions=True
    )
    kinds = own_kinds(gallery)
    assert kinds == ("story", "code", "question", "edit", "summarise", "translate")
    assert kind_name("code", kinds) == message("kind.code")
    assert kind_name("code", own_kinds(own)) == "code"
    assert own_kinds(suite_of_text("a line\n", "own.txt", is_questions=False)) == ("lines",)
