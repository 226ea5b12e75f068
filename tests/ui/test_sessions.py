"""One road for wishes: what visitors ask of their races, from the queue to the end."""

import json
import threading
import time
from collections.abc import Callable, Iterator

import gradio as gr
import pytest
from fake_race import FakeRace

from specviz.errors import PromptError, RequestError
from specviz.trace.values import Event, LaneSpec, Method, RaceRequest
from specviz.ui import runs as runs_module
from specviz.ui import sessions as sessions_module
from specviz.ui.page_limits import PageLimits
from specviz.ui.panels import Panel
from specviz.ui.race_queue import RaceQueue
from specviz.ui.runs import Run, RunStore, Wish
from specviz.ui.sessions import NotEntered, RaceSessions

LANES = (
    LaneSpec(None, Method.BASELINE, "fake-target"),
    LaneSpec(None, Method.DRAFT_MODEL, "fake-target", "fake-draft", 4),
)
REQUEST = RaceRequest("Hello", LANES, max_new_tokens=24)
ENDLESS = RaceRequest("endless", LANES, max_new_tokens=192)


@pytest.fixture
def runs() -> RunStore:
    return RunStore()


@pytest.fixture
def race() -> FakeRace:
    return FakeRace(pause=0.002)


@pytest.fixture
def sessions(runs: RunStore, race: FakeRace) -> RaceSessions:
    return RaceSessions(race, runs, RaceQueue(8), PageLimits())


def _enter(sessions: RaceSessions, runs: RunStore, request: RaceRequest = REQUEST) -> Run:
    sessions.enter(Panel.RACE, lambda: request, "page")
    return runs.of("page")[-1]


def _last_status(run: Run) -> dict[str, object]:
    status: dict[str, object] = json.loads(run.packets[-1])["status"]
    return status


def _streaming(sessions: RaceSessions) -> threading.Thread:
    """Stream the page's race on a thread of its own, as the server does."""
    thread = threading.Thread(target=lambda: list(sessions.stream("page")))
    thread.start()
    return thread


