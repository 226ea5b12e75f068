"""Nothing beyond the limits gets past the form, whatever a browser sends."""

import json
from dataclasses import replace
from typing import Any

import pytest
from fake_race import OPTIONS

from specviz.errors import RequestError
from specviz.trace.names import lane_names
from specviz.trace.values import Method, Rule, Schedule, Tree
from specviz.ui.options import PageOptions
from specviz.ui.pair_option import PairOption
from specviz.ui.request_form import (
    MAX_LANES_CHARS,
    FormValues,
    build_request,
    request_from_form,
)
from specviz.ui.strings import PageError, read_table

GOOD = FormValues(
    prompt="Once upon a time",
    lanes='[{"method": "draft-model", "draft": "fake-draft", "gamma": 5}]',
    temperature=0.8,
    top_k=40,
    top_p=0.9,
    seed=7,
    max_new_tokens=64,
    uses_chat=True,
)
LANE = {"method": "draft-model", "target": "fake-target", "draft": "fake-draft", "gamma": 5}


def test_the_form_becomes_a_baseline_and_one_lane() -> None:
    request = request_from_form(GOOD, OPTIONS)
    assert [lane.method for lane in request.lanes] == [Method.BASELINE, Method.DRAFT_MODEL]
    assert request.lanes[1].draft == "fake-draft"
    assert request.lanes[1].gamma == 5
    assert request.sampling.top_k == 40
    assert request.max_new_tokens == 64
    assert request.uses_chat
    assert not request_from_form(replace(GOOD, uses_chat=False), OPTIONS).uses_chat


def test_the_form_may_ask_for_three_lanes_of_different_kinds() -> None:
    lanes = [
        LANE,
        {"method": "prompt-lookup", "gamma": 8, "max_ngram": 3},
        {"method": "early-exit", "gamma": 2, "exit_layer": 8},
    ]
    _, _, lookup, early = request_from_form(replace(GOOD, lanes=json.dumps(lanes)), OPTIONS).lanes
    assert (lookup.draft, lookup.gamma, lookup.max_ngram) == (None, 8, 3)
    assert (early.exit_layer, early.gamma) == (8, 2)


def test_a_lane_takes_the_first_draft_and_the_first_exit_of_the_menu() -> None:
    lanes = [{"method": "draft-model", "gamma": 4}, {"method": "early-exit", "gamma": 4}]
    request = build_request("Hi", lanes, None, 8, OPTIONS)
    assert request.lanes[1].draft == "fake-draft"
    assert request.lanes[2].exit_layer == 4


