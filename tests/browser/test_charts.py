"""The charts and the clock strip show the race, in pictures and in words."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

pytestmark = pytest.mark.browser
OpenPage = Callable[..., Page]
TALL = 3_800
CHARTS = ("speedup", "acceptance", "tokens", "kept", "position", "gamma", "others", "times")
READ_PIXEL = """(canvas, [part, row]) => {
    const bar = document.querySelectorAll('#sv-race-clock .sv-clock-bar')[row];
    const ratio = canvas.width / canvas.clientWidth;
    const x = Math.round(canvas.width * part);
    const y = Math.round((bar.offsetTop + bar.offsetHeight / 2) * ratio);
    return [...canvas.getContext('2d').getImageData(x, y, 1, 1).data];
}"""
VERIFY = [0, 82, 143, 255]
NOTHING = [0, 0, 0, 0]


def _race_to_the_end(page: Page) -> None:
    page.click("#sv-race")
    page.wait_for_selector('#sv-race-status [data-state="finished"]')


def _chart(page: Page, name: str) -> Locator:
    return page.locator(f'#sv-race-charts [data-chart="{name}"]')


def _words(page: Page, name: str) -> Locator:
    return _chart(page, name).locator("[role=img]")


def _data(page: Page, name: str) -> list[dict[str, Any]]:
    plot = _chart(page, name).locator(".js-plotly-plot")
    traces: list[dict[str, Any]] = plot.evaluate(
        "plot => plot.data.map(({ type, name, x, y }) => ({ type, name, x: [...x], y: [...y] }))"
    )
    return traces


def _figure(page: Page, name: str) -> str:
    return page.inner_text(f'#sv-race-figures [data-figure="{name}"] .sv-value span').strip()


@pytest.fixture(scope="module")
def raced(open_kept: OpenPage, fake_address: str) -> Page:
    """A page that has raced, of which each test leaves as it was what it chooses."""
    page = open_kept(f"{fake_address}/?__theme=light", height=TALL)
    _race_to_the_end(page)
    return page


def test_before_a_race_there_is_no_chart_and_the_strip_says_what_will_come(
    open_page: OpenPage, fake_address: str
) -> None:
    page = open_page(fake_address, height=TALL)
    expect(page.locator(".sv-chart, .sv-live-chart").locator("visible=true")).to_have_count(0)
    expect(page.locator("#sv-race-clock .sv-clock-detail")).to_contain_text("Appears with the race")


def test_charts_say_their_newest_numbers_in_words(raced: Page) -> None:
    page = raced
    expect(_words(page, "speedup")).to_have_attribute(
        "aria-label", re.compile(re.escape(_figure(page, "speedup")) + " after round")
    )
    alpha = re.escape(_figure(page, "alpha"))
    expect(_words(page, "acceptance")).to_have_attribute("aria-label", re.compile(alpha))
    expect(_words(page, "tokens")).to_have_attribute(
        "aria-label", re.compile(r"128 tokens after .* 128 tokens after")
    )


def test_each_chart_draws_what_the_race_did(raced: Page) -> None:
    page = raced
    tau = page.inner_text('#sv-race-figures [data-figure="tau"]')
    num_rounds = int(re.search(r"(\d+) rounds", tau).group(1))
    expect(_words(page, "times")).to_have_attribute("aria-label", re.compile(f"d {num_rounds}:"))
    kept, gamma = _data(page, "gamma")
    assert len(kept["y"]) == len(gamma["y"]) == num_rounds
    assert max(gamma["y"]) == 4
    assert all(each <= asked for each, asked in zip(kept["y"], gamma["y"], strict=True))
    # The last round may have had no token left to guess.
    num_guessed = sum(asked > 0 for asked in gamma["y"])
    newest = re.compile(f" {num_guessed} rounds guessed")
    expect(_words(page, "kept")).to_have_attribute("aria-label", newest)
    counts, expected = _data(page, "kept")
    assert counts["x"] == [0, 1, 2, 3, 4]
    assert sum(counts["y"]) == num_guessed
    assert sum(expected["y"]) == pytest.approx(sum(counts["y"]), abs=0.1)
    rates, predicted = _data(page, "position")
    assert rates["x"] == predicted["x"] == [1, 2, 3, 4]
    assert rates["y"] == sorted(rates["y"], reverse=True)
    alone, guessing = _data(page, "tokens")
    assert (alone["y"][-1], guessing["y"][-1]) == (128, 128)
    assert guessing["x"][-1] < alone["x"][-1]
    assert [trace["name"] for trace in _data(page, "times")] == ["draft", "verify", "other"]


def test_times_are_shown_of_the_lane_that_is_chosen(raced: Page) -> None:
    page = raced
    choice = _chart(page, "times").locator("select")
    expect(choice).to_be_visible()
    before = choice.input_value()
    expect(_chart(page, "gamma").locator("select")).to_be_hidden()
    choice.select_option(label="target alone")
    expect(_words(page, "times")).to_have_attribute(
        "aria-label", re.compile("target alone, round 128")
    )
    assert len(_data(page, "times")[1]["y"]) == 128
    choice.select_option(before)
    expect(_words(page, "times")).to_have_attribute("aria-label", re.compile(r"draft model, round"))


def test_what_is_out_of_sight_is_not_drawn(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address, height=300)
    page.evaluate("window.scrollTo(0, 0)")
    _race_to_the_end(page)
    assert page.locator("#sv-race-charts .main-svg").count() == 0
    _chart(page, "speedup").scroll_into_view_if_needed()
    expect(_chart(page, "speedup").locator("path.js-line").first).to_be_visible()


def test_charts_are_redrawn_five_times_a_second_at_most(
    open_page: OpenPage, fake_address: str
) -> None:
    page = open_page(fake_address, height=TALL)
    _race_to_the_end(page)
    page.wait_for_selector("#sv-race-charts .main-svg >> nth=6")
    page.fill("#sv-prompt textarea", "slow")
    page.click("#sv-race")
    page.wait_for_selector('#sv-race-status [data-state="running"]')
    page.evaluate(
        """() => {
            window.redrawn = { count: 0, since: performance.now() };
            for (const plot of document.querySelectorAll('.js-plotly-plot')) {
                plot.on('plotly_afterplot', () => { window.redrawn.count += 1; });
            }
        }"""
    )
    page.wait_for_timeout(4_000)
    count, seconds = page.evaluate("[redrawn.count, (performance.now() - redrawn.since) / 1000]")
    assert 0 < count <= 5 * seconds + len(CHARTS) + 2


def test_a_zoom_outlives_the_rounds_that_follow(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address, height=TALL)
    page.fill("#sv-prompt textarea", "slow")
    page.click("#sv-race")
    expect(_words(page, "tokens")).to_have_attribute("aria-label", re.compile(r" [3-9]\d tokens"))
    box = _chart(page, "tokens").locator(".nsewdrag").bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 0.2 * box["width"], middle)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.6 * box["width"], middle, steps=5)
    page.mouse.up()
    plot = _chart(page, "tokens").locator(".js-plotly-plot")
    zoomed = plot.evaluate("plot => plot.layout.xaxis.range")
    assert zoomed[0] > 0
    page.wait_for_selector('#sv-race-status [data-state="finished"]')
    expect(_words(page, "tokens")).to_have_attribute("aria-label", re.compile("128 tokens after"))
    assert plot.evaluate("plot => plot.layout.xaxis.range") == pytest.approx(zoomed)


def test_the_strip_ends_each_lane_where_its_clock_stopped(raced: Page) -> None:
    page = raced
    canvas = page.locator("#sv-race-clock canvas")
    words = canvas.get_attribute("aria-label")
    alone, guessing = (float(number) for number in re.findall(r": ([\d.]+) s:", words))
    shares = re.search(r"draft ([\d.]+)\s%, verify ([\d.]+)\s%, other ([\d.]+)\s%", words).groups()
    assert sum(map(float, shares)) == pytest.approx(100, abs=0.2)
    expect(page.locator("#sv-race-clock .sv-clock-shares >> nth=1")).to_contain_text("draft")
    # The flag and its time stand where the lane is done.
    after = guessing / alone + 0.12
    pixels = [canvas.evaluate(READ_PIXEL, [after + step / 500, 1]) for step in range(10)]
    assert pixels == [NOTHING] * 10
    row = [canvas.evaluate(READ_PIXEL, [0.9 + step / 500, 0]) for step in range(10)]
    assert VERIFY in row
    colours = {tuple(canvas.evaluate(READ_PIXEL, [step / 500, 1])) for step in range(40)}
    assert tuple(VERIFY) in colours
    assert len(colours) > 2


def test_the_strip_is_walked_by_keys(raced: Page) -> None:
    page = raced
    strip = page.locator("#sv-race-clock .sv-clock-scroll")
    told = page.locator("#sv-race-clock .sv-clock-detail")
    strip.focus()
    strip.press("ArrowRight")
    expect(told).to_contain_text("Round 1 of target + draft model: draft ")
    strip.press("ArrowRight")
    expect(told).to_contain_text("Round 2 of target + draft model")
    strip.press("ArrowUp")
    expect(told).to_contain_text(re.compile(r"Round \d+ of target alone: verify .* for 1 token\."))
    strip.press("End")
    expect(told).to_contain_text("Round 128 of target alone")
    strip.press("Escape")
    expect(told).to_contain_text("Point at a round")


def test_the_last_rounds_are_followed_and_the_first_are_there(
    open_page: OpenPage, fake_address: str
) -> None:
    page = open_page(fake_address, height=TALL)
    whole, recent = page.locator("#sv-race-clock .sv-clock-zoom button").all()
    recent.click()
    _race_to_the_end(page)
    strip = page.locator("#sv-race-clock .sv-clock-scroll")
    tau = page.inner_text('#sv-race-figures [data-figure="tau"]')
    last = int(re.search(r"(\d+) rounds", tau).group(1))
    row = page.locator("#sv-race-clock .sv-clock-bar >> nth=1").bounding_box()
    page.mouse.move(row["x"] + row["width"] / 2, row["y"] + row["height"] / 2)
    told = page.locator("#sv-race-clock .sv-clock-detail")
    expect(told).to_contain_text(re.compile(r"Round \d+ of target \+ draft model"))
    middle = int(re.search(r"Round (\d+)", told.inner_text()).group(1))
    assert last - 16 <= middle <= last - 4
    strip.focus()
    strip.press("Home")
    expect(told).to_contain_text("Round 1 of target + draft model")
    page.wait_for_function(
        "document.querySelector('#sv-race-clock .sv-clock-scroll').scrollLeft < 5"
    )
    whole.click()
    page.wait_for_function(
        "(strip => strip.scrollWidth <= strip.clientWidth)"
        "(document.querySelector('#sv-race-clock .sv-clock-scroll'))"
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_charts_and_strip_fit_a_phone(open_page: OpenPage, fake_address: str, scheme: str) -> None:
    page = open_page(f"{fake_address}/?__theme={scheme}", width=380, height=TALL)
    _race_to_the_end(page)
    page.wait_for_selector("#sv-race-charts .main-svg >> nth=0")
    page.click("#sv-race-clock .sv-clock-zoom button >> nth=1")
    for place in ("#sv-race-clock", "#sv-race-charts"):
        box = page.locator(place).bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 380
    assert page.evaluate("document.documentElement.scrollWidth") == 380
