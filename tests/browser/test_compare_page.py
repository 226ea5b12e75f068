"""A visitor compares a draft before and after fitting, and races both, on a made-up fit."""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect
from serving import free_port, serving

from specviz.ui.strings import read_table

pytestmark = pytest.mark.browser
TEXTS = read_table("en")
OpenPage = Callable[..., Page]
FINISHED = '#sv-compare-status .sv-status-view[data-state="finished"]'
STAGE = "#sv-compare-stage"


@pytest.fixture(scope="module")
def bare_address() -> Iterator[str]:
    port = free_port()
    with serving("tests/fake_page.py", str(port), "bare", port=port) as address:
        yield address


def _compare(page: Page) -> Page:
    page.get_by_role("tab", name="Compare").click()
    page.get_by_role("radio", name=TEXTS["compare.view_fit"]).check()
    page.wait_for_selector(".sv-fitted-view > *")
    return page


def test_the_pair_is_shown_with_its_numbers(open_page: OpenPage, fake_address: str) -> None:
    page = _compare(open_page(fake_address))
    report = page.locator(".sv-fit")
    expect(report.locator("h2")).to_have_text("fake-misfit → fake-refit")
    expect(report.locator(".sv-figure").first).to_contain_text("32 % → 57 %")
    expect(report.locator(".sv-figure").first).to_contain_text("mean of 973 tokens")
    expect(report.locator("code")).to_contain_text("python -m specviz distill --target fake-target")
    expect(page.locator(".sv-note").first).to_contain_text("fitted/broken: fit.json: target is")
    expect(page.locator(".sv-fit-plot .scatterlayer .point")).to_have_count(22)
    page.get_by_text("The same as a table").click()
    rows = report.locator("tbody tr")
    expect(rows).to_have_count(11)
    expect(rows.nth(1)).to_contain_text("78.0 %")
    expect(rows.nth(1)).to_contain_text("70.0 %")


def test_a_hostile_held_out_prompt_is_only_text(open_page: OpenPage, fake_address: str) -> None:
    page = _compare(open_page(fake_address))
    page.get_by_text("The same as a table").click()
    cell = page.locator(".sv-cell-prompt").last
    hostile = '<img src=x onerror="window.hacked=1"> ${6*7} {{6*7}} &amp; <b>bold</b>'
    assert cell.text_content() == hostile
    expect(page.locator(".sv-fit-plot .ytick text").last).to_contain_text('<img src=x onerror="win')
    page.locator(".sv-picker select").last.select_option(index=10)
    page.click("#sv-compare")
    page.wait_for_selector(FINISHED)
    assert page.locator(STAGE).locator(".sv-prompt").all_text_contents() == [hostile] * 3
    assert page.evaluate("window.hacked") is None
    assert page.locator("img[src=x]").count() == 0


def test_three_lanes_race_to_the_end(open_page: OpenPage, fake_address: str) -> None:
    page = _compare(open_page(fake_address))
    page.locator(".sv-picker select").last.select_option(
        label="3 · There was once a jolly goose called Pip."
    )
    page.click("#sv-compare")
    page.wait_for_selector(FINISHED)
    lanes = page.locator(STAGE).locator(".sv-lane")
    expect(lanes.locator("h2")).to_have_text(["target alone", "before fitting", "after fitting"])
    expect(lanes.nth(1)).to_contain_text("guesses by fake-misfit, γ = 4")
    read = """lane => [...lane.querySelectorAll('.sv-t')]
        .filter(t => !['rejected', 'discarded'].includes(t.dataset.fate))
        .map(t => t.textContent).join('')"""
    texts = {lane.evaluate(read) for lane in lanes.all()}
    assert len(texts) == 1
    assert page.locator(STAGE).locator(".sv-prompt").first.text_content() == (
        "There was once a jolly goose called Pip."
    )
    rows = page.locator("#sv-compare-figures .sv-figure-row")
    expect(rows.locator("h2")).to_have_text(["before fitting", "after fitting"])
    for row in rows.all():
        expect(row.locator('[data-figure="speedup"]')).to_contain_text(re.compile(r"\d\.\d\d×"))
        expect(row.locator('[data-figure="lossless"]')).to_contain_text("identical ✓")
    expect(page.locator("#sv-compare-status")).to_contain_text(
        re.compile(r"before fitting 0\.\d\d×, after fitting 1\.\d\d×")
    )
    chart = page.locator("#sv-compare-charts .sv-chart", has_text=TEXTS["chart.tokens"])
    chart.scroll_into_view_if_needed()
    expect(chart.locator(".scatterlayer path.js-line")).to_have_count(3)


def test_a_race_of_one_tab_is_not_shown_in_the_other(
    open_page: OpenPage, fake_address: str
) -> None:
    page = _compare(open_page(fake_address))
    endless = "10 · The road was endless, and Karl was tired."
    page.locator(".sv-picker select").last.select_option(label=endless)
    page.click("#sv-compare")
    page.wait_for_selector(f"{STAGE} .sv-lane .sv-correction")
    page.get_by_role("tab", name="Race").click()
    expect(page.locator("#sv-race")).to_be_disabled()
    expect(page.locator("#sv-race-stop")).to_be_enabled()
    assert page.locator("#sv-race-stage .sv-t").count() == 0
    page.click("#sv-race-stop")
    expect(page.locator("#sv-race")).to_be_enabled()
    page.click("#sv-race")
    page.wait_for_selector('#sv-race-status .sv-status-view[data-state="finished"]')
    _compare(page)
    expect(page.locator("#sv-compare-status")).to_contain_text("Stopped")
    expect(page.locator(STAGE).locator(".sv-lane")).to_have_count(3)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_scrolls_in_one_direction(
    open_page: OpenPage, fake_address: str, scheme: str
) -> None:
    page = _compare(open_page(f"{fake_address}/?__theme={scheme}", width=380, height=800))
    page.get_by_text("The same as a table").click()
    page.click("#sv-compare")
    page.wait_for_selector(FINISHED)
    page.locator("#sv-compare-charts").scroll_into_view_if_needed()
    page.wait_for_selector("#sv-compare-charts .main-svg >> nth=0")
    assert page.evaluate("document.documentElement.scrollWidth") == 380
    assert page.evaluate("document.body.scrollWidth") == 380


def test_without_a_fitted_draft_the_command_is_shown(
    open_page: OpenPage, bare_address: str
) -> None:
    page = _compare(open_page(bare_address))
    expect(page.locator(".sv-fit-none .sv-lead")).to_contain_text("No fitted draft is here yet")
    expect(page.locator(".sv-fit-none .sv-command")).to_contain_text("python -m specviz distill")
    expect(page.locator("#sv-compare")).to_be_hidden()
    expect(page.locator("#sv-compare-status")).to_be_hidden()
