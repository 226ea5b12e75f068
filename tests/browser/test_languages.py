"""The page speaks the language that was asked for, Gradio's own labels included."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from specviz.ui.strings import read_table

pytestmark = pytest.mark.browser
OpenPage = Callable[..., Page]


@pytest.mark.parametrize(
    ("locale", "query", "language"),
    [
        ("en-US", "?lang=es", "es"),
        ("es-ES", "", "es"),
        ("es-ES", "?lang=en", "en"),
        ("ja-JP", "", "en"),
    ],
)
def test_tabs_labels_and_status_are_in_one_language(
    open_page: OpenPage, fake_address: str, locale: str, query: str, language: str
) -> None:
    page = open_page(f"{fake_address}/{query}", locale=locale)
    texts = read_table(language)
    expect(page.locator("html")).to_have_attribute("lang", language)
    expect(page.locator("#sv-tab-race-button")).to_have_text(texts["tab.race"])
    expect(page.locator("#sv-race")).to_have_text(texts["control.race"])
    expect(page.locator("#sv-race-status .sv-status-text")).to_have_text(texts["status.idle_race"])


def test_a_race_is_told_in_the_language_of_the_page(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(f"{fake_address}/?lang=es")
    page.click("#sv-race")
    page.wait_for_selector('#sv-race-status .sv-status-view[data-state="finished"]')
    texts = read_table("es")
    told = texts["closing.faster"].split("{")[0].strip()
    expect(page.locator("#sv-race-status .sv-status-text")).to_contain_text(told)
    expect(page.locator(".sv-lane h2").first).to_have_text(texts["lane.baseline"])
