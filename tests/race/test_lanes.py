"""From a lane's spec to a decoder: which models, which limits, which refusals."""

import copy
from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest
import torch
from mtp_fixtures import random_layers
from tiny_models import byte_tokenizer, random_model
from transformers import (
    GPT2Config,
    Lfm2Config,
    LlamaConfig,
    MambaConfig,
    MistralConfig,
    Phi3Config,
    PretrainedConfig,
    PreTrainedTokenizerFast,
)

from specviz.decoding import lean_cache, rollback_cache
from specviz.decoding.decoder import Decoder
from specviz.decoding.eagle3_head import Eagle3Head
from specviz.errors import IncompatibleModelError, ModelLoadError, RequestError
from specviz.models.eagle_files import HeadFiles
from specviz.models.eagle_form import PLAIN_ROPE, HeadForm
from specviz.models.eagle_head import LoadedHead
from specviz.models.loading import LoadedModel
from specviz.race.lanes import build_decoder, encode_prompt
from specviz.trace.values import LaneSpec, Method, RaceRequest, Sampling, StopReason

SIZE = {
    "vocab_size": 320,
    "hidden_size": 16,
    "intermediate_size": 16,
    "num_hidden_layers": 4,
    "num_attention_heads": 2,
    "max_position_embeddings": 64,
    "eos_token_id": None,
}
BASELINE = LaneSpec("plain", Method.BASELINE, "target")
SPECS = {
    Method.BASELINE: BASELINE,
    Method.DRAFT_MODEL: LaneSpec("drafted", Method.DRAFT_MODEL, "target", draft="draft", gamma=3),
    Method.PROMPT_LOOKUP: LaneSpec("copied", Method.PROMPT_LOOKUP, "target", gamma=3),
    Method.EARLY_EXIT: LaneSpec("early", Method.EARLY_EXIT, "target", gamma=3, exit_layer=2),
    Method.EAGLE3: LaneSpec("headed", Method.EAGLE3, "target", gamma=3, head="head"),
    Method.MTP: LaneSpec("ahead", Method.MTP, "target", gamma=3),
}
FOUR = tuple(SPECS.values())[:4]
"""As many as a race has lanes."""
REQUEST = RaceRequest("the fox and the fox", FOUR, max_new_tokens=12)


def random_head_files(name: str) -> HeadFiles:
    """An EAGLE-3 head of the width of `SIZE`, which takes states after one layer."""
    form = HeadForm(16, 16, 2, 2, 8, 16, 1, 320, 320, (1, 1, 1), PLAIN_ROPE)
    generator = torch.Generator().manual_seed(1)
    shapes = {key: value.shape for key, value in Eagle3Head(form, None).state_dict().items()}  # type: ignore[arg-type]
    tensors = {key: torch.randn(shape, generator=generator) for key, shape in shapes.items()}
    config = {"num_attention_heads": 2, "eagle_aux_hidden_state_layer_ids": [1, 1, 1]}
    return HeadFiles(name, config, tensors, is_quantised=False)


class FakePool:
    """A `ModelPool` of tiny random models, made at the first call."""

    def __init__(self, **configs: Callable[[], PretrainedConfig]) -> None:
        self._configs = configs
        self._tokenizers: dict[str, PreTrainedTokenizerFast] = {}
        self._loaded: dict[str, LoadedModel] = {}
        self._heads: dict[str, LoadedHead] = {}
        self.device = torch.device("cpu")
        self.dtype = "float64"

    def with_tokenizer(self, name: str, tokenizer: PreTrainedTokenizerFast) -> "FakePool":
        self._tokenizers[name] = tokenizer
        return self

    def has(self, name: str) -> bool:
        return name in self._loaded

    def hold(self, target: str, drafts: Iterable[str] = ()) -> None:
        """Nothing is ever let go."""

    def get_head(self, name: str, should_stop: object = None) -> LoadedHead:
        if name not in self._heads:
            self._heads[name] = LoadedHead(random_head_files(name))
        return self._heads[name]

    def has_head(self, name: str) -> bool:
        return name in self._heads

    def get(self, name: str, should_stop: object = None) -> LoadedModel:
        if name not in self._configs:
            raise ModelLoadError(f"{name} cannot be loaded: it is not there")
        if name not in self._loaded:
            dtype = torch.float32 if name == "mamba" else torch.float64
            config = self._configs[name]()
            model = random_model(config, len(name), dtype=dtype)
            has_layers = isinstance(config, LlamaConfig | MistralConfig)
            self._loaded[name] = LoadedModel(
                name,
                model,
                self._tokenizers.get(name, byte_tokenizer()),
                frozenset(),
                {"mtp": random_layers(model)} if has_layers else {},
            )
        return self._loaded[name]


