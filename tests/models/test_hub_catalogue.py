"""The table of hub pairs: what is in it, what is refused in it, which pair fits a machine."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from specviz.errors import FormatError
from specviz.models.hub_catalogue import (
    CATALOGUE_FILE,
    WEIGHTS_MARGIN,
    Architecture,
    HubPair,
    best_fit,
    read_catalogue,
)

WANTED = {
    "HuggingFaceTB/SmolLM2-1.7B": {"HuggingFaceTB/SmolLM2-135M", "HuggingFaceTB/SmolLM2-360M"},
    "Qwen/Qwen2.5-7B-Instruct": {"Qwen/Qwen2.5-0.5B-Instruct"},
    "Qwen/Qwen3-8B": {"Qwen/Qwen3-0.6B"},
    "Qwen/Qwen3.5-9B": {"Qwen/Qwen3.5-0.8B"},
    "meta-llama/Llama-3.1-8B-Instruct": {"meta-llama/Llama-3.2-1B-Instruct"},
    "google/gemma-7b-it": {"google/gemma-2b-it"},
    "openai-community/gpt2-xl": {"distilbert/distilgpt2"},
    "facebook/layerskip-llama3.2-1B": {None},
}


def test_the_shipped_catalogue_can_be_read_and_owns_up_to_what_is_unchecked() -> None:
    catalogue = read_catalogue()
    for target, drafts in WANTED.items():
        found = {pair.draft for pair in catalogue.pairs if pair.target == target}
        assert drafts <= found, target
    checked = {name for name, model in catalogue.models.items() if model.checked}
    open_pages = {"HuggingFaceTB/SmolLM2-1.7B", "openai-community/gpt2-xl", "EleutherAI/pythia-70m"}
    assert checked == open_pages, "no other page was read"
    pinned = {model.revision for model in catalogue.models.values()} - {"main"}
    assert all(re.fullmatch("[0-9a-f]{40}", revision) for revision in pinned)
    assert all(published.source for pair in catalogue.pairs for published in pair.published)
    used = {name for pair in catalogue.pairs for name in (pair.target, pair.draft)}
    assert set(catalogue.models) == used - {None}
    for name, model in catalogue.models.items():
        assert (model.num_kv_layers < model.num_layers) == (model.kind is Architecture.HYBRID), name


def set_draft(content: dict[str, Any]) -> None:
    content["pairs"][0]["draft"] = "nobody/knows"


def swap(content: dict[str, Any]) -> None:
    pair = content["pairs"][0]
    pair["target"], pair["draft"] = pair["draft"], pair["target"]


def set_exit(content: dict[str, Any]) -> None:
    content["pairs"][19]["exit_layers"][1] = 16


def model_of(content: dict[str, Any]) -> dict[str, Any]:
    model: dict[str, Any] = content["models"]["openai-community/gpt2-xl"]
    return model


PUBLISHED = {"figure": "alpha", "value": 0.5, "setting": "", "source": "a page"}
FAULTS: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "no such model": (set_draft, r"pairs\[0\].draft names nobody/knows, which the list"),
    "larger draft": (swap, r"pairs\[0\].draft must be smaller than its target"),
    "exit behind the last layer": (
        set_exit,
        r"pairs\[19\].exit_layers\[1\] must lie between the layers 1 and 15 of .*, is 16",
    ),
    "neither draft nor layers": (
        lambda content: content["pairs"][0].update(draft=None),
        r"pairs\[0\] must have either a draft, a head or exit layers, or a target with layers",
    ),
    "draft and exits": (
        lambda content: content["pairs"][0].update(exit_layers=[1]),
        r"pairs\[0\] must have either a draft, a head or exit layers",
    ),
    "draft and head": (
        lambda content: content["pairs"][0].update(head="AngelSlim/Qwen3-8B_eagle3"),
        r"pairs\[0\] must have either a draft, a head or exit layers",
    ),
    "no such head": (
        lambda content: content["pairs"][-1].update(head="nobody/knows"),
        r"pairs\[24\].head names nobody/knows, which the list",
    ),
    "head's dtype": (
        lambda content: content["heads"]["AngelSlim/Qwen3-8B_eagle3"].update(dtype="int3"),
        r"heads.AngelSlim/Qwen3-8B_eagle3.dtype must be one of .*, is int3",
    ),
    "twice": (
        lambda content: content["pairs"].append(content["pairs"][2]),
        r"pairs\[25\] stands there twice",
    ),
    "one language": (
        lambda content: content["pairs"][1]["story"].pop("es"),
        r"pairs\[1\].story must be told in en, es, is told in en",
    ),
    "no source": (
        lambda content: content["pairs"][0]["published"].append(PUBLISHED | {"source": " "}),
        r"pairs\[0\].published\[0\].source must not be empty",
    ),
    "nothing gained": (
        lambda content: content["pairs"][0]["published"].append(PUBLISHED | {"value": 0.0}),
        r"pairs\[0\].published\[0\].value must be 0.001 or more",
    ),
    "dtype": (
        lambda content: model_of(content).update(dtype="int3"),
        r"models.openai-community/gpt2-xl.dtype must be one of .*, is int3",
    ),
    "licence": (lambda content: model_of(content).update(licence=""), "licence must not be empty"),
    "rows": (lambda content: model_of(content).update(vocab_rows=0), "vocab_rows must be 1 or"),
    "unknown key": (lambda content: model_of(content).update(size=3), "size is not a key"),
    "missing key": (lambda content: model_of(content).pop("kind"), "gpt2-xl.kind is missing"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_catalogue_that_cannot_be_right_is_refused_by_name(fault: str, tmp_path: Path) -> None:
    damage, sentence = FAULTS[fault]
    content = json.loads(CATALOGUE_FILE.read_text(encoding="utf-8"))
    damage(content)
    file = tmp_path / "catalogue.json"
    file.write_text(json.dumps(content))
    with pytest.raises(FormatError, match=sentence) as caught:
        read_catalogue(file)
    assert str(caught.value).startswith(str(file))


def chosen(free_gb: float, **options: Any) -> tuple[str, str | None] | None:
    pair = best_fit(free_gb * 1e9, **options)
    return None if pair is None else (pair.target, pair.draft)


def test_the_largest_target_that_fits_is_chosen_with_the_draft_nearest_to_a_tenth() -> None:
    assert chosen(1.0) is None
    smallest = ("EleutherAI/pythia-1.4b", "EleutherAI/pythia-70m")
    assert chosen(4.2) == smallest
    assert chosen(8.0) == ("HuggingFaceTB/SmolLM2-1.7B", "HuggingFaceTB/SmolLM2-135M")
    assert chosen(8.0, dtype="float32") == smallest, "four bytes a parameter"
    assert chosen(80.0) == ("Qwen/Qwen3-8B", "Qwen/Qwen3-0.6B")
    assert chosen(80.0, allow_gated=True) == (
        "google/gemma-3-12b-it",
        "google/gemma-3-270m-it",
    )


def test_what_a_pair_takes_by_hand() -> None:
    catalogue = read_catalogue()
    pair = HubPair("Qwen/Qwen2.5-7B-Instruct", "Qwen/Qwen2.5-0.5B-Instruct", (), {}, (), False)
    weights = 2 * (7_615_616_512 + 494_032_768)
    caches = 100 * 2 * 2 * (28 * 4 * 128 + 24 * 2 * 64)
    assert catalogue.memory_bytes(pair, 100) == pytest.approx(WEIGHTS_MARGIN * weights + caches)
    fits = catalogue.memory_bytes(pair, 100)
    assert best_fit(fits, num_tokens=100) is not None
    assert catalogue.ratio(pair) == pytest.approx(15.4, abs=0.1)
