"""Trace JSON that does not fit is refused, and what is wrong is named by its path."""

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from traces import ENVIRONMENT, lane, plain, small_race, trace

from specviz.errors import TraceFormatError
from specviz.trace import files
from specviz.trace.values import (
    StopReason,
)

FIXTURE = Path(__file__).parents[1] / "fixtures" / "trace_v1.json"


@pytest.mark.parametrize("lanes", [None, 7, [7], [{}], [{"name": 1, "spec": 2}], [{"spec": {}}]])
def test_a_version_1_of_another_form_is_refused_as_any_other(lanes: object) -> None:
    content = json.loads(FIXTURE.read_text(encoding="utf-8")) | {"lanes": lanes}
    with pytest.raises(TraceFormatError):
        files.from_json(content)


Change = Callable[[dict[str, Any]], object]


def _set(path: str, value: object) -> Change:
    def change(content: dict[str, Any]) -> None:
        *parents, last = path.split("/")
        part: Any = content
        for key in parents:
            part = part[int(key)] if isinstance(part, list) else part[key]
        part[int(last) if isinstance(part, list) else last] = value

    return change


ROUND = "lanes/1/rounds/1"


DRAFT = f"{ROUND}/drafted/0"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_set("schema_version", 8), "saved by a newer specviz (schema_version 8, and this"),
        (_set("schema_version", 0), "race: schema_version must be 1 to 7, is 0"),
        (_set("schema_version", True), "schema_version must be 1"),
        (lambda c: c.pop("schema_version"), "this is not a specviz race: it has no schema_version"),
        (_set("surprise", 1), "surprise is not a key"),
        (_set(f"{DRAFT}/tempo", 1), "lanes[1].rounds[1].drafted[0].tempo is not a key"),
        (lambda c: c["lanes"][0].pop("error"), "lanes[0].error is missing"),
        (
            _set(f"{ROUND}/emitted/0/runner_up", -1),
            "lanes[1].rounds[1].emitted[0].runner_up must be 0 to",
        ),
        (_set("lanes", []), "lanes must hold 1 to 4 lanes, holds 0"),
        (_set("lanes", {}), "lanes must be a list, is an object"),
        (_set("request/prompt", 3), "request.prompt must be a text, is an integer"),
        (_set("request/prompt", "\ud83d"), "request.prompt holds half of a surrogate pair"),
        (_set("request/prompt_ids/0", -1), "request.prompt_ids[0] must be 0 to"),
        (_set("request/prompt_ids/0", 1.0), "request.prompt_ids[0] must be an integer, is a num"),
        (_set("request/max_new_tokens", True), "request.max_new_tokens must be an integer, is tr"),
        (_set("request/max_new_tokens", 7), "lanes[0] emits 8 tokens where max_new_tokens is 7"),
        (_set("request/sampling/top_p", 1.5), "request.sampling.top_p must be 0 to 1, is 1.5"),
        (_set("request/sampling", None), "request.sampling must be an object, is null"),
        (
            _set("environment/logit_noise", float("nan")),
            "environment.logit_noise must be a finite",
        ),
        (_set("lanes/1/prefill_ms", -1.0), "lanes[1].prefill_ms must be 0 or more, is -1.0"),
        (_set("lanes/1/prefill_ms", float("inf")), "lanes[1].prefill_ms must be a finite number"),
        (_set("lanes/1/prefill_ms", False), "lanes[1].prefill_ms must be a number, is true or"),
        (_set("lanes/1/prefill_ms", 10**400), "lanes[1].prefill_ms must be a number"),
        (_set("lanes/1/spec/method", "magic"), "lanes[1].spec.method must be one of baseline, d"),
        (_set("lanes/1/spec/gamma", 2**70), "lanes[1].spec.gamma must be 0 to"),
        (_set("lanes/1/stop_reason", ["eos"]), "lanes[1].stop_reason must be one of eos, length"),
        (_set("lanes/1/stop_reason", "error"), "lanes[1].error must be a sentence if"),
        (_set("lanes/1/error", "oh"), "lanes[1].error must be a sentence if"),
        (_set(f"{ROUND}/index", 2), "lanes[1].rounds[1].index must be 1, is 2"),
        (_set(f"{ROUND}/position", 3), "lanes[1].rounds[1].position must be 4, is 3"),
        (_set(f"{DRAFT}/draw", 1.5), "lanes[1].rounds[1].drafted[0].draw must be 0 to 1, is 1.5"),
        (
            _set(f"{DRAFT}/draw", "0.5"),
            "lanes[1].rounds[1].drafted[0].draw must be a number, is a",
        ),
        (_set(f"{DRAFT}/target_prob", 1.1), "lanes[1].rounds[1].drafted[0].target_prob must be 0"),
        (
            _set(f"{DRAFT}/parent", 0),
            "lanes[1].rounds[1].drafted[0].parent must be -1 to -1, is 0",
        ),
        (_set(f"{DRAFT}/parent", -2), "lanes[1].rounds[1].drafted[0].parent must be -1 to"),
        (_set(f"{DRAFT}/top_draft/0", [1, "a"]), "drafted[0].top_draft[0] must hold 3 entries"),
        (_set(f"{DRAFT}/top_draft/0/2", 2), "drafted[0].top_draft[0][2] must be 0 to 1, is 2.0"),
        (
            _set(f"{ROUND}/drafted/2/outcome", "accepted"),
            "lanes[1].rounds[1].drafted[2].outcome is accepted off the path",
        ),
        (
            _set(f"{DRAFT}/outcome", "rejected"),
            "lanes[1].rounds[1].emitted must hold the 0 accepted tokens and at most one more, hol",
        ),
        (_set(f"{ROUND}/emitted/0/id", 99), "rounds[1].emitted[0] must be the accepted token 14"),
        (
            _set(f"{ROUND}/emitted/0/source", "bonus"),
            "rounds[1].emitted[0] must be the accepted token 14",
        ),
        (
            _set(f"{ROUND}/emitted/1/source", "bonus"),
            "lanes[1].rounds[1].emitted[1].source must be correction, is bonus",
        ),
        (
            _set("lanes/0/rounds/0/emitted/0/source", "bonus"),
            "lanes[0].rounds[0].emitted[0].source must be target, is bonus",
        ),
        (
            _set(f"{ROUND}/drafted/1/outcome", "discarded"),
            "lanes[1].rounds[1].emitted[1].source must not be: nothing was judged here",
        ),
        (_set("lanes/0/rounds/0/emitted", []), "lanes[0].rounds[0].emitted must hold the 0 acc"),
    ],
)
def test_what_does_not_fit_is_refused_by_its_path(change: Change, message: str) -> None:
    content = copy.deepcopy(files.to_json(small_race()))
    change(content)
    with pytest.raises(TraceFormatError) as caught:
        files.from_json(content)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_numbers_that_are_none_are_never_written(value: float) -> None:
    broken = lane([replace(plain(1)[0], verify_ms=value)])
    with pytest.raises(TraceFormatError, match=r"lanes\[0\].rounds\[0\].verify_ms must be a fini"):
        files.dumps(trace(broken))


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\ud83d\ude00"])
def test_halves_of_surrogate_pairs_are_refused_both_ways(text: str) -> None:
    race = replace(small_race(), environment=replace(ENVIRONMENT, device_name=text))
    with pytest.raises(TraceFormatError, match="device_name holds half"):
        files.dumps(race)
    written = files.dumps(small_race()).replace('"a test"', '"\\ud800"')
    with pytest.raises(TraceFormatError, match="device_name holds half"):
        files.loads(written)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[" * 100_000, '{"schema_version": ' + "1" * 5000 + "}", b"\xff\xfe\x00", "null"],
)
def test_text_that_is_no_trace_is_refused(text: str | bytes) -> None:
    with pytest.raises(TraceFormatError, match="this is not a specviz race: it is "):
        files.loads(text)


