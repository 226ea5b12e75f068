"""What is said of a pair before it is downloaded, on tiny models that a local source serves."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from tiny_models import byte_tokenizer, random_model, word_tokenizer
from transformers import (
    AutoModelForCausalLM,
    GPT2Config,
    LlamaConfig,
    MistralConfig,
    MixtralConfig,
    PretrainedConfig,
    PreTrainedTokenizerFast,
    Qwen3NextConfig,
)

from specviz.errors import ModelLoadError
from specviz.models.model_facts import ModelFacts
from specviz.models.pair_findings import Level, PairRequest
from specviz.models.pair_report import PairReport, report_pair
from specviz.texts import in_english, message

SIZE = {
    "vocab_size": 320,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 256,
}
REQUEST = PairRequest(
    prompt_tokens=10, max_new_tokens=50, gamma=4, free_memory_bytes=10**9, free_disk_bytes=10**9
)


def llama(**changes: object) -> LlamaConfig:
    return LlamaConfig(**SIZE | changes)


SMALL = llama(hidden_size=8, intermediate_size=8, num_hidden_layers=1)


def facts(
    name: str, config: PretrainedConfig, tokenizer: PreTrainedTokenizerFast | None = None
) -> ModelFacts:
    with torch.device("meta"):
        shapes = AutoModelForCausalLM.from_config(config)
    tokenizer = tokenizer or byte_tokenizer()
    return ModelFacts(name, shapes, tokenizer, True, missing_bytes=0, is_gated=False)


class LocalSource:
    """Serves facts as a hub would, by name."""

    def __init__(self, *models: ModelFacts) -> None:
        self._models = {model.name: model for model in models}

    def read(self, name: str) -> ModelFacts:
        if name not in self._models:
            raise ModelLoadError(message("refusal.hub_missing", model=name))
        return self._models[name]


TARGET, DRAFT = facts("hub/target-7B", llama()), facts("hub/draft-1B", SMALL)


def report(
    target: ModelFacts = TARGET, draft: ModelFacts = DRAFT, **changes: Any
) -> tuple[PairReport, dict[str, tuple[Level, str]]]:
    made = report_pair(
        LocalSource(target, draft), target.name, draft.name, replace(REQUEST, **changes)
    )
    return made, {x.text["id"]: (x.level, in_english(x.text)) for x in made.findings}


def test_a_pair_that_fits_in_every_respect() -> None:
    made, found = report()
    assert made.fits
    assert {level for level, _ in found.values()} == {Level.OK}
    num_tokens = len(byte_tokenizer())
    assert found["pair.vocab_equal"][1] == (
        f"draft-1B and target-7B have the same {num_tokens} tokens, in output layers of 320 rows."
    )
    assert found["pair.disk_none"]
    assert "up to 60 tokens; target-7B reads 256 and draft-1B 256" in found["pair.context_fits"][1]


def test_a_target_without_a_draft_is_looked_at_alone() -> None:
    made = report_pair(LocalSource(TARGET), TARGET.name, None, REQUEST)
    assert made.fits
    assert (made.draft, made.draft_numbers) == (None, None)
    found = {x.text["id"]: in_english(x.text) for x in made.findings}
    assert list(found) == ["pair.context_target_fits", "pair.memory_fits", "pair.disk_none"]
    assert (
        found["pair.context_target_fits"]
        == "The request takes up to 60 tokens; target-7B reads 256."
    )
    longer = replace(REQUEST, max_new_tokens=300)
    refused = report_pair(LocalSource(TARGET), TARGET.name, None, longer)
    assert not refused.fits
    assert refused.findings[0].text["id"] == "pair.context_target"
    mixture = facts("hub/mixture", MixtralConfig(**SIZE, num_local_experts=4))
    warned = report_pair(LocalSource(mixture), mixture.name, None, REQUEST)
    assert any(x.text["id"] == "pair.mixture" for x in warned.findings)


def test_sizes_are_counted_without_weights_and_are_those_of_the_model() -> None:
    made, _ = report()
    for config, numbers in ((llama(), made.target_numbers), (SMALL, made.draft_numbers)):
        assert numbers is not None
        model = random_model(config, dtype=torch.float32)
        assert numbers.num_parameters == model.num_parameters()
        assert numbers.weights_bytes == 4 * numbers.num_parameters
        cache = model(torch.zeros(1, 64, dtype=torch.long)).past_key_values
        elements = sum(layer.keys.numel() + layer.values.numel() for layer in cache.layers)
        assert numbers.kv_bytes == 4 * elements, "10 + 50 + 4 tokens"


def test_shared_weights_and_padded_heads_are_counted_once() -> None:
    tied = GPT2Config(vocab_size=320, n_embd=16, n_layer=2, n_head=2, n_positions=64)
    about = facts("tied", tied)
    assert about.num_parameters == random_model(tied, dtype=torch.float32).num_parameters()
    assert about.kv_elements(10) == 2 * 2 * 10 * 16
    sliding = MistralConfig(**SIZE, sliding_window=12)
    assert facts("window", sliding).kv_elements(100) == 2 * 4 * 100 * 2 * 8, "kept in full"


def test_a_padded_vocabulary_fits_and_says_so() -> None:
    made, found = report(draft=facts("hub/draft-1B", llama(vocab_size=352, num_hidden_layers=1)))
    num_tokens = len(byte_tokenizer())
    assert found["pair.vocab_padded"] == (
        Level.OK,
        "draft-1B pads its vocabulary to 352 and target-7B to 320; "
        f"the {num_tokens} real tokens agree, so the pair fits.",
    )
    assert made.fits


def more_tokens(*pieces: str) -> PreTrainedTokenizerFast:
    old = byte_tokenizer()._tokenizer
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=type(old).from_str(old.to_str()), eos_token="<|end|>"
    )
    tokenizer.add_tokens(list(pieces))
    return tokenizer


def other_end() -> PreTrainedTokenizerFast:
    tokenizer = more_tokens("<|stop|>")
    tokenizer.eos_token = "<|stop|>"
    return tokenizer


ODD = {
    "one token more": (more_tokens("<|image|>"), "pair.vocab_extra", Level.OK, "1 more is known"),
    "another end": (other_end(), "pair.special_differ", Level.WARN, "eos_token is <|end|> for"),
    "more tokens than rows": (
        more_tokens("<|a|>", "<|b|>"),
        "pair.rows_short",
        Level.WARN,
        "has output rows for 300 only",
    ),
    "another vocabulary": (
        byte_tokenizer(text="zebras zigzag through quizzes " * 9),
        "pair.translated_shared",
        Level.WARN,
        "draft-1B has another tokenizer than target-7B but cuts 83 % of",
    ),
    "nearly another vocabulary": (
        more_tokens(*(f"<{number}>" for number in range(12))),
        "pair.translated_shared",
        Level.WARN,
        "but cuts 100 % of an ordinary text as it does",
    ),
    "a vocabulary of words": (
        word_tokenizer(),
        "pair.translated_text",
        Level.WARN,
        "and cuts 0 % of an ordinary text as it does, so it drafts by its text",
    ),
    "words": (
        word_tokenizer(),
        "pair.translated_lossy",
        Level.WARN,
        "draft-1B does not give back every text",
    ),
}


@pytest.mark.parametrize("case", ODD)
def test_tokenizers_that_differ(case: str) -> None:
    tokenizer, id_, level, words = ODD[case]
    rows = 300 if id_ == "pair.rows_short" else 320
    made, found = report(
        draft=facts("hub/draft-1B", llama(num_hidden_layers=1, vocab_size=rows), tokenizer)
    )
    assert found[id_][0] is level
    assert words in found[id_][1]
    assert made.fits
    assert made.is_translated == any(name.startswith("pair.translated") for name in found)
    assert "pair.special_equal" not in found or not made.is_translated


SHORT = facts("hub/draft-1B", llama(max_position_embeddings=32, num_hidden_layers=1))
LIMITS: dict[str, tuple[dict[str, Any], str, Level, str]] = {
    "target's context": ({"max_new_tokens": 300}, "pair.context_target", Level.REFUSE, "310 tok"),
    "draft's context": ({"draft": SHORT}, "pair.context_draft", Level.WARN, "at most 32"),
    "no memory": ({"free_memory_bytes": 1000}, "pair.memory_lacks", Level.REFUSE, "than float32"),
    "unknown memory": ({"free_memory_bytes": None}, "pair.memory_unknown", Level.WARN, "not known"),
    "large draft": ({"draft": facts("twin", llama())}, "pair.size_reversed", Level.WARN, "twin is"),
    "close draft": (
        {"draft": facts("near", llama(num_hidden_layers=2))},
        "pair.size_close",
        Level.WARN,
        "near is only 1.",
    ),
    "no disk": (
        {"draft": replace(DRAFT, missing_bytes=2 * 10**9)},
        "pair.disk_lacks",
        Level.REFUSE,
        "2 GB are to be downloaded and only 1 GB",
    ),
    "download": (
        {"draft": replace(DRAFT, missing_bytes=5 * 10**8)},
        "pair.disk_fits",
        Level.OK,
        "0.5 GB are to be downloaded; 1 GB",
    ),
    "gated": ({"draft": replace(DRAFT, is_gated=True)}, "pair.gated_open", Level.OK, "draft-1B is"),
    "pickles": (
        {"draft": replace(DRAFT, has_safetensors=False)},
        "pair.refused",
        Level.REFUSE,
        "holds no weights as safetensors",
    ),
    "mixture": (
        {"target": facts("many", MixtralConfig(**SIZE, num_local_experts=4))},
        "pair.mixture",
        Level.WARN,
        "many is a mixture of experts",
    ),
}


@pytest.mark.parametrize("case", LIMITS)
def test_limits_and_rules_of_thumb(case: str) -> None:
    changes, id_, level, words = LIMITS[case]
    made, found = report(**changes)
    assert found[id_][0] is level
    assert words in found[id_][1]
    assert made.fits == (level is not Level.REFUSE)


def test_memory_that_is_barely_enough_is_a_warning() -> None:
    made, _ = report()
    numbers = [made.target_numbers, made.draft_numbers]
    needed = sum(each.weights_bytes + each.kv_bytes for each in numbers if each is not None)
    assert report(free_memory_bytes=needed - 1)[1]["pair.memory_lacks"][0] is Level.REFUSE
    assert report(free_memory_bytes=needed)[1]["pair.memory_tight"][0] is Level.WARN
    assert report(free_memory_bytes=2 * needed)[1]["pair.memory_fits"][0] is Level.OK


def test_a_hybrid_is_named_with_the_layers_that_keep_a_state() -> None:
    linear = {"linear_num_key_heads": 2, "linear_num_value_heads": 2, "num_experts": 4}
    linear |= {"linear_key_head_dim": 8, "linear_value_head_dim": 8, "num_experts_per_tok": 2}
    linear |= {"moe_intermediate_size": 16, "shared_expert_intermediate_size": 16}
    hybrid = facts("hybrid", Qwen3NextConfig(**SIZE, **linear, head_dim=8))
    _, found = report(target=hybrid)
    assert "linear_attention" in found["pair.hybrid"][1]
    assert hybrid.kv_elements(10) == 2 * 1 * 10 * 2 * 8, "one layer of four keeps keys"


def test_a_model_that_cannot_be_had_is_the_only_finding() -> None:
    made = report_pair(LocalSource(DRAFT), "hub/target-7B", DRAFT.name, REQUEST)
    assert not made.fits
    (finding,) = made.findings
    assert finding.level is Level.REFUSE
    assert in_english(finding.text).startswith("hub/target-7B cannot be loaded: the hub has no")
    assert made.target_numbers is None
    assert made.draft_numbers is not None
