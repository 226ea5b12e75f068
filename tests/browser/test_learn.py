"""A visitor learns: takes a lesson on the real controls, and plays with the labs."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

pytestmark = pytest.mark.browser
OpenPage = Callable[..., Page]
CLEAR = """() => {
    const box = (name) => document.querySelector(name)?.getBoundingClientRect();
    const [lit, coach] = [box('[data-lit]'), box('.sv-coach')];
    if (!lit) return false;
    const width = Math.min(lit.right, coach.right) - Math.max(lit.left, coach.left);
    const height = Math.min(lit.bottom, coach.bottom) - Math.max(lit.top, coach.top);
    const isSeen = lit.bottom > 0 && lit.top < window.innerHeight;
    const fits = lit.height < window.innerHeight - coach.height - 32;
    return isSeen && (!fits || width <= 0 || height <= 0);
}"""
"""Whether the lit control is in sight, and clear of the coach where there is room for both."""


def _open_learn(page: Page) -> None:
    page.click("#sv-tab-learn-button")
    page.wait_for_selector(".sv-lessons")


def _coach(page: Page) -> Locator:
    return page.locator(".sv-coach")


def _race(page: Page) -> None:
    page.click("#sv-race")
    page.wait_for_selector('#sv-race-status [data-state="finished"]')


def _press(slider: Locator, key: str, times: int) -> None:
    slider.focus()
    for _ in range(times):
        slider.press(key)


def test_a_lesson_is_completed_by_doing_it(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    _open_learn(page)
    expect(page.locator(".sv-learn-count")).to_have_text("0 of 8 done")
    page.locator(".sv-lesson").first.click()
    coach = _coach(page)
    expect(coach).to_contain_text("Lesson 1 of 8")
    expect(page.locator("#sv-race")).to_be_visible()
    expect(page.locator("[data-lit]")).to_have_id("sv-race")
    expect(coach.locator(".is-main")).to_have_text("Race")
    coach.get_by_role("button", name="Set it up for me").click()
    expect(page.locator("#sv-prompt textarea")).to_have_value(re.compile("named Leo"))
    _race(page)
    expect(coach).to_contain_text(re.compile(r"22\.4 MB: a pass over one token took \d+\.\d ms"))
    expect(coach).to_contain_text("a processor of the tests")
    page.locator(".sv-lane >> nth=0").locator(".sv-t").nth(3).click()
    expect(coach).to_contain_text("True or false?")
    coach.get_by_role("button", name="True", exact=True).click()
    expect(coach).to_contain_text("Right, it is true.")
    coach.get_by_role("button", name="Go on").click()
    expect(coach).to_contain_text("Lesson done.")
    coach.get_by_role("button", name="All lessons").click()
    expect(coach).to_be_hidden()
    expect(page.locator(".sv-learn-count")).to_have_text("1 of 8 done")


def test_a_recorded_race_completes_a_step(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(f"{fake_address}/?lesson=slow")
    coach = _coach(page)
    coach.get_by_role("button", name="Watch a recording").click()
    expect(page.locator("#sv-race-status")).to_contain_text("recorded")
    expect(coach.get_by_role("button", name="Race", exact=True)).to_be_disabled()
    expect(coach).to_contain_text("Click a token in the lane of the target alone")
    expect(page.locator("#sv-race")).to_be_enabled()


def test_a_wrong_deed_completes_nothing(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(f"{fake_address}/?lesson=guess")
    coach = _coach(page)
    _race(page)
    expect(coach).to_contain_text("Find a rejected guess")
    page.locator('.sv-t[data-fate="accepted"]').first.click()
    expect(page.locator(".sv-card")).to_contain_text("accepted")
    expect(coach).to_contain_text("Find a rejected guess")
    page.locator('.sv-t[data-fate="rejected"]').first.click()
    expect(coach).to_contain_text("Now click a discarded one")


def test_a_round_by_itself_completes_its_step(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(f"{fake_address}/?lesson=guess")
    coach = _coach(page)
    _race(page)
    for fate in ("rejected", "discarded"):
        page.locator(f'.sv-t[data-fate="{fate}"]').first.click()
    expect(coach).to_contain_text("one round of guesses at a time")
    page.check(".sv-transport .sv-speed [value='10']")
    page.get_by_role("button", name="Watch again").click()
    page.get_by_role("button", name="Step", exact=True).click()
    expect(coach).to_contain_text("True or false?")


def test_what_a_step_left_is_gone_when_the_next_lesson_begins(
    open_page: OpenPage, fake_address: str
) -> None:
    page = open_page(fake_address)
    _race(page)
    page.check(".sv-transport .sv-speed [value='10']")
    page.get_by_role("button", name="Watch again").click()
    page.get_by_role("button", name="Step", exact=True).click()
    expect(page.locator("#sv-race-status [data-state=paused]")).to_have_count(1)
    _open_learn(page)
    page.locator(".sv-lesson").first.click()
    expect(page.locator("#sv-race")).to_be_enabled()
    expect(page.locator(".sv-transport .sv-speed [value='1']")).to_be_checked()
    expect(_coach(page)).to_contain_text("Press Race")


def test_a_race_that_shows_something_else_is_told_so(
    open_page: OpenPage, fake_address: str
) -> None:
    page = open_page(f"{fake_address}/?lesson=methods")
    _race(page)
    coach = _coach(page)
    expect(coach).to_contain_text("That race shows something else")
    coach.get_by_role("button", name="Race", exact=True).click()
    expect(coach).to_contain_text("EAGLE-3 races where its target has a head")


def test_each_lab_keeps_its_own_numbers(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    _open_learn(page)
    slider = page.locator(".sv-lab-accept").get_by_label("draft probability q of “sea”")
    _press(slider, "End", 1)
    rules = page.locator(".sv-lab-rules")
    card = rules.locator('[data-rule="again"]')
    card.get_by_role("button").press("Enter")
    expect(card).to_contain_text("“sea” comes 0.045 too often, “sun” 0.075 too seldom")
    _press(rules.get_by_label("target probability p of “sun”"), "End", 1)
    _press(rules.get_by_label("draft probability q of “sea”"), "End", 1)
    expect(card).to_contain_text("p only by luck")
    expect(card).not_to_contain_text("come too often")
    expect(card).to_contain_text("the fault of this rule does not show")
    page.evaluate("window.scrollTo(0, 0)")
    page.locator(".sv-lesson").nth(4).click()
    expect(card.locator(".sv-rule-verdict")).to_have_count(0)
    expect(rules.get_by_label("target probability p of “sun”")).to_have_value("50")
    expect(slider).to_have_value("100")


def test_labs_offer_no_check_cheaper_than_a_pass(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    _open_learn(page)
    strip, curve = page.locator(".sv-lab-strip"), page.locator(".sv-lab-curve")
    for check in (
        strip.get_by_label("the check, in target passes (v)"),
        curve.get_by_label("v, one check in target passes"),
    ):
        _press(check, "Home", 1)
        expect(check).to_have_value("1")
    _press(strip.get_by_label("guesses in a round"), "End", 1)
    _press(strip.get_by_label("guesses kept"), "Home", 1)
    _press(strip.get_by_label("one draft step, ms"), "End", 1)
    _press(strip.get_by_label("the check, in target passes (v)"), "End", 1)
    expect(strip).to_contain_text("guessing takes 19.0 times as long")
    accept = page.locator(".sv-lab-accept")
    _press(accept.get_by_label("draft probability q of “sky”"), "Home", 1)
    expect(accept.locator(".sv-toy-row >> nth=2")).to_contain_text("never guessed")


def test_many_draws_tell_checked_guesses_from_unchecked_ones(
    open_page: OpenPage, fake_address: str
) -> None:
    page = open_page(fake_address)
    _open_learn(page)
    lab = page.locator(".sv-lab-draws")
    for _ in range(4):
        lab.get_by_role("button", name="Draw 1,000").click()
    told = lab.locator(".sv-draws-sum").inner_text()
    assert told.startswith("4,000 words each way.")
    alone, checked, unchecked, luck = map(float, re.findall(r"\d\.\d+", told))
    assert max(alone, checked) < 2 * luck
    assert unchecked > 4 * luck


@pytest.mark.parametrize("size", [(1440, 900), (380, 800)])
def test_no_step_of_any_lesson_hides_its_control(
    open_page: OpenPage, fake_address: str, size: tuple[int, int]
) -> None:
    page = open_page(fake_address, *size, reduced_motion="reduce")
    _race(page)
    coach = _coach(page)
    num_steps = 0
    for number in range(8):
        page.keyboard.press("Escape")
        page.evaluate("window.scrollTo(0, 0)")
        page.click("#sv-tab-learn-button")
        page.locator(".sv-lesson").nth(number).click()
        while (skip := coach.get_by_role("button", name="Skip")).is_visible():
            coach.get_by_role("button", name=re.compile("Take me there|Show me")).click()
            page.wait_for_function(CLEAR)
            num_steps += 1
            skip.click()
    assert num_steps == 22


def test_escape_leaves_a_lesson_and_its_light(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(f"{fake_address}/?lesson=slow")
    expect(page.locator("[data-lit]")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(_coach(page)).to_be_hidden()
    expect(page.locator("[data-lit]")).to_have_count(0)


def test_the_coach_folds_and_hides_no_lit_control(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(f"{fake_address}/?lesson=slow", width=380, height=800)
    lit = page.locator("[data-lit]")
    expect(lit).to_have_id("sv-race")
    page.wait_for_function(CLEAR)
    coach = _coach(page)
    coach.get_by_role("button", name="Fold the lesson away").click()
    expect(coach.locator(".sv-coach-body")).to_be_hidden()
    coach.get_by_role("button", name="Open the lesson again").click()
    expect(coach).to_contain_text("Press Race")


def test_progress_survives_a_reload(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(f"{fake_address}/?lesson=methods")
    coach = _coach(page)
    coach.get_by_role("button", name="Skip").click()
    coach.get_by_role("button", name="Understood").click()
    coach.get_by_role("button", name="Skip").click()
    for _ in range(3):
        coach.get_by_role("button", name="True", exact=True).click()
        coach.get_by_role("button", name="Go on").click()
    expect(coach).to_contain_text("That was the last one")
    page.goto(fake_address)
    _open_learn(page)
    expect(page.locator(".sv-learn-count")).to_have_text("1 of 8 done")
    expect(page.locator(".sv-lesson.is-done")).to_contain_text("Other ways to guess")
    page.get_by_role("button", name="Start over").click()
    expect(page.locator(".sv-learn-count")).to_have_text("0 of 8 done")


def test_the_strip_counts_600_and_250_ms(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    _open_learn(page)
    alone, together = page.locator(".sv-strip-sum").all()
    expect(alone).to_have_text("3 tokens × 200 ms = 600 ms")
    expect(together).to_have_text("2 guesses × 25 ms + check 200 ms = 250 ms")
    expect(page.locator(".sv-strip-told")).to_contain_text("2.40× as fast")
    kept = page.locator(".sv-lab-strip").get_by_label("guesses kept")
    _press(kept, "Home", 1)
    expect(alone).to_have_text("1 token × 200 ms = 200 ms")
    expect(page.locator(".sv-strip-told")).to_contain_text("guessing loses, 0.80×")


def test_the_accept_rule_by_keyboard(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    _open_learn(page)
    lab = page.locator(".sv-lab-accept")
    expect(lab).to_contain_text("Σ min(p, q) = 0.85")
    expect(lab.locator(".sv-toy-row >> nth=1")).to_contain_text("0.667")
    slider = lab.get_by_label("draft probability q of “sun”")
    _press(slider, "ArrowRight", 15)
    values = lab.locator(".sv-toy-bar.is-draft .sv-toy-value").all_inner_texts()
    assert values == ["0.50", "0.35", "0.15"]
    expect(lab).to_contain_text("Σ min(p, q) = 0.95")
    lab.get_by_role("button", name="Back to the start").press("Enter")
    expect(lab).to_contain_text("Σ min(p, q) = 0.85")
    lab.get_by_role("button", name="Throw 200").press("Enter")
    lab.get_by_role("button", name="Throw 200").press("Enter")
    expect(lab).to_contain_text("400 words written")


def test_each_rule_shows_the_law_it_writes(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    _open_learn(page)
    for rule, law, rate, verdict in (
        ("right", "0.500, 0.300, 0.200", "0.85", "exactly p"),
        ("again", "0.425, 0.345, 0.230", "0.85", "“sun” 0.075 too seldom"),
        ("argmax", "0.333, 0.667, 0.000", "0.67", "“sea” comes 0.367 too often"),
        ("match", "0.500, 0.300, 0.200", "0.35", "exactly p"),
    ):
        card = page.locator(f'.sv-rule[data-rule="{rule}"]')
        expect(card.locator(".sv-rule-verdict")).to_have_count(0)
        card.get_by_role("button").press("Enter")
        expect(card).to_contain_text(f"writes {law}")
        expect(card).to_contain_text(f"guesses kept: {rate}")
        expect(card).to_contain_text(verdict)


def test_the_curve_follows_the_theory(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    _open_learn(page)
    lab = page.locator(".sv-lab-curve")
    expect(lab.locator(".sv-curve-column")).to_have_count(16)
    expect(lab).to_contain_text(re.compile(r"Best γ: \d+, predicted \d\.\d\d×"))
    expect(lab.locator(".sv-curve-point")).to_have_count(1)
    alpha = lab.get_by_label("α, chance that a judged guess is kept")
    _press(alpha, "Home", 1)
    expect(lab).to_contain_text("No γ pays here")
    lab.get_by_role("button", name="Values of a real race").click()
    expect(lab).to_contain_text(re.compile(r"Best γ: \d+"))
    lab.get_by_role("button", name=re.compile("Race γ")).click()
    expect(page.locator("#sv-race")).to_be_visible()


def test_a_real_race_gives_the_labs_its_times(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    _race(page)
    _open_learn(page)
    memory = page.locator(".sv-lab-memory")
    expect(memory).to_contain_text("5.6 million weights: 22.4 MB")
    expect(memory).to_contain_text("Measured in the last race on this page")
    page.get_by_role("button", name="Times of a real race").click()
    expect(page.locator(".sv-lab-strip .sv-source")).to_contain_text("a processor of the tests")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_scrolls_the_lessons_in_one_direction(
    open_page: OpenPage, fake_address: str, scheme: str
) -> None:
    page = open_page(f"{fake_address}/?__theme={scheme}", width=380, height=800)
    _open_learn(page)
    page.locator(".sv-lesson").nth(2).click()
    expect(_coach(page)).to_contain_text("Lesson 3 of 8")
    for button in page.locator(".sv-rule button").all():
        button.press("Enter")
    expect(page.locator(".sv-rule-verdict")).to_have_count(4)
    assert page.evaluate("document.documentElement.scrollWidth") == 380
