"""A race in one file shows, from a disk and without a network, what the page showed."""

import csv
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from fake_race import HOSTILE, WORDS, FakeRace
from playwright.sync_api import Browser, Page, expect

from specviz.trace.rounds_csv import COLUMNS
from specviz.trace.values import LaneSpec, Method, RaceFinished, RaceRequest, Sampling, Trace
from specviz.ui.race_file import race_html

pytestmark = pytest.mark.browser
OpenPage = Callable[..., Page]
OpenFile = Callable[..., Page]
STATUS = "#sv-race-status"
NUM_ROUNDS_READ = 6
TIMEOUT_MS = 60_000
ENDS_SCRIPTS = (" </script><script>window.hacked=1</script>", " <!--", " \u2028", " ]]>")
LANES = (
    LaneSpec(None, Method.BASELINE, "fake-target"),
    LaneSpec("</style><b>own", Method.DRAFT_MODEL, "fake-target", "fake-draft", 4),
)
FEW_FRAMES = """() => new Promise((done) => {
    const wait = (left) => (left ? requestAnimationFrame(() => wait(left - 1)) : done());
    wait(5);
})"""
READ_TOKENS = """() => [...document.querySelectorAll('#sv-race-stage .sv-lane')].map((lane) =>
    [...lane.querySelectorAll('.sv-t')].map((token) => {
        const { color, backgroundColor, textDecorationLine } =
            getComputedStyle(token.querySelector('.sv-tok') ?? token);
        return [token.textContent, token.dataset.fate, color, backgroundColor, textDecorationLine];
    }))"""


@pytest.fixture
def open_file(browser: Browser) -> Iterator[OpenFile]:
    """Give a function that opens a file with the network off; a page may ask for nothing else."""
    faults: list[str] = []
    contexts = []

    def open_(path: Path, query: str = "", width: int = 1440, **options: Any) -> Page:
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        context.set_offline(True)
        page = context.new_page()
        page.set_default_timeout(TIMEOUT_MS)
        address = path.as_uri() + query
        page.on("pageerror", lambda error: faults.append(f"page error: {error}"))
        page.on("console", lambda told: faults.append(told.text) if told.type == "error" else None)
        page.on("request", lambda request: faults.append(request.url.removeprefix(address)))
        page.goto(address)
        page.wait_for_selector(f'{STATUS} [data-state="finished"]')
        return page

    yield open_
    for context in contexts:
        context.close()
    assert [fault for fault in faults if fault] == []


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Trace]:
    """A file whose every text would like to be markup."""
    request = RaceRequest("</script>", LANES, Sampling(temperature=0.8), max_new_tokens=96)
    *_, last = FakeRace(WORDS + HOSTILE + ENDS_SCRIPTS, pause=0)(request)
    assert isinstance(last, RaceFinished)
    path = tmp_path_factory.mktemp("export") / "race.html"
    path.write_text(race_html(last.trace), encoding="utf-8", newline="\n")
    return path, last.trace


def _race(page: Page) -> None:
    page.click("#sv-race")
    page.wait_for_selector(f'{STATUS} .sv-status-view[data-state="finished"]')


def _save(page: Page, kind: str, path: Path) -> Path:
    page.click(f"{STATUS} .sv-save")
    with page.expect_download() as download:
        page.click(f'{STATUS} [data-name="{kind}"]')
    assert download.value.suggested_filename.endswith(f".{kind}")
    download.value.save_as(path)
    return path


def _numbers(page: Page) -> list[str]:
    """Figures, heads of lanes, the strip's sentence, and what the clock says in words.

    The clock is drawn, and says what it shows, in the frames after it has come into sight.
    """
    page.locator("#sv-race-clock canvas").scroll_into_view_if_needed()
    page.evaluate(FEW_FRAMES)
    parts = ("#sv-race-figures .sv-figure", "#sv-race-stage .sv-lane-head", ".sv-status-text")
    texts = [
        text for part in parts for text in page.locator(f"{part} >> visible=true").all_inner_texts()
    ]
    clock = page.locator("#sv-race-clock canvas").get_attribute("aria-label")
    return [*texts, clock or ""]


def _rounds(page: Page) -> list[str]:
    """What Round by round says of the first rounds: sentence, cards, times and distributions."""
    page.click("#sv-tab-rounds-button")
    bars = page.locator(".sv-round-bar")
    # The tab is drawn a moment after it was opened.
    bars.first.wait_for()
    told = [str(bars.count())]
    for index in range(NUM_ROUNDS_READ):
        bars.nth(index).click()
        panels = page.locator("#sv-rounds .sv-rounds-body > .sv-round-panel, .sv-round-below")
        told += panels.all_inner_texts()
    return told


