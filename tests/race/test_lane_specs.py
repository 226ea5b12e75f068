"""What a lane is built from decides: end tokens, n-grams, exits, contexts; what it did does not."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
import torch
from test_lanes import BASELINE, POOL, REQUEST, SPECS, FakePool, build, llama, run
from tiny_models import byte_tokenizer
from transformers import BloomConfig

from specviz.race.lanes import encode_prompt
from specviz.trace.values import Method, StopReason

NUM_PROMPT = 5


def pool_with_end_tokens(*eos_ids: int) -> FakePool:
    """The models of `POOL`, ended by these ids."""
    pool = FakePool(**POOL._configs)
    for name in ("target", "draft"):
        pool._loaded[name] = replace(POOL.get(name), eos_ids=frozenset(eos_ids))
    return pool


@pytest.mark.parametrize("method", list(Method))
def test_every_end_token_of_the_target_ends_the_text(method: Method) -> None:
    prompt = encode_prompt(REQUEST, POOL.get("target"))
    text = run(build(BASELINE), prompt)
    last = next(token for token in text[2:] if token not in text[:2])
    smaller, larger = (token for token in (0, 319) if token not in text)
    for eos_ids in ((smaller, last), (last, larger)):
        decoder = build(SPECS[method], pool=pool_with_end_tokens(*eos_ids))
        assert run(decoder, prompt) == text[: text.index(last) + 1]
        assert decoder.stop_reason is StopReason.EOS


@pytest.mark.parametrize("method", [method for method in Method if method is not Method.BASELINE])
def test_every_end_token_of_the_target_ends_a_draft(method: Method) -> None:
    prompt = encode_prompt(REQUEST, POOL.get("target"))
    spec = replace(SPECS[method], gamma=6)

    def first_draft(pool: FakePool) -> list[int]:
        decoder = build(spec, pool=pool)
        decoder.prefill(prompt)
        return [token.id for token in decoder.step().drafted]

    drafted = first_draft(POOL)
    last = next(token for token in drafted[1:5] if token != drafted[0])
    end = drafted.index(last) + 1
    assert end < len(drafted)
    smaller, larger = (token for token in (0, 319) if token not in drafted)
    for eos_ids in ((smaller, last), (last, larger)):
        assert first_draft(pool_with_end_tokens(*eos_ids)) == drafted[:end]


@pytest.mark.parametrize(("max_ngram", "follower"), [(2, 5), (3, 4), (4, 6)])
def test_the_longest_match_to_look_up_is_taken_as_given(max_ngram: int, follower: int) -> None:
    """Two newest tokens were last followed by 5, three by 4, four by 6."""
    spec = replace(SPECS[Method.PROMPT_LOOKUP], max_ngram=max_ngram, gamma=1)
    decoder = build(spec)
    decoder.prefill((9, 1, 2, 3, 6, 1, 2, 3, 4, 8, 2, 3, 5, 9, 1, 2, 3))
    assert [token.id for token in decoder.step().drafted] == [follower]


@pytest.mark.parametrize(("num_layers", "exit_layer"), [(2, 1), (7, 1), (8, 2), (13, 3)])
def test_an_exit_that_nobody_names_is_after_a_quarter_of_the_layers(
    num_layers: int, exit_layer: int
) -> None:
    pool = FakePool(target=llama(num_hidden_layers=num_layers))
    decoder = build(replace(SPECS[Method.EARLY_EXIT], exit_layer=None), pool=pool)
    assert decoder._target.exit_layer == exit_layer  # type: ignore[attr-defined]


@pytest.mark.parametrize("method", [x for x in Method if x not in (Method.EARLY_EXIT, Method.MTP)])
def test_a_model_without_an_early_exit_races_by_every_other_method(method: Method) -> None:
    decoder = build(replace(SPECS[method], target="gpt2"))
    assert len(run(decoder, (1, 2, 3))) == 12


def test_a_model_that_names_no_context_reads_prompts_of_any_length() -> None:
    pool = FakePool(target=lambda: BloomConfig(vocab_size=320, hidden_size=16, n_layer=1, n_head=2))
    prompt = "x" * 200
    ids = encode_prompt(replace(REQUEST, prompt=prompt), pool.get("target"))
    assert list(ids) == byte_tokenizer()(prompt)["input_ids"]


class Reciting:
    """A target that writes `ids`, whatever it reads."""

    def __init__(self, ids: Sequence[int], vocab_size: int) -> None:
        self._ids = ids
        self._vocab_size = vocab_size

    def forward(self, ids: Sequence[int], num_logits: int) -> torch.Tensor:
        wanted = self._ids[len(ids) - NUM_PROMPT :][:1] or self._ids[:1]
        return torch.nn.functional.one_hot(torch.tensor(wanted), self._vocab_size).double()

    def reset(self) -> None:
        """Nothing is kept."""

    def keep(self, num_committed: int, path: Sequence[int]) -> None:
        """Nothing is kept."""


def test_a_text_is_written_as_if_it_were_the_lanes_first() -> None:
    """Three rounds of warm-up end inside a character of four bytes."""
    tokenizer = byte_tokenizer()
    ids = tokenizer.encode("🦊x🦊x")
    assert len(ids) == 10
    decoder = build(BASELINE)
    decoder._target = Reciting(ids, len(tokenizer))  # type: ignore[assignment]

    def texts_of(num_rounds: int) -> list[str]:
        decoder.prefill(range(5, 5 + NUM_PROMPT))
        return [token.text for _ in range(num_rounds) for token in decoder.step().emitted]

    assert texts_of(3) == ["", "", ""]
    assert texts_of(len(ids)) == ["", "", "", "🦊", "x"] * 2
