"""Whatever goes wrong for one visitor, the next one's race runs, and writes the right text.

Real models, tiny and random, behind the page's own sessions. That a fault is one sentence is held
in the tests of the room that it belongs to; SIGTERM is in test_serving.
"""

import errno
import json
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from hub_stand_in import HubStandIn, use_hub
from safetensors.torch import load_file, save_file
from tiny_models import byte_tokenizer

from specviz.models import hub_files, placement
from specviz.models.hub_downloads import HubDownloads
from specviz.models.loading import ModelPool
from specviz.race.downloads import make_fetch_models
from specviz.race.wiring import make_check_request, make_start_race
from specviz.texts import in_english
from specviz.trace.values import Event, LaneSpec, Method, RaceRequest
from specviz.ui.page_limits import PUBLIC
from specviz.ui.panels import Panel
from specviz.ui.race_queue import RaceQueue
from specviz.ui.runs import Run, RunStore, Wish
from specviz.ui.sessions import NotEntered, RaceSessions

LONG = 90
"""Tokens of a race that somebody leaves before its end."""


def asked(target: str, draft: str, tokens: int = 12) -> RaceRequest:
    lanes = (
        LaneSpec(None, Method.BASELINE, target),
        LaneSpec(None, Method.DRAFT_MODEL, target, draft, gamma=3),
    )
    return RaceRequest("a fox", lanes, max_new_tokens=tokens)


@dataclass
class House:
    """A page's races with real models, and what the shipped pair of it writes."""

    pool: ModelPool
    pair: tuple[str, str]
    runs: RunStore = field(default_factory=RunStore)
    expected: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        self.delay = 0.0
        """Seconds between two events, for races that are left before their end."""
        race = make_start_race(self.pool)

        def start(request: RaceRequest, should_stop: Callable[[], bool] = bool) -> Iterator[Event]:
            for event in race(request, should_stop):
                # Not `time.sleep`, which stands still in tests with a hub.
                threading.Event().wait(self.delay)
                yield event

        downloads = make_fetch_models(self.pool.has, HubDownloads())
        limits = replace(PUBLIC, max_visitor_starts=None)
        self.sessions = RaceSessions(
            start,
            self.runs,
            RaceQueue(8),
            limits,
            check_request=make_check_request(self.pool, limits.max_prompt_tokens),
            fetch_models=downloads,
        )
        self.expected = self.texts(self.race("first", asked(*self.pair)))[0]
        assert len(self.expected) == 12

    def race(self, visitor: str, request: RaceRequest) -> Run:
        """Let a visitor race, whatever comes of it."""
        self.sessions.enter(Panel.RACE, lambda: request, visitor, "1.1.1.1")
        with suppress(MemoryError):
            list(self.sessions.stream(visitor))
        return self.runs.of(visitor)[-1]

    def begin(self, visitor: str, request: RaceRequest) -> tuple[Run, threading.Thread]:
        """Let a visitor race on a thread of its own, as the server does; gives it in mid-race."""
        self.delay = 0.01
        self.sessions.enter(Panel.RACE, lambda: request, visitor, "1.1.1.1")
        run = self.runs.of(visitor)[-1]
        thread = threading.Thread(target=lambda: list(self.sessions.stream(visitor)))
        thread.start()
        ends_at = time.monotonic() + 30
        while not any('"RoundFinished"' in packet for packet in run.packets):
            assert time.monotonic() < ends_at
            threading.Event().wait(0.01)
        return run, thread

    @staticmethod
    def texts(run: Run) -> list[tuple[int, ...]]:
        """What each lane of a finished race wrote."""
        assert run.trace is not None, run.packets[-1]
        return [tuple(token.id for token in lane.emitted) for lane in run.trace.lanes]

    def next_visitor_is_served(self) -> None:
        """Race as the first visitor did."""
        self.delay = 0.0
        run = self.race("next", asked(*self.pair))
        assert ending(run)["state"] == "finished"
        assert self.texts(run) == [self.expected, self.expected]


def ending(run: Run) -> dict[str, Any]:
    status: dict[str, Any] = json.loads(run.packets[-1])["status"]
    return status


def said(run: Run) -> str:
    """Why a race ended, in English, and that it is one sentence."""
    status = ending(run)
    assert status["state"] in ("error", "refused"), status
    sentence = in_english(status["text"])
    assert "Traceback" not in sentence
    assert "\n" not in sentence
    return sentence


@pytest.fixture(scope="module")
def house(tiny_pair: tuple[str, str]) -> House:
    """One for all faults, which come one after the other as they would on a server."""
    return House(ModelPool(allow_hub=True), tiny_pair)


@pytest.fixture
def broken(tiny_pair: tuple[str, str], tmp_path: Path) -> Path:
    """A copy of the target, to break."""
    folder = tmp_path / "broken"
    shutil.copytree(tiny_pair[0], folder)
    return folder


@pytest.mark.parametrize("way", ["page closed", "stopped"])
def test_a_race_that_is_left_frees_the_models_and_keeps_what_it_wrote(
    house: House, way: str
) -> None:
    run, thread = house.begin("gone", asked(*house.pair, tokens=LONG))
    began = time.monotonic()
    if way == "page closed":
        house.sessions.close_page("gone")
    else:
        assert house.sessions.control(run.id, Wish.STOP)["is_done"]
    thread.join(10)
    assert time.monotonic() - began < 5
    assert ending(run)["state"] == "stopped"
    assert 0 < len(house.texts(run)[0]) < LONG
    house.next_visitor_is_served()


