"""Two visitors: one waits, is told how long, watches a recording meanwhile, and gets the turn."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from serving import free_port, serving

pytestmark = pytest.mark.browser
OpenPage = Callable[..., Page]
STATUS = "#sv-race-status"
STAGE = "#sv-race-stage"
NOTE = f"{STATUS} .sv-queue-note"
TREE = Path(__file__).parents[1] / "fixtures" / "trace_tree.json"


@pytest.fixture(scope="module")
def hasty_address() -> Iterator[str]:
    """Serve a page that runs a held race out as soon as somebody waits for two seconds."""
    port = free_port()
    with serving("tests/fake_page.py", str(port), "hasty", port=port) as address:
        yield address


def _start(page: Page, prompt: str) -> None:
    page.fill("#sv-prompt textarea", prompt)
    page.click("#sv-race")


def _wait_for(page: Page, state: str) -> None:
    page.wait_for_selector(f'{STATUS} .sv-status-view[data-state="{state}"]')


def _start_and_hold(page: Page, prompt: str) -> None:
    _start(page, prompt)
    page.locator(f"{STAGE} .sv-lane").nth(1).locator(".sv-round").nth(2).wait_for()
    page.click(f"{STATUS} .sv-pause")
    _wait_for(page, "paused")


def test_who_waits_watches_a_recording_and_then_gets_the_turn(
    open_page: OpenPage, fake_address: str
) -> None:
    first, second = open_page(fake_address), open_page(fake_address)
    _start(first, "the race before")
    _wait_for(first, "finished")
    _start_and_hold(first, "endless")
    _start(second, "the second visitor")
    _wait_for(second, "waiting")
    told = second.locator(f"{STATUS} .sv-status-text")
    expect(told).to_contain_text(re.compile(r"Number 1 in the queue, about \d+ s to go at most"))
    expect(told).to_contain_text(
        re.compile(r"\d+ tokens × [\d.]+ ms \((as the last race here|median of the last)")
    )
    seconds_left = _held_seconds(second)
    expect(told).not_to_contain_text(f"goes on in {seconds_left} s")
    assert _held_seconds(second) < seconds_left, "the estimate is kept current"
    expect(second.locator("#sv-race")).to_be_disabled()

    second.get_by_role("button", name="Watch a recorded race meanwhile").click()
    second.wait_for_selector(f"{STAGE} .sv-t")
    expect(second.locator(f"{STATUS} .sv-origin")).to_contain_text("recorded")
    expect(second.locator(NOTE)).to_contain_text("Number 1 in the queue")
    expect(second.locator(".sv-race-live").first).to_be_disabled()
    second.click("#sv-race-stop")
    expect(second.locator(NOTE)).to_be_visible()
    second.set_input_files(f"{STATUS} .sv-file", TREE)
    expect(second.locator(f"{STATUS} .sv-origin")).to_be_visible()
    expect(second.locator(NOTE)).to_contain_text("Number 1 in the queue")

    first.click("#sv-race-stop")
    second.wait_for_selector(f'{STATUS} [data-state="running"]')
    expect(second.locator(NOTE)).to_contain_text("Your turn has come")
    expect(second.locator(f"{STATUS} .sv-origin")).to_be_hidden()
    _wait_for(second, "finished")
    expect(second.locator(f"{STAGE} .sv-lane").first.locator(".sv-t")).to_have_count(128)
    expect(second.locator(NOTE)).to_be_hidden()


def _held_seconds(page: Page) -> int:
    text = page.locator(f"{STATUS} .sv-status-text").inner_text()
    found = re.search(r"goes on in (\d+) s", text)
    assert found, text
    return int(found[1])


def test_who_leaves_the_queue_keeps_the_recording(open_page: OpenPage, fake_address: str) -> None:
    first, second = open_page(fake_address), open_page(fake_address)
    _start_and_hold(first, "endless")
    _start(second, "the second visitor")
    _wait_for(second, "waiting")
    second.set_input_files(f"{STATUS} .sv-file", TREE)
    expect(second.locator(NOTE)).to_contain_text("Number 1 in the queue")
    second.get_by_role("button", name="Leave the queue").click()
    expect(second.locator(NOTE)).to_be_hidden()
    expect(second.locator("#sv-race")).to_be_enabled()
    expect(second.locator(f"{STATUS} .sv-origin")).to_be_visible()
    first.click("#sv-race-stop")
    _wait_for(first, "stopped")
    _wait_for(second, "finished")


def test_who_waits_on_another_tab_is_called(open_page: OpenPage, fake_address: str) -> None:
    first, second = open_page(fake_address), open_page(fake_address)
    _start_and_hold(first, "endless")
    _start(second, "endless")
    _wait_for(second, "waiting")
    second.click("#sv-tab-rounds-button")
    expect(second.locator(".sv-round-recorded")).to_be_visible()
    first.click("#sv-race-stop")
    notice = second.locator(".sv-turn-notice")
    expect(notice).to_contain_text("your race has begun")
    second.get_by_role("button", name="Go to it").click()
    expect(notice).to_have_count(0)
    expect(second.locator(STATUS)).to_be_visible()
    second.click("#sv-race-stop")
    _wait_for(second, "stopped")


def test_a_held_race_lets_others_pass_and_stays_held_on_its_page(
    open_page: OpenPage, hasty_address: str
) -> None:
    first, second = open_page(hasty_address), open_page(hasty_address)
    _start_and_hold(first, "slow")
    held = first.locator(f"{STAGE} .sv-t").count()
    _start(second, "the second visitor")
    _wait_for(second, "finished")
    _wait_for(first, "paused")
    assert first.locator(f"{STAGE} .sv-t").count() == held
    expect(first.locator(NOTE)).to_contain_text("the server has run this race to its end")
    rounds = first.locator(f"{STAGE} .sv-lane").nth(1).locator(".sv-round")
    before = rounds.count()
    first.click(f"{STATUS} .sv-step")
    expect(rounds).to_have_count(before + 1)
    first.get_by_role("button", name="Resume").click()
    _wait_for(first, "finished")
    expect(first.locator(f"{STAGE} .sv-lane").first.locator(".sv-t")).to_have_count(128)
    expect(first.locator(NOTE)).to_be_hidden()


def test_a_recording_is_raced_here_with_what_this_page_offers(
    open_page: OpenPage, fake_address: str
) -> None:
    page = open_page(fake_address)
    page.click("button.sv-watch")
    page.wait_for_selector(f"{STAGE} .sv-t")
    prompt = page.locator(f"{STATUS} .sv-live-prompt")
    page.fill("#sv-prompt textarea", "another prompt")
    expect(prompt).to_contain_text("not the form’s")
    page.click(f"{STATUS} .sv-race-live")
    note = page.locator(f"{STATUS} .sv-live-note")
    expect(note).to_contain_text("specviz-target")
    expect(note).to_contain_text("fake-target")
    _wait_for(page, "finished")
    expect(page.locator(f"{STATUS} .sv-origin")).to_be_hidden()
    field = page.locator("#sv-prompt textarea")
    expect(field).to_have_value(re.compile("^Once upon a time|."))
    assert field.input_value() != "another prompt"


def test_a_round_is_raced_here(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    page.click("#sv-tab-rounds-button")
    expect(page.locator(".sv-round-recorded")).to_be_visible()
    page.click(".sv-round-toolbar .sv-race-live")
    expect(page.locator(STATUS)).to_be_visible()
    _wait_for(page, "finished")
    expect(page.locator("#sv-temperature input").first).to_have_value("0.8")
    page.click("#sv-tab-rounds-button")
    expect(page.locator(".sv-round-recorded")).to_be_hidden()
    expect(page.locator(".sv-guess[data-fate=rejected]")).to_have_count(1)
