"""Takes the README's pictures: starts the app, races, photographs the page.

python tests/browser/pictures.py [FOLDER]    (default assets/pictures)
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from chromium import find_chromium
from playwright.sync_api import Browser, Page, sync_playwright
from serving import free_port, serving

# Charts are drawn where they can be seen, so the windows are tall enough for all that is shown.
PICTURES = {
    "race": ("light", 1440, 2050),
    "race_dark": ("dark", 1440, 2050),
    "phone": ("light", 380, 1500),
}


def open_page(browser: Browser, address: str, scheme: str, width: int, height: int) -> Page:
    """Open the page in a fresh context, as a visitor who has been here before."""
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    for key in ("specviz-welcome", "specviz-raced"):
        context.add_init_script(f"localStorage.setItem('{key}', 'seen')")
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector(".sv-figures", state="attached")
    return page


def take_race(browser: Browser, address: str, file: Path, look: tuple[str, int, int]) -> None:
    """Race the page's own first prompt and photograph the end of it."""
    page = open_page(browser, address, *look)
    page.click("#sv-race")
    page.wait_for_selector('.sv-status-view[data-state="finished"]', timeout=60_000)
    page.locator(".sv-lane").nth(1).locator(".sv-correction, .sv-bonus").first.click()
    page.evaluate("window.scrollTo(0, 0)")
    page.wait_for_timeout(2_500)
    page.screenshot(path=file)
    page.context.close()


def take_rounds(browser: Browser, address: str, file: Path) -> None:
    """Photograph a round with a rejected guess of a recorded race at temperature 0.8."""
    page = open_page(browser, address, "light", 1440, 1250)
    page.click("#sv-tab-rounds-button")
    page.wait_for_selector(".sv-rounds-view [role=listbox]")
    rejected = page.locator(".sv-rounds-view .sv-rejected")
    for number in range(2, 12):
        page.locator(".sv-round-slider").fill(str(number))
        page.wait_for_timeout(500)
        if rejected.count():
            break
    page.wait_for_timeout(2_500)
    page.screenshot(path=file)
    page.context.close()


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "assets/pictures")
    folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    path = find_chromium()
    with serving("app.py", "--port", str(port), port=port) as address, sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=path, args=["--headless", "--no-sandbox"])
        for name, look in PICTURES.items():
            take_race(browser, address, folder / f"{name}.png", look)
        take_rounds(browser, address, folder / "rounds.png")
        browser.close()


if __name__ == "__main__":
    main()
