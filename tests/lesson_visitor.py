"""A visitor of the lessons who does what each says, and nothing else."""

import re

from playwright.sync_api import Page, expect

TITLES = (
    "One token at a time",
    "Guess ahead",
    "Check all in one pass",
    "The accept rule",
    "Why the text does not change",
    "α, γ, c and the best γ",
    "When it does not pay",
    "Other ways to guess",
)


class Visitor:
    """Does what the coach says, by the names of the controls that it speaks of."""

    def __init__(self, page: Page, start: str = "Race") -> None:
        self._page = page
        self._start = start
        self.coach = page.locator(".sv-coach")

    def told(self, text: str) -> None:
        """Read what is to be done now."""
        expect(self.coach.locator(".sv-coach-step")).to_contain_text(text)

    def race(self) -> None:
        """Press Race in the coach, as the step says, or watch what is recorded of it."""
        lanes = "#sv-race-stage .sv-lane"
        self._page.locator(lanes).evaluate_all("all => all.forEach((lane) => lane.id = 'before')")
        self.coach.get_by_role("button", name=self._start, exact=True).click()
        self._page.wait_for_selector(f"{lanes}:not(#before)")

    def click_token(self, lane: int, fate: str) -> None:
        self._page.locator(f'.sv-lane >> nth={lane} >> .sv-t[data-fate="{fate}"]').first.click()

    def press(self, name: str) -> None:
        """Press a button of the page by its name, where the coach leads to it."""
        self._travel()
        self._page.get_by_role("button", name=name, exact=True).click()

    def drag(self, lab: str, name: str, key: str, times: int) -> None:
        self._travel()
        slider = self._page.locator(f".sv-lab-{lab}").get_by_label(name)
        slider.focus()
        for _ in range(times):
            slider.press(key)

    def judge(self, *beliefs: str) -> None:
        """Say whether each belief is true, read why, and go on."""
        for belief in beliefs:
            expect(self.coach.locator(".sv-belief q")).to_contain_text(belief)
            self.coach.get_by_role("button", name="True", exact=True).click()
            self.coach.get_by_role("button", name="Go on").click()

    def finish(self, number: int) -> None:
        """See that the lesson is done and that nothing of it is left, and take the next one."""
        self.told("Lesson done.")
        expect(self._page.locator("#sv-race-status [data-state=paused]")).to_have_count(0)
        if number < len(TITLES):
            self.coach.get_by_role("button", name=f"Next: {TITLES[number]}").click()

    def _travel(self) -> None:
        """Press what the coach offers where its step is on another tab."""
        there = self.coach.get_by_role("button", name="Take me there")
        if there.is_visible():
            there.click()


def do_all(page: Page, start: str = "Race") -> None:
    """Do all lessons; `start` is the coach's button that starts the race of a step."""
    page.click("#sv-tab-learn-button")
    page.get_by_role("button", name="Start with lesson 1").click()
    visitor = Visitor(page, start)
    for number, lesson in enumerate(LESSONS, start=1):
        expect(visitor.coach).to_contain_text(f"Lesson {number} of 8")
        expect(visitor.coach).to_contain_text(TITLES[number - 1])
        lesson(visitor, page)
        visitor.finish(number)
    visitor.coach.get_by_role("button", name="All lessons").click()
    expect(page.locator(".sv-learn-count")).to_have_text("8 of 8 done")


def _one_token_at_a_time(visitor: Visitor, page: Page) -> None:
    expect(visitor.coach).to_contain_text("14 GB take 6.9 ms to read on an NVIDIA A100 80GB SXM")
    visitor.told("Press Race and watch the lane")
    visitor.race()
    visitor.told("Click a token in the lane of the target alone")
    expect(visitor.coach).to_contain_text(re.compile(r"\d+\.\d GB a second"))
    visitor.click_token(0, "plain")
    visitor.judge("half the weights")


def _guess_ahead(visitor: Visitor, page: Page) -> None:
    visitor.told("Press Race and watch the lane with guesses")
    visitor.race()
    visitor.told("Find a rejected guess")
    visitor.click_token(1, "rejected")
    visitor.told("Now click a discarded one")
    visitor.click_token(1, "discarded")
    visitor.told("Choose 10× slower, press Watch again, and then Step")
    _choose_slow_motion(page)
    visitor.press("Watch again")
    visitor.press("Step")
    visitor.judge("When a guess is rejected")


def _choose_slow_motion(page: Page) -> None:
    page.locator("#sv-race-status").get_by_label("10× slower").check()


def _check_all_in_one_pass(visitor: Visitor, page: Page) -> None:
    visitor.told("drag the sliders until guessing is slower")
    visitor.drag("strip", "guesses kept", "Home", 1)
    visitor.told("Press Race: the same draft makes 2 guesses")
    visitor.race()
    visitor.told("Press “Times of a real race”")
    expect(visitor.coach).to_contain_text(re.compile(r"γ = \d+: one check of \d+ tokens"))
    visitor.press("Times of a real race")
    visitor.judge("Checking a token", "more arithmetic")


def _the_accept_rule(visitor: Visitor, page: Page) -> None:
    visitor.told("Throw one coin")
    visitor.press("Throw one coin")
    visitor.told("Throw 200")
    visitor.press("Throw 200")
    visitor.told("Drag q away from p")
    visitor.drag("accept", "draft probability q of “sea”", "End", 1)
    visitor.told("press Race here, which sets temperature 0.8")
    visitor.race()
    visitor.click_token(1, "rejected")
    visitor.judge("After a rejection")


def _why_the_text_does_not_change(visitor: Visitor, page: Page) -> None:
    visitor.told("Try all four rules")
    for rule in page.locator(".sv-rule button").all():
        rule.click()
    rates = page.locator('.sv-rule[data-rule="right"], .sv-rule[data-rule="match"]')
    expect(rates).to_contain_text(["guesses kept: 0.85", "guesses kept: 0.35"])
    visitor.told("press “Draw 1,000”")
    visitor.press("Draw 1,000")
    visitor.told("wait for the verdict on the output")
    visitor.race()
    visitor.judge("A weak draft", "bit for bit")


def _the_best_gamma(visitor: Visitor, page: Page) -> None:
    visitor.told("Move α and c")
    visitor.drag("curve", "α, chance that a judged guess is kept", "ArrowRight", 3)
    visitor.told("Press Race here: two draft lengths")
    visitor.race()
    visitor.judge("Five guesses, three kept", "A single guess")


def _when_it_does_not_pay(visitor: Visitor, page: Page) -> None:
    for reason in ("α is low", "c is high", "γ is too long"):
        visitor.told(reason)
        visitor.race()
    expect(visitor.coach).to_contain_text("α =")
    visitor.judge("always at least as fast", "A better draft")


def _other_ways_to_guess(visitor: Visitor, page: Page) -> None:
    visitor.told("Press Race here: three ways to guess")
    visitor.race()
    visitor.told("EAGLE-3 races where its target has a head")
    visitor.coach.get_by_role("button", name="Understood").click()
    visitor.told("Press Race here: the same draft guesses a chain")
    visitor.race()
    expect(visitor.coach).to_contain_text(re.compile(r"dynamic tree.*: τ = \d"))
    visitor.judge("the same tokenizer", "The same pair", "higher τ")


LESSONS = (
    _one_token_at_a_time,
    _guess_ahead,
    _check_all_in_one_pass,
    _the_accept_rule,
    _why_the_text_does_not_change,
    _the_best_gamma,
    _when_it_does_not_pay,
    _other_ways_to_guess,
)
