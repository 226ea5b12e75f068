"""What is said of a target that guesses by its own first layers, before it is downloaded."""

from dataclasses import replace
from typing import Any

import pytest
from test_pair_report import DRAFT, REQUEST, TARGET, LocalSource, facts, llama
from transformers import Gemma2Config, GPT2Config, MixtralConfig

from specviz.decoding.model_parts import layers_of
from specviz.models.exit_report import report_exit
from specviz.models.exits import declared_exits, default_exit
from specviz.models.hub_catalogue import known_exits
from specviz.models.model_facts import ModelFacts
from specviz.models.pair_findings import Level
from specviz.models.pair_report import PairReport
from specviz.texts import in_english

TRAINED = facts("hub/trained", llama(exit_layers=[3, 1]))
LISTED = facts("facebook/layerskip-llama3.2-1B", llama(num_hidden_layers=16))
CAPPED = Gemma2Config(
    vocab_size=320, hidden_size=32, intermediate_size=64, num_hidden_layers=2, head_dim=8
)
GPT2 = GPT2Config(vocab_size=320, n_embd=16, n_layer=2, n_head=2)


def report(
    target: ModelFacts, exit_layer: int | None = None, **changes: Any
) -> tuple[PairReport, dict[str, tuple[Level, str]]]:
    made = report_exit(
        LocalSource(target), target.name, replace(REQUEST, **changes), layers_of, exit_layer
    )
    return made, {x.text["id"]: (x.level, in_english(x.text)) for x in made.findings}


def test_a_target_whose_config_names_its_exits() -> None:
    made, found = report(TRAINED)
    assert made.fits
    assert (made.draft, made.draft_numbers, made.exit_layer) == (None, None, 3)
    assert {level for level, _ in found.values()} == {Level.OK}
    assert found["pair.exit_layers"][1] == (
        "trained may guess after any of its first 3 layers; its config names 3, 1."
    )
    assert "up to 60 tokens; trained reads 256" in found["pair.context_target_fits"][1]
    assert report(TRAINED, 2)[1]["pair.exit_untrained"][0] is Level.WARN


def test_a_target_that_the_catalogue_knows_to_be_trained_for_it() -> None:
    made, found = report(LISTED)
    assert made.exit_layer == known_exits(LISTED.name)[0]
    assert "trained to leave after 4, 6, 8" in found["pair.exit_listed"][1]
    assert "pair.exit_untrained" in report(LISTED, 5)[1]
    assert known_exits("Qwen/Qwen3-8B") == ()


def test_any_other_target_is_told_what_training_does() -> None:
    made, found = report(TARGET)
    assert made.fits
    assert made.exit_layer == 1, "a quarter of four layers"
    level, text = found["pair.exit_unnamed"]
    assert level is Level.WARN
    assert "as that of LayerSkip models did" in text


def test_the_cost_is_the_share_of_weights_that_a_guess_reads() -> None:
    text = report(TARGET, 2)[1]["pair.exit_cost"][1]
    layer = 2 * 32 * 32 + 2 * 32 * 16 + 3 * 32 * 64 + 2 * 32
    head = 320 * 32
    percent = round(100 * (2 * layer + head) / (4 * layer + head))
    assert f"After layer 2 of 4 a guess costs about {percent} % of a pass" in text


def test_only_one_model_is_counted() -> None:
    made, found = report(TARGET)
    assert made.target_numbers is not None
    needed = made.target_numbers.weights_bytes + made.target_numbers.kv_bytes
    assert report(TARGET, free_memory_bytes=needed)[1]["pair.memory_tight"]
    assert report(TARGET, free_memory_bytes=needed - 1)[1]["pair.memory_lacks"]
    assert found["pair.disk_none"]


REFUSED: dict[str, tuple[ModelFacts, dict[str, Any], str]] = {
    "no such layer": (TARGET, {"exit_layer": 4}, "may leave after layer 1 to 3; 4 was asked for"),
    "layer 0": (TARGET, {"exit_layer": 0}, "1 to 3; 0 was asked for"),
    "capped logits": (facts("hub/gemma", CAPPED), {}, "caps its logits"),
    "no layers": (facts("hub/gpt2", GPT2), {}, "early exit needs a model with `layers`"),
    "context": (TARGET, {"max_new_tokens": 300}, "reads at most 256"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_raced_is_refused(case: str) -> None:
    target, changes, sentence = REFUSED[case]
    made, found = report(target, **changes)
    assert not made.fits
    refused = [text for level, text in found.values() if level is Level.REFUSE]
    assert len(refused) == 1
    assert sentence in refused[0]


def test_a_mixture_is_named() -> None:
    config = MixtralConfig(
        vocab_size=320,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_local_experts=4,
    )
    assert "mixture of experts" in report(facts("many", config))[1]["pair.mixture"][1]


def test_a_target_that_cannot_be_had_is_the_only_finding() -> None:
    made = report_exit(LocalSource(DRAFT), "hub/target-7B", REQUEST, layers_of, 3)
    (finding,) = made.findings
    assert finding.level is Level.REFUSE
    assert (made.target_numbers, made.exit_layer) == (None, 3)


def test_the_exit_of_a_lane_that_names_none() -> None:
    assert declared_exits(TRAINED.config) == (3, 1)
    assert default_exit(TRAINED.config) == 3
    assert declared_exits(TARGET.config) == ()
    assert default_exit(LISTED.config) == 4
    assert default_exit(llama(num_hidden_layers=2)) == 1
