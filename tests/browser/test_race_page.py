"""A visitor races on the page, with a made-up race behind it."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser
OpenPage = Callable[..., Page]
SPECULATIVE = ".sv-lane >> nth=1"


def _race_to_the_end(page: Page) -> None:
    page.click("#sv-race")
    page.wait_for_selector('.sv-status-view[data-state="finished"]')


def _number(page: Page, name: str, value: float) -> None:
    field = page.locator(f"#sv-{name} input[type=number]")
    field.fill(str(value))
    field.press("Tab")


def test_a_race_runs_to_the_end_in_colour(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    _race_to_the_end(page)
    plain, lane = page.locator(".sv-lane").all()
    assert plain.locator(".sv-plain").count() == 128
    counts = {
        fate: lane.locator(f".sv-{fate}").count()
        for fate in ("accepted", "rejected", "discarded", "correction", "bonus")
    }
    assert min(counts.values()) > 0
    written = counts["accepted"] + counts["correction"] + counts["bonus"]
    assert written + lane.locator(".sv-plain").count() == 128
    fills = {
        fate: lane.locator(f".sv-{fate}").first.evaluate("e => getComputedStyle(e).backgroundColor")
        for fate in ("accepted", "correction", "bonus")
    }
    assert fills == {
        "accepted": "rgb(211, 232, 248)",
        "correction": "rgb(240, 174, 28)",
        "bonus": "rgb(106, 42, 122)",
    }
    mark = lane.locator(".sv-rejected").first.evaluate(
        "e => getComputedStyle(e, '::after').content"
    )
    assert mark == '"✗"'


def test_both_lanes_show_the_same_words(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    _race_to_the_end(page)
    read = """lane => [...lane.querySelectorAll('.sv-t')]
        .filter(t => !['rejected', 'discarded'].includes(t.dataset.fate))
        .map(t => t.textContent).join('')"""
    plain, lane = (each.evaluate(read) for each in page.locator(".sv-lane").all())
    assert plain == lane
    assert len(plain) > 300


def test_figures_carry_their_counts(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    _race_to_the_end(page)

    def tile(name: str) -> str:
        return page.inner_text(f'[data-figure="{name}"]')

    assert re.search(r"\d\.\d\d×", tile("speedup"))
    accepted, judged = map(int, re.search(r"(\d+)/(\d+) judged", tile("alpha")).groups())
    assert f"{100 * accepted / judged:.0f} %" in tile("alpha")
    assert re.search(rf"{accepted}/\d+ drafted", tile("rate"))
    assert "128 tokens" in tile("tau")
    assert "identical ✓" in tile("lossless")
    assert page.locator(".sv-lane strong").all_inner_texts()[0].endswith("tok/s")


@pytest.mark.parametrize("prompt", ['<img src=x onerror="window.hacked=1">', "${6*7} {{6*7}}"])
def test_a_hostile_prompt_is_only_text(open_page: OpenPage, fake_address: str, prompt: str) -> None:
    page = open_page(fake_address)
    page.fill("#sv-prompt textarea", prompt)
    _race_to_the_end(page)
    assert page.locator(".sv-prompt").all_text_contents() == [prompt, prompt]
    assert page.evaluate("window.hacked") is None
    assert page.locator("img[src=x]").count() == 0


def test_hostile_tokens_are_only_text(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    _race_to_the_end(page)
    words = page.locator(".sv-lane >> nth=0").locator(".sv-tok").all_text_contents()
    for hostile in ('<img src=x onerror="window.hacked=1">', "${6*7}", "{{7*7}}", "&amp;"):
        assert hostile in words
    page.locator(SPECULATIVE).locator(".sv-tok", has_text="<img").first.click()
    expect(page.locator(".sv-card .sv-tok")).to_contain_text("<img␣src=x")
    assert page.evaluate("window.hacked") is None
    assert page.locator("img[src=x]").count() == 0


def test_stop_keeps_what_was_written(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    page.fill("#sv-prompt textarea", "slow")
    page.click("#sv-race")
    page.wait_for_selector(".sv-correction >> nth=5")
    page.click("#sv-race-stop")
    page.wait_for_selector('.sv-status-view[data-state="stopped"]')
    kept = page.locator(".sv-lane >> nth=0").locator(".sv-t").count()
    assert 0 < kept < 128
    assert page.locator(".sv-lane-head", has_text="stopped").count() == 2
    _race_to_the_end(page)
    assert page.locator(".sv-lane >> nth=0").locator(".sv-t").count() == 128


def test_an_empty_prompt_is_refused_in_the_strip(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    page.fill("#sv-prompt textarea", "  ")
    page.click("#sv-race")
    page.wait_for_selector('.sv-status-view[data-state="error"]')
    expect(page.locator(".sv-status-text")).to_contain_text("The prompt is empty")
    expect(page.locator("#sv-race")).to_be_enabled()


def test_a_second_visitor_waits_and_sees_nothing_of_the_first(
    open_page: OpenPage, fake_address: str
) -> None:
    first, second = open_page(fake_address), open_page(fake_address)
    first.fill("#sv-prompt textarea", "the first, slow visitor")
    second.fill("#sv-prompt textarea", "the second visitor")
    first.click("#sv-race")
    first.wait_for_selector('.sv-status-view[data-state="running"]')
    second.click("#sv-race")
    second.wait_for_selector('.sv-status-view[data-state="waiting"]')
    assert second.locator(".sv-t").count() == 0
    for page, name in ((first, "first, slow"), (second, "second")):
        page.wait_for_selector('.sv-status-view[data-state="finished"]')
        assert page.locator(".sv-prompt").first.text_content() == f"the {name} visitor"


def test_the_card_is_reached_by_keyboard(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    _number(page, "temperature", 0.8)
    _race_to_the_end(page)
    body = page.locator(SPECULATIVE).locator("[role=listbox]")
    body.focus()
    body.press("Home")
    active = body.get_attribute("aria-activedescendant")
    assert active == "sv-token-race-1-0"
    body.press("ArrowRight")
    assert body.get_attribute("aria-activedescendant") == "sv-token-race-1-1"
    body.press("ArrowDown")
    body.press("Enter")
    card = page.locator(".sv-card")
    expect(card).to_contain_text("round 2")
    expect(card).to_contain_text("Pinned")
    body.press("ArrowDown")
    expect(card).to_contain_text("round 2")
    body.press("Escape")
    expect(card).to_contain_text("Click or Enter pins")
    page.locator(SPECULATIVE).locator(".sv-rejected").first.click()
    expect(card).to_contain_text("rejected")
    expect(card).to_contain_text(re.compile(r"coin 0\.\d{3} ≥ 0\.\d{3}: thrown away"))
    expect(card).to_contain_text("residual")


def test_rejected_tokens_can_be_hidden(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    _race_to_the_end(page)
    thrown = page.locator(SPECULATIVE).locator(".sv-rejected").first
    expect(thrown).to_be_visible()
    page.uncheck(".sv-show-rejected")
    expect(thrown).to_be_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_scrolls_in_one_direction(
    open_page: OpenPage, fake_address: str, scheme: str
) -> None:
    page = open_page(f"{fake_address}/?__theme={scheme}", width=380, height=800)
    _race_to_the_end(page)
    page.locator(".sv-correction").first.click()
    page.locator(".sv-charts").scroll_into_view_if_needed()
    page.wait_for_selector(".sv-plot .main-svg >> nth=0")
    assert page.evaluate("document.documentElement.scrollWidth") == 380
    assert page.evaluate("document.body.scrollWidth") == 380


def test_the_theme_switch_changes_page_and_charts(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(f"{fake_address}/?__theme=light")
    _race_to_the_end(page)
    page.locator(".sv-charts").scroll_into_view_if_needed()
    curve = page.locator(".sv-plot >> nth=0").locator("path.js-line").first
    expect(curve).to_have_css("stroke", "rgb(0, 82, 143)")
    page.click(".sv-button")
    expect(page.locator("body")).to_have_class(re.compile("dark"))
    page.locator(".sv-charts").scroll_into_view_if_needed()
    expect(curve).to_have_css("stroke", "rgb(159, 211, 255)")


def test_missed_packets_are_read_again(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    page.fill("#sv-prompt textarea", "slow")
    page.evaluate(
        """() => {
            const parse = JSON.parse;
            window.lost = new Set();
            let newest = -1;
            JSON.parse = (text, ...rest) => {
                const value = parse(text, ...rest);
                const isLast = text.includes('"finished"');
                const isReplayed = !(value?.seq > newest);
                newest = Math.max(newest, value?.seq ?? -1);
                if (isLast || isReplayed || value.seq % 12 !== 3) return value;
                window.lost.add(value.seq);
                return { run: value.run, seq: -1, items: [] };
            };
        }"""
    )
    _race_to_the_end(page)
    assert page.evaluate("window.lost.size") >= 3
    assert page.locator(".sv-lane >> nth=0").locator(".sv-t").count() == 128