def llama(**changes: object) -> Callable[[], PretrainedConfig]:
    return lambda: LlamaConfig(**{**SIZE, **changes})


POOL = FakePool(
    target=llama(),
    draft=llama(num_hidden_layers=1, vocab_size=352),
    gpt2=lambda: GPT2Config(
        vocab_size=320, n_embd=16, n_layer=2, n_head=2, n_positions=64, eos_token_id=None
    ),
    mistral=lambda: MistralConfig(**SIZE, num_key_value_heads=2, sliding_window=8),
    mamba=lambda: MambaConfig(vocab_size=320, hidden_size=16, num_hidden_layers=2, state_size=4),
    lfm2=lambda: Lfm2Config(
        **SIZE, num_key_value_heads=2, layer_types=["conv", "full_attention"] * 2
    ),
    exits=llama(exit_layers=[3, 1]),
    phi3=lambda: Phi3Config(
        **SIZE,
        num_key_value_heads=2,
        pad_token_id=None,
        original_max_position_embeddings=40,
        rope_parameters={
            "rope_type": "longrope",
            "short_factor": [1.0] * 4,
            "long_factor": [4.0] * 4,
        },
    ),
)


def build(spec: LaneSpec, request: RaceRequest = REQUEST, pool: object = POOL) -> Decoder:
    return build_decoder(spec, pool, request)  # type: ignore[arg-type]


def run(decoder: Decoder, prompt: tuple[int, ...]) -> tuple[int, ...]:
    decoder.prefill(prompt)
    while decoder.stop_reason is None:
        decoder.step()
    return decoder.output_ids


@pytest.mark.parametrize("method", list(Method))
def test_every_method_gives_the_baseline_text(method: Method) -> None:
    prompt = encode_prompt(REQUEST, POOL.get("target"))
    decoder = build(SPECS[method])
    assert run(decoder, prompt) == run(build(BASELINE), prompt)
    assert decoder.stop_reason is StopReason.LENGTH
    assert len(decoder.output_ids) == 12


def test_the_context_of_the_target_ends_a_lane() -> None:
    prompt = encode_prompt(REQUEST, POOL.get("target"))
    request = replace(REQUEST, max_new_tokens=500)
    for method in Method:
        decoder = build(SPECS[method], request)
        assert len(prompt) + len(run(decoder, prompt)) == 64
        assert decoder.stop_reason is StopReason.CONTEXT
    just_enough = replace(REQUEST, max_new_tokens=64 - len(prompt))
    decoder = build(BASELINE, just_enough)
    assert len(prompt) + len(run(decoder, prompt)) == 64
    assert decoder.stop_reason is StopReason.LENGTH


def test_a_sliding_window_gives_the_baseline_text_past_its_window() -> None:
    prompt = encode_prompt(REQUEST, POOL.get("mistral"))
    request = replace(REQUEST, max_new_tokens=30)
    outputs = {
        run(build(replace(spec, target="mistral"), request), prompt) for spec in SPECS.values()
    }
    assert len(outputs) == 1


def test_a_prompt_longer_than_the_context_is_refused_with_both_numbers() -> None:
    text = "x" * 64
    num_tokens = len(byte_tokenizer()(text)["input_ids"])
    with pytest.raises(RequestError, match=f"has {num_tokens} tokens and target reads at most 64"):
        encode_prompt(replace(REQUEST, prompt=text), POOL.get("target"))
    longest = encode_prompt(replace(REQUEST, prompt="x" * 63), POOL.get("target"))
    assert len(run(build(BASELINE), longest)) == 1


def test_a_prompt_longer_than_the_original_context_of_longrope_is_told_that_limit() -> None:
    prompt = "x" * 40
    with pytest.raises(RequestError, match=r"has 40 tokens and phi3 reads at most 40, .* LongRoPE"):
        encode_prompt(replace(REQUEST, prompt=prompt), POOL.get("phi3"))
    longest = encode_prompt(replace(REQUEST, prompt=prompt[1:]), POOL.get("phi3"))
    assert len(run(build(replace(BASELINE, target="phi3")), longest)) == 1


def test_a_prompt_without_a_token_is_refused() -> None:
    with pytest.raises(RequestError, match="holds no token"):
        encode_prompt(replace(REQUEST, prompt=""), POOL.get("target"))


