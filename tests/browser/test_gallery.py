"""A visitor picks prompts from the gallery and is told what to watch in them."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from specviz.ui.assets import read_examples

pytestmark = pytest.mark.browser
OpenPage = Callable[..., Page]
FIELD = "#sv-prompt textarea"


def test_the_first_prompt_has_its_hint(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    first = read_examples()[0].examples[0]
    expect(page.locator(FIELD)).to_have_value(first.prompt)
    expect(page.locator(".sv-hint")).to_have_text(first.hint)


def test_a_prompt_is_picked_by_keyboard_and_its_hint_is_spoken(
    open_page: OpenPage, fake_address: str
) -> None:
    page = open_page(fake_address)
    group = read_examples()[3]
    page.get_by_role("button", name=group.label, exact=True).focus()
    page.keyboard.press("Enter")
    expect(page.locator(".sv-chip:visible")).to_have_count(len(group.examples))
    chip = page.get_by_role("button", name=group.examples[1].label, exact=True)
    chip.focus()
    page.keyboard.press("Space")
    expect(page.locator(FIELD)).to_have_value(group.examples[1].prompt)
    expect(chip).to_have_attribute("aria-pressed", "true")
    hint = page.locator("#sv-examples").get_by_role("status")
    expect(hint).to_have_text(group.examples[1].hint)


def test_a_prompt_of_ones_own_has_no_hint(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    page.fill(FIELD, "Something of my own")
    expect(page.locator(".sv-hint")).to_have_text("")
    expect(page.locator(".sv-chip[aria-pressed=true]")).to_have_count(0)


def test_every_prompt_fits_a_phone(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address, width=380, height=800)
    for group in read_examples():
        page.get_by_role("button", name=group.label, exact=True).click()
        for chip in page.locator(".sv-chip:visible").all():
            chip.click()
            assert page.evaluate("document.documentElement.scrollWidth") == 380
    expect(page.locator(FIELD)).to_have_value(re.compile("zebra"))
