"""Every text of the page is in one table, and every language has the whole of it."""

import re
from pathlib import Path

import pytest

from specviz.ui.assets import CSS_FOLDER, JS_FOLDER
from specviz.ui.strings import (
    PLACEHOLDER,
    PageError,
    in_english,
    languages,
    message,
    read_table,
)

ROOT = Path(__file__).resolve().parents[2]
OF_PAGE = [*JS_FOLDER.rglob("*.js"), *(ROOT / "specviz" / "ui").glob("*.py")]
SOURCES = [*JS_FOLDER.rglob("*.js"), *(ROOT / "specviz").rglob("*.py")]
EXACT = re.compile(r"""['"`]([a-z_]+\.[a-z0-9_]+)['"`]""")
BUILT = re.compile(r"[`\"']([a-z_]+\.[^`\"']*\{[^`\"']*)[`\"']")
"""A key that is put together while the page runs."""
WORDS = re.compile(r"content:\s*['\"]([^'\"]*[A-Za-z]{2}[^'\"]*)['\"]")


def _placeholders(text: str) -> set[str]:
    return {found[1] for found in PLACEHOLDER.finditer(text)}


def _patterns() -> list[re.Pattern[str]]:
    """The keys that are built while the page runs, as patterns."""
    found = []
    for source in OF_PAGE:
        for built in BUILT.finditer(source.read_text("utf-8")):
            pieces = re.split(r"\$?\{[^}]*\}", built[1])
            if re.fullmatch(r"[a-z0-9_.]*", "".join(pieces)):
                found.append(re.compile("[a-zA-Z0-9_]+".join(map(re.escape, pieces))))
    return found


def test_every_text_that_is_named_exists() -> None:
    table = read_table("en")
    sections = {key.split(".")[0] for key in table}
    named = {
        (source.name, key)
        for source in OF_PAGE
        for key in EXACT.findall(source.read_text("utf-8"))
        if key.split(".")[0] in sections
    }
    assert len(named) > 100
    assert [each for each in sorted(named) if each[1] not in table] == []


def test_every_text_is_used() -> None:
    exact = {key for source in SOURCES for key in EXACT.findall(source.read_text("utf-8"))}
    patterns = _patterns()
    unused = [
        key
        for key in read_table("en")
        if key not in exact and not any(pattern.fullmatch(key) for pattern in patterns)
    ]
    assert unused == []


@pytest.mark.parametrize("language", [each for each in languages() if each != "en"])
def test_a_translation_has_every_text_with_the_same_placeholders(language: str) -> None:
    english, other = read_table("en"), read_table(language)
    assert list(other) == list(english)
    for key, text in english.items():
        assert _placeholders(other[key]) == _placeholders(text), key
        assert other[key].strip() == other[key], key


def test_texts_are_clean() -> None:
    for key, text in read_table("en").items():
        assert text.strip() == text, key
        assert "<" not in PLACEHOLDER.sub("", text).replace(" < ", " "), key
        assert "!" not in text, key
        assert "id" not in _placeholders(text), f"{key}: a message's own id has that name"


def test_a_message_takes_exactly_its_placeholders() -> None:
    assert message("output.identical_detail", n=3) == {"id": "output.identical_detail", "n": 3}
    with pytest.raises(ValueError, match="no text"):
        message("output.nowhere")
    with pytest.raises(ValueError, match="takes"):
        message("output.identical_detail")
    with pytest.raises(ValueError, match="takes"):
        message("output.identical_detail", n=3, more=4)


def test_messages_are_written_out_with_plurals_and_messages_inside() -> None:
    assert in_english(message("output.identical_detail", n=1)) == "1 token compared"
    assert in_english(message("output.identical_detail", n=2)) == "2 tokens compared"
    inner = message("round.of_lane", round="3", lane=message("lane.baseline"))
    outer = message("round.plain", round=inner)
    assert in_english(outer) == "Round 3 (target alone): nothing guessed, one plain step."
    assert in_english("as it is {n}") == "as it is {n}"


def test_a_refusal_is_told_in_english_to_programs() -> None:
    error = PageError("error.trace_too_long", chars="9", allowed="5")
    assert isinstance(error.text, dict)
    assert str(error) == "The file has 9 characters; at most 5 are allowed."
    assert error.text["id"] == "error.trace_too_long"


def test_styles_hold_no_words() -> None:
    for sheet in CSS_FOLDER.glob("*.css"):
        words = WORDS.findall(sheet.read_text("utf-8"))
        assert words == [], f"{sheet.name}: {words}"
