"""A visitor picks prompts from the gallery, is told what to watch in them, and tries it."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from specviz.ui.assets import read_examples
from specviz.ui.strings import read_table

pytestmark = pytest.mark.browser
OpenPage = Callable[..., Page]
FIELD = "#sv-prompt textarea"
TEXTS = read_table("en")
LANES = ".sv-editor-lane:not(.is-alone)"


def _group(page: Page, place: int) -> None:
    name = TEXTS[f"prompt.{read_examples()[place].id}"]
    page.get_by_role("button", name=name, exact=True).click()


def _chip(page: Page, id_: str) -> None:
    page.get_by_role("button", name=TEXTS[f"prompt.{id_}"], exact=True).click()


def test_the_first_prompt_has_its_hint(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    first = read_examples()[0].examples[0]
    expect(page.locator(FIELD)).to_have_value(first.prompt)
    expect(page.locator(".sv-hint span")).to_have_text(TEXTS[f"prompt.{first.id}_hint"])


def test_a_prompt_is_picked_by_keyboard_and_its_hint_is_spoken(
    open_page: OpenPage, fake_address: str
) -> None:
    page = open_page(fake_address)
    group = read_examples()[3]
    tab = page.get_by_role("button", name=TEXTS[f"prompt.{group.id}"], exact=True)
    tab.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".sv-chip:visible")).to_have_count(len(group.examples))
    example = group.examples[1]
    chip = page.get_by_role("button", name=TEXTS[f"prompt.{example.id}"], exact=True)
    chip.focus()
    page.keyboard.press("Space")
    expect(page.locator(FIELD)).to_have_value(example.prompt)
    expect(chip).to_have_attribute("aria-pressed", "true")
    hint = page.locator("#sv-examples").get_by_role("status")
    expect(hint).to_contain_text(TEXTS[f"prompt.{example.id}_hint"])


def test_a_prompt_of_ones_own_has_no_hint(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    page.fill(FIELD, "Something of my own")
    expect(page.locator(".sv-hint")).to_have_text("")
    expect(page.locator(".sv-chip[aria-pressed=true]")).to_have_count(0)


def test_what_a_hint_invites_to_is_set_at_one_click(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    _chip(page, "story_a_picnic")
    warmer = page.get_by_role("button", name=TEXTS["prompt.try_warmer"])
    expect(warmer).to_have_attribute("aria-pressed", "false")
    warmer.click()
    expect(page.locator("#sv-temperature input[type=number]")).to_have_value("1")
    expect(warmer).to_have_attribute("aria-pressed", "true")
    _group(page, 3)
    _chip(page, "edit_random_words")
    page.get_by_role("button", name=TEXTS["prompt.try_both"]).click()
    expect(page.locator(LANES)).to_have_count(2)
    page.click("#sv-race")
    page.wait_for_selector('#sv-race-status .sv-status-view[data-state="finished"]')
    expect(page.locator("#sv-race-stage .sv-lane h2")).to_have_text(
        ["target alone", "target + draft model", "target + prompt lookup"]
    )


def test_surprise_brings_another_prompt_and_opens_its_group(
    open_page: OpenPage, fake_address: str
) -> None:
    page = open_page(fake_address)
    prompts = [example.prompt for group in read_examples() for example in group.examples]
    before = prompts[0]
    for _ in range(3):
        page.click(".sv-surprise")
        expect(page.locator(FIELD)).not_to_have_value(before)
        before = page.locator(FIELD).input_value()
        assert before in prompts
        expect(page.locator(".sv-chip[aria-pressed=true]")).to_be_visible()


def test_every_prompt_fits_a_phone(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address, width=380, height=800)
    for place in range(len(read_examples())):
        _group(page, place)
        for chip in page.locator(".sv-chip:visible").all():
            chip.click()
            assert page.evaluate("document.documentElement.scrollWidth") == 380
    expect(page.locator(FIELD)).to_have_value(re.compile("zebra"))
