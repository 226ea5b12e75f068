"""What a race lacks is downloaded before it runs, and nothing half-loaded remains."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hub_stand_in import Fault, HubStandIn

from specviz.errors import ModelLoadError
from specviz.models.hub_downloads import HubDownloads
from specviz.models.loading import ModelPool
from specviz.race.downloads import make_fetch_models
from specviz.trace.values import FetchModels, LaneSpec, Method, ModelDownloading, RaceRequest


def request(target: str, draft: str) -> RaceRequest:
    lanes = (
        LaneSpec(None, Method.BASELINE, target),
        LaneSpec(None, Method.DRAFT_MODEL, target, draft, 4),
    )
    return RaceRequest("a fox", lanes)


@pytest.fixture
def pool() -> ModelPool:
    return ModelPool()


@pytest.fixture
def fetch(pool: ModelPool) -> FetchModels:
    return make_fetch_models(pool.has, HubDownloads())


def test_both_models_come_with_their_bytes(
    hub: HubStandIn, repository: Path, fetch: FetchModels, pool: ModelPool
) -> None:
    hub.add("tiny/draft", repository)
    events = list(fetch(request("tiny/model", "tiny/draft")))
    assert {(x.model, x.number, x.count) for x in events} <= {
        ("tiny/model", 1, 2),
        ("tiny/draft", 2, 2),
    }
    assert all(x.done_bytes <= y.done_bytes or x.model != y.model for x, y in pairwise(events))
    hub.repositories["tiny/model"].fault = Fault.SLOW
    assert pool.get("tiny/model").model is not None, "it is here, whatever the hub does"


def test_models_that_are_here_ask_nothing_of_the_hub(
    hub: HubStandIn, repository: Path, fetch: FetchModels, pool: ModelPool
) -> None:
    pool.get("tiny/model")
    hub.requests.clear()
    assert list(fetch(request("tiny/model", str(repository)))) == []
    assert list(fetch(request("specviz-target", "specviz-small"))) == []
    assert hub.requests == []


def test_a_download_that_is_stopped_leaves_nothing_half_loaded(
    hub: HubStandIn, cache: Path, fetch: FetchModels, pool: ModelPool
) -> None:
    trickle = hub.repositories["tiny/trickles"]
    asked: list[bool] = []

    def should_stop() -> bool:
        return bool(asked)

    events = fetch(request("tiny/trickles", "tiny/model"), should_stop)
    next(x for x in events if x.done_bytes > 0)
    asked.append(True)
    assert not list(events)
    assert not pool.has("tiny/trickles")
    trickle.fault = Fault.NONE
    hub.requests.clear()
    list(fetch(request("tiny/trickles", "tiny/model")))
    assert pool.get("tiny/trickles").model is not None
    asked_again = [x.path for x in hub.downloads("config.json")]
    assert not any("trickles" in path for path in asked_again), "what was complete is kept"
    assert not list(_half(cache))


def test_a_download_that_breaks_off_is_one_sentence_and_others_go_on(
    hub: HubStandIn, cache: Path, fetch: FetchModels, pool: ModelPool
) -> None:
    good = pool.get("tiny/model")
    with pytest.raises(ModelLoadError, match="its download broke off"):
        list(fetch(request("tiny/breaks", "tiny/model")))
    assert not pool.has("tiny/breaks")
    assert pool.get("tiny/model") is good
    assert not list(_half(cache))
    events = fetch(request("tiny/trickles", "tiny/model"))
    assert isinstance(next(events), ModelDownloading)
    assert pool.get("tiny/model") is good, "while another downloads"
    pool.hold("tiny/model")
    hub.repositories["tiny/trickles"].fault = Fault.NONE
    hub.ends.set()
    list(events)


def _half(cache: Path) -> Iterator[Path]:
    return cache.rglob("*.incomplete")
