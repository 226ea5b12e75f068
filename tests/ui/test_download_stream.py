"""A race's download is told to its page, holds nobody up, and ends in one sentence."""

import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from fake_race import FakeRace

from specviz.errors import ModelLoadError
from specviz.texts import message
from specviz.trace.values import LaneSpec, Method, ModelDownloading, RaceRequest
from specviz.ui import download_stream
from specviz.ui.page_limits import PageLimits
from specviz.ui.panels import Panel
from specviz.ui.race_queue import RaceQueue
from specviz.ui.runs import Run, RunStore, Wish
from specviz.ui.sessions import RaceSessions

LANES = (
    LaneSpec(None, Method.BASELINE, "big/model"),
    LaneSpec(None, Method.PROMPT_LOOKUP, "big/model", gamma=4),
)
REQUEST = RaceRequest("Hello", LANES, max_new_tokens=8)
GB = 10**9


class Hub:
    """Downloads of a test: `steps` lets the next bytes come."""

    def __init__(self) -> None:
        self.steps = threading.Semaphore(0)
        self.problem: Exception | None = None
        self.lacks = True

    def fetch(
        self, request: RaceRequest, should_stop: Callable[[], bool] = bool
    ) -> Iterator[ModelDownloading]:
        for done in range(3 if self.lacks else 0):
            yield ModelDownloading("big/model", 1, 1, done * GB, 3 * GB)
            while not self.steps.acquire(timeout=0.01):
                if should_stop():
                    return
        if self.problem is not None:
            raise self.problem


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Hub:
    monkeypatch.setattr(download_stream, "PACKET_SECONDS", 0.0)
    return Hub()


@pytest.fixture
def runs() -> RunStore:
    return RunStore()


@pytest.fixture
def sessions(runs: RunStore, hub: Hub) -> RaceSessions:
    limits = PageLimits(max_downloads=1)
    race = FakeRace(pause=0)
    return RaceSessions(race, runs, RaceQueue(8), limits, fetch_models=hub.fetch)


def enter(sessions: RaceSessions, runs: RunStore, visitor: str = "page") -> Run:
    sessions.enter(Panel.RACE, lambda: REQUEST, visitor)
    return runs.of(visitor)[-1]


def packets(run: Run) -> list[dict[str, Any]]:
    return [json.loads(packet) for packet in run.packets]


def last_status(run: Run) -> Any:
    return packets(run)[-1]["status"]


def test_bytes_are_told_before_the_race_joins_the_queue(
    sessions: RaceSessions, runs: RunStore, hub: Hub
) -> None:
    run = enter(sessions, runs)
    for _ in range(3):
        hub.steps.release()
    list(sessions.stream("page"))
    told = [event for packet in packets(run) for event in packet["events"]]
    sizes = [x["done_bytes"] for x in told if x["event"] == "ModelDownloading"]
    assert sizes == [0, GB, 2 * GB]
    assert last_status(run) == {"state": "finished"}
    waiting = [x for x in packets(run) if x["events"] and x["status"] == {"state": "waiting"}]
    assert len(waiting) == 3


def test_another_visitor_races_while_one_downloads(
    sessions: RaceSessions, runs: RunStore, hub: Hub
) -> None:
    first = enter(sessions, runs, "first")
    stream = sessions.stream("first")
    next(stream)
    assert first.is_downloading
    hub.lacks = False
    second = enter(sessions, runs, "second")
    list(sessions.stream("second"))
    assert last_status(second) == {"state": "finished"}
    assert not first.has_begun
    for _ in range(3):
        hub.steps.release()
    list(stream)
    assert last_status(first) == {"state": "finished"}


def test_a_download_is_cancelled_at_once(sessions: RaceSessions, runs: RunStore, hub: Hub) -> None:
    run = enter(sessions, runs)
    stream = sessions.stream("page")
    next(stream)
    done = sessions.control(run.id, Wish.STOP)
    assert done["packets"]
    assert last_status(run) == {"state": "stopped", "text": message("status.download_stopped")}
    list(stream)
    assert not run.has_begun
    assert not run.is_downloading
    again = enter(sessions, runs)
    for _ in range(3):
        hub.steps.release()
    list(sessions.stream("page"))
    assert last_status(again) == {"state": "finished"}, "the next press begins again"


@pytest.mark.parametrize("is_known", [True, False])
def test_what_goes_wrong_ends_the_run_in_words(
    sessions: RaceSessions, runs: RunStore, hub: Hub, is_known: bool
) -> None:
    broken = message("refusal.hub_slow", model="big/model")
    hub.problem = ModelLoadError(broken) if is_known else ZeroDivisionError("a bug")
    run = enter(sessions, runs)
    for _ in range(3):
        hub.steps.release()
    if is_known:
        list(sessions.stream("page"))
    else:
        with pytest.raises(ZeroDivisionError):
            list(sessions.stream("page"))
    text = broken if is_known else message("status.broken")
    assert last_status(run) == {"state": "error", "text": text}


def test_more_downloads_than_are_served_are_turned_away(
    sessions: RaceSessions, runs: RunStore, hub: Hub
) -> None:
    enter(sessions, runs, "first")
    stream = sessions.stream("first")
    next(stream)
    second = enter(sessions, runs, "second")
    list(sessions.stream("second"))
    assert last_status(second)["text"] == message("status.downloads_full", most=1)
    sessions.close_page("first")
    list(stream)
    third = enter(sessions, runs, "third")
    for _ in range(3):
        hub.steps.release()
    list(sessions.stream("third"))
    assert last_status(third) == {"state": "finished"}


def test_a_page_that_goes_away_ends_its_download(
    sessions: RaceSessions, runs: RunStore, hub: Hub
) -> None:
    run = enter(sessions, runs)
    stream = sessions.stream("page")
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    assert run.is_closed
    assert run.should_stop()


def test_a_long_download_is_not_forgotten() -> None:
    store = RunStore(max_age_seconds=-1.0)
    slow = store.open(Panel.RACE)
    assert slow is not None
    slow.is_downloading = True
    store.open(Panel.RACE)
    assert store.get(slow.id) is slow
