"""A log of packets, and a bare trace, replay in the browser with no server and no network."""

import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

pytestmark = pytest.mark.browser
ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "fixtures"
DRAFTING = "#sv-race-stage .sv-lane >> nth=1"


class _QuietFiles(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def files_address() -> Iterator[str]:
    """Serve the repository's files, which is all that the page's scripts are."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_QuietFiles, directory=ROOT))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def page(browser: Browser, files_address: str) -> Iterator[Page]:
    """The scripts loaded once, and then the network switched off."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(f"{files_address}/tests/browser/replay.html")
    page.wait_for_function("window.isReady")
    context.set_offline(True)
    page.on("request", lambda request: faults.append(f"asked for {request.url}"))
    yield page
    context.close()
    assert faults == []


def _read(name: str) -> Any:
    return json.loads((FIXTURES / name).read_text(encoding="utf-8"))


def _texts(page: Page) -> list[str]:
    read = """lane => [...lane.querySelectorAll('.sv-t')]
        .filter(t => !['rejected', 'discarded'].includes(t.dataset.fate))
        .map(t => t.textContent).join('')"""
    return [lane.evaluate(read) for lane in page.locator("#sv-race-stage .sv-lane").all()]


def test_a_log_of_packets_shows_tokens_figures_and_rounds(page: Page) -> None:
    packets = _read("packets.json")
    page.evaluate("packets => window.show(packets)", packets)
    expect(page.locator(".sv-status-text")).to_have_text(
        "Finished: guessing made the target 1.49× as fast."
    )
    assert _texts(page) == [" t10 t11 t12 t13 t14 t15 t16 t17"] * 2
    metrics = packets[-1]["figures"][1]["metrics"]
    speedup = page.locator('[data-figure="speedup"] .sv-value span')
    expect(speedup).to_have_text(f"{metrics['speedup']:.2f}×")
    expect(page.locator('[data-figure="lossless"]')).to_contain_text("identical ✓")
    expect(page.locator(".sv-round-bar")).to_have_count(4)
    expect(page.locator(DRAFTING).locator("h2")).to_have_text("somebody's <b>own</b> name")


def test_a_log_of_packets_plays_to_its_end(page: Page) -> None:
    page.evaluate("packets => window.play(packets)", _read("packets.json"))
    expect(page.locator(".sv-status-view")).to_have_attribute("data-state", "finished")
    expect(page.locator(DRAFTING).locator(".sv-rejected")).to_have_count(1)


@pytest.mark.parametrize("name", ["trace_v1.json", "trace_tree.json"])
def test_a_bare_trace_shows_everything_but_figures(page: Page, name: str) -> None:
    trace = _read(name)
    page.evaluate("trace => window.showTrace(trace)", trace)
    rounds = [lane["rounds"] for lane in trace["lanes"]]
    emitted = ["".join(t["text"] for r in lane for t in r["emitted"]) for lane in rounds]
    assert _texts(page) == emitted
    expect(page.locator(".sv-round-bar")).to_have_count(len(rounds[1]))
    expect(page.locator('[data-figure="speedup"] .sv-value span')).to_have_text("–")
    page.locator(DRAFTING).locator(".sv-t").first.click()
    expect(page.locator("#sv-race-stage .sv-card .sv-laws")).to_be_visible()
