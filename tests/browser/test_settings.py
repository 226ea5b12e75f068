"""Settings survive a reload, travel in a link, and are told where they cannot be made."""

import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlparse

import pytest
from playwright.sync_api import Page, expect

from specviz.ui.assets import JS_FOLDER, file_address

pytestmark = pytest.mark.browser
OpenPage = Callable[..., Page]
FIELD = "#sv-prompt textarea"
ROWS = ".sv-editor-lane:not(.is-alone)"
NOTES = ".sv-preset-notes"
SETTINGS = file_address(JS_FOLDER / "controls" / "settings.js")


def _current(page: Page) -> Any:
    return page.evaluate("address => import(address).then((it) => it.current())", SETTINGS)


def _apply(page: Page, some: dict[str, Any]) -> None:
    """Wish for settings, and wait until Gradio's controls hold them."""
    script = "([address, some]) => import(address).then((it) => it.apply(some))"
    page.evaluate(script, [SETTINGS, some])
    page.wait_for_function(
        """([address, some]) => import(address).then((it) => Object.entries(some)
            .every(([name, value]) => name === 'lanes' || it.current()[name] === value))""",
        arg=[SETTINGS, some],
    )


def _number(page: Page, name: str) -> str:
    return page.input_value(f"#sv-{name} input[type=number]")


def _copied_link(page: Page) -> str:
    """Where a page may not write to the clipboard, the link stands in a field."""
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error()); }")
    page.get_by_role("button", name="Copy link").click()
    field = page.get_by_label("Link to this page with these settings")
    expect(field).to_be_visible()
    expect(field).to_be_focused()
    return field.input_value()


