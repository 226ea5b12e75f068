"""A visitor measures which draft is worth it, on made-up races, and is at home on a phone."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from specviz.ui.strings import read_table

pytestmark = pytest.mark.browser
TEXTS = read_table("en")
OpenPage = Callable[..., Page]
HOSTILE = '<img src=x onerror="window.hacked=1"> ${6*7}'
LINK = "sweep=draft-model:fake-draft&sweep=prompt-lookup&sweep_gammas=1-2&sweep_tokens=64"


def _answer(page: Page) -> str:
    return page.locator(".sv-sweep-answer").inner_text()


def test_a_visitor_measures_saves_opens_goes_on_and_races_a_cell(
    open_page: OpenPage, fake_address: str, tmp_path: Path
) -> None:
    page = open_page(f"{fake_address}/?{LINK}")
    expect(page.locator(".sv-sweep-line .sv-badge")).to_have_text(TEXTS["sweep_page.recorded"])
    expect(page.locator(".sv-leader").first).to_contain_text(TEXTS["sweep_page.worth_yes"])
    expect(page.locator(".sv-heat-cell").first).to_contain_text("×")
    expect(page.locator(".sv-sweep-lane:has(:checked)")).to_have_text(
        ["fake-draft", TEXTS["editor.prompt_lookup"]]
    )
    status = page.locator(".sv-sweep-status")
    page.click(".sv-sweep-start")
    expect(page.locator(".sv-leader h3")).to_have_count(2)
    page.get_by_role("button", name=TEXTS["sweep_page.stop"], exact=True).click()
    expect(status).to_have_text(TEXTS["sweep_page.stopped"])
    page.get_by_role("radio", name=TEXTS["sweep_page.suite_lines"]).check()
    page.get_by_label(TEXTS["sweep_page.lines"]).fill(f"Once upon\n{HOSTILE}")
    page.click(".sv-sweep-start")
    expect(status).to_have_text(TEXTS["sweep_page.finished"])
    expect(page.locator(".sv-sweep-line .sv-badge")).to_be_hidden()
    told, place = _answer(page), page.locator(".sv-sweep-line p").inner_text()
    with page.expect_download() as download:
        page.click('[data-save="json"]')
    saved = tmp_path / "sweep.json"
    download.value.save_as(saved)
    assert {"cells", "best", "verdicts", "runs"} <= set(json.loads(saved.read_text("utf-8")))
    page.reload()
    page.locator(".sv-sweep-files input").set_input_files(saved)
    expect(page.locator(".sv-sweep-line p")).to_have_text(place)
    assert _answer(page) == told
    page.get_by_role("button", name=TEXTS["sweep_page.go_on"]).click()
    expect(status).to_have_text(TEXTS["sweep_page.finished"])
    expect(page.locator(".sv-sweep-ask .sv-refusal")).to_be_empty()
    page.locator(".sv-heat-cell").first.click()
    page.wait_for_selector('#sv-race-status [data-state="finished"]')
    assert page.locator("#sv-race-stage .sv-prompt").first.text_content() == "Once upon"
    assert page.evaluate("window.hacked") is None


def test_the_recorded_sweep_fits_a_phone(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(f"{fake_address}/?__theme=dark", width=380, height=800)
    page.get_by_role("tab", name="Compare").click()
    charts = page.locator(".sv-sweep-charts .sv-chart")
    expect(charts).to_have_count(6)
    for chart in charts.all():
        chart.scroll_into_view_if_needed()
        chart.locator(".main-svg").first.wait_for()
        expect(chart.locator(".sv-chart-says")).to_have_text(re.compile(r"\d"))
    assert page.evaluate("document.documentElement.scrollWidth") == 380
    page.get_by_role("radio", name=TEXTS["compare.view_fit"]).check()
    expect(page.locator(".sv-fit")).to_be_visible()
    expect(page.locator(".sv-sweep-results")).to_be_hidden()
