"""Which texts a target is to write, and what both models of a pair can read."""

import copy

import pytest
import torch
from tiny_models import CONFIGS, byte_tokenizer, random_model

from specviz.distill.texts import (
    SharedLimits,
    encode_prompts,
    plan_held_out,
    plan_jobs,
    shared_limits,
)
from specviz.errors import IncompatibleModelError, RequestError
from specviz.models.loading import LoadedModel


def loaded(rows: int = 300) -> LoadedModel:
    config = CONFIGS["llama"]()
    config.vocab_size = rows
    model = random_model(config, dtype=torch.float64)
    return LoadedModel("llama", model, byte_tokenizer(), frozenset())


def test_half_of_the_texts_are_sampled_at_one() -> None:
    encoded = {0: (1, 2, 3), 1: (1,), 4: (1, 2)}
    jobs = plan_jobs(encoded, range(6), 20, context=22)
    assert [len(job.ids) for job in jobs] == [1] * 6 + [2] * 6 + [3] * 6
    assert sorted(job.temperature for job in jobs if job.prompt == 4) == [0, 0.7, 0.7, 1, 1, 1]
    assert {(job.prompt, job.num_new) for job in jobs} == {(0, 19), (1, 20), (4, 20)}
    held_out = plan_held_out(encoded, 20, context=100)
    assert {job.prompt: job.temperature for job in held_out} == {0: 1.0, 1: 0.0, 4: 1.0}


def test_prompts_without_room_are_left_out() -> None:
    target = loaded()
    limits = SharedLimits(vocab_size=300, context=30)
    encoded = encode_prompts(["a fox", "x" * 40, "the fox"], target, limits, uses_chat=False)
    assert list(encoded) == [0, 2]
    assert list(encoded[0]) == target.tokenizer("a fox")["input_ids"]
    with pytest.raises(RequestError, match=r"no prompt leaves room to write: .* at most 30 tokens"):
        encode_prompts(["x" * 40], target, limits, uses_chat=False)
    last = max(encoded[2])
    low = SharedLimits(vocab_size=last, context=30)
    assert 2 not in encode_prompts(["\t", "a fox", "the fox"], target, low, uses_chat=False)


def test_a_chat_template_is_put_around_prompts_where_there_is_one() -> None:
    limits = SharedLimits(300, 128)
    plain = loaded()
    with pytest.raises(RequestError, match="llama has no chat template; leave out --chat"):
        encode_prompts(["a"], plain, limits, uses_chat=True)
    chatty = copy.deepcopy(plain.tokenizer)
    chatty.chat_template = "<{{ messages[0].content }}>{% if add_generation_prompt %}!{% endif %}"
    target = LoadedModel("chatty", plain.model, chatty, frozenset())
    encoded = encode_prompts(["a fox"], target, limits, uses_chat=True)
    assert chatty.decode(list(encoded[0])) == "<a fox>!"


def test_the_smaller_of_both_vocabularies_and_contexts_counts() -> None:
    short = loaded(rows=320)
    short.model.config.max_position_embeddings = 64
    assert shared_limits(loaded(rows=304), short) == SharedLimits(300, 64)
    assert shared_limits(loaded(rows=299), short) == SharedLimits(299, 64)
    with pytest.raises(IncompatibleModelError, match="an output layer of 48 rows for a tokenizer"):
        shared_limits(loaded(), loaded(rows=48))