def test_constants_outside_json_are_refused_by_their_path() -> None:
    text = files.dumps(small_race()).replace('"prefill_ms":5.0', '"prefill_ms":1e999', 1)
    with pytest.raises(TraceFormatError, match=r"lanes\[0\].prefill_ms must be a finite number"):
        files.loads(text)


@pytest.mark.parametrize(
    ("path", "most"),
    [
        *((f"{DRAFT}/{name}", 1.0 + 1e-6) for name in ("draft_prob", "target_prob", "accept_prob")),
        (f"{DRAFT}/draw", 1.0 + 1e-6),
        (f"{DRAFT}/top_draft/0/2", 1.0 + 1e-6),
        (f"{DRAFT}/overlap", 1.0 + 1e-4),
        ("request/sampling/top_p", 1.0 + 1e-6),
    ],
)
def test_a_probability_may_pass_one_by_rounding_and_no_more(path: str, most: float) -> None:
    content = files.to_json(small_race())
    _set(path, most)(content)
    files.from_json(content)
    _set(path, most + 1e-7)(content)
    with pytest.raises(TraceFormatError, match="must be 0 to 1, is 1"):
        files.from_json(content)


@pytest.mark.parametrize(
    ("path", "least", "most"),
    [
        ("request/prompt_ids/0", 0, 2**64 - 1),
        ("request/sampling/top_k", 0, 2**64 - 1),
        ("request/sampling/seed", -(2**63), 2**64 - 1),
    ],
)
def test_integers_have_a_least_and_a_most(path: str, least: int, most: int) -> None:
    content = files.to_json(small_race())
    for fine in (least, most):
        _set(path, fine)(content)
        files.from_json(content)
    for off in (least - 1, most + 1):
        _set(path, off)(content)
        with pytest.raises(TraceFormatError, match=f"must be {least} to {most}, is "):
            files.from_json(content)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("m" * 38, f"'{'m' * 38}'"),
        ("m" * 39, f"'{'m' * 39}…"),
        ("m" * 10_000, f"'{'m' * 39}…"),
        (["eos"], "a list"),
        ({"a": 1}, "an object"),
        (None, "null"),
        (2.5, "2.5"),
        (True, "true or false"),
        (7, "7"),
        (10**5000, "an integer"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_message_quotes_a_value_only_while_it_is_short(value: object, shown: str) -> None:
    content = files.to_json(small_race())
    _set("lanes/1/stop_reason", value)(content)
    with pytest.raises(TraceFormatError) as caught:
        files.from_json(content)
    choices = ", ".join(StopReason)
    assert f": lanes[1].stop_reason must be one of {choices}, is {shown}; take" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("null", "this is not a specviz race: it is null, not an object"),
        ("[1]", "this is not a specviz race: it is a list, not an object"),
        (" \n", "this is not a specviz race: it is empty; take a file that"),
        ("{", "this is not a specviz race: it is JSON that was cut short"),
        ('{"a": "b', "this is not a specviz race: it is JSON that was cut short"),
        ("a: 1", "this is not a specviz race: it is not JSON, from line 1, column 1 on; take"),
        ("[" * 100_000, "this is not a specviz race: it is nested too deep"),
        (b"\xff\xfe\x00", "this is not a specviz race: it is not JSON in UTF-8"),
    ],
)
def test_text_that_holds_no_object_is_named(text: str, message: str) -> None:
    with pytest.raises(TraceFormatError) as caught:
        files.loads(text)
    assert str(caught.value).startswith(message)