def test_settings_survive_a_reload(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    page.fill(FIELD, "A prompt of my own")
    field = page.locator("#sv-temperature input[type=number]")
    field.fill("0.7")
    field.press("Tab")
    page.get_by_role("button", name="+ Lane").click()
    page.locator(ROWS).nth(1).get_by_label("Longest match").fill("6")
    page.locator(ROWS).nth(1).get_by_label("Longest match").press("Tab")
    expect(page.locator(".sv-editor-count")).to_have_text("2 of 3 guessing lanes")
    page.reload()
    expect(page.locator(ROWS)).to_have_count(2)
    expect(page.locator(ROWS).nth(1).get_by_label("Longest match")).to_have_value("6")
    expect(page.locator(FIELD)).to_have_value("A prompt of my own")
    expect(page.locator("#sv-temperature input[type=number]")).to_have_value("0.7")
    page.click("#sv-race")
    page.wait_for_selector('#sv-race-status .sv-status-view[data-state="finished"]')
    assert (
        page.locator("#sv-race-stage .sv-prompt").all_text_contents() == ["A prompt of my own"] * 3
    )


def test_a_link_restores_prompt_lanes_and_law(open_page: OpenPage, fake_address: str) -> None:
    prompt = "Two lines &\nsigns: 100 % + ünïcode <b>"
    first = open_page(fake_address)
    lanes = [
        {"method": "draft-model", "draft": "fake-misfit", "gamma": 6},
        {"method": "early-exit", "exit_layer": 8, "gamma": 2},
        {"method": "prompt-lookup", "max_ngram": 3, "gamma": 8},
    ]
    _apply(first, {"prompt": prompt, "temperature": 0.8, "seed": 7, "lanes": lanes})
    link = _copied_link(first)
    assert "lane=draft-model:fake-misfit:6&lane=early-exit:8:2&lane=prompt-lookup:3:8" in link
    asked = parse_qs(urlparse(link).query)
    plain = {"prompt", "temperature", "top_k", "top_p", "seed", "tokens", "chat", "target"}
    assert set(asked) == {*plain, "lane"}, "all is told, whatever a page begins with"
    second = open_page(link)
    expect(second.locator(ROWS)).to_have_count(3)
    expect(second.locator(FIELD)).to_have_value(prompt)
    expect(second.locator("#sv-temperature input[type=number]")).to_have_value("0.8")
    assert _current(second) == _current(first)
    expect(second.locator(NOTES)).to_be_empty()


def test_a_link_of_single_names_makes_one_lane(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(f"{fake_address}/?prompt=Hi&method=prompt-lookup&gamma=9&tokens=16")
    expect(page.locator(ROWS)).to_have_count(1)
    expect(page.locator(FIELD)).to_have_value("Hi")
    assert _current(page)["lanes"] == [{"method": "prompt-lookup", "max_ngram": 4, "gamma": 9}]
    assert _number(page, "tokens") == "16"


def test_an_address_wins_over_the_last_visit_until_something_is_changed(
    open_page: OpenPage, fake_address: str
) -> None:
    page = open_page(fake_address)
    page.fill(FIELD, "remembered")
    page.locator(ROWS).get_by_text("early exit").click()
    page.goto(f"{fake_address}/?prompt=linked&__theme=dark")
    expect(page.locator(FIELD)).to_have_value("linked")
    expect(page.locator(ROWS).get_by_role("radio", name="draft model")).to_be_checked()
    page.fill(FIELD, "changed")
    expect(page).to_have_url(f"{fake_address}/?__theme=dark")
    page.reload()
    expect(page.locator(FIELD)).to_have_value("changed")


def test_a_broken_link_is_told_and_leaves_the_rest_usable(
    open_page: OpenPage, fake_address: str
) -> None:
    page = open_page(
        f"{fake_address}/?prompt={'x' * 2_001}&temperature=hot&seed=1.5&top_p=0.5"
        "&lane=medusa:4&lane=draft-model:%3Cb%3Enobody%3C/b%3E:99&lane=early-exit:5:4&lane=a&lane=b"
    )
    notes = page.locator(f"{NOTES} p")
    expect(notes).to_have_count(8)
    told = "\n".join(notes.all_inner_texts())
    for sentence in (
        "Asked for temperature = hot, but 0 to 2 is allowed here: it is 0 now.",
        "Asked for seed = 1.5, but 0 to 2,147,483,647 is allowed here: it is 0 now.",
        "Asked for a prompt of 2,001 characters, but at most 2,000 are allowed",
        "Asked for 5 lanes that guess, but at most 3 can race",
        "Asked for method = medusa, but only draft-model, prompt-lookup, early-exit can be had",
        "Asked for draft = <b>nobody</b>, but only fake-draft,",
        "Asked for gamma = 99, but 1 to 16 is allowed here: it is 4 now.",
        "Asked for exit_layer = 5, but only 4, 8 can be had here: it is 4 now.",
    ):
        assert sentence in told
    page.get_by_text("More: top-k, top-p, seed").click()
    expect(page.locator("#sv-top-p input[type=number]")).to_have_value("0.5")
    page.click("#sv-race")
    page.wait_for_selector('#sv-race-status .sv-status-view[data-state="finished"]')
    assert page.locator("#sv-race-stage .sv-lane").count() == 4


def test_settings_that_are_folded_away_reach_the_race(
    open_page: OpenPage, fake_address: str
) -> None:
    page = open_page(f"{fake_address}/?temperature=0.9&top_k=40&top_p=0.5&seed=7&tokens=16")
    page.wait_for_function(f"import('{SETTINGS}').then((it) => it.current().seed === 7)")
    page.click("#sv-race")
    page.wait_for_selector('#sv-race-status .sv-status-view[data-state="finished"]')
    trace = page.evaluate(
        """address => import(address).then((it) =>
            it.ask('saved', sessionStorage.getItem('specviz-run-race')))""",
        file_address(JS_FOLDER / "wire" / "server.js"),
    )
    sampling = json.loads(trace["text"])["request"]["sampling"]
    assert sampling == {"temperature": 0.9, "top_k": 40, "top_p": 0.5, "seed": 7}


def test_a_damaged_memory_is_no_error(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    first = _current(page)
    for memory in ("{", "null", "7", '{"lanes": 7, "prompt": " "}', json.dumps([1])):
        page.evaluate("text => localStorage.setItem('specviz-settings', text)", memory)
        page.reload()
        expect(page.locator(ROWS)).to_have_count(1)
        assert _current(page) == first


def test_lessons_can_set_some_settings_and_follow_all(
    open_page: OpenPage, fake_address: str
) -> None:
    page = open_page(fake_address)
    script = """address => import(address).then((it) => {
        window.seen = [];
        it.onChange((settings) => window.seen.push(settings));
    })"""
    page.evaluate(script, SETTINGS)
    lanes = [{"method": "draft-model", "name": "the wrong draft"}, {"method": "early-exit"}]
    _apply(page, {"temperature": 1.2, "lanes": lanes})
    expect(page.locator(ROWS)).to_have_count(2)
    expect(page.locator("#sv-temperature input[type=number]")).to_have_value("1.2")
    page.fill(FIELD, "typed")
    page.wait_for_function("window.seen.at(-1).prompt === 'typed'")
    assert page.evaluate("window.seen[1]")["lanes"][1] == {
        "method": "early-exit",
        "exit_layer": 4,
        "gamma": 4,
    }
    assert page.evaluate("window.seen.at(-1).temperature") == 1.2
    page.click("#sv-race")
    page.wait_for_selector('#sv-race-status .sv-status-view[data-state="finished"]')
    expect(page.locator("#sv-race-stage .sv-lane h2")).to_have_text(
        ["target alone", "the wrong draft", "target + early exit"]
    )


def test_embedding_leaves_only_the_race(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(
        f"{fake_address}/?embed=1&prompt=On+a+slide&lane=prompt-lookup:4", width=800, height=600
    )
    header = page.locator("#sv-header").bounding_box()
    assert header is not None
    assert (header["width"], header["height"]) == (1, 1), "its heading is there for the ear alone"
    expect(page.locator("h1")).to_have_text("specviz")
    for part in (
        "#sv-header .sv-side",
        "#sv-welcome",
        "#sv-examples",
        "#sv-race-settings",
        "footer",
    ):
        expect(page.locator(part).first).to_be_hidden()
    expect(page.get_by_role("tab").first).to_be_hidden()
    expect(page.get_by_role("button", name="Copy link")).to_be_hidden()
    expect(page.locator(FIELD)).to_have_value("On a slide")
    page.click("#sv-race")
    page.wait_for_selector('#sv-race-status .sv-status-view[data-state="finished"]')
    for part in ("status", "figures", "stage", "charts"):
        expect(page.locator(f"#sv-race-{part}")).to_be_visible()
    link = page.get_by_role("link", name="Open in specviz")
    expect(link).to_have_attribute(
        "href", re.compile(r"\?prompt=On\+a\+slide&.*&lane=prompt-lookup:4:4$")
    )
    assert page.evaluate("localStorage.getItem('specviz-settings')") is None
    assert page.evaluate("document.documentElement.scrollWidth") == 800


def test_the_open_page_has_no_link_to_itself(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    expect(page.get_by_role("button", name="Copy link")).to_be_visible()
    expect(page.locator(".sv-whole")).to_be_hidden()
