"""axe-core finds nothing at all on any tab, in both themes, before and after a race."""

from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

pytestmark = pytest.mark.browser
OpenPage = Callable[..., Page]
TABS = ("race", "rounds", "compare", "learn")
NO_FAULTS: dict[str, list[str]] = {tab: [] for tab in TABS}


def _faults(page: Page) -> list[str]:
    """One line for each place where axe-core finds anything, however minor."""
    # Colours are judged as they stay, not in the middle of a fade.
    page.wait_for_timeout(600)
    violations = Axe().run(page).response["violations"]
    return [
        f"{violation['impact']} {violation['id']}: {node['target']}: {node['html'][:160]}"
        for violation in violations
        for node in violation["nodes"]
    ]


def _show_tab(page: Page, tab: str) -> None:
    page.click(f"#sv-tab-{tab}-button")
    page.wait_for_selector(f"#sv-tab-{tab} .sv-view > :not([hidden])")


def _race_to_the_end(page: Page) -> None:
    _show_tab(page, "race")
    page.click("#sv-race")
    page.wait_for_selector('#sv-race-status [data-state="finished"]')
    page.locator("#sv-race-stage .sv-lane").nth(1).locator(".sv-correction").first.click()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_tab_has_a_fault(open_page: OpenPage, fake_address: str, scheme: str) -> None:
    page = open_page(f"{fake_address}/?__theme={scheme}")
    assert _faults_of_tabs(page) == NO_FAULTS
    _race_to_the_end(page)
    assert _faults_of_tabs(page) == NO_FAULTS


def _faults_of_tabs(page: Page) -> dict[str, list[str]]:
    faults = {}
    for tab in TABS:
        _show_tab(page, tab)
        faults[tab] = _faults(page)
    return faults


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_recorded_race_on_a_phone_has_no_fault(
    open_page: OpenPage, fake_address: str, scheme: str
) -> None:
    page = open_page(f"{fake_address}/?__theme={scheme}&size=projector", width=380, height=800)
    page.click("button.sv-watch")
    page.wait_for_selector("#sv-race-stage .sv-lane .sv-correction")
    assert _faults(page) == []


def test_what_opens_and_what_is_embedded_has_no_fault(
    open_page: OpenPage, fake_address: str
) -> None:
    page = open_page(fake_address)
    _race_to_the_end(page)
    page.locator("#sv-more .label-wrap").click()
    page.locator(".sv-hub summary").click()
    page.get_by_role("combobox", name="Pair").select_option("own")
    page.get_by_label("Target (owner/name)").fill("fake/unfit")
    page.get_by_role("button", name="See what it takes").click()
    page.wait_for_selector(".sv-hub-findings .is-refuse")
    page.locator("#sv-race-predict summary").click()
    page.locator("#sv-race-figures button").first.click()
    page.locator("#sv-race-status .sv-keys").click()
    assert _faults(page) == []
    _show_tab(page, "compare")
    page.locator(".sv-compare-views input").last.check()
    assert _faults(page) == []
    embedded = open_page(f"{fake_address}/?embed=1")
    assert _faults(embedded) == []


def test_a_fault_would_be_found(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    page.evaluate("document.querySelector('.sv-title p').style.color = '#dddddd'")
    assert any("color-contrast" in fault for fault in _faults(page))
