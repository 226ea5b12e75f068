"""Measures how a race streams to a page: paint lag, lost packets, bytes on the wire.

python tests/browser/streaming.py [TOKENS]    (default 512)

Two lanes at 20 packets a second, and four lanes at the page's own pace with the browser's processor
slowed four times. The race is made up and paced like one of the shipped family on two cores; lanes,
their charts, the clock strip and the first row of the other charts are in sight.
"""

import statistics
import sys
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from chromium import find_chromium
from fake_race import OPTIONS, WORDS, FakeRace
from playwright.sync_api import Browser, CDPSession, Page, sync_playwright
from rich.console import Console
from rich.table import Table
from serving import free_port, serving

from specviz.ui import sessions, stream
from specviz.ui.http_guard import HttpGuard
from specviz.ui.options import PageDefaults
from specviz.ui.page import build_page, launch_settings
from specviz.ui.wire import pack

PAUSE_SECONDS = 0.016
"""A round of the shipped family: 512 tokens in two lanes then take about 12 seconds."""
PACKET_MS = 30
"""With the pause after each packet and the length of a round this makes 20 packets a second."""
DRAFTS = ("fake-draft", "fake-misfit", "fake-refit")
HEIGHT = 1_440
"""Where a race begins, such a window shows all of it and the first row of charts below."""
WATCH = """() => {
    const seen = (window.streamed = { packets: [], lags: [], replayed: 0, redraws: 0 });
    const watched = new Set();
    setInterval(() => {
        for (const plot of document.querySelectorAll('.js-plotly-plot')) {
            if (watched.has(plot)) continue;
            watched.add(plot);
            plot.on('plotly_afterplot', () => { seen.redraws += 1; });
        }
    }, 200);
    const parse = JSON.parse;
    const waiting = [];
    let sent = 0;
    let drawn = 0;
    const now = () => performance.timeOrigin + performance.now();
    JSON.parse = (text, ...rest) => {
        const packet = parse(text, ...rest);
        if (!Array.isArray(packet?.events)) return packet;
        seen.packets.push(packet.seq);
        if (packet.seq && !packet.at) seen.replayed += 1;
        const rounds = packet.events.filter(({ event }) => event === 'RoundFinished');
        const tokens = ({ drafted, emitted }) =>
            drafted.length + emitted.filter(({ source }) => source !== 'draft').length;
        sent += rounds.reduce((sum, { round }) => sum + tokens(round), 0);
        if (rounds.length) waiting.push({ at: packet.at, tokens: sent });
        return packet;
    };
    const count = (node) =>
        node.nodeType !== 1 ? 0 : node.matches('.sv-t') + node.querySelectorAll('.sv-t').length;
    new MutationObserver((changes) => {
        for (const { addedNodes } of changes) for (const node of addedNodes) drawn += count(node);
        const done = [];
        while (waiting.length && waiting[0].tokens <= drawn) done.push(waiting.shift());
        if (!done.length) return;
        // A message that is posted in the frame's own callback comes after the frame is painted.
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => seen.lags.push(...done.map(({ at }) => now() - at));
        requestAnimationFrame(() => port2.postMessage(null));
    }).observe(document.body, { childList: true, subtree: true });
}"""


@dataclass
class Traffic:
    """What came over the wire during a race, in bytes."""

    stream: int = 0
    others: Counter[str] = field(default_factory=Counter)
    _urls: dict[str, str] = field(default_factory=dict)

    def listen(self, session: CDPSession) -> None:
        """Count from now on."""
        session.on("Network.requestWillBeSent", self._note)
        session.on("Network.dataReceived", self._take)
        session.on("Network.loadingFinished", self._finish)

    def _note(self, event: dict[str, Any]) -> None:
        self._urls[event["requestId"]] = event["request"]["url"]

    def _take(self, event: dict[str, Any]) -> None:
        if self._is_stream(event):
            self.stream += event["encodedDataLength"]

    def _finish(self, event: dict[str, Any]) -> None:
        url = self._urls.get(event["requestId"])
        if url is not None and not self._is_stream(event):
            name = url.split("?")[0].rsplit("/", 1)[-1]
            self.others[name] += int(event["encodedDataLength"])

    def _is_stream(self, event: dict[str, Any]) -> bool:
        return "/queue/data" in self._urls.get(event["requestId"], "")


@dataclass(frozen=True)
class Case:
    """A race to measure."""

    name: str
    lanes: int
    slowdown: int
    packet_ms: int


