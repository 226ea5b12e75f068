"""A pair of the hub is looked at before anything large is downloaded."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from eagle_fixtures import make_head, write_safeailab
from hub_stand_in import HubStandIn
from mtp_fixtures import write_family

from specviz.host.pair_look import look_at_pair
from specviz.models.eagle_files import fetch_head
from specviz.models.hub_catalogue import HubPair, read_catalogue
from specviz.models.hub_downloads import HubDownloads
from specviz.models.loading import ModelPool
from specviz.race.downloads import make_fetch_models
from specviz.texts import in_english
from specviz.trace.values import LaneSpec, Method, RaceRequest
from specviz.ui.hub_offer import PairAsked, PairLook
from specviz.ui.strings import PageError

ASKED = PairAsked("tiny/model", "tiny/draft", "a fox", 8, 4)


@pytest.fixture
def draft(hub: HubStandIn, repository: Path) -> HubStandIn:
    hub.add("tiny/draft", repository)
    return hub


def look(asked: PairAsked = ASKED, loaded: int = 0, device: str = "cpu") -> PairLook:
    return look_at_pair(asked, device, "float32", None, lambda name: loaded)


@pytest.fixture
def head(hub: HubStandIn, tmp_path: Path) -> Path:
    """The repository of a head, in the dialect whose weights are a pickle."""
    folder = tmp_path / "head"
    folder.mkdir()
    hub.add("tiny/head", write_safeailab(make_head(), folder))
    return folder


def texts(found: PairLook) -> list[str]:
    return [in_english(text) for _, text in found.findings]


def test_a_pair_that_fits_joins_the_menu_and_nothing_large_came(draft: HubStandIn) -> None:
    found = look()
    assert found.option is not None
    assert (found.option.target, found.option.drafts) == ("tiny/model", ("tiny/draft",))
    assert found.option.methods == (Method.DRAFT_MODEL, Method.PROMPT_LOOKUP)
    assert found.option.is_hub
    assert not found.option.has_chat
    assert found.download_bytes > 100_000
    assert not any(x.path.endswith(".safetensors") for x in draft.requests)


def test_the_prompt_counts_as_the_target_reads_it(draft: HubStandIn) -> None:
    found = look(PairAsked("tiny/model", "tiny/draft", "x" * 70, 8, 4))
    assert found.option is None
    assert any("The request takes up to 78 tokens" in text for text in texts(found))


def test_a_target_without_a_draft_guesses_by_itself(
    draft: HubStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = look(PairAsked("tiny/model", None, "a fox", 8, 4))
    assert found.option is not None
    assert (found.option.drafts, found.option.methods) == ((), (Method.PROMPT_LOOKUP,))
    assert any("tokens; model reads 64." in text for text in texts(found))
    real = read_catalogue()
    exits = type(real)(real.models, (HubPair("tiny/model", None, (1,), {}, (), False),))
    asked = PairAsked("tiny/model", None, "a fox", 8, 4)
    early = look_at_pair(asked, "cpu", "float32", None, lambda name: 0, catalogue=exits)
    assert early.option is not None
    assert early.option.methods == (Method.EARLY_EXIT, Method.PROMPT_LOOKUP)
    assert early.option.exits == (1,)


def test_a_target_that_brings_layers_that_draft_may_use_them(
    hub: HubStandIn, tmp_path: Path
) -> None:
    hub.add("tiny/ahead", write_family("qwen3_5", tmp_path, vocab_size=300).folder)
    found = look(PairAsked("tiny/ahead", None, "a fox", 8, 4))
    assert found.option is not None
    assert found.option.methods == (Method.MTP, Method.PROMPT_LOOKUP)
    assert any("declares 1 extra layer that guesses" in text for text in texts(found))
    assert not any(x.path.endswith(".safetensors") for x in hub.requests)


def test_what_the_hub_refuses_is_found_and_not_raised(draft: HubStandIn) -> None:
    for name, part in {"tiny/nothing": "no such model", "tiny/gated": "HF_TOKEN"}.items():
        found = look(PairAsked(name, "tiny/draft", "a fox", 8, 4))
        assert found.option is None
        assert found.download_bytes == 0
        assert [level for level, _ in found.findings] == ["refuse"]
        assert part in texts(found)[0]


def test_memory_that_the_pair_takes_already_is_free_for_it(
    draft: HubStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    from specviz.host import pair_look

    monkeypatch.setattr(pair_look, "free_memory", lambda device: 1_000)
    assert look().option is None
    assert look(loaded=10**9).option is not None


def test_a_folder_is_no_model_of_the_hub(
    draft: HubStandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tiny" / "model").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PageError, match="is not the id of a hub model"):
        look()
    assert draft.requests == []


def test_a_head_is_looked_at_by_its_config_and_comes_before_its_race(
    hub: HubStandIn, head: Path
) -> None:
    asked = PairAsked("tiny/model", None, "a fox", 8, 4, head="tiny/head")
    found = look(asked)
    assert found.option is not None
    assert (found.option.heads, found.option.drafts) == (("tiny/head",), ())
    assert found.option.methods == (Method.EAGLE3, Method.PROMPT_LOOKUP)
    weights = (head / "pytorch_model.bin").stat().st_size
    assert found.download_bytes == look(replace(asked, head=None)).download_bytes + weights
    shown = texts(found)
    assert "head reads states of width 32, as model has them." in shown
    assert any("head can guess 20 of the " in text for text in shown)
    assert not any(x.path.endswith("pytorch_model.bin") for x in hub.requests)
    pool = ModelPool()
    fetch = make_fetch_models(pool.has, HubDownloads(), heads=HubDownloads(fetch_head))
    lanes = (
        LaneSpec(None, Method.BASELINE, "tiny/model"),
        LaneSpec(None, Method.EAGLE3, "tiny/model", gamma=2, head="tiny/head"),
    )
    told = {(each.model, each.count) for each in fetch(RaceRequest("a", lanes))}
    # What is here at once is not told.
    assert told <= {("tiny/model", 2), ("tiny/head", 2)}
    assert "fc.weight" in pool.get_head("tiny/head").files.tensors
    assert look(asked).download_bytes == 0


@pytest.mark.parametrize(
    ("config", "part"),
    [
        ({"hidden_size": 64}, "head reads states of width 64, and those of model have 32"),
        ({"architectures": ["PEagleDraftModel"]}, "a head of another kind (P-EAGLE)"),
        ({"quantization_config": {}}, "tiny/head is quantised"),
        ({"eagle_aux_hidden_state_layer_ids": [1, 2, 90]}, "takes states of tiny/model at 90"),
    ],
)
def test_heads_that_cannot_draft_for_the_target_are_refused(
    hub: HubStandIn, head: Path, config: dict[str, object], part: str
) -> None:
    path = head / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | config))
    found = look(PairAsked("tiny/model", None, "a fox", 8, 4, head="tiny/head"))
    assert found.option is None
    assert any(part in text for text in texts(found))
