"""What the page says of a visitor's own words: refusals at the box, far prompts, slower lanes."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser
OpenPage = Callable[..., Page]
PROMPT = "#sv-prompt textarea"
NOTE = ".sv-prompt-note"


def _race(page: Page, prompt: str) -> None:
    page.fill(PROMPT, prompt)
    page.click("#sv-race")
    page.wait_for_selector('.sv-status-view[data-state="finished"]')


@pytest.mark.parametrize("prompt", ["  ", "refuse"])
def test_a_refused_prompt_says_so_at_its_box_and_keeps_the_last_race(
    open_page: OpenPage, fake_address: str, prompt: str
) -> None:
    page = open_page(fake_address)
    _race(page, "Hello")
    text = page.locator(".sv-lane-body").first.inner_text()
    page.fill(PROMPT, prompt)
    page.click("#sv-race")
    note = page.locator(NOTE)
    expect(note).to_contain_text(re.compile("empty|reads at most 512"))
    expect(page.locator(PROMPT)).to_be_focused()
    expect(page.locator(PROMPT)).to_have_attribute("aria-invalid", "true")
    box, below = page.locator(PROMPT).bounding_box(), note.bounding_box()
    assert box
    assert below
    assert 0 <= below["y"] - (box["y"] + box["height"]) < 60
    assert page.locator(".sv-lane-body").first.inner_text() == text
    expect(page.locator("#sv-race-status .sv-status-view")).to_have_attribute(
        "data-state", "finished"
    )
    expect(page.locator("#sv-race")).to_be_enabled()
    page.fill(PROMPT, "Hello again")
    expect(note).to_be_hidden()


def test_what_does_not_fit_of_a_pasted_text_is_told(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    page.fill(PROMPT, "")
    page.focus(PROMPT)
    page.evaluate(
        """text => {
            const field = document.activeElement;
            const clipboardData = new DataTransfer();
            clipboardData.setData('text', text);
            field.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true }));
            document.execCommand('insertText', false, text);
        }""",
        "word " * 600,
    )
    expect(page.locator(NOTE)).to_contain_text("3,000 characters and 2,000 fit")
    assert len(page.input_value(PROMPT)) == 2000


def test_the_target_is_told_and_a_far_prompt_offers_the_nearest_example(
    open_page: OpenPage, fake_address: str
) -> None:
    page = open_page(fake_address)
    about = page.locator(".sv-target-about")
    expect(about).to_have_text(
        "fake-target: 5.6 million weights. It has read simple stories, in English."
    )
    _race(page, "What is far from here?")
    note = page.locator("#sv-race-status .sv-notes li").first
    expect(note).to_contain_text("Far from what this model has read")
    note.locator("button").click()
    expect(page.locator(PROMPT)).to_be_focused()
    expect(page.locator('.sv-chip[aria-pressed="true"]')).to_have_count(1)
    _race(page, "Near enough")
    expect(page.locator("#sv-race-status .sv-notes")).not_to_contain_text("Far from")


def test_why_a_lane_was_slower_is_answered_in_place(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    page.select_option("#sv-lanes select:visible >> nth=0", "fake-misfit")
    _race(page, "Hello")
    why = page.get_by_role("button", name="Why can that be?").first
    expect(why).to_have_attribute("aria-expanded", "false")
    why.click()
    answer = page.locator("#sv-slower-race")
    expect(answer).to_contain_text(re.compile(r"·c \+ v = .* passes of the target .* measured was"))
    expect(answer.locator("li").first).to_be_visible()
    page.keyboard.press("Escape")
    why.click()
    expect(answer).to_be_hidden()