def _faults(page: Page) -> list[str]:
    page.wait_for_timeout(600)
    violations = Axe().run(page).response["violations"]
    return [f"{each['id']}: {node['html'][:160]}" for each in violations for node in each["nodes"]]


def test_a_file_shows_what_the_page_showed(
    open_page: OpenPage, open_file: OpenFile, fake_address: str, tmp_path: Path
) -> None:
    page = open_page(f"{fake_address}/?temperature=0.8&seed=7")
    _race(page)
    path = _save(page, "html", tmp_path / "race.html")
    file = open_file(path)
    tokens, numbers = page.evaluate(READ_TOKENS), _numbers(page)
    assert len(tokens) == 2
    assert len({fate for lane in tokens for _, fate, *_ in lane}) == 6, "every fate is there"
    assert file.evaluate(READ_TOKENS) == tokens
    assert len(numbers) > 10
    assert _numbers(file) == numbers
    shown = _rounds(page)
    # Whoever opens a file sees that it was recorded; all else is the same.
    told = _rounds(file)
    assert told[0] == shown[0]
    assert len(told) == len(shown) > NUM_ROUNDS_READ
    pairs = zip(told, shown, strict=True)
    assert [(one, other) for one, other in pairs if one != other and "recorded" not in one] == []


def test_a_file_draws_the_charts_of_the_page(
    open_file: OpenFile, hostile: tuple[Path, Trace]
) -> None:
    page = open_file(hostile[0])
    charts = page.locator("#sv-race-charts .sv-chart")
    names = ["speedup", "acceptance", "tokens", "kept", "position", "gamma", "others", "times"]
    assert charts.evaluate_all("all => all.map(each => each.dataset.chart)") == names
    for name in names:
        chart = page.locator(f'#sv-race-charts [data-chart="{name}"]')
        picture = chart.locator(".sv-still > svg")
        assert picture.locator("path[d], rect[fill]").count() > 0
        assert picture.locator("text").count() > 4
        drawn = chart.evaluate("each => [each.outerHTML.includes('NaN'), each.innerText]")
        assert not drawn[0]
        assert "undefined" not in drawn[1]
    lines = page.locator('[data-chart="tokens"] .sv-still-key li')
    expect(lines).to_have_text(["target alone", "</style><b>own"])
    # Colours are the theme's own, and follow it.
    stroke = """() => getComputedStyle(document.querySelector(
        '[data-chart="speedup"] .sv-still path[stroke]')).stroke"""
    before = page.evaluate(stroke)
    page.evaluate("document.body.classList.toggle('dark')")
    page.wait_for_function(f"before => ({stroke})() !== before", arg=before)


def test_hostile_texts_are_texts(open_file: OpenFile, hostile: tuple[Path, Trace]) -> None:
    path, trace = hostile
    page = open_file(path)
    read = """lane => [...lane.querySelectorAll('.sv-t')]
        .filter(t => !['rejected', 'discarded'].includes(t.dataset.fate))
        .map(t => t.textContent).join('')"""
    lanes = page.locator("#sv-race-stage .sv-lane").all()
    for lane, written in zip(lanes, trace.lanes, strict=True):
        assert lane.evaluate(read) == "".join(token.text for token in written.emitted)
    expect(lanes[1].locator("h2")).to_have_text("</style><b>own")
    lanes[1].locator(".sv-t").nth(3).click()
    expect(page.locator(".sv-card .sv-laws")).to_be_visible()
    _rounds(page)
    assert page.evaluate("window.hacked") is None
    assert page.evaluate("document.querySelectorAll('script, b.own, img').length") == 4


def test_a_file_plays_again_and_by_round(open_file: OpenFile, hostile: tuple[Path, Trace]) -> None:
    path, trace = hostile
    page = open_file(path)
    page.click(f"{STATUS} .sv-again")
    page.wait_for_selector(f'{STATUS} [data-state="finished"]')
    page.locator(f"{STATUS} .sv-segment").last.click()
    page.click(f"{STATUS} .sv-again")
    expect(page.locator(f"{STATUS} .sv-status-view")).to_have_attribute("data-state", "paused")
    guessing = page.locator("#sv-race-stage .sv-lane").nth(1)
    expect(guessing.locator(".sv-round")).to_have_count(1)
    page.click(f"{STATUS} .sv-step")
    expect(guessing.locator(".sv-round")).to_have_count(2)
    assert len(trace.lanes[1].rounds) > 2
    expect(page.locator(f"{STATUS} .sv-save")).to_have_count(0)


def test_a_file_speaks_the_reader_s_language(
    open_file: OpenFile, hostile: tuple[Path, Trace]
) -> None:
    page = open_file(hostile[0], locale="es-ES")
    expect(page.locator("#sv-tab-rounds-button")).to_have_text("Ronda a ronda")
    assert page.evaluate("document.documentElement.lang") == "es"
    page = open_file(hostile[0], "?lang=en", locale="es-ES")
    expect(page.locator("#sv-tab-rounds-button")).to_have_text("Round by round")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 380])
