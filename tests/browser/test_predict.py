"""A visitor, or a class, predicts a race: votes are locked while it runs and judged at its end."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from specviz.ui.strings import read_table

pytestmark = pytest.mark.browser
OpenPage = Callable[..., Page]
TEXTS = read_table("en")
FINISHED = '#sv-race-status .sv-status-view[data-state="finished"]'
BOUNDS = (1.0, 1.5, 2.0, 3.0)


def _predicting(page: Page) -> Page:
    page.locator(".sv-predict summary").click()
    return page


def _how_much(page: Page) -> Locator:
    return page.locator(".sv-ballot").nth(1).locator(".sv-choice")


def _race(page: Page) -> None:
    page.click("#sv-race")
    page.wait_for_selector(FINISHED)


def _shown_speedup(page: Page) -> float:
    text = page.inner_text('#sv-race-figures [data-figure="speedup"] .sv-value span')
    return float(text.removesuffix("×"))


def test_one_vote_is_locked_in_mid_race_and_judged_at_the_end(
    open_page: OpenPage, fake_address: str
) -> None:
    page = _predicting(open_page(fake_address))
    choices = _how_much(page)
    expect(page.locator(".sv-ballot").first).to_be_hidden()
    for place in (0, 2):
        choices.nth(place).locator(".sv-vote").click()
    pressed = page.locator(".sv-vote[aria-pressed=true]")
    expect(pressed).to_have_text(TEXTS["predict.range_well"])
    page.fill("#sv-prompt textarea", "slow")
    page.click("#sv-race")
    expect(page.locator(".sv-predict-told")).to_have_text(TEXTS["predict.locked"])
    expect(choices.nth(2).locator(".sv-vote")).to_be_disabled()
    expect(choices.nth(2).locator(".sv-hands")).to_be_hidden()
    now = page.locator(".sv-choice-mark:visible")
    expect(now).to_have_text(re.compile(r"now \d\.\d\d×"))
    page.wait_for_selector(FINISHED)
    speedup = _shown_speedup(page)
    right = sum(speedup >= bound for bound in BOUNDS)
    expect(page.locator(".sv-choice[data-state=right]:visible")).to_have_count(1)
    expect(choices.nth(right)).to_have_attribute("data-state", "right")
    expect(choices.nth(right).locator(".sv-choice-mark")).to_have_text(f"✓ {speedup:.2f}×")
    verdict = f"Right: it was {speedup:.2f}×." if right == 2 else f"it was {speedup:.2f}×."
    expect(page.locator(".sv-predict-told")).to_contain_text(verdict)
    expect(page.locator(".sv-predict-part").get_by_role("status")).to_contain_text(verdict)
    score = f"{int(right == 2)} of 1 prediction right"
    expect(page.locator(".sv-predict-score")).to_have_text(score)


def test_a_class_votes_on_the_winner_and_on_how_much(
    open_page: OpenPage, fake_address: str
) -> None:
    page = _predicting(open_page(fake_address))
    page.click(".sv-add")
    who = page.locator(".sv-ballot").first
    expect(who.locator(".sv-choice-name")).to_have_text(
        ["target alone", "target + draft model", "target + prompt lookup"]
    )
    more = page.get_by_role("button", name="One vote more for “target + draft model”")
    for _ in range(3):
        more.press("Enter")
    page.get_by_role("button", name="One vote fewer for “target + draft model”").click()
    page.get_by_label("Votes for “target alone”").fill("4")
    for place in range(5):
        _how_much(page).nth(place).locator(".sv-hand").nth(1).click()
    _race(page)
    won = who.locator(".sv-choice[data-state=right]")
    expect(won).to_have_count(1)
    votes = {"target + draft model": 2, "target + prompt lookup": 0}
    named = votes[won.locator(".sv-choice-name").inner_text()]
    told = f"{named} of 6 named the winner, 1 of 5 named the speedup."
    expect(page.locator(".sv-predict-told")).to_contain_text(told)
    right = named + 1
    expect(page.locator(".sv-predict-score")).to_have_text(f"{right} of 11 predictions right")


def test_the_next_prediction_begins_without_votes_and_the_score_stays(
    open_page: OpenPage, fake_address: str
) -> None:
    page = _predicting(open_page(fake_address))
    _how_much(page).first.locator(".sv-vote").click()
    _race(page)
    expect(page.locator(".sv-predict-score")).to_have_text("0 of 1 prediction right")
    page.get_by_role("button", name=TEXTS["predict.again"]).press("Enter")
    expect(page.locator(".sv-predict summary")).to_be_focused()
    expect(page.locator(".sv-vote[aria-pressed=true]")).to_have_count(0)
    expect(page.locator(".sv-choice[data-state=right]")).to_have_count(0)
    _race(page)
    expect(page.locator(".sv-predict-told")).to_have_text(TEXTS["predict.help"])
    page.reload()
    expect(page.locator(".sv-predict")).to_have_attribute("open", "")
    expect(page.locator(".sv-predict-score")).to_have_text("0 of 1 prediction right")


def test_a_stopped_race_judges_nothing_and_keeps_the_votes(
    open_page: OpenPage, fake_address: str
) -> None:
    page = _predicting(open_page(fake_address))
    _how_much(page).nth(1).locator(".sv-vote").click()
    page.fill("#sv-prompt textarea", "endless")
    page.click("#sv-race")
    page.wait_for_selector("#sv-race-stage .sv-t")
    page.click("#sv-race-stop")
    expect(page.locator(".sv-predict-told")).to_have_text(TEXTS["predict.void"])
    expect(_how_much(page).nth(1).locator(".sv-vote")).to_be_enabled()
    expect(_how_much(page).nth(1).locator(".sv-hands")).to_have_value("1")
    expect(page.locator(".sv-predict-score")).to_have_text("")


def test_a_recorded_race_can_be_predicted_too(open_page: OpenPage, fake_address: str) -> None:
    page = _predicting(open_page(fake_address))
    _how_much(page).nth(3).locator(".sv-vote").click()
    page.click("button.sv-watch")
    expect(page.locator(".sv-predict-told")).to_have_text(TEXTS["predict.locked"])
    expect(page.locator(".sv-predict-told")).to_contain_text("it was", timeout=60_000)
    expect(page.locator(".sv-choice[data-state=right]:visible")).to_have_count(1)
