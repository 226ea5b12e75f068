"""A visitor takes races apart: steps, plays, guesses first, throws coins again, and sees a tree."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

pytestmark = pytest.mark.browser
OpenPage = Callable[..., Page]
TREE = Path(__file__).parents[1] / "fixtures" / "trace_tree.json"
PLACE = ".sv-round-place"
CARDS = ".sv-round-cards .sv-guess"
TREE_VIEW = ".sv-round-tree"
NODES = ".sv-tree-node"


def _open_rounds(page: Page) -> None:
    page.click("#sv-tab-rounds-button")


def _open_recorded(page: Page) -> None:
    """Open the recorded race: 28 rounds at temperature 0.8, of which the third has a rejection."""
    _open_rounds(page)
    expect(page.locator(PLACE)).to_have_text("Round 3 of 28")
    page.locator(PLACE).click()
    page.keyboard.press("Home")
    expect(page.locator(PLACE)).to_have_text("Round 1 of 28")


def _open_tree(page: Page) -> None:
    page.locator("#sv-race-status input[type=file]").set_input_files(TREE)
    page.wait_for_selector(".sv-lane .sv-correction")
    _open_rounds(page)
    page.wait_for_selector(f"{TREE_VIEW} {NODES}")


def _known(page: Page) -> list[str | None]:
    return [card.get_attribute("data-known") for card in page.locator(CARDS).all()]


def test_a_filled_button_keeps_its_text_under_the_pointer(
    open_page: OpenPage, fake_address: str
) -> None:
    page = open_page(f"{fake_address}/?__theme=light")
    _open_rounds(page)
    _hover_filled(page.locator(".sv-round-play"))
    page.click("#sv-tab-learn-button")
    _hover_filled(page.locator(".sv-learn-view .is-main").first)


def _hover_filled(button: Locator) -> None:
    button.hover()
    expect(button).to_have_css("background-color", "rgb(0, 82, 143)")
    expect(button).to_have_css("color", "rgb(255, 255, 255)")


def test_a_recorded_race_is_stepped_by_buttons(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    _open_recorded(page)
    expect(page.locator(".sv-round-recorded")).to_be_visible()
    expect(page.get_by_role("button", name="Previous round")).to_be_disabled()
    page.get_by_role("button", name="Next round").click()
    page.get_by_role("button", name="Next round").click()
    expect(page.locator(PLACE)).to_have_text("Round 3 of 28")
    expect(page.locator(".sv-so-far")).to_contain_text('"You are so slow!"')
    expect(page.locator(".sv-round-story")).to_have_text(
        "The draft guessed 5 tokens: “ said Hana.⏎”. The target kept “ said”. Then it threw “ H” "
        "away: the draft gave it 51 %, the target <0.1 %, so it had a chance of <0.1 % to be kept, "
        "and the coin fell at 0.565. 3 guesses were discarded without a look. In its place came "
        "“ Leo”, drawn from what the target wants more than the draft. "
        "One pass of the target, 2 tokens."
    )
    fates = [card.get_attribute("data-fate") for card in page.locator(CARDS).all()]
    assert fates == ["accepted", "rejected", *["discarded"] * 3, "correction"]
    page.get_by_role("button", name="Previous round").click()
    expect(page.locator(".sv-round-story")).to_contain_text("kept all of them")
    page.locator(".sv-round-slider").fill("28")
    expect(page.locator(PLACE)).to_have_text("Round 28 of 28")
    page.get_by_role("option", name="Round 3: 2 tokens").click()
    expect(page.locator(PLACE)).to_have_text("Round 3 of 28")
    expect(page.locator(".sv-round-bar[aria-selected=true]")).to_have_count(1)


def test_a_recorded_race_is_stepped_by_keys(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    _open_recorded(page)
    for key, place in {"End": 28, "ArrowLeft": 27, "Home": 1, "ArrowRight": 2}.items():
        page.keyboard.press(key)
        expect(page.locator(PLACE)).to_have_text(f"Round {place} of 28")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    assert _known(page) == ["checked"] * 5 + ["nothing"]
    expect(page.locator(".sv-round-story")).to_contain_text("looked at 6 places at once")
    page.keyboard.press("ArrowUp")
    assert _known(page) == ["guessed"] * 5 + ["nothing"]
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert _known(page) == ["decided"] * 6
    page.keyboard.press("ArrowDown")
    expect(page.locator(PLACE)).to_have_text("Round 4 of 28")
    assert _known(page) == ["guessed"] * 5 + ["nothing"]


def test_a_round_plays_by_itself(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    _open_recorded(page)
    page.select_option(".sv-round-speed", "4")
    page.locator(PLACE).click()
    page.keyboard.press("Home")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Space")
    page.wait_for_selector('.sv-guess[data-known="guessed"]')
    page.wait_for_selector('.sv-guess[data-known="checked"]')
    expect(page.locator(PLACE)).to_have_text("Round 2 of 28")
    page.keyboard.press("Space")
    stopped = _known(page)
    page.wait_for_timeout(1_000)
    assert _known(page) == stopped


def test_guess_first_hides_and_scores(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    _open_recorded(page)
    page.get_by_role("checkbox", name="Guess first").check()
    page.get_by_role("option", name="Round 3: still to be guessed").click()
    assert _known(page) == ["checked", *["guessed"] * 4, "nothing"]
    expect(page.locator(".sv-round-story")).not_to_contain_text("away")
    expect(page.locator(".sv-round-coin button")).to_have_count(0)
    page.get_by_role("button", name="✓ Kept", exact=True).click()
    expect(page.locator(".sv-ask-answer")).to_contain_text("Right: “␣said” was kept.")
    page.get_by_role("button", name="✓ Kept", exact=True).click()
    expect(page.locator(".sv-ask-answer")).to_contain_text("Not this time: “␣H” was thrown away.")
    expect(page.locator(".sv-ask-score")).to_contain_text("1 of 2 right")
    assert _known(page) == ["decided"] * 6
    expect(page.locator(".sv-round-story")).to_contain_text("threw “ H” away")
    page.get_by_role("checkbox", name="Guess first").uncheck()
    page.keyboard.press("ArrowRight")
    assert _known(page) == ["decided"] * 6


def test_the_coin_is_thrown_again(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    _open_recorded(page)
    page.locator(CARDS, has_text="0.440").click()
    expect(page.locator(".sv-coin-text")).to_contain_text("the coin fell at 0.405; below 0.440")
    page.get_by_role("button", name="Throw once").click()
    expect(page.locator(".sv-coin-count")).to_have_text(
        re.compile(r"kept [01] of 1, expected 44\s%")
    )
    page.get_by_role("button", name="Throw 100 times").click()
    tally = page.inner_text(".sv-coin-count")
    found = re.fullmatch(r"kept (\d+) of 101, expected 44\s%", tally)
    assert found is not None, tally
    kept = int(found[1])
    assert 10 < kept < 80  # far beyond six standard deviations on both sides
    assert page.locator(".sv-dot.is-kept").count() == kept
    assert page.locator(".sv-dot").count() == 101
    expect(page.locator(".sv-coin-others")).to_contain_text("In its place:")
    page.get_by_role("button", name="Clear").click()
    expect(page.locator(".sv-dot")).to_have_count(0)


def test_a_tree_of_guesses_is_drawn_and_walked(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    _open_tree(page)
    tree = page.locator(TREE_VIEW)
    expect(page.locator(CARDS)).to_have_count(0)
    assert tree.locator(".sv-tree-edge").count() == 8
    for part in ("edge", "band"):
        bold = f".sv-tree-{part}:is([data-fate=accepted], [data-fate=correction])"
        expect(tree.locator(bold)).to_have_count(3)
    columns = {
        node.locator(".sv-tok").inner_text(): node.bounding_box()["x"]  # type: ignore[index]
        for node in tree.locator(NODES).all()
        if node.get_attribute("data-fate") != "discarded"
    }
    assert columns["␣fox"] == columns["␣dog"] < columns["␣ran"] < columns["␣home"]
    assert columns["␣home"] == columns["␣away"]
    expect(page.locator(".sv-round-story")).to_contain_text("A tree of 7 guesses was made")
    fox = tree.get_by_role("treeitem", name="␣fox, guess 1 of 2 for this place, draft 50 %")
    expect(fox).to_contain_text("● 0.810 ≥ 0.400")
    fox.click()
    expect(page.locator(".sv-round-laws tr.is-chosen")).to_contain_text("␣fox")
    for key, name in {"ArrowDown": "dog", "ArrowRight": "ran", "ArrowLeft": "dog"}.items():
        page.keyboard.press(key)
        expect(tree.locator(f"{NODES}:focus")).to_have_text(re.compile(f"^␣{name}"))
    expect(page.locator(PLACE)).to_have_text("Round 1 of 2")
    expect(page.locator(".sv-round-chosen")).to_contain_text(
        "1 guess for this place was thrown away before it"
    )
    page.locator(PLACE).click()
    page.keyboard.press("ArrowUp")
    assert set(_fates(tree)) == {"undecided"}
    assert Axe().run(page).response["violations"] == []


def test_a_tree_is_walked_in_the_card_of_a_token(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address, width=380, height=800)
    page.locator("#sv-race-status input[type=file]").set_input_files(TREE)
    page.wait_for_selector(".sv-lane .sv-correction")
    lane = page.locator(".sv-lane >> nth=1")
    assert _fates(lane.locator(".sv-r >> nth=0"), ".sv-t") == [
        *("rejected", "accepted", "accepted", "rejected", "discarded", "correction")
    ]
    lane.get_by_role("option", name="3 guesses of the tree, never judged, round 1").click()
    card = page.locator("#sv-race-stage .sv-card")
    expect(card).to_contain_text("Never judged: it follows ␣fox, which was thrown away.")
    card.get_by_role("treeitem", name="␣dog").click()
    expect(card.locator(".sv-card-head")).to_contain_text("accepted")
    page.keyboard.press("ArrowRight")
    expect(card.locator(f"{NODES}:focus")).to_have_text("␣ran")
    expect(lane.locator(".sv-t.is-pinned")).to_have_text(re.compile("ran"))
    assert page.evaluate("document.documentElement.scrollWidth") == 380
    assert Axe().run(page).response["violations"] == []


def _fates(tree: Locator, part: str = NODES) -> list[str | None]:
    return [node.get_attribute("data-fate") for node in tree.locator(part).all()]


def test_a_live_race_is_followed_from_its_last_round(
    open_page: OpenPage, fake_address: str
) -> None:
    page = open_page(fake_address)
    # It goes on for half a minute, so that it does whatever a busy machine makes of this page.
    page.fill("#sv-prompt textarea", "steady")
    page.click("#sv-race")
    _open_rounds(page)
    page.wait_for_selector(f"{PLACE}:has-text('Round')")
    first = page.inner_text(PLACE)
    expect(page.locator(PLACE)).not_to_have_text(first)
    follows = "/^Round (\\d+) of \\1$/.test(document.querySelector('.sv-round-place').textContent)"
    assert page.evaluate(follows)
    page.keyboard.press("Home")
    seen = page.locator(".sv-round-bar").count()
    page.wait_for_function(f"document.querySelectorAll('.sv-round-bar').length > {seen + 2}")
    expect(page.locator(PLACE)).to_have_text(re.compile("Round 1 of "))
    page.wait_for_function("document.querySelectorAll('.sv-round-bar').length > 12")
    expect(page.locator(".sv-round-bar[data-end=bonus]").first).to_be_visible()


def test_greedy_rounds_name_the_first_choice(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    page.click("#sv-race")
    page.wait_for_selector('#sv-race-status [data-state="finished"]')
    _open_rounds(page)
    page.locator(".sv-round-bar[data-end=correction]").first.click()
    expect(page.locator(".sv-round-story")).to_contain_text("its own first choice here is")
    expect(page.locator(".sv-round-coin")).to_contain_text("At temperature 0 no coin is thrown")
    assert page.locator(".sv-guess .sv-meter-accept").count() == 0


def test_a_round_is_opened_from_its_tokens_card(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    page.locator("#sv-race-status input[type=file]").set_input_files(TREE)
    page.wait_for_selector(".sv-lane .sv-correction")
    page.locator(".sv-lane >> nth=1").locator(".sv-correction, .sv-bonus").last.click()
    page.get_by_role("button", name="See this round step by step").click()
    expect(page.locator(PLACE)).to_have_text("Round 2 of 2")
    expect(page.locator(".sv-round-story")).to_contain_text(
        "The target followed the branch “ and hid”"
    )


def test_the_tab_stands_at_the_round_of_the_token_that_was_chosen(
    open_page: OpenPage, fake_address: str
) -> None:
    page = open_page(fake_address)
    page.locator("#sv-race-status input[type=file]").set_input_files(TREE)
    page.wait_for_selector(".sv-lane .sv-correction")
    page.locator(".sv-lane >> nth=1").locator(".sv-correction, .sv-bonus").last.click()
    page.keyboard.press("Escape")
    _open_rounds(page)
    expect(page.locator(PLACE)).to_have_text("Round 2 of 2")
    expect(page.locator(".sv-round-winner")).to_have_text(re.compile("wins this round|round wins"))
