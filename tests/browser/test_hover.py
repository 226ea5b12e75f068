"""What is written on a button can be read under the pointer too."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.browser
OpenPage = Callable[..., Page]
CONTRAST = """(element) => {
    const parse = (text) => text.match(/[\\d.]+/g).map(Number);
    const light = (text) => {
        const [r, g, b] = parse(text).slice(0, 3).map((each) => each / 255)
            .map((share) => (share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    let ground = element;
    while (parse(getComputedStyle(ground).backgroundColor)[3] === 0) ground = ground.parentElement;
    const [ink, fill] = [getComputedStyle(element).color, getComputedStyle(ground).backgroundColor];
    const [low, high] = [light(ink), light(fill)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
}"""


def _contrast_under_the_pointer(button: Locator) -> float:
    button.hover()
    return float(button.evaluate(CONTRAST))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_button_can_be_read_under_the_pointer(
    open_page: OpenPage, fake_address: str, scheme: str
) -> None:
    page = open_page(f"{fake_address}/?__theme={scheme}&tokens=16")
    page.add_style_tag(content="* { transition: none !important; }")
    measured = {}

    def measure() -> None:
        for button in page.locator(".sv-view button:visible:enabled, #sv-race:visible").all():
            name = button.inner_text().strip() or button.get_attribute("aria-label")
            measured[name] = _contrast_under_the_pointer(button)

    measure()
    page.click("#sv-tab-rounds-button")
    page.locator(".sv-round-play:visible").wait_for()
    measure()
    assert "▶ Race" in measured
    assert any("Play" in name for name in measured)
    assert {name: ratio for name, ratio in measured.items() if ratio < 4.5} == {}


def test_a_text_that_goes_away_would_be_measured(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    page.add_style_tag(
        content=".sv-view button.sv-watch:hover:enabled { color: var(--sv-accent); filter: none; }"
    )
    assert _contrast_under_the_pointer(page.locator("button.sv-watch")) < 1.5
