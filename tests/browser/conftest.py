"""A headless Chromium that fails a test on any page error and on any request off this machine."""

import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlparse

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright
from serving import free_port, serving

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
TIMEOUT_MS = 60_000
HAS_RACED = "localStorage.setItem('specviz-raced', 'seen')"
"""What a browser remembers that has seen a race: the first one is shown slower by itself."""

expect.set_options(timeout=TIMEOUT_MS)

OpenPage = Callable[..., Page]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Start the browser once; without one the tests fail in CI and are skipped elsewhere."""
    path = os.environ.get("SPECVIZ_CHROMIUM") or shutil.which("chromium")
    if path is None:
        reason = "no Chromium: install it, or name it in SPECVIZ_CHROMIUM"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def fake_address() -> Iterator[str]:
    """Serve the page with made-up races that speak hostile words among others."""
    port = free_port()
    with serving("tests/fake_page.py", str(port), port=port) as address:
        yield address


@pytest.fixture
def open_page(browser: Browser) -> Iterator[OpenPage]:
    """Give a function that opens an address in a fresh, watched context.

    Its races are shown at full speed, unless it is opened for a visitor's first one.
    """
    contexts = []
    faults: list[str] = []

    def open_(
        address: str,
        width: int = 1440,
        height: int = 900,
        is_first_race: bool = False,
        **options: Any,
    ) -> Page:
        viewport = {"width": width, "height": height}
        context = browser.new_context(viewport=viewport, **options)
        contexts.append(context)
        if not is_first_race:
            context.add_init_script(HAS_RACED)
        page = context.new_page()
        page.set_default_timeout(TIMEOUT_MS)
        page.on("pageerror", lambda error: faults.append(f"page error: {error}"))
        page.on("request", lambda request: faults.extend(_off_machine(request.url)))
        page.goto(address)
        page.wait_for_selector(".sv-figures", state="attached")
        return page

    yield open_
    for context in contexts:
        context.close()
    assert faults == []


def _off_machine(url: str) -> list[str]:
    parts = urlparse(url)
    if parts.scheme in ("data", "blob") or parts.hostname in ("127.0.0.1", "localhost"):
        return []
    return [f"request off this machine: {url}"]
