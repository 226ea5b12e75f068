"""Nothing beyond the limits gets past the form, whatever a browser sends."""

from dataclasses import replace
from typing import Any

import pytest
from fake_race import OPTIONS

from specviz.errors import RequestError
from specviz.trace import Method
from specviz.ui.request_form import FormValues, build_request, request_from_form

GOOD = FormValues(
    prompt="Once upon a time",
    target="fake-target",
    method="draft-model",
    draft="fake-draft",
    gamma=5,
    temperature=0.8,
    top_k=40,
    top_p=0.9,
    seed=7,
    max_new_tokens=64,
)


def test_the_form_becomes_a_baseline_and_one_lane() -> None:
    request = request_from_form(GOOD, OPTIONS)
    assert [lane.method for lane in request.lanes] == [Method.BASELINE, Method.DRAFT_MODEL]
    assert request.lanes[1].draft == "fake-draft"
    assert request.lanes[1].gamma == 5
    assert request.sampling.top_k == 40
    assert request.max_new_tokens == 64


def test_a_method_without_a_draft_model_ignores_the_hidden_choice() -> None:
    request = request_from_form(replace(GOOD, method="prompt-lookup"), OPTIONS)
    assert request.lanes[1].draft is None


FORGED: list[tuple[str, Any]] = [
    ("prompt", ""),
    ("prompt", " \n\t"),
    ("prompt", None),
    ("prompt", 7),
    ("prompt", ["x"]),
    ("prompt", "x" * 2_001),
    ("target", "/etc"),
    ("target", "../x"),
    ("target", "org/name@main"),
    ("target", "fake-target\n"),
    ("target", None),
    ("method", "baseline;drop"),
    ("method", None),
    ("method", ["draft-model"]),
    ("draft", "someone/else"),
    ("draft", 1),
    ("gamma", 0),
    ("gamma", 17),
    ("gamma", 2.5),
    ("gamma", "5"),
    ("gamma", True),
    ("gamma", None),
    ("gamma", float("nan")),
    ("gamma", 10**400),
    ("temperature", -0.1),
    ("temperature", float("inf")),
    ("temperature", float("nan")),
    ("temperature", "hot"),
    ("top_k", -1),
    ("top_k", 1e300),
    ("top_p", 0),
    ("top_p", 1.1),
    ("seed", -1),
    ("seed", 2**40),
    ("seed", 1.5),
    ("max_new_tokens", 0),
    ("max_new_tokens", 193),
    ("max_new_tokens", {}),
]


@pytest.mark.parametrize(("field", "value"), FORGED)
def test_a_forged_value_is_refused_in_one_sentence(field: str, value: object) -> None:
    with pytest.raises(RequestError) as refusal:
        request_from_form(replace(GOOD, **{field: value}), OPTIONS)
    assert 10 < len(str(refusal.value)) < 250


def test_the_longest_prompt_allowed_is_allowed() -> None:
    assert request_from_form(replace(GOOD, prompt="x" * 2_000), OPTIONS)


def test_a_program_may_leave_out_the_baseline_and_the_sampling() -> None:
    request = build_request("Hi", [{"method": "draft-model", "gamma": 4}], None, 8, OPTIONS)
    assert request.lanes[0].method is Method.BASELINE
    assert request.lanes[1].draft == "fake-draft"
    assert request.sampling.temperature == 0.0


@pytest.mark.parametrize(
    "lanes",
    [
        None,
        "draft-model",
        [],
        [{"method": "baseline"}],
        [{"method": "draft-model", "gamma": 4}] * 4,
        [{"method": "draft-model", "gamma": 4, "trust_remote_code": True}],
        [{"method": "prompt-lookup", "gamma": 4, "draft": "fake-draft"}],
        [{"method": "draft-model", "gamma": 4, "name": "x" * 61}],
        [{"method": "draft-model"}],
        [7],
    ],
)
def test_a_program_gets_no_further_than_a_page(lanes: object) -> None:
    with pytest.raises(RequestError):
        build_request("Hi", lanes, {}, 8, OPTIONS)
