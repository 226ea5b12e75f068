"""A pair of the hub is looked at before anything large is downloaded."""

from pathlib import Path

import pytest
from hub_stand_in import HubStandIn
from mtp_fixtures import write_family

from specviz.host.pair_look import look_at_pair
from specviz.models.hub_catalogue import HubPair, read_catalogue
from specviz.texts import in_english
from specviz.trace.values import Method
from specviz.ui.hub_offer import PairAsked, PairLook
from specviz.ui.strings import PageError

ASKED = PairAsked("tiny/model", "tiny/draft", "a fox", 8, 4)


@pytest.fixture
def draft(hub: HubStandIn, repository: Path) -> HubStandIn:
    hub.add("tiny/draft", repository)
    return hub


def look(asked: PairAsked = ASKED, loaded: int = 0, device: str = "cpu") -> PairLook:
    return look_at_pair(asked, device, "float32", None, lambda name: loaded)


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