def _wait_for(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    ends_at = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends_at, "it did not happen in time"
        time.sleep(0.002)


def test_a_race_that_waits_is_stopped_and_never_runs(
    sessions: RaceSessions, runs: RunStore, race: FakeRace
) -> None:
    run = _enter(sessions, runs)
    answer = sessions.control(run.id, Wish.STOP)
    assert answer["is_done"] is True
    assert [json.loads(text)["status"]["state"] for text in answer["packets"]] == ["stopped"]
    assert list(sessions.stream("page")) == []
    assert race.num_closed == 0
    assert _enter(sessions, runs).id != run.id, "its place is free"


def test_a_race_that_loads_is_ended_for_its_page(
    runs: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions_module, "STOP_SECONDS", 0.02)
    is_loaded = threading.Event()

    def loading(request: RaceRequest, should_stop: Callable[[], bool] = bool) -> Iterator[Event]:
        is_loaded.wait(20)
        yield from FakeRace(pause=0)(request, should_stop)

    sessions = RaceSessions(loading, runs, RaceQueue(8), PageLimits())
    run = _enter(sessions, runs)
    thread = _streaming(sessions)
    _wait_for(lambda: run.has_begun)
    answer = sessions.control(run.id, Wish.STOP)
    assert len(answer["packets"]) == 1
    assert _last_status(run)["state"] == "stopped"
    is_loaded.set()
    thread.join(20)
    assert json.loads(run.packets[-1])["seq"] == len(run.packets) - 1
    assert '"RoundFinished"' not in "".join(run.packets)


def test_a_race_that_runs_ends_by_its_own_last_packet(
    sessions: RaceSessions, runs: RunStore, race: FakeRace
) -> None:
    run = _enter(sessions, runs, ENDLESS)
    thread = _streaming(sessions)
    _wait_for(lambda: '"RoundFinished"' in run.packets[-1])
    assert sessions.control(run.id, Wish.STOP) == {"is_done": True, "packets": []}
    thread.join(20)
    assert _last_status(run) == {"state": "stopped", "text": {"id": "status.stopped_here"}}
    assert run.trace is not None, "what was written is kept"
    assert race.num_closed == 1


def test_a_race_that_is_held_is_stopped(sessions: RaceSessions, runs: RunStore) -> None:
    run = _enter(sessions, runs, ENDLESS)
    sessions.control(run.id, Wish.PAUSE)
    thread = _streaming(sessions)
    _wait_for(lambda: run.has_begun)
    assert sessions.control(run.id, Wish.STOP)["is_done"] is True
    thread.join(20)
    assert _last_status(run)["state"] == "stopped"


def test_stopping_twice_does_no_more_than_once(sessions: RaceSessions, runs: RunStore) -> None:
    run = _enter(sessions, runs)
    sessions.control(run.id, Wish.STOP)
    packets = list(run.packets)
    assert sessions.control(run.id, Wish.STOP) == {"is_done": False, "packets": []}
    assert run.packets == packets


def test_a_page_that_was_closed_holds_nothing(sessions: RaceSessions, runs: RunStore) -> None:
    run = _enter(sessions, runs, ENDLESS)
    sessions.control(run.id, Wish.PAUSE)
    thread = _streaming(sessions)
    _wait_for(lambda: run.has_begun)
    sessions.close_page("page")
    thread.join(20)
    assert not thread.is_alive()
    waiting = _enter(sessions, runs)
    sessions.close_page("page")
    assert waiting.is_closed


def test_a_server_that_ends_says_so_to_all_who_race_or_wait(
    sessions: RaceSessions, runs: RunStore
) -> None:
    running = _enter(sessions, runs, ENDLESS)
    thread = _streaming(sessions)
    _wait_for(lambda: '"RoundFinished"' in running.packets[-1])
    sessions.enter(Panel.RACE, lambda: REQUEST, "another page")
    (waiting,) = runs.of("another page")
    assert not sessions.has_ended()
    sessions.end()
    thread.join(20)
    assert sessions.has_ended()
    assert _last_status(running)["text"] == {"id": "status.stopped_ending"}
    assert _last_status(waiting)["text"] == {"id": "status.ending"}
    late = json.loads(sessions.enter(Panel.RACE, lambda: REQUEST, "late page"))
    assert late["status"] == {"state": "refused", "text": {"id": "status.ending"}}


def test_a_page_that_never_comes_for_its_race_takes_no_place(
    sessions: RaceSessions, runs: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = _enter(sessions, runs)
    monkeypatch.setattr(runs_module, "UNSTREAMED_SECONDS", 0.0)
    time.sleep(0.01)
    again = _enter(sessions, runs)
    assert left.is_closed
    assert not again.is_closed


def test_nobody_steers_the_race_of_another(sessions: RaceSessions, runs: RunStore) -> None:
    run = _enter(sessions, runs)
    for guess in ("", run.id[:-1], None, 7, [run.id]):
        assert sessions.control(guess, Wish.STOP)["is_done"] is False
    assert not run.is_closed


def test_who_presses_twice_races_once(sessions: RaceSessions, runs: RunStore) -> None:
    run = _enter(sessions, runs)
    with pytest.raises(NotEntered):
        sessions.enter(Panel.COMPARE, lambda: REQUEST, "page")
    sessions.enter(Panel.RACE, lambda: REQUEST, "another page")
    list(sessions.stream("page"))
    assert runs.of("page") == [run]
    assert _enter(sessions, runs).id != run.id


def test_a_refused_form_leaves_the_way_free(sessions: RaceSessions, runs: RunStore) -> None:
    def refuse() -> RaceRequest:
        raise RequestError("The prompt is empty.")

    def fail() -> RaceRequest:
        raise TypeError

    with pytest.raises(TypeError):
        sessions.enter(Panel.RACE, fail, "page")
    packet = json.loads(sessions.enter(Panel.RACE, refuse, "page"))
    assert packet["status"] == {"state": "refused", "text": "The prompt is empty."}
    assert list(sessions.stream("page")) == []
    assert not _enter(sessions, runs).is_closed


def test_a_prompt_that_cannot_be_raced_is_refused_before_it_waits(
    runs: RunStore, race: FakeRace
) -> None:
    """The page is told which field it is, so that it can say it there."""

    def check(request: RaceRequest) -> None:
        raise PromptError("the prompt has 900 tokens")

    sessions = RaceSessions(race, runs, RaceQueue(8), PageLimits(), check_request=check)
    packet = json.loads(sessions.enter(Panel.RACE, lambda: REQUEST, "page"))
    said = {"state": "refused", "text": "the prompt has 900 tokens", "field": "prompt"}
    assert packet["status"] == said
    assert list(sessions.stream("page")) == []
    assert race.num_closed == 0


def _pages(sessions: RaceSessions, runs: RunStore, *names: str) -> list[Run]:
    """Enter an endless race for each page."""
    for name in names:
        sessions.enter(Panel.RACE, lambda: ENDLESS, name)
    return [runs.of(name)[-1] for name in names]


def _serve(sessions: RaceSessions, name: str) -> threading.Thread:
    thread = threading.Thread(target=lambda: list(sessions.stream(name)))
    thread.start()
    return thread


def test_who_waits_is_told_the_position_and_what_it_rests_on(
    sessions: RaceSessions, runs: RunStore
) -> None:
    first, second, third = _pages(sessions, runs, "first", "second", "third")
    threads = [_serve(sessions, "first")]
    _wait_for(lambda: '"RoundFinished"' in first.packets[-1])
    for name, run in (("second", second), ("third", third)):
        threads.append(_serve(sessions, name))
        _wait_for(lambda run=run: len(run.packets) > 1)  # type: ignore[misc]
    texts = [json.loads(run.packets[1])["status"]["text"] for run in (second, third)]
    assert [text["position"] for text in texts] == [1, 2]
    assert texts[0]["id"] == "status.queued_about"
    assert texts[0]["basis"] == {"id": "status.estimate_running"}
    assert 0 < texts[0]["tokens"] < 2 * ENDLESS.max_new_tokens < texts[1]["tokens"]
    expected = texts[1]["tokens"] * texts[1]["ms"] / 1000
    assert texts[1]["seconds"] == pytest.approx(expected, abs=1, rel=0.1)
    sessions.control(second.id, Wish.STOP)
    _wait_for(lambda: json.loads(third.packets[-1])["status"]["text"]["position"] == 1)
    sessions.control(first.id, Wish.STOP)
    _wait_for(lambda: third.has_begun)
    sessions.control(third.id, Wish.STOP)
    for thread in threads:
        thread.join(20)
    assert not second.has_begun


def test_a_held_race_is_run_out_while_others_wait(runs: RunStore) -> None:
    limits = PageLimits(queued_pause_seconds=0.2)
    sessions = RaceSessions(FakeRace(pause=0), runs, RaceQueue(8), limits)
    first, second = _pages(sessions, runs, "first", "second")
    sessions.control(first.id, Wish.PAUSE)
    threads = [_serve(sessions, "first")]
    _wait_for(lambda: '"RaceStarted"' in first.packets[-1])
    assert not threads[0].join(0.5)
    assert not first.is_closed, "nobody waits"
    threads.append(_serve(sessions, "second"))
    _wait_for(lambda: first.is_closed)
    held = json.loads(second.packets[1])["status"]["text"]
    assert held["id"] in ("status.queued_held", "status.queued_first")
    last = json.loads(first.packets[-1])
    assert (last["status"]["state"], last["is_run_out"]) == ("finished", True)
    assert "is_run_out" not in json.loads(first.packets[1])
    for thread in threads:
        thread.join(20)
    assert _last_status(second)["state"] == "finished"


def test_a_race_that_was_run_out_is_not_held_again(runs: RunStore) -> None:
    sessions = RaceSessions(FakeRace(pause=0), runs, RaceQueue(8), PageLimits())
    run = _enter(sessions, runs)
    run.run_out()
    for wish in (Wish.PAUSE, Wish.STEP):
        assert sessions.control(run.id, wish)["is_done"] is True
    list(sessions.stream("page"))
    assert _last_status(run)["state"] == "finished"


def test_who_finds_no_place_is_told_so(runs: RunStore) -> None:
    sessions = RaceSessions(FakeRace(pause=0), runs, RaceQueue(0), PageLimits())
    first, second = _pages(sessions, runs, "first", "second")
    sessions.control(first.id, Wish.PAUSE)
    thread = _serve(sessions, "first")
    _wait_for(lambda: first.has_begun)
    assert len(list(sessions.stream("second"))) == 1
    assert _last_status(second)["text"] == {"id": "status.queue_full"}
    sessions.control(first.id, Wish.STOP)
    thread.join(20)


def test_who_finds_the_queue_full_is_told_so(sessions: RaceSessions, runs: RunStore) -> None:
    run = _enter(sessions, runs)
    assert json.loads(sessions.turn_away("page"))["status"]["state"] == "error"
    assert run.is_closed


def test_a_full_queue_does_not_end_a_race_that_runs(sessions: RaceSessions, runs: RunStore) -> None:
    run = _enter(sessions, runs)
    packets = sessions.stream("page")
    next(packets)
    assert sessions.turn_away("page") == gr.skip()
    assert not run.is_closed
    packets.close()  # type: ignore[attr-defined]