def test_a_double_click_races_once(house: House) -> None:
    run, thread = house.begin("hasty", asked(*house.pair, tokens=LONG))
    with pytest.raises(NotEntered):
        house.sessions.enter(Panel.RACE, lambda: asked(*house.pair), "hasty", "1.1.1.1")
    house.sessions.control(run.id, Wish.STOP)
    thread.join(10)
    assert house.runs.of("hasty") == [run]
    house.next_visitor_is_served()


def test_two_visitors_race_two_targets_at_once(house: House) -> None:
    run, thread = house.begin("one", asked(*house.pair, tokens=LONG))
    other = house.race("two", asked(house.pair[1], house.pair[0]))
    thread.join(30)
    assert [ending(each)["state"] for each in (run, other)] == ["finished", "finished"]
    assert house.texts(run)[0][:12] == house.expected
    assert len(set(house.texts(other))) == 1, "greedy lanes of one target write one text"
    house.next_visitor_is_served()


def cut_weights(folder: Path) -> None:
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:2000])


def change_shape(folder: Path) -> None:
    file = folder / "config.json"
    config = json.loads(file.read_text(encoding="utf-8")) | {"hidden_size": 64}
    file.write_text(json.dumps(config), encoding="utf-8")


def drop_tokenizer(folder: Path) -> None:
    for file in folder.glob("*token*"):
        file.unlink()


DAMAGES: dict[str, Callable[[Path], object]] = {
    "truncated weights": cut_weights,
    "empty weights": lambda folder: (folder / "model.safetensors").write_bytes(b""),
    "garbage weights": lambda folder: (folder / "model.safetensors").write_bytes(b"\xff" * 4096),
    "missing config": lambda folder: (folder / "config.json").unlink(),
    "broken JSON": lambda folder: (folder / "config.json").write_text("{"),
    "missing tokenizer": drop_tokenizer,
    "another shape": change_shape,
}


@pytest.mark.parametrize(
    ("damage", "role"),
    [(damage, ("target", "draft")[index % 2]) for index, damage in enumerate(DAMAGES)],
)
@pytest.mark.filterwarnings("ignore")
def test_a_broken_model_is_one_sentence_and_the_loaded_pair_stays(
    house: House, broken: Path, damage: str, role: str
) -> None:
    DAMAGES[damage](broken)
    target, draft = house.pair
    names = (str(broken), draft) if role == "target" else (target, str(broken))
    assert "broken" in said(house.race("unlucky", asked(*names)))
    assert house.pool.has(target)
    house.next_visitor_is_served()


def test_a_draft_of_another_vocabulary_drafts_by_its_text(house: House, broken: Path) -> None:
    tokenizer = byte_tokenizer()
    file = broken / "tokenizer.json"
    tokenizer.save_pretrained(broken)
    content = json.loads(file.read_text(encoding="utf-8"))
    vocabulary = content["model"]["vocab"]
    first, last = list(vocabulary)[20], list(vocabulary)[-20]
    vocabulary[first], vocabulary[last] = vocabulary[last], vocabulary[first]
    file.write_text(json.dumps(content), encoding="utf-8")
    run = house.race("unlucky", asked(house.pair[0], str(broken)))
    assert ending(run)["state"] == "finished"
    house.next_visitor_is_served()


@pytest.mark.parametrize("role", ["target", "draft"])
def test_numbers_that_are_none_end_their_lanes_alone(house: House, broken: Path, role: str) -> None:
    weights = load_file(broken / "model.safetensors")
    name = next(each for each in weights if "mlp" in each)
    weights[name] = torch.full_like(weights[name], float("nan"))
    save_file(weights, broken / "model.safetensors", metadata={"format": "pt"})
    target, draft = house.pair
    names = (str(broken), draft) if role == "target" else (target, str(broken))
    run = house.race("unlucky", asked(*names))
    assert ending(run)["state"] == "error"
    if role == "draft":
        assert house.texts(run)[0] == house.expected, "the lane beside it went on"
    house.next_visitor_is_served()


def test_a_prompt_beyond_the_context_is_refused(house: House) -> None:
    long = replace(asked(*house.pair), prompt="a fox " * 100)
    assert "shorten" in said(house.race("wordy", long))
    house.next_visitor_is_served()


def test_a_graphics_card_or_memory_that_is_full_keeps_the_old_pair(
    house: House, broken: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as full:
        full.setattr(placement, "free_memory", lambda device: 1000)
        assert "GB are free" in said(house.race("unlucky", asked(str(broken), house.pair[1])))
    assert not house.pool.has(str(broken))
    house.next_visitor_is_served()


def test_a_hub_that_cannot_be_reached(
    house: House, hub: HubStandIn, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_hub(monkeypatch, "http://127.0.0.1:9", cache)
    sentence = said(house.race("unlucky", asked("tiny/model", "tiny/model")))
    assert "the hub cannot be reached" in sentence
    house.next_visitor_is_served()


def test_a_hub_that_does_not_answer(house: House, hub: HubStandIn) -> None:
    assert "took too long" in said(house.race("unlucky", asked("tiny/slow", "tiny/slow")))
    house.next_visitor_is_served()


def test_a_disk_that_is_full(
    house: House, hub: HubStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(hub_files, "hf_hub_download", full)
        sentence = said(house.race("unlucky", asked("tiny/model", "tiny/model")))
    assert "the disk became full" in sentence
    house.next_visitor_is_served()
