"""Whoever uses the keyboard keeps their place: a control that goes off does not drop the focus."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser
OpenPage = Callable[..., Page]
STATUS = "#sv-race-status"


def _wait_for(page: Page, state: str) -> None:
    page.wait_for_selector(f'{STATUS} .sv-status-view[data-state="{state}"]')


def test_a_race_that_is_started_by_keyboard_leaves_the_focus_where_it_was(
    open_page: OpenPage, fake_address: str
) -> None:
    page = open_page(f"{fake_address}/?prompt=endless")
    start = page.locator("#sv-race")
    start.focus()
    page.keyboard.press("Enter")
    _wait_for(page, "running")
    expect(start).to_be_focused()
    expect(start).to_be_disabled()
    page.keyboard.press("Enter")
    page.keyboard.press("Space")
    _wait_for(page, "paused")
    expect(start).to_be_focused()
    page.keyboard.press("s")
    _wait_for(page, "stopped")
    expect(start).to_be_focused()
    expect(start).to_be_enabled()


def test_a_button_that_is_left_while_it_is_off_is_disabled_for_good(
    open_page: OpenPage, fake_address: str
) -> None:
    page = open_page(f"{fake_address}/?prompt=endless")
    start = page.locator("#sv-race")
    start.focus()
    page.keyboard.press("Enter")
    _wait_for(page, "running")
    page.keyboard.press("Tab")
    assert start.evaluate("button => button.disabled && !button.hasAttribute('aria-disabled')")
    page.locator(f"{STATUS} .sv-pause").focus()
    page.keyboard.press("s")
    _wait_for(page, "stopped")
    expect(page.locator(f"{STATUS} .sv-pause")).to_be_focused()
    expect(start).to_be_enabled()
