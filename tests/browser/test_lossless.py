"""The tab Lossless: a proof is drawn live and judged, and a lane is broken in a race of its own."""

from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser
OpenPage = Callable[..., Page]
FINISHED = '#sv-race-status .sv-status-view[data-state="finished"]'


def test_a_proof_converges_and_a_wrong_rule_turns_the_verdict_red(
    open_page: OpenPage, fake_address: str
) -> None:
    page = open_page(f"{fake_address}/?__theme=dark")
    page.get_by_role("tab", name="Lossless").click()
    verdict = page.locator(".sv-proof-verdict")
    start = page.get_by_role("button", name="Draw and compare")
    start.click()
    expect(verdict).to_have_attribute("data-look", "good")
    expect(verdict).to_contain_text("the histograms meet")
    rows = page.locator(".sv-hist-part").first.locator(".sv-hist-row")
    expect(rows).to_have_count(3)
    expect(rows.nth(1)).to_contain_text("${6*7}")
    expect(page.locator(".sv-proof-told")).to_have_text("2,000 of 2,000 draws")
    page.get_by_role("radio", name="corrects from the target itself").check()
    start.click()
    expect(verdict).to_have_attribute("data-look", "bad")
    expect(verdict).to_contain_text("not from what is left over")
    expect(page.locator(".sv-hist-row.is-telltale")).to_have_count(1)
    assert Axe().run(page).response["violations"] == []
    page.get_by_label("Temperature", exact=True).and_(page.locator(".sv-proof input")).fill("0")
    page.get_by_role("radio", name="the right rule").check()
    start.click()
    expect(verdict).to_contain_text("the same texts")
    expect(page.locator(".sv-grid-rows > li")).to_have_count(34)
    page.set_viewport_size({"width": 380, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == 380


def test_the_wrong_one_is_raced_by_one_click_and_marked_wherever_it_is_named(
    open_page: OpenPage, fake_address: str
) -> None:
    page = open_page(fake_address)
    page.get_by_role("tab", name="Lossless").click()
    page.get_by_role("button", name="Race the wrong one").click()
    page.wait_for_selector(FINISHED)
    name = "target + draft model, WRONG: keeps drafts behind a rejection"
    expect(page.locator("#sv-race-stage .sv-lane h2").nth(2)).to_have_text(name)
    expect(page.locator("#sv-race-figures .sv-figure-row h2").nth(1)).to_have_text(name)
    outputs = page.locator("#sv-race-figures [data-figure='lossless'] .sv-value")
    expect(outputs.nth(0)).to_contain_text("identical")
    expect(outputs.nth(1)).to_contain_text("not lossless")
    expect(page.locator("#sv-race-status")).to_contain_text("WRONG")
    broken = page.locator(".sv-editor-lane.is-broken")
    expect(broken).to_have_count(1)
    assert "lane_rule=keep-after-rejection" in (
        page.locator(".sv-whole").get_attribute("href") or ""
    )
    broken.get_by_label("How guesses are kept").select_option("right")
    expect(page.locator(".sv-editor-lane.is-broken")).to_have_count(0)
