"""The program as a newcomer starts it, with the shipped models, in a browser."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect
from serving import free_port, serving

pytestmark = [pytest.mark.browser, pytest.mark.slow]
OpenPage = Callable[..., Page]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    port = free_port()
    with serving("app.py", "--port", str(port), port=port) as address:
        yield address


def test_the_shipped_pair_races_on_the_page(open_page: OpenPage, address: str) -> None:
    page = open_page(address)
    tokens = page.locator("#sv-tokens input[type=number]")
    tokens.fill("32")
    tokens.press("Tab")
    page.click("#sv-race")
    page.wait_for_selector('.sv-status-view[data-state="finished"]')
    plain, lane = page.locator(".sv-lane").all()
    written = plain.locator(".sv-plain").count()
    assert 0 < written <= 32
    assert lane.locator(".sv-accepted").count() > 0
    kept = ".sv-t:not([data-fate=rejected]):not([data-fate=discarded])"
    assert lane.locator(kept).count() == written
    expect(page.locator('[data-figure="lossless"]')).to_contain_text("identical ✓")


def test_every_way_to_guess_runs(open_page: OpenPage, address: str) -> None:
    page = open_page(address)
    page.fill("#sv-prompt textarea", "the cat sat on the mat and the cat sat on the mat and")
    tokens = page.locator("#sv-tokens input[type=number]")
    tokens.fill("24")
    tokens.press("Tab")
    for label in ("prompt lookup", "early exit"):
        page.locator("#sv-lanes").get_by_text(label, exact=True).click()
        page.click("#sv-race")
        page.wait_for_selector(f'.sv-lane-head:has-text("target + {label}")')
        page.wait_for_selector('.sv-status-view[data-state="finished"]')
        expect(page.locator('[data-figure="lossless"]')).to_contain_text("identical ✓")
