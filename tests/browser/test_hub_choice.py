"""A pair of the hub is chosen, looked at and raced, and its settings travel as all others do."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from specviz.ui.assets import JS_FOLDER, file_address

pytestmark = pytest.mark.browser
OpenPage = Callable[..., Page]
TARGET, DRAFT = "fake/target-7B", "fake/draft-0.5B"
SETTINGS = file_address(JS_FOLDER / "controls" / "settings.js")


def _panel(page: Page) -> Locator:
    page.locator(".sv-hub summary").click()
    return page.locator(".sv-hub")


def _target(page: Page) -> Locator:
    return page.locator("#sv-lanes").get_by_role("combobox", name="Target")


def _finished(page: Page) -> None:
    page.wait_for_selector('#sv-race-status .sv-status-view[data-state="finished"]')


def test_a_pair_of_the_catalogue_is_looked_at_raced_and_linked(
    open_page: OpenPage, fake_address: str
) -> None:
    page = open_page(fake_address)
    panel = _panel(page)
    expect(panel).to_contain_text("1.72× as fast (one graphics card); source: a paper")
    expect(panel).to_contain_text("7.6 billion and 494 million weights, 16.2 GB")
    expect(panel.locator(".sv-hub-race")).to_be_hidden()
    panel.get_by_role("button", name="See what it takes").click()
    expect(panel.locator(".sv-hub-findings li")).to_have_count(2)
    panel.get_by_role("button", name="Download and race (16.2 GB)").click()
    _finished(page)
    expect(page.locator("#sv-race-stage .sv-lane").first).to_contain_text("target-7B, one token")
    expect(_target(page)).to_have_value(TARGET)
    expect(page.locator(".sv-target-about")).to_have_text(
        f"{TARGET}: 7.6 billion weights. Nothing is known here about what it has read."
    )
    # The chat template is a setting like any other.
    box = page.locator("#sv-chat input")
    expect(box).to_be_checked()
    box.uncheck()
    # Gradio tells the page's scripts of a change when it has made it itself.
    told = "async ([address, target]) => { const { current } = await import(address); "
    told += "return current().target === target && current().chat === false; }"
    page.wait_for_function(told, arg=[SETTINGS, TARGET])
    address = f"{fake_address}/?target={TARGET}&chat=false&lane=draft-model:{DRAFT}:6"
    second = open_page(address)
    expect(_target(second)).to_have_value(TARGET)
    expect(second.locator("#sv-chat input")).not_to_be_checked()
    expect(second.get_by_role("combobox", name="Draft model")).to_have_value(DRAFT)
    expect(second.locator(".sv-preset-notes")).to_be_empty()
    second.click("#sv-race")
    _finished(second)
    _target(second).select_option("fake-target")
    expect(second.locator("#sv-chat")).to_be_hidden()


def test_a_link_to_a_model_that_nobody_looked_at_opens_the_panel_and_races_nothing(
    open_page: OpenPage, fake_address: str
) -> None:
    page = open_page(f"{fake_address}/?target=some/unfit&lane=draft-model:some/draft:6&tokens=16")
    expect(page.locator(".sv-hub")).to_have_attribute("open", "")
    expect(page.locator(".sv-preset-notes")).to_contain_text("some/unfit is on the hub")
    expect(page.get_by_label("Target (owner/name)")).to_have_value("some/unfit")
    expect(page.get_by_label("Draft (owner/name")).to_have_value("some/draft")
    expect(page.locator("#sv-tokens input[type=number]")).to_have_value("16")
    page.get_by_role("button", name="See what it takes").click()
    expect(page.locator(".sv-hub-findings .is-refuse")).to_contain_text("it is unfit")
    expect(page.locator(".sv-hub-refused")).to_be_visible()
    expect(page.locator(".sv-hub-race")).to_be_hidden()
    page.get_by_label("Target (owner/name)").fill("no id")
    expect(page.locator(".sv-hub-findings")).to_have_count(0)
    page.get_by_role("button", name="See what it takes").click()
    expect(page.locator(".sv-hub-said")).to_have_text(re.compile("'no id' is not the id of"))


def test_the_panel_speaks_spanish_and_fits_a_phone(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(f"{fake_address}/?lang=es", width=380, height=800)
    panel = _panel(page)
    expect(panel).to_contain_text("Una pareja que muchos usan.")
    panel.get_by_role("button", name="Ver lo que ocupa").click()
    expect(panel.get_by_role("button", name="Descargar y correr (16,2 GB)")).to_be_visible()
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= 380
