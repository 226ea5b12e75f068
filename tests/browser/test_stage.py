"""A race fits one screen, its finish is flagged, its speed chosen, its charts stand beside it."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from specviz.ui.strings import read_table

pytestmark = pytest.mark.browser
OpenPage = Callable[..., Page]
TEXTS = read_table("en")
STATUS = "#sv-race-status"
STAGE = "#sv-race-stage"
FINISHED = f'{STATUS} .sv-status-view[data-state="finished"]'
LONG_CLOSING = " ".join(["The closing sentence of a race may be long."] * 5)
LEAST_TEXT_PX = 40
"""A lane shows two lines of its text at least."""
STOOD_STILL = """() => {
    const top = document.querySelector('.sv-scene').getBoundingClientRect().top;
    const isSame = window.lastTop === top && Math.abs(top) < 12;
    window.lastTop = top;
    return isSame;
}"""


def _add_lanes(page: Page, num_lanes: int) -> None:
    # An embedded page hides the editor, yet its link may ask for more lanes.
    for wanted in range(3, num_lanes + 1):
        page.locator(".sv-add").evaluate("button => button.click()")
        expect(page.locator(".sv-editor-lane")).to_have_count(wanted)


def _race(page: Page) -> None:
    page.click("#sv-race")
    page.wait_for_selector(FINISHED)


def _stand_still(page: Page) -> None:
    page.wait_for_function(STOOD_STILL, polling=300)


def _outside(page: Page, parts: list[Locator]) -> list[str]:
    """Say which of these are not wholly in the window."""
    told = []
    height = page.viewport_size["height"]
    for part in parts:
        box = part.bounding_box()
        if box is None or box["y"] < 0 or box["y"] + box["height"] > height + 0.5:
            told.append(f"{part.evaluate('e => e.className')}: {box}")
    return told


def _figures(page: Page) -> list[Locator]:
    tiles = page.locator("#sv-race-figures [data-figure=speedup] .sv-value")
    lines = page.locator(f"{STAGE} .sv-lane-line").locator("visible=true").all()
    return lines or [tiles]


def _all_parts(page: Page) -> list[Locator]:
    strip = page.locator(f"{STATUS} .sv-status-text")
    lanes = page.locator(f"{STAGE} .sv-lane").all()
    return [strip, *lanes, *_figures(page), page.locator("#sv-race-clock canvas")]


@pytest.mark.parametrize(
    ("query", "width", "height", "num_lanes"),
    [
        ("", 1440, 900, 2),
        ("", 1440, 900, 3),
        ("", 1440, 900, 4),
        ("size=projector", 1024, 768, 2),
        ("size=projector", 1024, 768, 3),
        ("size=projector", 1024, 768, 4),
        ("size=projector&lang=es", 1024, 768, 3),
        ("embed=1", 900, 600, 2),
        ("embed=1", 900, 600, 3),
        ("embed=1", 760, 560, 3),
    ],
)
def test_a_race_fits_one_screen(
    open_page: OpenPage, fake_address: str, query: str, width: int, height: int, num_lanes: int
) -> None:
    page = open_page(f"{fake_address}/?{query}", width=width, height=height)
    _add_lanes(page, num_lanes)
    _race(page)
    _stand_still(page)
    lanes = page.locator(f"{STAGE} .sv-lane-body")
    expect(lanes).to_have_count(num_lanes)
    assert len(_figures(page)) == (num_lanes - 1)
    assert _outside(page, _all_parts(page)) == []
    assert all(lane.bounding_box()["height"] >= LEAST_TEXT_PX for lane in lanes.all())
    for name in page.locator(f"{STAGE} .sv-lane h2").all():
        assert name.bounding_box()["height"] < 40, "a lane's title must not break into letters"


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1024, 768), (380, 800)])
def test_a_long_closing_sentence_grows_into_sight(
    open_page: OpenPage, fake_address: str, width: int, height: int
) -> None:
    page = open_page(fake_address, width=width, height=height)
    _race(page)
    _stand_still(page)
    sentence = page.locator(f"{STATUS} .sv-status-text")
    sentence.evaluate("(text, long) => { text.textContent = long; }", LONG_CLOSING)
    page.wait_for_timeout(300)
    assert sentence.bounding_box()["height"] > 35, "so long a sentence has several lines"
    parts = _all_parts(page) if width > 380 else [sentence]
    assert _outside(page, parts) == []


@pytest.mark.parametrize("num_lanes", [2, 3])
def test_on_a_phone_figures_and_lanes_are_in_sight(
    open_page: OpenPage, fake_address: str, num_lanes: int
) -> None:
    page = open_page(fake_address, width=380, height=800)
    _add_lanes(page, num_lanes)
    _race(page)
    _stand_still(page)
    lanes = page.locator(f"{STAGE} .sv-lane").all()
    closing = page.locator(f"{STATUS} .sv-status-text")
    assert _outside(page, [closing, *lanes, *_figures(page)]) == []
    assert page.evaluate("document.documentElement.scrollWidth") == 380


def test_each_lane_says_when_it_was_done_and_how_far_the_other_was(
    open_page: OpenPage, fake_address: str
) -> None:
    page = open_page(fake_address)
    page.fill("#sv-prompt textarea", "slow")
    page.click("#sv-race")
    alone, guessing = page.locator(f"{STAGE} .sv-flag").all()
    expect(guessing).to_have_text(re.compile(r"done at \d\.\d\d s, alone at token \d+"))
    expect(alone).to_have_text("")
    told = page.locator("#sv-race-clock .sv-clock-detail")
    expect(told).to_contain_text(re.compile(r"was done at .* target alone is at token \d+"))
    narrated = page.locator(f"{STATUS} .sv-status-text")
    expect(narrated).to_contain_text("The target alone writes on")
    page.wait_for_selector(FINISHED)
    expect(alone).to_have_text(re.compile(r"done at \d\.\d\d s, with guesses at \d\.\d\d s"))
    seconds, token = re.search(r"([\d.]+) s, .* token (\d+)", guessing.inner_text()).groups()
    clocks = page.locator("#sv-race-clock canvas").get_attribute("aria-label")
    alone_seconds, own_seconds = re.findall(r": ([\d.]+) s:", clocks)
    assert seconds == own_seconds
    expected = 128 * float(own_seconds) / float(alone_seconds)
    assert abs(int(token) - expected) <= 4, "one token a pass, at an even pace"
    expect(told).to_contain_text(f"target + draft model at {own_seconds} s, target alone at")


def test_charts_stand_beside_the_lanes_until_a_token_is_pointed_at(
    open_page: OpenPage, fake_address: str
) -> None:
    page = open_page(fake_address)
    expect(page.locator(".sv-live")).to_be_hidden()
    page.fill("#sv-prompt textarea", "endless")
    page.click("#sv-race")
    charts = page.locator(f"{STAGE} .sv-live-chart")
    for chart in charts.all():
        expect(chart.locator("path.js-line").first).to_be_visible()
    running = page.locator(f'{STATUS} .sv-status-view[data-state="running"]')
    expect(running).to_have_count(1, timeout=1)
    _stand_still(page)
    assert _outside(page, charts.all()) == []
    page.locator(f"{STAGE} .sv-lane .sv-rejected").first.click()
    page.click("#sv-race-stop")
    card = page.locator(f"{STAGE} .sv-card")
    expect(charts.first).to_be_hidden()
    expect(card.locator(".sv-card-fate")).to_have_text("rejected")
    card.locator(".sv-close").click()
    expect(charts.first).to_be_visible()


def test_the_link_of_the_card_and_its_verdict_need_no_scrolling(
    open_page: OpenPage, fake_address: str
) -> None:
    page = open_page(fake_address)
    field = page.locator("#sv-temperature input[type=number]")
    field.fill("0.8")
    field.press("Tab")
    _race(page)
    _stand_still(page)
    page.locator(f"{STAGE} .sv-lane >> nth=1").locator(".sv-rejected").first.click()
    card = page.locator(f"{STAGE} .sv-card")
    shared = card.locator(".sv-evidence-note")
    expect(shared).to_contain_text("Σ min(p, q) = 0.70")
    body, note = card.locator(".sv-card-body").bounding_box(), shared.bounding_box()
    assert note["y"] + note["height"] <= body["y"] + body["height"]
    expect(card.locator(".sv-card-hint")).to_contain_text("Esc")
    link = card.get_by_role("button", name=TEXTS["card.open_round"])
    assert _outside(page, [link]) == []
    link.click()
    expect(page.locator("#sv-tab-rounds")).to_be_visible()


def test_on_touch_the_card_speaks_of_taps(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address, width=380, height=800, has_touch=True, is_mobile=True)
    _race(page)
    _stand_still(page)
    page.locator(f"{STAGE} .sv-lane >> nth=1").locator(".sv-correction").last.tap()
    hint = page.locator(f"{STAGE} .sv-card-hint")
    expect(hint).to_have_text(TEXTS["card.pinned_touch"])


def test_the_first_live_race_is_shown_slower_and_says_so(
    open_page: OpenPage, fake_address: str
) -> None:
    page = open_page(fake_address, is_first_race=True)
    note = page.locator(f"{STATUS} .sv-origin")
    page.click("#sv-race")
    expect(note).to_contain_text("Your first race is shown 4× slower")
    expect(page.locator("#sv-race-speed [value='4']")).to_be_checked()
    page.wait_for_selector(FINISHED)
    expect(note).to_have_text(re.compile(r"Shown 4× slower; it ran in \d\.\d s\."))
    clocks = page.locator("#sv-race-clock canvas").get_attribute("aria-label")
    longest = max(float(each) for each in re.findall(r": ([\d.]+) s:", clocks))
    assert f"it ran in {longest:.1f} s" in note.inner_text()
    _race(page)
    expect(page.locator("#sv-race-speed [value='1']")).to_be_checked()
    expect(note).to_be_hidden()
    page.reload()
    _race(page)
    expect(note).to_be_hidden()


def test_who_chose_a_speed_is_not_slowed(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address, is_first_race=True)
    page.check("#sv-race-speed [value='10']")
    expect(page.locator(f"{STATUS} .sv-speed [value='10']")).to_be_checked()
    page.check("#sv-race-speed [value='1']")
    _race(page)
    expect(page.locator(f"{STATUS} .sv-origin")).to_be_hidden()


def test_one_round_at_a_time_holds_the_display_and_not_the_model(
    open_page: OpenPage, fake_address: str
) -> None:
    page, other = open_page(fake_address), open_page(fake_address)
    page.check("#sv-race-speed [value='round']")
    page.click("#sv-race")
    rounds = page.locator(f"{STAGE} .sv-lane >> nth=1").locator(".sv-round")
    expect(rounds).to_have_count(1)
    for shown in (2, 3):
        page.click(f"{STATUS} .sv-step")
        expect(rounds).to_have_count(shown)
    # The model is free for others as soon as it has run.
    other.click("#sv-race")
    other.wait_for_selector(FINISHED, timeout=20_000)
    expect(rounds).to_have_count(3)
    page.check(f"{STATUS} .sv-speed [value='1']")
    page.wait_for_selector(FINISHED)
    assert page.locator(f"{STAGE} .sv-lane >> nth=0").locator(".sv-t").count() == 128


def test_a_verdict_is_told_where_the_race_was_watched(
    open_page: OpenPage, fake_address: str
) -> None:
    page = open_page(fake_address)
    page.locator(".sv-predict summary").click()
    page.locator(".sv-vote:visible").first.click()
    _race(page)
    _stand_still(page)
    verdict = page.locator(f"{STATUS} .sv-verdict-line")
    expect(verdict).to_contain_text(re.compile(r"Your prediction: *Not .* it was \d\.\d\d×"))
    assert _outside(page, [verdict]) == []


def test_there_is_one_stop_and_a_waiting_visitor_sees_it(
    open_page: OpenPage, fake_address: str
) -> None:
    first, second = open_page(fake_address), open_page(fake_address)
    expect(first.locator("#sv-tab-race").get_by_role("button", name="Stop")).to_have_count(1)
    first.fill("#sv-prompt textarea", "endless")
    first.click("#sv-race")
    first.wait_for_selector(f"{STAGE} .sv-t")
    second.click("#sv-race")
    second.wait_for_selector(f'{STATUS} .sv-status-view[data-state="waiting"]')
    expect(second.locator("#sv-race-stop")).to_be_visible()
    expect(second.locator(f"{STATUS} .sv-pause")).to_be_hidden()
    for page in (second, first):
        page.click("#sv-race-stop")
        page.wait_for_selector(f'{STATUS} .sv-status-view[data-state="stopped"]')


def test_the_closed_accordion_points_at_its_title(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    arrow = page.locator("#sv-more .icon")
    # A sign ▼ that is turned by −90° points to the right.
    expect(arrow).to_have_css("transform", re.compile(r"matrix\((0|.*e-17), -1, 1, "))
    page.locator("#sv-more button").first.click()
    expect(arrow).to_have_css("transform", re.compile(r"none|matrix\(1, 0, 0, 1"))
