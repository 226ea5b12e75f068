"""A stranger's first screen: a recorded race at one click, and the switches in the page's head."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from specviz.ui.strings import languages

pytestmark = pytest.mark.browser
OpenPage = Callable[..., Page]
STATUS = "#sv-race-status"
FIRST_TOKEN_MS = 10_000


def test_a_recorded_race_plays_at_one_click_without_the_queue(
    open_page: OpenPage, fake_address: str
) -> None:
    page = open_page(fake_address)
    joined: list[str] = []
    page.on("request", lambda request: joined.append(request.url))
    about = page.locator(".sv-welcome-about")
    expect(about).to_contain_text(re.compile(r"recorded.*specviz-target.*thread.*20\d\d"))
    page.click("button.sv-watch")
    page.wait_for_selector("#sv-race-stage .sv-t", timeout=FIRST_TOKEN_MS)
    assert not [url for url in joined if "queue/join" in url]
    expect(page.locator(f"{STATUS} .sv-origin")).to_contain_text("slower than it ran")
    assert page.locator(STATUS).evaluate("e => e.getBoundingClientRect().top") < 900
    page.check(f"{STATUS} .sv-speed [value='1']")
    page.wait_for_selector(f'{STATUS} .sv-status-view[data-state="finished"]')
    expect(page.locator(f"{STATUS} .sv-origin")).to_contain_text("recorded")
    assert page.locator("#sv-race-stage .sv-lane >> nth=0").locator(".sv-t").count() == 128


def test_the_welcome_is_one_line_after_the_first_race(
    open_page: OpenPage, fake_address: str
) -> None:
    page = open_page(fake_address)
    facts = page.locator(".sv-facts-row")
    expect(facts).to_be_visible()
    page.click("button.sv-watch")
    expect(facts).to_be_hidden()
    expect(page.locator("button.sv-watch")).to_be_disabled()
    page.click("#sv-race-stop")
    expect(page.locator("button.sv-watch")).to_be_enabled()
    page.reload()
    page.wait_for_selector("button.sv-watch")
    expect(facts).to_be_hidden()
    page.get_by_role("button", name="What is this?").click()
    expect(facts).to_be_visible()


def test_the_slow_motion_of_the_recording_ends_with_it(
    open_page: OpenPage, fake_address: str
) -> None:
    page = open_page(fake_address)
    page.click("button.sv-watch")
    page.wait_for_selector("#sv-race-stage .sv-t")
    expect(page.locator(f"{STATUS} .sv-speed [value='1']")).not_to_be_checked()
    page.click("#sv-race-stop")
    page.wait_for_selector(f'{STATUS} .sv-status-view[data-state="stopped"]')
    page.click("#sv-race")
    page.wait_for_selector(f'{STATUS} .sv-status-view[data-state="finished"]')
    expect(page.locator(f"{STATUS} .sv-speed [value='1']")).to_be_checked()
    expect(page.locator(f"{STATUS} .sv-origin")).to_be_hidden()


def test_try_your_own_goes_to_the_prompt(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    page.click("button.sv-own")
    expect(page.locator("#sv-prompt textarea")).to_be_focused()


def test_theme_and_text_size_are_remembered(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address, color_scheme="light")
    title = page.locator(".sv-title p")
    before = float(title.evaluate("e => parseFloat(getComputedStyle(e).fontSize)"))
    page.click("button.sv-theme")
    page.click("button.sv-size")
    page.reload()
    expect(page.locator("body")).to_have_class(re.compile("dark"))
    expect(page.locator("button.sv-size")).to_have_attribute("aria-pressed", "true")
    after = float(title.evaluate("e => parseFloat(getComputedStyle(e).fontSize)"))
    assert after == pytest.approx(1.35 * before, rel=0.01)


def test_languages_are_offered_where_there_are_several(
    open_page: OpenPage, fake_address: str
) -> None:
    page = open_page(fake_address)
    page.wait_for_selector("button.sv-theme")
    offered = page.locator(".sv-language option").all_text_contents()
    assert len(offered) == (len(languages()) if len(languages()) > 1 else 0)


@pytest.mark.parametrize("query", ["", "size=projector"])
def test_a_phone_scrolls_in_one_direction(
    open_page: OpenPage, fake_address: str, query: str
) -> None:
    page = open_page(f"{fake_address}/?{query}", width=380, height=800)
    page.wait_for_selector("button.sv-watch")
    assert page.evaluate("document.documentElement.scrollWidth") == 380
    own = page.locator("button.sv-own").bounding_box()
    assert own is not None
    assert own["height"] < 60, "its text stands in one line"
    page.click("button.sv-watch")
    page.wait_for_selector("#sv-race-stage .sv-t")
    assert page.evaluate("document.documentElement.scrollWidth") == 380
