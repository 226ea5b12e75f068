"""The page appears whole: nothing that is seen jumps while its parts come in."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, expect

pytestmark = pytest.mark.browser
OpenPage = Callable[..., Page]
LARGEST_SHIFT = 0.1
"""Core Web Vitals call a cumulative layout shift up to this good."""
WATCH = """() => {
    window.shifts = [];
    new PerformanceObserver((list) => {
        for (const { value, sources } of list.getEntries()) {
            window.shifts.push([value, sources.map(({ node }) => node?.id || node?.className)]);
        }
    }).observe({ type: 'layout-shift', buffered: true });
}"""
SETTLED_MS = 1500


@pytest.mark.parametrize("query", ["", "?lang=es&__theme=dark", "?embed=1"])
@pytest.mark.parametrize(("width", "height"), [(1440, 900), (380, 800)])
def test_the_page_does_not_jump_while_it_loads(
    open_page: OpenPage, fake_address: str, width: int, height: int, query: str
) -> None:
    page = open_page(f"{fake_address}/{query}", width=width, height=height)
    page.wait_for_timeout(SETTLED_MS)
    page.evaluate(WATCH)
    page.wait_for_timeout(100)
    shifts = page.evaluate("window.shifts")
    assert sum(value for value, _ in shifts) < LARGEST_SHIFT, shifts


def test_a_jump_would_be_measured(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    page.evaluate("document.getElementById('sv-tabs').style.marginTop = '300px'")
    page.wait_for_timeout(100)
    page.evaluate(WATCH)
    page.wait_for_function("() => window.shifts.length > 0")
    assert sum(value for value, _ in page.evaluate("window.shifts")) > LARGEST_SHIFT


def test_without_its_scripts_the_page_is_shown_after_a_while(
    browser: Browser, fake_address: str
) -> None:
    page = browser.new_context().new_page()
    page.route("**/assets/js/main.js", lambda route: route.abort())
    page.goto(fake_address)
    field = page.locator("#sv-prompt textarea")
    field.wait_for(state="attached")
    expect(field).to_be_hidden()
    expect(field).to_be_visible()
    page.context.close()


def test_a_page_at_rest_asks_for_no_frames(browser: Browser, fake_address: str) -> None:
    page = browser.new_context().new_page()
    # What Gradio's modules hold is this function, from before the page was there.
    page.add_init_script(
        """const ask = window.requestAnimationFrame;
        window.frames_asked = 0;
        window.requestAnimationFrame = (callback) => {
            window.frames_asked += 1;
            return ask.call(window, callback);
        };"""
    )
    page.goto(fake_address)
    page.wait_for_selector(".sv-figures", state="attached")
    # At rest it has loaded what draws charts, before a race needs its time.
    page.wait_for_function("() => window.Plotly")
    asked = "() => [window.frames_asked, window.frames_asked = 0][0] < 5"
    page.wait_for_function(asked, polling=1000)
    page.context.close()
