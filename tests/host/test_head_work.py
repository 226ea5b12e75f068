"""The page's doctor examines heads that the page offers, each for the target it was made for."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from eagle_fixtures import make_head, write_specforge
from fake_race import OPTIONS
from tiny_models import byte_tokenizer, random_model
from transformers import LlamaConfig

from specviz.errors import RequestError
from specviz.host.head_work import make_doctor_reader
from specviz.host.page_heads import heads_of_targets
from specviz.models import catalogue
from specviz.models.catalogue import known_heads, listed_models, shipped_folder
from specviz.models.loading import LoadedModel, ModelPool
from specviz.trace.values import Method
from specviz.ui.options import PageOptions
from specviz.ui.pair_option import PairOption
from specviz.ui.race_queue import RaceQueue
from specviz.ui.turns import Turns, WorkStopped


def make_target() -> LoadedModel:
    config = LlamaConfig(
        vocab_size=len(byte_tokenizer()),
        hidden_size=32,
        intermediate_size=40,
        num_hidden_layers=6,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=256,
        eos_token_id=None,
        pad_token_id=None,
    )
    return LoadedModel("big", random_model(config, 5), byte_tokenizer(), frozenset())


def write_head(folder: Path, **config: object) -> Path:
    folder.mkdir(parents=True)
    write_specforge(make_head(), folder)
    return _say(folder, config)


def _say(folder: Path, more: dict[str, object]) -> Path:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | more))
    return folder


def offering(*heads: str) -> PageOptions:
    return replace(OPTIONS, pairs=(PairOption("big", (), (Method.EAGLE3,), heads=heads),), hub=None)


def test_a_head_is_examined_in_one_turn(tmp_path: Path) -> None:
    head = str(write_head(tmp_path / "head"))
    target = make_target()
    read = make_doctor_reader(offering(head), lambda name: target, ModelPool().get_head)
    form = {"target": "big", "head": head}
    (news,) = read(form)(Turns(RaceQueue(0), lambda: False))
    assert (news["kind"], news["taps"]) == ("diagnosis", [2, 3, 3])
    assert [row["reading"] for row in news["readings"]][:2] == ["stated", "double-norm"]
    assert len(news["readings"]) == 6
    for row in news["readings"]:
        assert row["agreement"] == row["num_same"] / news["num_tokens"]
    assert news["is_as_stated"] is (news["used"] == "stated")
    json.dumps(news)
    with pytest.raises(WorkStopped):
        list(read(form)(Turns(RaceQueue(0), lambda: True)))


@pytest.mark.parametrize(
    ("form", "problem"),
    [
        (None, "Unknown target"),
        ({"target": "other", "head": "h"}, "Unknown target"),
        ({"target": "big"}, "Unknown head"),
        ({"target": "big", "head": "/etc"}, "Unknown head"),
    ],
)
def test_heads_that_are_not_offered_are_not_examined(form: object, problem: str) -> None:
    read = make_doctor_reader(offering("h"), lambda name: make_target(), ModelPool().get_head)
    with pytest.raises(RequestError, match=problem):
        read(form)


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folders of shipped and fitted models that hold heads alone."""
    monkeypatch.setattr(catalogue, "MODELS_FOLDER", tmp_path / "models")
    monkeypatch.setattr(catalogue, "FITTED_FOLDER", tmp_path / "fitted")
    monkeypatch.delenv("SPECVIZ_MODELS", raising=False)
    write_head(tmp_path / "models" / "eagle3", target_name_or_path="big")
    verifier = {"verifier": {"name_or_path": "big"}}
    write_head(tmp_path / "fitted" / "mine", speculators_config=verifier)
    write_head(tmp_path / "fitted" / "odd")
    return tmp_path


def test_heads_in_known_folders_are_known_by_name_and_are_no_drafts(places: Path) -> None:
    assert [(head.name, head.target) for head in known_heads()] == [
        ("specviz-eagle3", "big"),
        ("fitted/mine", "big"),
        ("fitted/odd", None),
    ]
    assert shipped_folder("specviz-eagle3") == places / "models" / "eagle3"
    assert shipped_folder("fitted/odd") == places / "fitted" / "odd"
    assert listed_models() == ()


def test_a_target_is_offered_its_own_heads_and_the_first_one_what_the_host_names(
    places: Path,
) -> None:
    named = str(write_head(places / "elsewhere" / "named"))
    theirs = str(write_head(places / "elsewhere" / "theirs", target_name_or_path="other"))
    found = heads_of_targets(("big", "other"), [named, theirs, "org/of-the-hub"])
    assert found == {
        "big": (named, "org/of-the-hub", "specviz-eagle3", "fitted/mine"),
        "other": (theirs,),
    }
    assert heads_of_targets(("/models/big",))["/models/big"] == ("specviz-eagle3", "fitted/mine")
