"""A race in one file: small, whole, without a network, whatever the tokens are."""

import json
import re
import zlib
from base64 import b64decode
from dataclasses import replace
from typing import Any

import pytest
from fake_race import HOSTILE, WORDS, FakeRace

from specviz.errors import RequestError
from specviz.trace.values import LaneSpec, Method, RaceFinished, RaceRequest, Sampling, Trace
from specviz.ui.assets import CSS_FOLDER
from specviz.ui.race_file import ABSENT, MAX_FIGURES, race_html
from specviz.ui.recorded import packets_of

ENDS_SCRIPTS = (" </script><script>window.hacked=1</script>", "<!--", "]]>", "\u2028", "\u2029\x00")
LANES = (
    LaneSpec(None, Method.BASELINE, "fake-target"),
    LaneSpec("</title><b>", Method.DRAFT_MODEL, "fake-target", "fake-draft", 4),
)
DATA = re.compile(r'<script type="text/plain" id="sv-file-data">([^<]*)</script>')
MOST_BYTES = 1_000_000


def _race(num_tokens: int, words: tuple[str, ...], temperature: float = 0.8) -> Trace:
    sampling = Sampling(temperature=temperature)
    request = RaceRequest("</script>Hello", LANES, sampling, max_new_tokens=num_tokens)
    *_, last = FakeRace(words, pause=0)(request)
    assert isinstance(last, RaceFinished)
    return last.trace


def _content(page: str) -> Any:
    (packed,) = DATA.findall(page)
    return json.loads(zlib.decompress(b64decode(packed)))


@pytest.fixture(scope="module")
def trace() -> Trace:
    return _race(64, WORDS + HOSTILE + ENDS_SCRIPTS)


@pytest.fixture(scope="module")
def page(trace: Trace) -> str:
    return race_html(trace)


def test_a_file_holds_the_packets_of_its_race(page: str, trace: Trace) -> None:
    packets, whole = _content(page)["packets"], list(packets_of(trace))
    assert [each["events"] for each in packets] == json.loads(
        json.dumps([each["events"] for each in whole])
    )
    assert packets[-1] == json.loads(json.dumps(whole[-1]))


def test_a_file_speaks_every_language_of_the_page(page: str) -> None:
    strings = _content(page)["strings"]
    assert set(strings) == {"en", "es"}
    assert set(strings["en"]) == set(strings["es"])


def test_nothing_that_somebody_wrote_stands_in_a_file_as_it_is(page: str) -> None:
    assert page.count("<script") == page.count("</script>") == 3
    assert "<!--" not in page
    for text in (*HOSTILE, *ENDS_SCRIPTS, "</title><b>", "Hello"):
        assert text not in page
    assert page.isascii() or not re.search("[\u2028\u2029\x00]", page)


def test_a_file_lets_a_browser_ask_nothing_of_any_address(page: str) -> None:
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    assert re.fullmatch(r"('sha256-[\w+/]{43}=' ?){3}", rules["script-src"])
    assert set(rules) == {
        "default-src", "script-src", "style-src", "img-src", "base-uri", "form-action",
    }  # fmt: skip
    addresses = set(re.findall(r"(?:https?:)?//[a-z][\w.-]*\.[a-z]{2,}[^\s'\"`]*", page))
    assert addresses <= {"http://www.w3.org/2000/svg"}, "the name of a kind of element"
    assert "url(" not in page
    assert "@import" not in page


def test_every_style_sheet_is_in_a_file_or_left_out_by_name(page: str) -> None:
    sheets = {sheet.stem: sheet.read_text("utf-8") for sheet in CSS_FOLDER.glob("*.css")}
    assert set(sheets) > ABSENT
    assert {name for name, text in sheets.items() if text not in page} == ABSENT


@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_a_long_race_stays_below_a_megabyte(temperature: float) -> None:
    assert len(race_html(_race(512, WORDS, temperature)).encode()) < MOST_BYTES


def test_figures_are_seldom_in_a_long_race_and_there_at_its_end() -> None:
    packets = _content(race_html(_race(512, WORDS)))["packets"]
    figures = [each for each in packets if "figures" in each]
    assert MAX_FIGURES / 2 < len(figures) <= MAX_FIGURES + 2
    assert packets[-1]["figures"][1]["metrics"]["speedup"] > 0


def test_a_race_that_the_page_cannot_show_is_refused(trace: Trace) -> None:
    with pytest.raises(RequestError, match="target alone"):
        race_html(replace(trace, lanes=trace.lanes[::-1]))