def test_a_prompt_with_a_token_that_the_model_has_no_row_for_is_refused() -> None:
    """A tokenizer to which tokens were added, and a model that was not resized for them."""
    tokenizer = copy.deepcopy(byte_tokenizer())
    num_rows = len(tokenizer) + 2
    tokenizer.add_tokens(["<|in|>", "<|last|>", "<|out|>"])
    pool = FakePool(target=llama(vocab_size=num_rows)).with_tokenizer("target", tokenizer)
    within = encode_prompt(replace(REQUEST, prompt="a <|last|> fox"), pool.get("target"))
    assert max(within) == num_rows - 1
    build(BASELINE, pool=pool).prefill(within)
    sentence = rf"holds '<\|out\|>' \(id {num_rows}\) and target knows ids up to {num_rows - 1}"
    with pytest.raises(RequestError, match=sentence):
        encode_prompt(replace(REQUEST, prompt="a <|out|> fox"), pool.get("target"))


def test_an_exit_layer_is_taken_as_given() -> None:
    for layer in (1, 3):
        decoder = build(replace(SPECS[Method.EARLY_EXIT], exit_layer=layer))
        assert decoder._target.exit_layer == layer  # type: ignore[attr-defined]
    for layer in (0, 4):
        with pytest.raises(IncompatibleModelError, match=f"exit_layer must be 1 to 3 .* {layer}"):
            build(replace(SPECS[Method.EARLY_EXIT], exit_layer=layer))


def test_without_an_exit_layer_the_model_decides() -> None:
    declared = build(replace(SPECS[Method.EARLY_EXIT], target="exits", exit_layer=None))
    assert declared._target.exit_layer == 3  # type: ignore[attr-defined]
    plain = build(replace(SPECS[Method.EARLY_EXIT], exit_layer=None))
    assert plain._target.exit_layer == 1  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        (replace(SPECS[Method.EARLY_EXIT], target="gpt2"), "GPT2LMHeadModel"),
        (replace(SPECS[Method.EARLY_EXIT], target="lfm2"), "Lfm2ForCausalLM: layers of type conv"),
        (replace(BASELINE, target="mamba"), "mamba .MambaForCausalLM. keeps a recurrent state"),
        (replace(SPECS[Method.DRAFT_MODEL], draft="mamba"), "mamba .MambaForCausalLM. keeps"),
    ],
)
def test_models_that_cannot_do_it_are_refused_by_name(spec: LaneSpec, sentence: str) -> None:
    with pytest.raises(IncompatibleModelError, match=sentence):
        build(spec)


@pytest.mark.parametrize("method", [Method.DRAFT_MODEL, Method.PROMPT_LOOKUP])
def test_a_hybrid_target_writes_what_it_writes_alone(method: Method) -> None:
    prompt = encode_prompt(REQUEST, POOL.get("lfm2"))
    alone = run(build(replace(BASELINE, target="lfm2")), prompt)
    assert run(build(replace(SPECS[method], target="lfm2")), prompt) == alone


def test_a_draft_that_is_not_there_is_an_error_of_loading() -> None:
    with pytest.raises(ModelLoadError, match="nowhere"):
        build(replace(SPECS[Method.DRAFT_MODEL], draft="nowhere"))


def test_lanes_of_one_pool_share_weights_but_no_cache() -> None:
    first, second = build(BASELINE), build(SPECS[Method.DRAFT_MODEL])
    assert first._target.model is second._target.model
    prompt = encode_prompt(REQUEST, POOL.get("target"))
    alone = run(build(BASELINE), prompt)
    first.prefill(prompt)
    second.prefill(prompt[:2])
    while first.stop_reason is None:
        first.step()
        if second.stop_reason is None:
            second.step()
    assert first.output_ids == alone


def test_the_seed_of_the_request_decides() -> None:
    prompt = encode_prompt(REQUEST, POOL.get("target"))
    outputs = [
        run(build(BASELINE, replace(REQUEST, sampling=Sampling(1.0, seed=seed))), prompt)
        for seed in (1, 1, 2)
    ]
    assert outputs[0] == outputs[1] != outputs[2]


@pytest.mark.parametrize("method", list(Method))
def test_no_round_pays_for_a_larger_cache(method: Method, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading a prompt of any length makes room for all that can follow it."""
    pool = FakePool(
        target=llama(max_position_embeddings=1024),
        draft=llama(max_position_embeddings=1024, num_hidden_layers=1),
    )
    decoder = build(SPECS[method], replace(REQUEST, max_new_tokens=400), pool)
    decoder.prefill(tuple(number % 300 for number in range(300)))

    def grown(*args: object) -> torch.Tensor:
        raise AssertionError("a cache has grown")

    for module in (lean_cache, rollback_cache):
        monkeypatch.setattr(module, "_grown", grown)
    while decoder.stop_reason is None:
        decoder.step()
    assert len(decoder.output_ids) == 400
