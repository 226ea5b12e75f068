"""A visitor fits a draft while watching, stops it, and races what it became."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser
OpenPage = Callable[..., Page]
FINISHED = '#sv-compare-status .sv-status-view[data-state="finished"]'


def _open_fits(page: Page) -> None:
    page.get_by_role("tab", name="Compare").click()
    page.get_by_role("radio", name="Fit a draft").check()


def test_a_draft_is_fitted_stopped_and_raced(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    _open_fits(page)
    start = page.get_by_role("button", name="Start fitting")
    expect(start).to_be_disabled()
    page.get_by_role("button", name="Use 40 story openings").click()
    form, live = page.locator(".sv-fit-form"), page.locator(".sv-fit-live")
    expect(form).to_contain_text("40 different prompts: 32 to learn from, 8 held out")
    expect(form.locator(".sv-note")).to_contain_text("Fewer than 50 prompts")
    expect(form.get_by_label("Draft to start from")).to_have_value("fake-misfit")
    form.get_by_label("Time").select_option("1")
    start.click()
    expect(live).to_contain_text("The draft learns: step 60 of 100")
    expect(start).to_be_disabled()
    page.get_by_role("button", name="Stop, keep the best").click()
    expect(live).to_contain_text("Done: α rose from 32.0 % to 57.3 %")
    expect(live).to_contain_text("It was stopped at step 60")
    expect(live.locator(".scatterlayer .trace").first).to_be_attached()
    name = page.locator(".sv-fit-shown select").first.input_value()
    assert name.startswith("fake-fit-")
    expect(page.locator(".sv-fit h2")).to_have_text(f"fake-misfit → {name}")
    live.get_by_role("button", name="Race before and after").click()
    page.wait_for_selector(FINISHED)
    expect(page.locator("#sv-compare-stage .sv-lane").nth(2)).to_contain_text(f"guesses by {name}")
    page.reload()
    _open_fits(page)
    expect(live).to_contain_text("It was stopped at step 60")
    expect(page.locator(".sv-fit-shown select").first).to_contain_text(name)
