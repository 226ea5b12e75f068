"""Visitors who sign in on a Space have the gated models that they may read, and nobody else has."""

import json
import logging
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_race import FakeRace
from hub_stand_in import ALLOWED_TOKEN, HubStandIn

from specviz.errors import ModelLoadError
from specviz.host.hub_pairs import make_hub_offer
from specviz.hub_key import HubKey, each_holding, held_key, holding
from specviz.models.hub_door import HubDoor
from specviz.models.hub_downloads import HubDownloads
from specviz.models.loading import ModelPool
from specviz.race.downloads import make_fetch_models
from specviz.texts import in_english
from specviz.trace.values import FetchModels, LaneSpec, Method, RaceRequest
from specviz.ui.hub_offer import HubAccess, HubOffer, PairAsked, PairLook
from specviz.ui.page_limits import PageLimits
from specviz.ui.panels import Panel
from specviz.ui.race_queue import RaceQueue
from specviz.ui.runs import RunStore
from specviz.ui.sessions import RaceSessions

ASKED = PairAsked("tiny/gated", "tiny/model", "a fox", 8, 4)
REQUEST = RaceRequest(
    "a fox",
    (
        LaneSpec(None, Method.BASELINE, ASKED.target),
        LaneSpec(None, Method.DRAFT_MODEL, ASKED.target, ASKED.draft, 4),
    ),
)
LET_IN, OTHER = HubKey(ALLOWED_TOKEN), HubKey("hf_somebody_else")
SIGN_IN = "sign in under “From the hub” (or who runs this page sets HF_TOKEN)"
NO_ACCESS = "the account that you signed in with has no access; ask for it at"
REFUSED = pytest.mark.parametrize(
    ("key", "sentence"), [(None, SIGN_IN), (OTHER, NO_ACCESS)], ids=["signed-out", "no-access"]
)


@pytest.fixture
def door() -> HubDoor:
    return HubDoor()


@pytest.fixture
def offer(hub: HubStandIn, door: HubDoor) -> HubOffer:
    return make_hub_offer(HubAccess.ANY, "cpu", "float32", None, lambda name: 0, door)


@pytest.fixture
def pool() -> ModelPool:
    return ModelPool()


@pytest.fixture
def fetch(hub: HubStandIn, door: HubDoor, pool: ModelPool) -> FetchModels:
    return make_fetch_models(pool.has, HubDownloads(), door)


@pytest.fixture
def brought(offer: HubOffer, fetch: FetchModels, pool: ModelPool) -> None:
    """A visitor with access has looked at the gated pair, downloaded it and raced it."""
    with holding(LET_IN):
        assert offer.look(ASKED).option is not None
        list(fetch(REQUEST))
    assert held_key() is None
    assert pool.get(ASKED.target).model is not None, "loading needs nobody's key"


def said(found: PairLook) -> str:
    return " ".join(in_english(text) for _, text in found.findings)


@REFUSED
def test_without_a_right_a_gated_pair_is_refused_in_a_sentence(
    key: HubKey | None, sentence: str, offer: HubOffer, hub: HubStandIn
) -> None:
    with holding(key):
        found = offer.look(ASKED)
    assert (found.option, found.download_bytes) == (None, 0)
    assert sentence in said(found)
    assert f"{hub.address}/tiny/gated" in said(found)
    assert not any("/tiny/gated/resolve/" in x.path for x in hub.requests)


@REFUSED
@pytest.mark.usefixtures("brought")
def test_what_one_visitor_brought_is_not_for_one_without_a_right(
    key: HubKey | None, sentence: str, offer: HubOffer, fetch: FetchModels
) -> None:
    with holding(key):
        assert sentence in said(offer.look(ASKED))
        with pytest.raises(ModelLoadError) as refused:
            list(fetch(REQUEST))
    assert sentence in str(refused.value)


@pytest.mark.usefixtures("brought")
def test_a_right_is_asked_for_again_each_time_and_the_host_may_have_its_own(
    offer: HubOffer, fetch: FetchModels, hub: HubStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.requests.clear()
    with holding(LET_IN):
        assert list(fetch(REQUEST)) == []
    asked = [x.path for x in hub.requests if "tiny/gated" in x.path]
    assert asked == ["/api/models/tiny/gated/auth-check"]
    monkeypatch.setenv("HF_TOKEN", "hf_host_without_a_right")
    with pytest.raises(ModelLoadError, match="sign in"):
        list(fetch(REQUEST))
    with holding(LET_IN):
        assert list(fetch(REQUEST)) == [], "a visitor's right serves them where the host has none"
    monkeypatch.setenv("HF_TOKEN", ALLOWED_TOKEN)
    assert offer.look(ASKED).option is not None
    assert list(fetch(REQUEST)) == []


@pytest.mark.usefixtures("brought")
def test_where_the_hub_does_not_answer_nobody_is_let_in(hub: HubStandIn, door: HubDoor) -> None:
    hub.leave()
    with holding(LET_IN), pytest.raises(ModelLoadError, match="the hub cannot be reached"):
        door.let_in(ASKED.target)
    assert door.let_in("tiny/model") is None


def test_a_key_is_sent_to_the_hub_for_gated_models_alone_and_written_nowhere(
    offer: HubOffer,
    fetch: FetchModels,
    hub: HubStandIn,
    cache: Path,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.DEBUG)
    runs, limits = RunStore(), PageLimits()
    sessions = RaceSessions(FakeRace(pause=0), runs, RaceQueue(8), limits, fetch_models=fetch)
    for key in (LET_IN, OTHER):
        with holding(key):
            offer.look(ASKED)
        sessions.enter(Panel.RACE, lambda: REQUEST, "page")
        list(each_holding(key, sessions.stream("page")))
    first, second = runs.of("page")
    assert json.loads(first.packets[-1])["status"] == {"state": "finished"}
    assert NO_ACCESS in in_english(json.loads(second.packets[-1])["status"]["text"])
    sent = {x.path.split("?")[0] for x in hub.requests if x.token is not None}
    assert sent
    assert all("tiny/gated" in path for path in sent)
    files = [x.read_bytes() for x in cache.rglob("*") if x.is_file()]
    texts = [*first.packets, *second.packets, caplog.text, *capfd.readouterr(), repr(LET_IN)]
    for secret in (ALLOWED_TOKEN, "hf_somebody_else"):
        assert not any(secret in text for text in texts)
        assert not any(secret.encode() in content for content in files)
    assert held_key() is None
    with pytest.raises(TypeError):
        pickle.dumps(LET_IN)


def test_a_stream_holds_its_key_from_step_to_step_and_is_closed_with_it() -> None:
    seen: list[object] = []

    def stream() -> Iterator[int]:
        try:
            while True:
                seen.append(held_key())
                yield 1
        finally:
            seen.append("closed")

    steps = each_holding(LET_IN, stream())
    assert next(steps) == 1
    assert held_key() is None, "between two steps the thread serves others"
    next(steps)
    steps.close()  # type: ignore[attr-defined]
    assert seen == [LET_IN, LET_IN, "closed"]
