"""Targets that were taught to answer get the prompt as a turn of a conversation."""

from dataclasses import replace
from typing import Any

import pytest
from test_lanes import FakePool, llama
from tiny_models import byte_tokenizer, random_model
from transformers import LlamaConfig, PreTrainedTokenizerFast

from specviz.errors import PromptError
from specviz.models.loading import LoadedModel
from specviz.race.lanes import encode_prompt
from specviz.race.wiring import make_start_race
from specviz.trace.values import LaneSpec, Method, RaceRequest, RaceStarted

TEMPLATE = (
    "{% for turn in messages %}[{{ turn.role }}] {{ turn.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}[assistant] {% if not enable_thinking %}(at once) {% endif %}"
    "{% endif %}"
)
BASELINE = LaneSpec(None, Method.BASELINE, "target")
REQUEST = RaceRequest("a fox", (BASELINE, LaneSpec(None, Method.PROMPT_LOOKUP, "target", gamma=4)))


def target(template: str | None) -> LoadedModel:
    own = byte_tokenizer()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=own.backend_tokenizer, eos_token="<|end|>", chat_template=template
    )
    config = LlamaConfig(
        vocab_size=300,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=128,
    )
    return LoadedModel("target", random_model(config), tokenizer, frozenset())


def decoded(loaded: LoadedModel, request: RaceRequest) -> str:
    text: Any = loaded.tokenizer.decode(encode_prompt(request, loaded))
    return str(text)


def test_a_template_is_used_where_there_is_one() -> None:
    found = decoded(target(TEMPLATE), REQUEST)
    assert found == "[user] a fox\n[assistant] (at once) "


def test_the_bare_prompt_is_given_where_that_is_asked_for() -> None:
    assert decoded(target(TEMPLATE), replace(REQUEST, uses_chat=False)) == "a fox"


def test_without_a_template_the_prompt_stays_as_it_is() -> None:
    assert decoded(target(None), REQUEST) == "a fox"


def test_a_template_that_refuses_says_so() -> None:
    strict = "{{ raise_exception('only poems') }}"
    with pytest.raises(PromptError, match=r"only poems.*--no-chat"):
        encode_prompt(REQUEST, target(strict))


@pytest.mark.parametrize(
    ("template", "wish", "was_turn"),
    [(TEMPLATE, True, True), (TEMPLATE, False, False), (None, True, False)],
)
def test_a_trace_says_whether_its_prompt_was_a_turn(
    template: str | None, wish: bool, was_turn: bool
) -> None:
    pool = FakePool(target=llama()).with_tokenizer("target", target(template).tokenizer)
    asked = replace(REQUEST, uses_chat=wish, max_new_tokens=2)
    started = next(
        event
        for event in make_start_race(pool)(asked)  # type: ignore[arg-type]
        if isinstance(event, RaceStarted)
    )
    assert started.request.uses_chat is was_turn
    assert started.request.prompt == "a fox"
