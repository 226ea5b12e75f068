"""A visitor holds, steps, slows, stops, saves and opens races, with a made-up race behind them."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

pytestmark = pytest.mark.browser
OpenPage = Callable[..., Page]
STATUS = "#sv-race-status"
STAGE = "#sv-race-stage"
NUM_TOKENS = 128
HELD_MS = 1_500
AT_ONCE_MS = 1_500
"""Less than a second at the server, and the time that a busy machine takes to draw."""


def _start(page: Page, prompt: str | None = None) -> None:
    if prompt is not None:
        page.fill("#sv-prompt textarea", prompt)
    page.click("#sv-race")


def _wait_for(page: Page, state: str) -> None:
    page.wait_for_selector(f'{STATUS} .sv-status-view[data-state="{state}"]')


def _lane(page: Page, lane: int) -> Locator:
    return page.locator(f"{STAGE} .sv-lane").nth(lane)


def _num_tokens(page: Page) -> int:
    return page.locator(f"{STAGE} .sv-t").count()


def _num_rounds(page: Page) -> int:
    """Rounds that the lane that guesses shows."""
    return _lane(page, 1).locator(".sv-round").count()


def _start_and_hold(page: Page, prompt: str) -> None:
    _start(page, prompt)
    _lane(page, 1).locator(".sv-round").nth(2).wait_for()
    page.click(f"{STATUS} .sv-pause")
    _wait_for(page, "paused")


def _texts(page: Page) -> list[str]:
    """What each lane wrote, without what was thrown away."""
    read = """lane => [...lane.querySelectorAll('.sv-t')]
        .filter(t => !['rejected', 'discarded'].includes(t.dataset.fate))
        .map(t => t.textContent).join('')"""
    return [lane.evaluate(read) for lane in page.locator(f"{STAGE} .sv-lane").all()]


def _figures(page: Page) -> list[str]:
    return page.locator("#sv-race-figures .sv-figure").all_inner_texts()


def _assert_whole(page: Page) -> None:
    plain, guessed = _texts(page)
    assert plain == guessed
    assert _lane(page, 0).locator(".sv-t").count() == NUM_TOKENS


def test_a_race_is_held_stepped_and_goes_on(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    _start_and_hold(page, "slow")
    expect(page.locator(f"{STATUS} .sv-badge").first).to_have_text("paused")
    held, rounds = _num_tokens(page), _num_rounds(page)
    page.wait_for_timeout(HELD_MS)
    assert _num_tokens(page) == held
    for step in (1, 2, 3):
        page.click(f"{STATUS} .sv-step")
        expect(_lane(page, 1).locator(".sv-round")).to_have_count(rounds + step)
        page.wait_for_timeout(HELD_MS // 2)
        assert _num_rounds(page) == rounds + step
        expect(page.locator(f"{STATUS} .sv-status-text")).to_contain_text(f"Round {rounds + step}:")
    assert _num_tokens(page) < 2 * NUM_TOKENS
    page.get_by_role("button", name="Resume").click()
    _wait_for(page, "finished")
    _assert_whole(page)


def test_slow_motion_shows_all_and_changes_no_figure(
    open_page: OpenPage, fake_address: str
) -> None:
    page = open_page(fake_address)
    _start(page)
    _wait_for(page, "finished")
    at_full_speed, words = _figures(page), _texts(page)
    page.check(f"{STATUS} .sv-speed [value='10']")
    _start(page)
    page.wait_for_timeout(5_000)
    assert 0 < _lane(page, 0).locator(".sv-t").count() < NUM_TOKENS
    _wait_for(page, "finished")
    assert _figures(page) == at_full_speed
    assert _texts(page) == words


def test_full_speed_catches_up_with_a_slowed_race(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    page.check(f"{STATUS} .sv-speed [value='10']")
    _start(page)
    page.wait_for_selector(f"{STAGE} .sv-correction")
    page.wait_for_timeout(4_000)
    assert _lane(page, 0).locator(".sv-t").count() < NUM_TOKENS
    page.check(f"{STATUS} .sv-speed [value='1']")
    page.wait_for_selector(f'{STATUS} .sv-status-view[data-state="finished"]', timeout=AT_ONCE_MS)
    _assert_whole(page)


def test_stop_frees_a_held_race_at_once(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    _start_and_hold(page, "endless")
    held = _num_tokens(page)
    page.click("#sv-race-stop")
    expect(page.locator("#sv-race")).to_be_enabled(timeout=AT_ONCE_MS)
    _wait_for(page, "stopped")
    assert held <= _num_tokens(page) < NUM_TOKENS
    _start(page, "another")
    page.wait_for_selector(f"{STAGE} .sv-t", timeout=2 * AT_ONCE_MS)
    _wait_for(page, "finished")
    _assert_whole(page)


@pytest.mark.parametrize("is_held", [False, True], ids=["running", "held"])
def test_a_reload_keeps_the_text_and_frees_the_model(
    open_page: OpenPage, fake_address: str, is_held: bool
) -> None:
    page = open_page(fake_address)
    _start_and_hold(page, "endless")
    if not is_held:
        page.get_by_role("button", name="Resume").click()
    shown = _num_tokens(page)
    page.reload()
    _wait_for(page, "stopped")
    # The server may have noticed before the page asked; then it has said so itself.
    told = page.locator(f"{STATUS} .sv-status-text")
    expect(told).to_have_text(re.compile("^Stopped|loaded again"))
    assert _num_tokens(page) >= shown > 0
    _start(page, "another")
    page.wait_for_selector(
        f'{STATUS} .sv-status-view:is([data-state="running"], [data-state="finished"])',
        timeout=5_000,
    )
    _wait_for(page, "finished")
    _assert_whole(page)


def test_who_presses_twice_races_once_and_takes_one_place(
    open_page: OpenPage, fake_address: str
) -> None:
    first, second = open_page(fake_address), open_page(fake_address)
    waited = []
    first.on("request", lambda request: waited.append(request.url))
    _start(first, "slow")
    for _ in range(3):
        first.locator("#sv-prompt textarea").press("Shift+Enter")
    first.wait_for_selector('.sv-status-view[data-state="running"]')
    first.locator("#sv-prompt textarea").press("Shift+Enter")
    _start(second, "the next visitor")
    _wait_for(first, "finished")
    _assert_whole(first)
    _wait_for(second, "finished")
    assert sum("/queue/join" in url for url in waited) == 1
    assert first.locator(".toast-body").count() == 0


def test_stop_takes_a_waiting_race_out_of_the_queue(open_page: OpenPage, fake_address: str) -> None:
    first, second, third = (open_page(fake_address) for _ in range(3))
    _start_and_hold(first, "endless")
    _start(second, "the second visitor")
    _wait_for(second, "waiting")
    second.click("#sv-race-stop")
    _wait_for(second, "stopped")
    expect(second.locator("#sv-race")).to_be_enabled(timeout=AT_ONCE_MS)
    assert _num_tokens(second) == 0
    _start(second, "the second visitor again")
    _wait_for(second, "waiting")
    second.click("#sv-race-stop")
    _wait_for(second, "stopped")
    _start(third, "the third visitor")
    first.click("#sv-race-stop")
    _wait_for(third, "finished")
    _assert_whole(third)
    assert _num_tokens(second) == 0


def test_a_visitor_who_leaves_a_held_race_holds_nobody_up(
    open_page: OpenPage, fake_address: str
) -> None:
    first, second = open_page(fake_address), open_page(fake_address)
    _start_and_hold(first, "endless")
    first.close()
    _start(second, "the next visitor")
    second.wait_for_selector(f'{STATUS} .sv-status-view[data-state="finished"]', timeout=20_000)


def test_a_race_is_saved_watched_again_and_opened(
    open_page: OpenPage, fake_address: str, tmp_path: Path
) -> None:
    page = open_page(fake_address)
    _start(page)
    _wait_for(page, "finished")
    words, figures = _texts(page), _figures(page)
    expect(page.locator(f"{STATUS} .sv-origin")).to_be_hidden()
    with page.expect_download() as download:
        page.click(f"{STATUS} .sv-save")
        page.click(f'{STATUS} [data-name="json"]')
    file = tmp_path / "race.json"
    download.value.save_as(file)
    assert json.loads(file.read_text())["schema_version"] == 7

    page.click(f"{STATUS} .sv-again")
    expect(page.locator(f"{STATUS} .sv-recorded")).to_be_visible()
    _wait_for(page, "finished")
    assert _texts(page) == words
    expect(page.locator(f"{STATUS} .sv-save")).to_be_enabled()

    page = open_page(fake_address)
    page.set_input_files(f"{STATUS} .sv-file", file)
    _wait_for(page, "finished")
    assert (_texts(page), _figures(page)) == (words, figures)
    origin = page.locator(f"{STATUS} .sv-origin")
    expect(origin).to_contain_text(re.compile("recorded.*fake-draft.*a processor.*Jan 1, 2026"))
    expect(page.locator(f"{STATUS} .sv-save")).to_be_disabled()


def test_a_file_that_is_no_race_is_refused_and_nothing_is_lost(
    open_page: OpenPage, fake_address: str, tmp_path: Path
) -> None:
    page = open_page(fake_address)
    _start(page)
    _wait_for(page, "finished")
    words = _texts(page)
    file = tmp_path / "no_race.json"
    file.write_text('{"schema_version": 1, "lanes": "<img src=x onerror=window.hacked=1>"}')
    page.set_input_files(f"{STATUS} .sv-file", file)
    expect(page.locator(f"{STATUS} .sv-refusal")).to_be_visible()
    assert _texts(page) == words
    assert page.evaluate("window.hacked") is None
    page.click(f"{STATUS} .sv-again")
    expect(page.locator(f"{STATUS} .sv-refusal")).to_be_hidden()


def test_keys_steer_the_race_where_no_field_is_focused(
    open_page: OpenPage, fake_address: str
) -> None:
    page = open_page(fake_address)
    _start(page, "endless")
    _lane(page, 1).locator(".sv-round").first.wait_for()
    page.locator("#sv-prompt textarea").focus()
    page.keyboard.press("Space")
    page.keyboard.press("s")
    _wait_for(page, "running")
    expect(page.locator("#sv-prompt textarea")).to_have_value("endless s")
    page.locator("#sv-prompt textarea").blur()
    page.keyboard.press("Space")
    _wait_for(page, "paused")
    rounds = _num_rounds(page)
    page.keyboard.press("ArrowRight")
    expect(_lane(page, 1).locator(".sv-round")).to_have_count(rounds + 1)
    page.keyboard.press(".")
    expect(_lane(page, 1).locator(".sv-round")).to_have_count(rounds + 2)
    page.keyboard.press("s")
    _wait_for(page, "stopped")
    page.get_by_role("button", name="Keyboard shortcuts").click()
    expect(page.locator(f"{STATUS} .sv-key-list")).to_contain_text("one round")


def test_buttons_are_enabled_where_they_do_something(
    open_page: OpenPage, fake_address: str
) -> None:
    page = open_page(fake_address)

    def enabled() -> set[str]:
        names = ("pause", "step", "halt", "again", "save", "open-race")
        return {n for n in names if page.locator(f"{STATUS} .sv-{n}").is_enabled()}

    page.wait_for_selector(f"{STATUS} .sv-transport")
    assert enabled() == {"open-race"}
    _start(page, "slow")
    _lane(page, 1).locator(".sv-round").first.wait_for()
    assert enabled() == {"pause", "step", "halt"}
    expect(page.locator("button.sv-watch")).to_be_disabled()
    _wait_for(page, "finished")
    assert enabled() == {"again", "save", "open-race"}
    _start(page, "refuse")
    page.locator(".sv-prompt-note").wait_for()
    assert enabled() == {"again", "save", "open-race"}


def test_loading_models_are_named_and_counted(open_page: OpenPage, fake_address: str) -> None:
    page = open_page(fake_address)
    page.evaluate(
        """async () => {
            const part = document.querySelector('#sv-race-status .sv-view').cloneNode();
            document.querySelector('#sv-race-status').append(part);
            part.className = 'sv-view sv-status-view of-the-test';
            const scripts = performance.getEntriesByType('resource').map((entry) => entry.name);
            const folder = new URL('.', scripts.find((name) => name.endsWith('/race/status.js')));
            const load = (name) => import(new URL(name, folder));
            const [{ mountStatus }, { Playback }] = await Promise.all(
                ['status.js', '../model/playback.js'].map(load),
            );
            const playback = new Playback(() => {});
            mountStatus(part, null, { name: 'race', playback });
            playback.open('a run');
            const loading = { event: 'ModelLoading', model: 'a-model', number: 2, count: 3 };
            const status = { state: 'loading' };
            playback.take({ run: 'a run', seq: 0, events: [loading], status });
            playback.flush();
        }"""
    )
    strip = page.locator(".of-the-test")
    expect(strip.locator(".sv-badge").first).to_have_text("loading")
    expect(strip.locator(".sv-status-text")).to_have_text("Loading a-model (2 of 3) …")
    loaded = strip.locator("progress").evaluate("bar => [bar.value, bar.max]")
    assert loaded == [1, 3]


def test_a_race_that_lost_says_so_and_leads_to_the_reason(
    open_page: OpenPage, fake_address: str
) -> None:
    page = open_page(f"{fake_address}/?draft=fake-misfit")
    _start(page)
    _wait_for(page, "finished")
    expect(page.locator(f"{STATUS} .sv-status-text")).to_contain_text(
        "slower than the target alone"
    )
    page.click(f"{STATUS} .sv-why-slower")
    page.click(f"{STATUS} .sv-slower .sv-link")
    expect(page.locator("#sv-coach")).to_contain_text("Lesson 7")
