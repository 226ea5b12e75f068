"""Measures what watching costs: a race streamed to a page against the same race without one.

python tests/browser/streamed_speed.py [TURNS]    (default 7)

Both kinds run in turn in one server; speeds are the lanes' own clocks, in tokens per second.
"""

import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from chromium import find_chromium
from gradio_client import Client
from playwright.sync_api import Page, sync_playwright
from rich.console import Console
from serving import free_port, serving

from specviz.trace.files import from_json
from specviz.trace.metrics import race_metrics
from specviz.ui.options import PageDefaults

PROMPT = PageDefaults().prompt
GAMMA, NUM_TOKENS = 4, 192


def unwatched(client: Client) -> list[float]:
    """Speeds of the lanes of a race that a program asked for."""
    lanes = [{"method": "draft-model", "gamma": GAMMA}]
    trace = from_json(client.predict(PROMPT, lanes, {}, NUM_TOKENS, api_name="/race"))
    return [lane.tokens_per_second or 0.0 for lane in race_metrics(trace)]


def watched(page: Page) -> list[float]:
    """Speeds of the lanes of a race that is drawn in a browser on this machine."""
    page.click("#sv-race")
    page.wait_for_selector('.sv-status-view[data-state="running"]', timeout=60_000)
    page.wait_for_selector('.sv-status-view[data-state="finished"]', timeout=60_000)
    return [float(text.split()[0]) for text in page.locator(".sv-lane strong").all_inner_texts()]


def main() -> None:
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    port = free_port()
    path = find_chromium()
    alone, seen = [], []
    with serving("app.py", "--port", str(port), port=port) as address, sync_playwright() as tool:
        client = Client(address, verbose=False)
        browser = tool.chromium.launch(executable_path=path, args=["--headless", "--no-sandbox"])
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(address)
        page.wait_for_selector(".sv-figures")
        page.locator("#sv-tokens input[type=number]").fill(str(NUM_TOKENS))
        page.locator("#sv-tokens input[type=number]").press("Tab")
        unwatched(client)
        for _ in range(turns):
            alone.append(unwatched(client))
            seen.append(watched(page))
        browser.close()
    for lane, name in enumerate(("target alone", "target + draft")):
        with_page = statistics.median(turn[lane] for turn in seen)
        without = statistics.median(turn[lane] for turn in alone)
        Console().print(
            f"{name}: {with_page:.1f} tokens/s watched, {without:.1f} unwatched, "
            f"ratio {with_page / without:.3f} (medians of {turns})"
        )


if __name__ == "__main__":
    main()
