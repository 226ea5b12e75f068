"""The page offers what ships, what was fitted to it, and what a fitted draft was before."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fake_race import FakeRace
from safetensors.numpy import save_file

from specviz.host.hub_choice import hub_access, hub_door
from specviz.host.offers import _pair, page_options
from specviz.host.opening import opening_pair
from specviz.host.page_models import PageModels, load_page_models, race_once_loaded
from specviz.host.settings import read_settings
from specviz.models import catalogue
from specviz.texts import in_english
from specviz.trace.fits import FIT_FILE
from specviz.trace.values import LaneSpec, Method, ModelLoading, RaceRequest, RaceStarted
from specviz.ui.hub_offer import HubAccess
from specviz.ui.pair_option import hub_option

FIXTURE = Path(__file__).parent / "fixtures" / "fit_v1.json"

AddModel = Callable[..., Path]
REQUEST = RaceRequest(
    "Hello",
    (
        LaneSpec("target alone", Method.BASELINE, "fake-target"),
        LaneSpec("guesses", Method.PROMPT_LOOKUP, "fake-target", gamma=4),
    ),
)


@pytest.fixture
def add_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AddModel:
    """Give a function that adds a copy of the small draft's configuration to fitted models."""
    monkeypatch.setenv(catalogue.FOLDER_VARIABLE, str(tmp_path))

    def add(name: str, **fit: str | None) -> Path:
        folder = tmp_path / name
        shutil.copytree(catalogue.MODELS_FOLDER / "small", folder)
        content = json.loads(FIXTURE.read_text(encoding="utf-8")) | fit
        (folder / FIT_FILE).write_text(json.dumps(content), encoding="utf-8")
        return folder

    return add


def test_the_default_draft_is_offered_first() -> None:
    options = page_options(None, None, "cpu", "float32")
    (pair,) = options.pairs
    assert pair.target == catalogue.DEFAULT_TARGET
    assert pair.drafts[0] == catalogue.DEFAULT_DRAFT
    assert pair.methods[0] is Method.DRAFT_MODEL


def test_a_fitted_draft_joins_the_pair_of_its_target(add_model: AddModel) -> None:
    add_model("mine", target="specviz-target", draft_before="specviz-small")
    options = page_options(None, None, "cpu", "float32")
    assert "fitted/mine" in options.pairs[0].drafts
    fitted = next(each for each in options.fitted if each.name == "fitted/mine")
    assert fitted.before == "specviz-small"


def test_a_named_target_gets_the_drafts_that_were_fitted_to_it(add_model: AddModel) -> None:
    add_model("mine", target="some/target", draft_before="some/draft")
    options = page_options("some/target", "some/draft", "cpu", "float32")
    assert options.pairs[0].drafts == ("some/draft", "fitted/mine")


def test_a_named_target_without_a_draft_guesses_in_other_ways() -> None:
    (pair,) = page_options("some/target", None, "cpu", "float32").pairs
    assert (pair.drafts, pair.methods[0]) == ((), Method.PROMPT_LOOKUP)


def test_a_target_with_layers_that_draft_offers_them(tmp_path: Path) -> None:
    config = {"model_type": "qwen3_5_text", "num_hidden_layers": 4}
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert Method.MTP not in _pair(str(tmp_path), (), ()).methods
    save_file({"mtp.layers.0.norm.weight": np.ones(2)}, tmp_path / "model.safetensors")
    assert _pair(str(tmp_path), (), ()).methods[-1] is Method.MTP


def test_a_bad_fit_is_told_and_left_out(add_model: AddModel) -> None:
    add_model("mine", made_by=None)
    options = page_options(None, None, "cpu", "float32")
    assert "fitted/mine" not in [each.name for each in options.fitted]
    told = [in_english(problem) for problem in options.fit_problems]
    assert "fitted/mine: fit.json: made_by must be a text, is null" in told


def test_a_race_that_waits_names_the_model_that_is_read() -> None:
    models = PageModels()
    race = race_once_loaded(models)(REQUEST)
    models.loading = ModelLoading("specviz-target", 1, 2)
    assert next(race) == models.loading
    models.loading = ModelLoading("specviz-small", 2, 2)
    assert next(race) == models.loading
    models.ready.set_result(FakeRace())
    assert isinstance(next(race), RaceStarted)


def test_a_race_that_is_stopped_while_models_load_just_ends() -> None:
    assert list(race_once_loaded(PageModels())(REQUEST, lambda: True)) == []


def test_all_that_is_offered_is_loaded_but_for_what_was_fitted_here(add_model: AddModel) -> None:
    add_model("mine", target="specviz-target", draft_before="specviz-small")
    options = page_options(None, None, "cpu", "float32")
    models = PageModels()
    load_page_models(models, options, dtype="float32", allow_hub=False)
    assert models.ready.done()
    assert models.loading is not None
    assert models.loading.number == models.loading.count == len(options.pairs[0].drafts)


@pytest.mark.parametrize(
    ("arguments", "variables", "access"),
    [
        ([], {}, "off"),
        (["--hub-catalogue"], {}, "catalogue"),
        ([], {"SPACE_ID": "somebody/specviz"}, "catalogue"),
        (["--allow-hub"], {"SPACE_ID": "somebody/specviz"}, "any"),
    ],
)
def test_what_of_the_hub_a_page_may_use(
    arguments: list[str],
    variables: dict[str, str],
    access: str,
) -> None:
    settings, _ = read_settings(arguments, variables)
    assert hub_access(settings, variables) == access


@pytest.mark.parametrize(
    ("access", "variables", "is_on"),
    [
        ("catalogue", {"SPACE_ID": "somebody/specviz", "OAUTH_CLIENT_ID": "x"}, True),
        ("off", {"SPACE_ID": "somebody/specviz", "OAUTH_CLIENT_ID": "x"}, False),
        ("any", {"SPACE_ID": "somebody/specviz"}, False),
        ("any", {"OAUTH_CLIENT_ID": "x"}, False),
    ],
)
def test_visitors_sign_in_on_a_space_that_has_it_switched_on(
    access: str, variables: dict[str, str], is_on: bool
) -> None:
    assert (hub_door(HubAccess(access), variables) is not None) is is_on


def test_a_hub_pair_that_does_not_load_keeps_nobody_from_the_shipped_models(
    caplog: pytest.LogCaptureFixture,
) -> None:
    opening = hub_option("big/model", None, (), 7, has_chat=False)
    options = page_options(None, None, "cpu", "float32", opening=opening)
    shipped = replace(options.pairs[-1], drafts=())
    models = PageModels()
    load_page_models(models, replace(options, pairs=(opening, shipped)), allow_hub=False)
    assert models.ready.done()
    assert "big/model" in caplog.text
    assert models.loaded_bytes(shipped.target) == 4 * (shipped.num_parameters or 0)
    assert models.loaded_bytes("big/model") == 0
    assert list(models.fetch(REQUEST)) == [], "without the hub nothing is downloaded"


def test_a_page_on_a_processor_opens_with_the_shipped_models() -> None:
    assert opening_pair("cpu", "float32") is None
    assert opening_pair("mps", "float32") is None