def test_a_file_has_no_fault(
    open_file: OpenFile, hostile: tuple[Path, Trace], scheme: str, width: int
) -> None:
    page = open_file(hostile[0], width=width, color_scheme=scheme)
    assert page.evaluate("document.body.classList.contains('dark')") is (scheme == "dark")
    assert _faults(page) == []
    page.locator("#sv-tab-race-button").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#sv-rounds .sv-rounds-body")).to_be_visible()
    assert _faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_file_that_is_cut_off_says_so(browser: Browser, hostile: tuple[Path, Trace]) -> None:
    text = hostile[0].read_text(encoding="utf-8")
    broken = hostile[0].with_name("broken.html")
    broken.write_text(text[: text.index("sv-file-data") + 5_000], encoding="utf-8")
    context = browser.new_context()
    page = context.new_page()
    page.goto(broken.as_uri())
    expect(page.locator('#sv-file-waiting [lang="en"]')).to_be_visible()
    context.close()


def test_the_rounds_are_saved_as_a_table(
    open_page: OpenPage, fake_address: str, tmp_path: Path
) -> None:
    page = open_page(fake_address)
    _race(page)
    text = _save(page, "csv", tmp_path / "race.csv").read_bytes().decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert tuple(rows[0]) == COLUMNS
    shown = page.locator("#sv-race-stage .sv-lane").nth(1).locator(".sv-round").count()
    assert sum(row["lane"] == "1" for row in rows) == shown


def test_the_menu_goes_by_keys_and_gives_the_focus_back(
    open_page: OpenPage, fake_address: str
) -> None:
    page = open_page(fake_address)
    _race(page)
    button, menu = page.locator(f"{STATUS} .sv-save"), page.locator(f"{STATUS} .sv-menu")
    expect(menu).to_be_hidden()
    button.press("Enter")
    expect(menu.locator('[data-name="json"]')).to_be_focused()
    for key, name in (
        ("ArrowDown", "html"),
        ("End", "csv"),
        ("ArrowDown", "json"),
        ("ArrowUp", "csv"),
    ):
        page.keyboard.press(key)
        expect(menu.locator(f'[data-name="{name}"]')).to_be_focused()
    page.keyboard.press("Escape")
    expect(menu).to_be_hidden()
    expect(button).to_be_focused()
    page.keyboard.press("ArrowDown")
    with page.expect_download():
        page.keyboard.press("Enter")
    expect(button).to_be_focused()
    button.click()
    page.locator(".sv-status-text").click()
    expect(menu).to_be_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 380])
def test_the_open_menu_has_no_fault_and_fits(
    open_page: OpenPage, fake_address: str, scheme: str, width: int
) -> None:
    page = open_page(f"{fake_address}/?__theme={scheme}", width=width)
    _race(page)
    page.click(f"{STATUS} .sv-save")
    box = page.locator(f"{STATUS} .sv-menu").bounding_box()
    assert box is not None
    assert 0 <= box["x"] <= box["x"] + box["width"] <= width
    assert _faults(page) == []


def test_a_chart_is_saved_as_a_picture_and_as_a_drawing(
    open_page: OpenPage, fake_address: str, tmp_path: Path
) -> None:
    page = open_page(fake_address)
    _race(page)
    chart = page.locator('#sv-race-charts [data-chart="speedup"]')
    chart.scroll_into_view_if_needed()
    chart.locator(".main-svg").first.wait_for()
    page.context.set_offline(True)
    for kind, begins in (("PNG", b"\x89PNG"), ("SVG", b"<svg")):
        chart.hover()
        with page.expect_download() as download:
            chart.locator(f'.modebar-btn[data-title*="{kind}"]').click()
        assert download.value.suggested_filename == f"specviz-speedup.{kind.lower()}"
        path = tmp_path / kind
        download.value.save_as(path)
        assert path.read_bytes().startswith(begins)
    assert "Speedup so far" in path.read_text(encoding="utf-8")
    # What is no plotly chart is saved from buttons of its own.
    for kind, begins in (("png", b"\x89PNG"), ("svg", b"<svg")):
        with page.expect_download() as download:
            page.click(f'#sv-race-clock [data-save="{kind}"]')
        assert download.value.suggested_filename == f"specviz-clock.{kind}"
        download.value.save_as(path)
        assert path.read_bytes().startswith(begins)
    drawing = path.read_text(encoding="utf-8")
    assert all(part in drawing for part in ("Where the time went", "target alone", "<image"))
    page.context.set_offline(False)
