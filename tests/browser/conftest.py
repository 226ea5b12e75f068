"""A headless Chromium that fails a test on any page error and on any request off this machine."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlparse

import pytest
from chromium import find_chromium
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
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
NEVER_IDLE = "window.requestIdleCallback = () => 0"
"""A page at rest loads what draws charts, which takes as long as all else of it. A busy one loads
it with its first race or chart, so that a test without any does not pay for it."""

expect.set_options(timeout=TIMEOUT_MS)

OpenPage = Callable[..., Page]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run a browser's test that fails once more; the summary of the run names each such test."""
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Start the browser once; without one the tests fail in CI and are skipped elsewhere."""
    path = find_chromium()
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


@pytest.fixture(scope="session")
def visitors(browser: Browser) -> "Visitors":
    """Contexts that one test after another visits the page with."""
    return Visitors(browser)


@pytest.fixture
def open_page(visitors: "Visitors") -> Iterator[OpenPage]:
    """Give a function that opens an address for a new visitor, in a watched page.

    Races are shown at full speed, unless it is opened for a visitor's first one.
    """
    with _opening(visitors) as open_:
        yield open_


@pytest.fixture(scope="module")
def open_kept(visitors: "Visitors") -> Iterator[OpenPage]:
    """As `open_page`, for a page that several tests of a file look at and leave as it is."""
    with _opening(visitors) as open_:
        yield open_


@contextmanager
def _opening(visitors: "Visitors") -> Iterator[OpenPage]:
    faults: list[str] = []
    contexts: list[BrowserContext] = []

    def open_(
        address: str,
        width: int = 1440,
        height: int = 900,
        is_first_race: bool = False,
        **options: Any,
    ) -> Page:
        page = visitors.come(is_first_race, options)
        contexts.append(page.context)
        page.set_viewport_size({"width": width, "height": height})
        page.set_default_timeout(TIMEOUT_MS)
        page.on("pageerror", lambda error: faults.append(f"page error: {error}"))
        page.on("request", lambda request: faults.extend(_off_machine(request.url)))
        page.goto(address)
        page.wait_for_selector(".sv-figures", state="attached")
        return page

    yield open_
    for context in contexts:
        visitors.leave(context)
    assert faults == []


class Visitors:
    """Contexts of the browser that are used again: the page's files, once read, open it in half the
    time; nothing that a visitor left behind stays."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._idle: dict[str, list[BrowserContext]] = {}
        self._keys: dict[BrowserContext, str] = {}

    def come(self, is_first_race: bool, options: dict[str, Any]) -> Page:
        """Open an empty page as a visitor of whom the page knows nothing."""
        key = repr((is_first_race, sorted(options.items())))
        idle = self._idle.setdefault(key, [])
        context = idle.pop() if idle else self._new_context(is_first_race, options)
        self._keys[context] = key
        return context.new_page()

    def leave(self, context: BrowserContext) -> None:
        """Close the pages of a visitor and forget what was kept."""
        for page in context.pages:
            page.close()
        context.set_storage_state({})
        self._idle[self._keys[context]].append(context)

    def _new_context(self, is_first_race: bool, options: dict[str, Any]) -> BrowserContext:
        context = self._browser.new_context(**options)
        context.add_init_script(NEVER_IDLE)
        if not is_first_race:
            context.add_init_script(HAS_RACED)
        return context


def _off_machine(url: str) -> list[str]:
    parts = urlparse(url)
    if parts.scheme in ("data", "blob") or parts.hostname in ("127.0.0.1", "localhost"):
        return []
    return [f"request off this machine: {url}"]
