"""Takes the README's pictures: starts the app, races, photographs the page.

python tests/browser/pictures.py [FOLDER]    (default assets/pictures)
"""

import os
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from playwright.sync_api import Browser, sync_playwright
from serving import free_port, serving

# Charts are drawn where they can be seen, so the windows are tall enough for all that is shown.
PICTURES = {
    "race": ("light", 1440, 1460),
    "race_dark": ("dark", 1440, 1460),
    "phone": ("light", 380, 1500),
}


def take(browser: Browser, address: str, file: Path, scheme: str, width: int, height: int) -> None:
    """Race the page's own first prompt and photograph the end of it."""
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector(".sv-figures")
    page.click("#sv-race")
    page.wait_for_selector('.sv-status-view[data-state="finished"]', timeout=60_000)
    page.locator(".sv-lane").nth(1).locator(".sv-correction, .sv-bonus").first.click()
    page.wait_for_timeout(1_500)
    page.screenshot(path=file)
    context.close()


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "assets/pictures")
    folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    path = os.environ.get("SPECVIZ_CHROMIUM") or shutil.which("chromium")
    with serving("app.py", "--port", str(port), port=port) as address, sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=path, args=["--headless", "--no-sandbox"])
        for name, look in PICTURES.items():
            take(browser, address, folder / f"{name}.png", *look)
        browser.close()


if __name__ == "__main__":
    main()
