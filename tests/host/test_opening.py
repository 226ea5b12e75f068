"""On a graphics card the page opens with the best pair of the catalogue that fits its memory."""

import io
from pathlib import Path

import pytest
from hub_stand_in import HubStandIn
from rich.console import Console

from specviz.errors import ModelLoadError
from specviz.host.offers import page_options
from specviz.host.opening import download_named, opening_pair
from specviz.models.hub_catalogue import best_fit, read_catalogue
from specviz.trace.values import Method

ENOUGH = 6 * 10**9
"""Bytes in which SmolLM2 1.7B fits as the hub stores it, and nothing larger."""


def opening(device: str = "cuda", free: int | None = ENOUGH) -> tuple[object, str]:
    out = io.StringIO()
    pair = opening_pair(device, "bfloat16", Console(file=out, width=120), lambda device: free)
    return pair, out.getvalue()


def test_the_best_pair_is_downloaded_with_its_progress(hub: HubStandIn, repository: Path) -> None:
    best = best_fit(ENOUGH, dtype="bfloat16")
    assert best is not None
    for name in filter(None, (best.target, best.draft)):
        hub.add(name, repository)
    pair, out = opening()
    assert best.target in out
    assert best.draft is not None
    assert best.draft in out
    options = page_options(None, None, "cuda", "bfloat16", opening=pair)  # type: ignore[arg-type]
    first, shipped = options.pairs[0], options.pairs[-1]
    assert (first.target, first.drafts, first.is_hub) == (best.target, (best.draft,), True)
    assert first.methods[0] is Method.DRAFT_MODEL
    assert first.num_parameters == read_catalogue().models[best.target].num_parameters
    assert (shipped.target, shipped.is_hub) == ("specviz-target", False), "one click away"
    assert options.taught is shipped


def test_named_models_of_the_hub_come_with_their_progress(
    hub: HubStandIn, repository: Path
) -> None:
    hub.add("tiny/draft", repository)
    out = io.StringIO()
    folder = download_named("tiny/model", "tiny/draft", Console(file=out, width=120))
    assert folder is not None
    assert "tiny/draft" in out.getvalue()
    options = page_options("tiny/model", "tiny/draft", "cpu", "float32", folder=folder)
    assert options.pairs[0].is_hub
    assert options.pairs[0].num_parameters
    assert download_named("specviz-target", None) is None
    with pytest.raises(ModelLoadError, match="no such model"):
        download_named("tiny/nothing", None)


def test_a_hub_that_does_not_answer_leaves_the_shipped_models(hub: HubStandIn) -> None:
    pair, out = opening()
    assert pair is None
    assert "the hub has no such model" in out
    assert "The page opens with the shipped models." in out


@pytest.mark.parametrize(
    ("device", "free"), [("cpu", ENOUGH), ("mps", ENOUGH), ("cuda:1", 10**6), ("cuda", None)]
)
def test_elsewhere_nothing_is_asked_of_the_hub(
    hub: HubStandIn, device: str, free: int | None
) -> None:
    assert opening(device, free) == (None, "")
    assert hub.requests == []
