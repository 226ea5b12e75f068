"""A visitor puts the lanes of a race together."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

pytestmark = pytest.mark.browser
OpenPage = Callable[..., Page]
FINISHED = '#sv-race-status .sv-status-view[data-state="finished"]'
NAMES = "#sv-race-stage .sv-lane h2"


def _rows(page: Page) -> Locator:
    return page.locator(".sv-editor-lane:not(.is-alone)")


def _race_to_the_end(page: Page) -> None:
    page.click("#sv-race")
    page.wait_for_selector(FINISHED)


def test_lanes_are_added_duplicated_and_removed(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    rows = _rows(page)
    expect(page.locator(".sv-editor-lane.is-alone")).to_contain_text("target alone")
    expect(rows).to_have_count(1)
    only = page.get_by_role("button", name="Remove guessing lane 1")
    expect(only).to_be_disabled()
    page.get_by_role("button", name="+ Lane").click()
    expect(rows.nth(1).get_by_role("radio", name="prompt lookup")).to_be_checked()
    expect(rows.nth(1).get_by_role("radio", name="prompt lookup")).to_be_focused()
    rows.nth(0).get_by_role("combobox", name="Draft model").select_option("fake-draft-small")
    page.get_by_role("button", name="Duplicate guessing lane 1").click()
    expect(rows).to_have_count(3)
    expect(rows.nth(1).get_by_role("combobox", name="Draft model")).to_have_value(
        "fake-draft-small"
    )
    expect(page.get_by_role("button", name="+ Lane")).to_be_disabled()
    expect(page.get_by_role("button", name="Duplicate guessing lane 2")).to_be_disabled()
    page.get_by_role("button", name="Remove guessing lane 1").click()
    page.get_by_role("button", name="Remove guessing lane 1").click()
    expect(rows).to_have_count(1)
    expect(rows.nth(0).get_by_role("radio", name="prompt lookup")).to_be_checked()
    expect(page.get_by_role("button", name="+ Lane")).to_be_enabled()


def test_four_lanes_race_to_the_end_under_different_names(
    open_page: OpenPage, fake_address: str
) -> None:
    page = open_page(fake_address)
    page.get_by_role("button", name="Duplicate guessing lane 1").click()
    _rows(page).nth(1).get_by_role("spinbutton", name="Draft length γ").fill("8")
    _rows(page).nth(1).get_by_role("spinbutton", name="Draft length γ").press("Tab")
    page.get_by_role("button", name="Duplicate guessing lane 2").click()
    _rows(page).nth(2).get_by_role("combobox", name="Draft model").select_option("fake-draft-small")
    _race_to_the_end(page)
    names = [
        "target alone",
        "target + draft model (fake-draft, γ 4)",
        "target + draft model (fake-draft, γ 8)",
        "target + draft model (fake-draft-small, γ 8)",
    ]
    expect(page.locator(NAMES)).to_have_text(names)
    expect(page.locator("#sv-race-figures .sv-figure-row h2")).to_have_text(names[1:])
    status = page.locator("#sv-race-status")
    for name in names[1:]:
        expect(status).to_contain_text(re.compile(re.escape(name) + r" \d+\.\d\d×"))


def test_two_equal_lanes_are_numbered(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    page.get_by_role("button", name="Duplicate guessing lane 1").click()
    _race_to_the_end(page)
    expect(page.locator(NAMES).nth(1)).to_have_text("target + draft model (#1)")
    expect(page.locator(NAMES).nth(2)).to_have_text("target + draft model (#2)")


def test_a_method_brings_what_it_takes(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    row = _rows(page).first
    row.get_by_role("combobox", name="Draft model").select_option("fake-misfit")
    row.get_by_role("radio", name="draft model").focus()
    page.keyboard.press("ArrowRight")
    expect(row.get_by_label("Longest match")).to_have_value("4")
    expect(row.get_by_role("combobox", name="Draft model")).to_have_count(0)
    page.keyboard.press("ArrowRight")
    row.get_by_label("Exit after layer").select_option("8")
    _race_to_the_end(page)
    expect(page.locator(NAMES).nth(1)).to_have_text("target + early exit")
    expect(page.locator("#sv-race-stage .sv-lane").nth(1)).to_contain_text("first 8 layers, γ = 4")
    row.get_by_text("draft model", exact=True).click()
    expect(row.get_by_role("combobox", name="Draft model")).to_have_value("fake-misfit")


def test_gamma_by_slider_and_number_stay_together(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    row = _rows(page).first
    number = row.get_by_role("spinbutton", name="Draft length γ")
    slider = row.get_by_role("slider", name="Draft length γ")
    slider.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(number).to_have_value("7")
    number.fill("99")
    number.press("Tab")
    expect(number).to_have_value("16")
    expect(slider).to_have_value("16")
    _race_to_the_end(page)
    expect(page.locator("#sv-race-stage .sv-lane").nth(1)).to_contain_text("γ = 16")


def test_a_lane_guesses_a_tree(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address, width=380, height=800)
    row = _rows(page).first
    shape = row.get_by_role("combobox", name="Chain or tree of guesses")
    shape.select_option("dynamic")
    expect(row.get_by_role("spinbutton", name="Depth γ")).to_have_value("4")
    expect(row.get_by_role("combobox", name="How the draft length is chosen")).to_be_hidden()
    nodes = row.get_by_role("spinbutton", name="Nodes, at most")
    nodes.fill("99")
    nodes.press("Tab")
    expect(nodes).to_have_value("64")
    assert page.evaluate("document.documentElement.scrollWidth") == 380
    _race_to_the_end(page)
    expect(page.locator("#sv-race-stage .sv-lane").nth(1)).to_contain_text(
        "γ = 4, dynamic tree, 4 branches, 64 nodes"
    )
    row.get_by_text("prompt lookup", exact=True).click()
    expect(shape).to_be_hidden()
    expect(nodes).to_have_count(0)
    expect(row.get_by_role("spinbutton", name="Draft length γ")).to_have_value("4")


def test_three_lanes_fit_a_phone(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address, width=380, height=800)
    for _ in range(2):
        page.get_by_role("button", name="+ Lane").click()
    assert page.evaluate("document.documentElement.scrollWidth") == 380
    button, editor = page.locator("#sv-race"), page.locator("#sv-lanes")
    top = [each.bounding_box()["y"] for each in (button, editor)]  # type: ignore[index]
    assert top[0] < top[1], "the Race button stands above the sliders"
    small = page.locator("#sv-lanes :is(button, select, label, input):visible").evaluate_all(
        "all => all.filter(e => e.getBoundingClientRect().height < 24 && e.type !== 'radio')"
        ".map(e => e.outerHTML)"
    )
    assert small == []
