"""A visitor races on the page, with a made-up race behind it."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from specviz.ui.assets import read_palette

pytestmark = pytest.mark.browser
OpenPage = Callable[..., Page]
SPECULATIVE = ".sv-lane >> nth=1"
CARD = "#sv-race-stage .sv-card"


def _race_to_the_end(page: Page) -> None:
    page.click("#sv-race")
    page.wait_for_selector('.sv-status-view[data-state="finished"]')


def _number(page: Page, name: str, value: float) -> None:
    field = page.locator(f"#sv-{name} input[type=number]")
    field.fill(str(value))
    field.press("Tab")


def test_a_race_runs_to_the_end(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    _race_to_the_end(page)
    _assert_in_colour(page)
    _assert_same_words(page)
    _assert_figures_carry_counts(page)
    _assert_hostile_tokens_are_text(page)


def _assert_in_colour(page: Page) -> None:
    plain, lane = page.locator(".sv-lane").all()
    assert plain.locator(".sv-plain").count() == 128
    counts = {
        fate: lane.locator(f".sv-{fate}").count()
        for fate in ("accepted", "rejected", "discarded", "correction", "bonus")
    }
    assert min(counts.values()) > 0
    written = counts["accepted"] + counts["correction"] + counts["bonus"]
    assert written + lane.locator(".sv-plain").count() == 128
    fills = {
        fate: lane.locator(f".sv-{fate}").first.evaluate("e => getComputedStyle(e).backgroundColor")
        for fate in ("accepted", "correction", "bonus")
    }
    assert fills == {
        "accepted": "rgb(211, 232, 248)",
        "correction": "rgb(240, 174, 28)",
        "bonus": "rgb(106, 42, 122)",
    }
    mark = lane.locator(".sv-rejected").first.evaluate(
        "e => getComputedStyle(e, '::after').content"
    )
    assert mark == '"✗"'


def _assert_same_words(page: Page) -> None:
    read = """lane => [...lane.querySelectorAll('.sv-t')]
        .filter(t => !['rejected', 'discarded'].includes(t.dataset.fate))
        .map(t => t.textContent).join('')"""
    plain, lane = (each.evaluate(read) for each in page.locator(".sv-lane").all())
    assert plain == lane
    assert len(plain) > 300


def _assert_figures_carry_counts(page: Page) -> None:
    def tile(name: str) -> str:
        return page.inner_text(f'[data-figure="{name}"]')

    assert re.search(r"\d\.\d\d×", tile("speedup"))
    accepted, judged = map(int, re.search(r"(\d+)/(\d+) judged", tile("alpha")).groups())
    assert f"{100 * accepted / judged:.0f}\xa0%" in tile("alpha")
    assert re.search(rf"{accepted}/\d+ drafted", tile("rate"))
    assert "128 tokens" in tile("tau")
    assert "identical ✓" in tile("lossless")
    assert page.locator(".sv-lane strong").all_inner_texts()[0].endswith("tok/s")


def _assert_hostile_tokens_are_text(page: Page) -> None:
    words = page.locator(".sv-lane >> nth=0").locator(".sv-tok").all_text_contents()
    for hostile in ('<img src=x onerror="window.hacked=1">', "${6*7}", "{{7*7}}", "&amp;"):
        assert hostile in words
    page.locator(SPECULATIVE).locator(".sv-tok", has_text="<img").first.click()
    expect(page.locator("#sv-race-stage .sv-card .sv-tok")).to_contain_text("<img␣src=x")
    assert page.evaluate("window.hacked") is None
    assert page.locator("img[src=x]").count() == 0


HOSTILE_PROMPTS = (
    '<img src=x onerror="window.hacked=1">',
    "${6*7} {{6*7}}",
    "</script><script>window.hacked=1</script>",
    "W" * 400 + " \u202ethe other way round" + " Z" + "\u0301" * 60,
)


def test_a_hostile_prompt_is_only_text(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address, width=380, height=800)
    for prompt in HOSTILE_PROMPTS:
        page.fill("#sv-prompt textarea", prompt)
        page.click("#sv-race")
        expect(page.locator(".sv-prompt")).to_have_count(2)
        page.wait_for_function(
            "prompt => [...document.querySelectorAll('.sv-prompt')]"
            ".every((shown) => shown.textContent === prompt)",
            arg=prompt,
        )
        page.wait_for_selector('.sv-status-view[data-state="finished"]')
        assert page.locator(".sv-prompt").all_text_contents() == [prompt, prompt]
        assert page.evaluate("window.hacked") is None
        assert page.locator("img[src=x]").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") == 380
        body = page.locator(SPECULATIVE).locator("[role=listbox]")
        assert body.evaluate("e => e.scrollWidth <= e.clientWidth")
        first = body.locator(".sv-t").first.locator(".sv-tok")
        assert first.evaluate("e => getComputedStyle(e).direction") == "ltr"
        assert _reads_forward(page), "what follows the prompt must not be turned round"


def _reads_forward(page: Page) -> bool:
    """Whether the first two tokens that share a line stand in the order they were written in."""
    return page.locator(SPECULATIVE).evaluate(
        """lane => {
            const boxes = [...lane.querySelectorAll('.sv-tok')].map(t => t.getBoundingClientRect());
            const at = boxes.findIndex((box, i) => i > 0 && box.top === boxes[i - 1].top);
            return boxes[at].left > boxes[at - 1].left;
        }"""
    )


def test_stop_keeps_what_was_written(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    page.fill("#sv-prompt textarea", "endless")
    page.click("#sv-race")
    page.wait_for_selector(f"{SPECULATIVE} >> .sv-correction >> nth=1")
    page.click("#sv-race-stop")
    page.wait_for_selector('.sv-status-view[data-state="stopped"]')
    kept = page.locator(".sv-lane >> nth=0").locator(".sv-t").count()
    assert 0 < kept < 128
    assert page.locator(".sv-lane-head .sv-badge", has_text="stopped").count() == 2
    page.fill("#sv-prompt textarea", "another")
    _race_to_the_end(page)
    assert page.locator(".sv-lane >> nth=0").locator(".sv-t").count() == 128


def test_a_second_visitor_waits_and_sees_nothing_of_the_first(
    open_page: OpenPage, fake_address: str
) -> None:
    first, second = open_page(fake_address), open_page(fake_address)
    first.fill("#sv-prompt textarea", "the first, slow visitor")
    second.fill("#sv-prompt textarea", "the second visitor")
    first.click("#sv-race")
    first.wait_for_selector('.sv-status-view[data-state="running"]')
    second.click("#sv-race")
    second.wait_for_selector('.sv-status-view[data-state="waiting"]')
    assert second.locator(".sv-t").count() == 0
    for page, name in ((first, "first, slow"), (second, "second")):
        page.wait_for_selector('.sv-status-view[data-state="finished"]')
        assert page.locator(".sv-prompt").first.text_content() == f"the {name} visitor"


def _tab_to(page: Page, selector: str) -> None:
    """Walk with the Tab key from where the focus is to what the selector names."""
    for _ in range(150):
        page.keyboard.press("Tab")
        if page.evaluate("s => document.activeElement.matches(s)", selector):
            return
    pytest.fail(f"{selector} is not reached by Tab")


def test_the_card_is_reached_by_keyboard_from_the_top(
    open_page: OpenPage, fake_address: str
) -> None:
    page = open_page(fake_address)
    _number(page, "temperature", 0.8)
    _race_to_the_end(page)
    page.evaluate("document.activeElement.blur(); window.getSelection().removeAllRanges()")
    page.locator("h1").click()
    _tab_to(page, "#sv-race-stage .sv-lane:nth-child(2) [role=listbox]")
    body = page.locator(SPECULATIVE).locator("[role=listbox]")
    page.keyboard.press("Home")
    assert body.get_attribute("aria-activedescendant") == "sv-token-race-1-0"
    page.keyboard.press("ArrowRight")
    assert body.get_attribute("aria-activedescendant") == "sv-token-race-1-1"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    card = page.locator(CARD)
    expect(card).to_contain_text("round 2")
    expect(card).to_contain_text("Pinned")
    page.keyboard.press("ArrowDown")
    expect(card).to_contain_text("round 2")
    page.keyboard.press("Escape")
    expect(card).to_contain_text("Click or Enter pins")
    assert page.locator(".is-pinned").count() == 0


def _prob(text: str) -> float:
    return float(re.search(r"([\d.]+)\s%", text).group(1)) / 100


def test_the_card_of_a_rejected_guess_shows_the_rule_the_coin_and_three_laws(
    open_page: OpenPage, fake_address: str
) -> None:
    page = open_page(fake_address)
    _number(page, "temperature", 0.8)
    _race_to_the_end(page)
    page.locator(SPECULATIVE).locator(".sv-rejected").first.click()
    card = page.locator(CARD)
    expect(card.locator(".sv-card-fate")).to_have_text("rejected")
    draft, target, accept = card.locator(".sv-meter b").all_inner_texts()
    p, q, shown = re.search(
        r"min\(1, ([\d.e-]+) / ([\d.e-]+)\) = ([\d.]+)", card.locator(".sv-rule").inner_text()
    ).groups()
    assert abs(float(p) / float(q) - float(shown)) < 0.001
    assert abs(_prob(draft) - float(q)) < 0.0006
    assert abs(_prob(target) - float(p)) < 0.0006
    assert abs(_prob(accept) - float(shown)) < 0.0006
    coin, edge = re.search(
        r"coin fell on ([\d.]+), not below ([\d.]+): thrown away", card.inner_text()
    ).groups()
    assert float(coin) >= float(edge)
    assert card.locator(".sv-coin").evaluate("e => parseFloat(e.style.left)") == pytest.approx(
        100 * float(coin), abs=0.06
    )
    heads = card.locator(".sv-laws thead th").all_inner_texts()
    assert heads == ["token", "q", "p", "res."]
    assert card.locator(".sv-laws tbody .sv-law-shared").count() > 0
    assert card.locator(".sv-laws .is-chosen").count() == 1
    expect(card.locator(".sv-evidence-note")).to_contain_text("Σ min(p, q) = 0.70")


def test_the_card_keeps_its_height_and_its_last_line_free(
    open_page: OpenPage, fake_address: str
) -> None:
    page = open_page(fake_address)
    _number(page, "temperature", 0.8)
    _race_to_the_end(page)
    heights = set()
    card = page.locator(CARD)
    for fate in ("accepted", "rejected", "discarded", "correction", "bonus"):
        page.locator(SPECULATIVE).locator(f".sv-{fate}").first.hover()
        expect(card.locator(".sv-card-fate")).to_have_text(fate)
        heights.add(card.bounding_box()["height"])
        body, foot = card.locator(".sv-card-body"), card.locator(".sv-card-hint")
        end = body.bounding_box()["y"] + body.bounding_box()["height"]
        assert end <= foot.bounding_box()["y"] + 0.5
    assert len(heights) == 1


def test_on_a_phone_the_card_does_not_hide_its_token(
    open_page: OpenPage, fake_address: str
) -> None:
    page = open_page(fake_address, width=380, height=800)
    _race_to_the_end(page)
    card = page.locator(CARD)
    expect(card).to_be_hidden()
    token = page.locator(SPECULATIVE).locator(".sv-correction").first
    token.evaluate("e => window.scrollBy({ top: e.getBoundingClientRect().top - 700 })")
    token.click()
    expect(card).to_be_visible()
    box = token.bounding_box()
    assert box["y"] + box["height"] <= card.bounding_box()["y"]
    card.locator(".sv-close").click()
    expect(card).to_be_hidden()


def test_pointing_at_a_token_marks_its_round(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    _race_to_the_end(page)
    lane = page.locator(SPECULATIVE)
    fill = "e => getComputedStyle(e.closest('.sv-r')).backgroundColor"
    rejected = lane.locator(".sv-rejected").first
    before = rejected.evaluate(fill)
    rejected.hover()
    assert rejected.evaluate(fill) != before
    marked = rejected.evaluate("e => e.closest('.sv-r').querySelectorAll('.sv-t').length")
    assert 2 <= marked <= 5


def test_a_figure_explains_itself_by_keyboard(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    _race_to_the_end(page)
    row = page.locator("#sv-race-figures")
    for name in ("speedup", "predicted", "alpha", "rate", "tau", "saved", "wasted"):
        tile = row.locator(f'[data-figure="{name}"]')
        button = tile.locator("button")
        button.focus()
        assert button.get_attribute("aria-expanded") == "false"
        page.keyboard.press("Enter")
        assert button.get_attribute("aria-expanded") == "true"
        why = page.locator(f"#{button.get_attribute('aria-controls')}")
        expect(why).to_be_visible()
        formula, given = why.locator(".sv-why-numbers").inner_text().rsplit(" = ", 1)
        value = tile.locator(".sv-value span").inner_text()
        if value.endswith("%"):
            assert abs(float(given[:-2]) - float(value[:-2])) <= 0.5
        else:
            assert given == value
        for count in re.findall(r"\d+", tile.locator(".sv-detail").inner_text()):
            assert name in ("speedup", "predicted", "alpha", "wasted") or count in formula
        page.keyboard.press("Escape")
        expect(why).to_be_hidden()
        assert button.evaluate("e => e === document.activeElement")
    row.locator('[data-figure="lossless"] button').click()
    expect(row.locator(".sv-why")).to_contain_text("All 128 tokens were compared")


def test_an_explanation_stays_open_and_follows_the_next_race(
    open_page: OpenPage, fake_address: str
) -> None:
    page = open_page(fake_address)
    page.click('#sv-race-figures [data-figure="tau"] button')
    numbers = page.locator("#sv-race-figures .sv-why-numbers")
    expect(numbers).to_have_text("A race puts its own numbers in here.")
    page.fill("#sv-prompt textarea", "slow")
    page.click("#sv-race")
    expect(numbers).to_contain_text(re.compile(r"\d+ / \d+ = \d"))
    early = numbers.inner_text()
    expect(numbers).not_to_have_text(early)
    page.click("#sv-race-stop")


def test_rejected_tokens_can_be_hidden(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    _race_to_the_end(page)
    thrown = page.locator(SPECULATIVE).locator(".sv-rejected").first
    expect(thrown).to_be_visible()
    page.uncheck(".sv-show-rejected")
    expect(thrown).to_be_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_scrolls_in_one_direction(
    open_page: OpenPage, fake_address: str, scheme: str
) -> None:
    page = open_page(f"{fake_address}/?__theme={scheme}", width=380, height=800)
    _race_to_the_end(page)
    page.locator(SPECULATIVE).locator(".sv-correction").first.click()
    page.locator(".sv-charts").scroll_into_view_if_needed()
    page.wait_for_selector(".sv-plot .main-svg >> nth=0")
    assert page.evaluate("document.documentElement.scrollWidth") == 380
    assert page.evaluate("document.body.scrollWidth") == 380


def _as_css(colour: str) -> str:
    red, green, blue = bytes.fromhex(colour.removeprefix("#"))
    return f"rgb({red}, {green}, {blue})"


def test_the_theme_switch_changes_page_and_charts(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(f"{fake_address}/?__theme=light")
    _race_to_the_end(page)
    page.locator(".sv-charts").scroll_into_view_if_needed()
    curve = page.locator("#sv-race-charts .sv-plot >> nth=0").locator("path.js-line").first
    expect(curve).to_have_css("stroke", _as_css(read_palette().light["lane-1"]))
    page.click(".sv-button")
    expect(page.locator("body")).to_have_class(re.compile("dark"))
    page.locator(".sv-charts").scroll_into_view_if_needed()
    expect(curve).to_have_css("stroke", _as_css(read_palette().dark["lane-1"]))


def test_missed_packets_are_read_again(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    page.fill("#sv-prompt textarea", "slow")
    page.evaluate(
        """() => {
            const [parse, ask] = [JSON.parse, window.fetch];
            window.lost = new Set();
            const replayed = (window.replayed = new Set());
            window.fetch = async (...request) => {
                const answer = await ask(...request);
                if (String(request[0]).includes('component_server')) {
                    const texts = await answer.clone().json();
                    if (Array.isArray(texts)) texts.forEach((text) => replayed.add(text));
                }
                return answer;
            };
            JSON.parse = (text, ...rest) => {
                const value = parse(text, ...rest);
                const isLast = text.includes('"finished"');
                if (isLast || replayed.has(text) || value?.seq % 5 !== 3) return value;
                window.lost.add(value.seq);
                return { run: value.run, seq: -1, items: [] };
            };
        }"""
    )
    _race_to_the_end(page)
    assert page.evaluate("window.lost.size") >= 3
    assert page.evaluate("window.replayed.size") >= 3
    assert page.locator(".sv-lane >> nth=0").locator(".sv-t").count() == 128