FORGED: list[tuple[str, Any]] = [
    ("prompt", ""),
    ("prompt", " \n\t"),
    ("prompt", None),
    ("prompt", 7),
    ("prompt", ["x"]),
    ("prompt", "x" * 2_001),
    *(("uses_chat", value) for value in (None, "true", 1, 0.0)),
    ("lanes", None),
    ("lanes", [LANE]),
    ("lanes", ""),
    ("lanes", "draft-model"),
    ("lanes", '"draft-model"'),
    ("lanes", "[}"),
    ("lanes", "[" * 2_000),
    ("lanes", "{}"),
    ("lanes", "[]"),
    ("lanes", "[7]"),
    ("lanes", json.dumps([LANE]) + " " * MAX_LANES_CHARS),
    ("lanes", json.dumps([LANE] * 4)),
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
    with pytest.raises(PageError) as refusal:
        request_from_form(replace(GOOD, **{field: value}), OPTIONS)
    assert 10 < len(str(refusal.value)) < 250


FORGED_IN_A_LANE: list[tuple[str, Any]] = [
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
    ("max_ngram", 1),
    ("max_ngram", 17),
    ("name", ""),
    ("name", "x" * 61),
    ("name", None),
    ("trust_remote_code", True),
]


@pytest.mark.parametrize(("field", "value"), FORGED_IN_A_LANE)
def test_a_forged_value_in_a_lane_is_refused_in_one_sentence(field: str, value: object) -> None:
    lanes = json.dumps([LANE | {field: value}])
    with pytest.raises(PageError) as refusal:
        request_from_form(replace(GOOD, lanes=lanes), OPTIONS)
    assert 10 < len(str(refusal.value)) < 250


@pytest.mark.parametrize("layer", [5, 0, "8", 10**9])
def test_an_exit_that_the_target_does_not_declare_is_refused(layer: object) -> None:
    lane = {"method": "early-exit", "gamma": 4, "exit_layer": layer}
    with pytest.raises(PageError, match=r"layer|exit_layer"):
        build_request("Hi", [lane], None, 8, OPTIONS)


def test_a_target_that_declares_no_exit_leaves_at_its_usual_one() -> None:
    pair = PairOption("some/target", (), (Method.EARLY_EXIT,))
    options = PageOptions((pair,), "cpu", "float32")
    request = build_request("Hi", [{"method": "early-exit", "gamma": 4}], None, 8, options)
    assert request.lanes[1].exit_layer is None


def test_a_refusal_is_a_text_of_the_table_with_its_values() -> None:
    with pytest.raises(PageError) as refusal:
        build_request("Hi", [LANE | {"gamma": 40}], None, 8, OPTIONS)
    assert refusal.value.text["id"] in read_table("en")
    assert str(refusal.value) == "gamma must be a whole number from 1 to 16, got 40."


def test_lanes_without_names_are_told_apart_by_what_differs() -> None:
    lanes = [LANE, LANE | {"gamma": 8}, LANE | {"draft": "fake-draft-small"}]
    request = build_request("Hi", lanes, None, 8, OPTIONS)
    assert [lane.name for lane in request.lanes] == [None] * 4
    assert lane_names(request.lanes) == (
        "target alone",
        "target + draft model (fake-draft, γ 5)",
        "target + draft model (fake-draft, γ 8)",
        "target + draft model (fake-draft-small, γ 5)",
    )


def test_two_lanes_may_not_be_given_the_same_name() -> None:
    lanes = [LANE | {"name": "mine"}, LANE | {"name": "mine", "gamma": 8}]
    with pytest.raises(PageError, match="called mine"):
        build_request("Hi", lanes, None, 8, OPTIONS)


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


def test_a_lane_may_choose_its_draft_lengths() -> None:
    lane = {"method": "draft-model", "gamma": 8}
    for asked, expected in (
        ({}, (Schedule.FIXED, 0.4)),
        ({"schedule": "auto"}, (Schedule.COST_AWARE, 0.4)),
        ({"schedule": "confidence", "confidence": 0.3}, (Schedule.CONFIDENCE, 0.3)),
    ):
        spec = build_request("Hello", [lane | asked], None, 8, OPTIONS).lanes[1]
        assert (spec.schedule, spec.confidence) == expected
    with pytest.raises(RequestError, match="one of fixed, heuristic, confidence, auto, found 'x'"):
        build_request("Hello", [lane | {"schedule": "x"}], None, 8, OPTIONS)
    with pytest.raises(RequestError, match="confidence"):
        build_request("Hello", [lane | {"confidence": 1.5}], None, 8, OPTIONS)


def test_a_lane_may_guess_trees() -> None:
    lane = {"method": "draft-model", "gamma": 5}
    for asked, expected in (
        ({}, (Tree.NONE, 0, 0)),
        ({"tree": "none", "branches": 0, "budget": 0}, (Tree.NONE, 0, 0)),
        ({"tree": "static"}, (Tree.STATIC, 4, 24)),
        ({"tree": "dynamic", "branches": 2, "budget": 64}, (Tree.DYNAMIC, 2, 64)),
    ):
        spec = build_request("Hello", [lane | asked], None, 8, OPTIONS).lanes[1]
        assert (spec.tree, spec.branches, spec.budget) == expected
    with pytest.raises(RequestError, match="tree must be one of none, static, dynamic, found 'x'"):
        build_request("Hello", [lane | {"tree": "x"}], None, 8, OPTIONS)
    for beyond in ({"branches": 11}, {"branches": 1}, {"budget": 65}, {"budget": "many"}):
        with pytest.raises(RequestError, match=next(iter(beyond))):
            build_request("Hello", [lane | {"tree": "static"} | beyond], None, 8, OPTIONS)


def test_a_lane_may_be_broken_by_a_rule_that_there_is() -> None:
    lane = {"method": "draft-model", "gamma": 4, "rule": "no-renormalise"}
    request = build_request("Hello", [lane], None, 8, OPTIONS)
    assert request.lanes[1].rule is Rule.NO_RENORMALISE
    with pytest.raises(RequestError, match="rule must be one of right, "):
        build_request("Hello", [lane | {"rule": "mine"}], None, 8, OPTIONS)


def test_a_lane_may_have_coins_flipped() -> None:
    lane = {"method": "draft-model", "gamma": 4, "flipped_coins": [7, 30]}
    request = build_request("Hello", [lane], {"temperature": 1}, 8, OPTIONS)
    assert request.lanes[1].flipped_coins == (7, 30)
    with pytest.raises(RequestError, match="flipped_coins must be a whole number"):
        build_request("Hello", [lane | {"flipped_coins": [-1]}], None, 8, OPTIONS)


HEADED = replace(
    OPTIONS,
    pairs=(PairOption("fake-target", (), (Method.EAGLE3,), heads=("own-head", "org/other")),),
    hub=None,
)


def test_a_lane_takes_a_head_of_its_target_and_how_it_is_read() -> None:
    lanes = [
        {"method": "eagle3", "gamma": 4},
        {"method": "eagle3", "gamma": 4, "head": "org/other", "head_reading": " double-norm "},
    ]
    _, first, second = build_request("Hi", lanes, None, 8, HEADED).lanes
    assert (first.head, first.head_reading) == ("own-head", None)
    assert (second.head, second.head_reading) == ("org/other", "double-norm")


@pytest.mark.parametrize(
    ("lane", "problem"),
    [
        ({"method": "eagle3", "head": "nobody"}, "Unknown head"),
        ({"method": "eagle3", "head": 3}, "Unknown head"),
        ({"method": "eagle3", "head_reading": "upside down"}, "a head can be read as stated"),
    ],
)
def test_heads_that_are_not_offered_are_refused(lane: dict[str, Any], problem: str) -> None:
    with pytest.raises(RequestError, match=problem):
        build_request("Hi", [{"gamma": 4, **lane}], None, 8, HEADED)


def test_other_methods_take_no_head() -> None:
    with pytest.raises(RequestError, match="takes no head"):
        build_request("Hi", [{**LANE, "head": "own-head"}], None, 8, OPTIONS)