CASES = (
    Case("2 lanes, 20 packets/s", 2, 1, PACKET_MS),
    Case("4 lanes, processor slowed 4×", 4, 4, round(1000 * stream.PACKET_SECONDS)),
)


def serve(port: int, num_tokens: int, packet_ms: int) -> None:
    """Serve the page; packets say when they were sent."""

    def stamped(packet: str) -> str:
        return pack(f'{packet[:-1]},"at":{time.time() * 1000:.1f}}}')

    sessions.pack = stamped
    stream.PACKET_SECONDS = packet_ms / 1000
    limits = replace(OPTIONS.limits, max_new_tokens=num_tokens, deadline_seconds=600.0)
    defaults = PageDefaults(max_new_tokens=num_tokens)
    options = replace(OPTIONS, limits=limits, defaults=defaults)
    page = build_page(FakeRace(WORDS, pause=PAUSE_SECONDS), options)
    page.launch(server_port=port, quiet=True, **launch_settings(HttpGuard(page)))


def measure(browser: Browser, case: Case, num_tokens: int) -> list[str]:
    """Watch one race and give its row of the table."""
    port = free_port()
    numbers = (port, num_tokens, case.packet_ms)
    lanes = "&".join(f"lane=draft-model:{draft}:4" for draft in DRAFTS[: case.lanes - 1])
    arguments = ("tests/browser/streaming.py", "serve", *map(str, numbers))
    with serving(*arguments, port=port) as address:
        page = browser.new_page(viewport={"width": 1440, "height": HEIGHT})
        page.add_init_script("localStorage.setItem('specviz-raced', 'seen')")
        page.goto(f"{address}/?{lanes}")
        page.wait_for_selector(".sv-lane-head")
        page.wait_for_function("window.Plotly")
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        session.send("Performance.enable")
        session.send("Emulation.setCPUThrottlingRate", {"rate": case.slowdown})
        traffic = Traffic()
        traffic.listen(session)
        page.evaluate(WATCH)
        row = _race(page, session, traffic)
        page.close()
    return [case.name, *row]


def _race(page: Page, session: CDPSession, traffic: Traffic) -> list[str]:
    busy, began = _processor_seconds(session), time.monotonic()
    page.click("#sv-race")
    page.wait_for_selector('.sv-status-view[data-state="running"]')
    page.mouse.move(2, 2)
    # Playwright's own waiting asks the page for its layout in each frame, which is costly.
    while page.evaluate("document.querySelector('.sv-status-view').dataset.state") == "running":
        page.wait_for_timeout(300)
    seconds = time.monotonic() - began
    share = (_processor_seconds(session) - busy) / seconds
    page.wait_for_timeout(500)
    seen = page.evaluate("window.streamed")
    lags, packets = seen["lags"], set(seen["packets"])
    lost = max(packets) + 1 - len(packets)
    others = ", ".join(f"{name} {size / 1000:.0f}" for name, size in traffic.others.most_common(4))
    return [
        f"{len(packets)} ({len(packets) / seconds:.0f}/s)",
        f"{lost} / {seen['replayed']}",
        f"{statistics.median(lags):.0f} ms",
        f"{sorted(lags)[int(0.95 * len(lags))]:.0f} ms",
        f"{max(lags[-5:]):.0f} ms",
        f"{traffic.stream / 1000:.0f} kB",
        f"{traffic.others.total() / 1000:.0f} kB ({others})",
        f"{seen['redraws'] / seconds:.1f}/s",
        f"{100 * share:.0f} %",
    ]


def _processor_seconds(session: CDPSession) -> float:
    metrics = session.send("Performance.getMetrics")["metrics"]
    return float(next(each["value"] for each in metrics if each["name"] == "ProcessTime"))


def main() -> None:
    """Measure every case and print the table."""
    num_tokens = int(sys.argv[1]) if len(sys.argv) > 1 else 512
    path = find_chromium()
    table = Table("race", "packets", "lost / read again", "lag, median", "95 %", "at the end")
    for name in ("event stream", "other bytes", "charts redrawn", "browser busy"):
        table.add_column(name)
    with sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=path, args=["--headless", "--no-sandbox"])
        for case in CASES:
            table.add_row(*measure(browser, case, num_tokens))
        browser.close()
    Console().print(table)


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        serve(*(int(argument) for argument in sys.argv[2:5]))
    else:
        main()
