"""Where memory runs out, a race ends in one sentence, and the pair that raced before stays."""

import gc
import weakref
from dataclasses import replace
from typing import Any

import pytest
import torch
from test_lanes import BASELINE, POOL, REQUEST, SPECS
from test_wiring import race

from specviz.decoding.decoder import Decoder
from specviz.decoding.model_runner import ModelRunner
from specviz.errors import FullMemoryError, RequestError
from specviz.models import placement
from specviz.models.loading import ModelPool
from specviz.race import wiring
from specviz.race.wiring import make_start_race
from specviz.trace.values import LaneSpec, Method, RaceRequest, StopReason

DRAFTED = replace(REQUEST, lanes=(BASELINE, SPECS[Method.DRAFT_MODEL]))
FULL = RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes")


def test_a_lane_whose_memory_runs_out_ends_alone_and_gives_back_its_caches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runners: list[weakref.ref[ModelRunner]] = []
    step = Decoder.step

    def step_until_full(self: Decoder) -> Any:
        if self._lengths.next_gamma() and self._num_rounds == 1:
            runners.append(weakref.ref(self._target))
            if len(runners) == 2:  # The first time is the warm-up.
                raise FULL
        return step(self)

    monkeypatch.setattr(Decoder, "step", step_until_full)
    plain, drafted = race(DRAFTED).lanes
    assert plain.stop_reason is StopReason.LENGTH
    assert len(plain.emitted) == DRAFTED.max_new_tokens
    assert drafted.stop_reason is StopReason.ERROR
    num_tokens = len(race(DRAFTED).request.prompt_ids) + DRAFTED.max_new_tokens
    sentence = f"memory of cpu is full: 2 lanes of up to {num_tokens} tokens in float64 need more"
    assert sentence in (drafted.error or "")
    assert "GB that are free; race fewer lanes or a shorter text" in (drafted.error or "")
    gc.collect()
    assert runners[0]() is None


@pytest.mark.parametrize("place", ["build_decoder", "mean_log_prob"])
def test_a_race_that_cannot_be_prepared_is_refused_and_its_models_stay(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    with monkeypatch.context() as patch:
        patch.setattr(wiring, place, full)
        with pytest.raises(RequestError, match="memory of cpu is full: 2 lanes"):
            race(DRAFTED)
    assert POOL.has("target")
    assert len(race(DRAFTED).lanes[1].emitted) == DRAFTED.max_new_tokens


def test_other_errors_of_a_preparation_are_what_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object) -> None:
        raise RuntimeError("shapes differ")

    monkeypatch.setattr(wiring, "mean_log_prob", broken)
    with pytest.raises(RuntimeError, match="shapes differ"):
        race(DRAFTED)


@pytest.fixture
def small_memory(monkeypatch: pytest.MonkeyPatch) -> dict[str, int | None]:
    """Free bytes as a test sets them; None: as they are."""
    free: dict[str, int | None] = {"bytes": None}
    ask = placement.free_memory
    monkeypatch.setattr(
        placement, "free_memory", lambda device: ask(device) if free["bytes"] is None else 1000
    )
    return free


def test_a_pair_that_does_not_fit_leaves_the_old_pair_and_nothing_of_itself(
    tiny_pair: tuple[str, str], small_memory: dict[str, int | None]
) -> None:
    pool = ModelPool()
    start = make_start_race(pool)
    target, draft = tiny_pair

    def request(target: str, draft: str) -> RaceRequest:
        lanes = (
            LaneSpec(None, Method.BASELINE, target),
            LaneSpec(None, Method.DRAFT_MODEL, target, draft, gamma=2),
        )
        return RaceRequest("a fox", lanes, max_new_tokens=4)

    list(start(request(target, draft)))
    pool.get(other := target + "/")
    pool.hold(other)
    old = pool.get(target)
    pool.hold(target, [draft])
    events = start(request(third := target + "//", draft + "/"))
    next(events)
    small_memory["bytes"] = 1000
    with pytest.raises(FullMemoryError, match="GB are free on cpu"):
        list(events)
    assert (pool.has(target), pool.has(draft)) == (True, True)
    assert (pool.has(third), pool.has(draft + "/")) == (False, False)
    assert pool.get(target) is old
    small_memory["bytes"] = None
    list(start(request(target, draft)))
    events = start(request(third, draft + "/"))
    next(events)
    next(events)  # The target is loaded, the draft is announced.
    assert pool.has(third)
    small_memory["bytes"] = 1000
    with pytest.raises(FullMemoryError):
        list(events)
    assert (pool.has(third), pool.has(target), pool.has(draft)) == (False, True, True)
