"""Trace JSON: an exact round trip, a stored file that loads, refusals that name the place."""

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from traces import ENVIRONMENT, chain, drafted, emitted, lane, plain, small_race, trace

from specviz.errors import RequestError, TraceFormatError
from specviz.trace import files
from specviz.trace.metrics import race_metrics
from specviz.trace.values import (
    DraftToken,
    EmittedToken,
    Environment,
    LaneSpec,
    Method,
    Outcome,
    Round,
    Sampling,
    Source,
    StopReason,
    TopToken,
    Trace,
)
from specviz.trace.verdict import race_verdicts

FIXTURE = Path(__file__).parents[1] / "fixtures" / "trace_v1.json"

texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=6)
ids = st.integers(0, 2**31)
millis = st.floats(0, 1e9)
chances = st.floats(0, 1)
maybe = st.none() | chances
tops = st.lists(st.builds(TopToken, ids, texts, chances), max_size=3).map(tuple)
samplings = st.builds(Sampling, millis, ids, chances, st.integers(-(2**63), 2**64 - 1))
environments = st.builds(
    Environment, texts, texts, texts, ids, texts, texts, texts, texts, st.floats(0, 10)
)
specs = st.builds(
    LaneSpec, texts, st.sampled_from(Method), texts, st.none() | texts, ids, st.none() | ids, ids
)


@st.composite
def rounds(draw: st.DrawFn) -> Round:
    """A chain of any length, accepted as far as any place."""
    draft_ids = draw(st.lists(ids, max_size=4))
    num_accepted = draw(st.integers(0, len(draft_ids)))
    is_cut = num_accepted > 0 and draw(st.booleans())
    shape = chain(draft_ids, num_accepted, None if is_cut else draw(ids))
    facts = st.fixed_dictionaries(
        {"draft_prob": maybe, "target_prob": maybe, "accept_prob": maybe, "draw": maybe}
        | {"overlap": maybe, "text": texts}
        | {name: tops for name in ("top_draft", "top_target", "top_residual")}
    )
    outputs = st.fixed_dictionaries(
        {"text": texts, "target_prob": maybe, "margin": st.none() | millis, "top_target": tops}
        | {"runner_up": st.none() | ids}
    )
    return replace(
        shape,
        drafted=tuple(replace(token, **draw(facts)) for token in shape.drafted),
        emitted=tuple(replace(token, **draw(outputs)) for token in shape.emitted),
        draft_ms=draw(millis),
        verify_ms=draw(millis),
        other_ms=draw(millis),
    )


@st.composite
def traces_of_any_kind(draw: st.DrawFn) -> Trace:
    """One to four lanes of such rounds."""
    lanes = []
    for _ in range(draw(st.integers(1, 4))):
        reason = draw(st.sampled_from(StopReason))
        error = draw(texts) if reason is StopReason.ERROR else None
        made = lane(draw(st.lists(rounds(), max_size=3)), stop_reason=reason, error=error)
        lanes.append(replace(made, spec=draw(specs), prefill_ms=draw(millis)))
    request = replace(
        trace().request,
        prompt=draw(texts),
        prompt_ids=tuple(draw(st.lists(ids, max_size=4))),
        sampling=draw(samplings),
        prompt_log_prob=draw(st.none() | st.floats(-1e6, 0)),
    )
    return Trace(request, draw(environments), tuple(lanes))


@settings(max_examples=60, deadline=None)
@given(traces_of_any_kind())
def test_what_is_written_is_read_back_exactly(race: Trace) -> None:
    assert files.from_json(files.to_json(race)) == race
    assert files.loads(files.dumps(race)) == race
    assert files.loads(files.dumps(race).encode()) == race


def test_keys_are_the_fields_and_nothing_else() -> None:
    content = files.to_json(small_race())
    assert list(content) == ["schema_version", "request", "environment", "lanes"]
    assert list(content["lanes"][0]) == [
        "spec",
        "prefill_ms",
        "rounds",
        "stop_reason",
        "error",
    ]
    round_ = content["lanes"][1]["rounds"][1]
    assert set(round_) == {
        *("index", "position", "gamma", "drafted", "emitted"),
        *("draft_ms", "verify_ms", "other_ms"),
    }
    assert round_["drafted"][1]["outcome"] == "rejected"
    assert round_["drafted"][1]["top_draft"] == [[90, " t90", 0.5], [7, " t7", 0.25]]
    assert round_["emitted"][-1]["source"] == "correction"


def test_the_stored_v1_file_loads_and_says_what_it_always_said() -> None:
    race = files.read_trace(FIXTURE)
    assert race == small_race()
    assert files.from_json(files.to_json(race)) == race
    metrics = race_metrics(race)[1]
    assert (metrics.num_drafted, metrics.num_accepted, metrics.num_rejected) == (7, 5, 1)
    assert metrics.alpha == pytest.approx(5 / 6)
    assert metrics.tau == pytest.approx(8 / 3)
    assert metrics.speedup == pytest.approx(80 / 44)
    verdict = race_verdicts(race)[1]
    assert verdict is not None
    assert verdict.agreement == "identical"


def test_files_of_every_earlier_version_load_without_what_came_later() -> None:
    content = files.to_json(small_race())
    del content["request"]["prompt_log_prob"]
    assert files.from_json(content | {"schema_version": 2}) == small_race()
    for path in sorted((FIXTURE.parents[2] / "assets" / "traces").glob("*.json")):
        assert files.read_trace(path).lanes


@pytest.mark.parametrize(
    ("stored", "kept"),
    [
        ("target alone", None),
        ("baseline", None),
        ("baseline 2", None),
        ("target alone (γ 2, #1)", None),
        ("my own", "my own"),
        ("target + draft model", "target + draft model"),
        ("target alone and more", "target alone and more"),
    ],
)
def test_a_name_that_version_1_derived_is_derived_again(stored: str, kept: str | None) -> None:
    content = json.loads(FIXTURE.read_text(encoding="utf-8"))
    content["lanes"][0]["name"] = content["lanes"][0]["spec"]["name"] = stored
    assert files.from_json(content).lanes[0].spec.name == kept


@pytest.mark.parametrize("lanes", [None, 7, [7], [{}], [{"name": 1, "spec": 2}], [{"spec": {}}]])
def test_a_version_1_of_another_form_is_refused_as_any_other(lanes: object) -> None:
    content = json.loads(FIXTURE.read_text(encoding="utf-8")) | {"lanes": lanes}
    with pytest.raises(TraceFormatError):
        files.from_json(content)


def test_emitted_ids_concatenate_to_the_output() -> None:
    for lane_ in files.read_trace(FIXTURE).lanes:
        assert [token.id for token in lane_.emitted] == [10, 11, 12, 13, 14, 15, 16, 17]


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
        (_set("schema_version", 4), "schema_version must be 1 to 3, is 4"),
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


def test_a_tree_with_rejected_siblings_is_fine() -> None:
    tree = replace(
        chain((1,), 1, 9),
        drafted=(
            drafted(1, Outcome.REJECTED),
            drafted(2, Outcome.ACCEPTED),
            drafted(3, Outcome.DISCARDED),
            drafted(4, Outcome.REJECTED, 1),
        ),
        emitted=(emitted(2, Source.DRAFT), emitted(9, Source.CORRECTION)),
    )
    race = trace(lane([tree]))
    assert files.loads(files.dumps(race)) == race


def test_rounding_just_above_one_is_a_probability() -> None:
    token = replace(chain((1,), 1, 2).drafted[0], target_prob=1.0000005)
    race = trace(lane([replace(chain((1,), 1, 2), drafted=(token,))]))
    assert files.loads(files.dumps(race)) == race


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


def test_files_are_written_and_read(tmp_path: Path) -> None:
    path = tmp_path / "race.json"
    files.write_trace(small_race(), path)
    assert files.read_trace(path) == small_race()


def test_files_that_cannot_be_used_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(TraceFormatError, match=r"none\.json: it cannot be read: No such file"):
        files.read_trace(tmp_path / "none.json")
    with pytest.raises(TraceFormatError, match="cannot be read"):
        files.read_trace(tmp_path)
    with pytest.raises(RequestError, match="cannot write"):
        files.write_trace(small_race(), tmp_path / "none" / "race.json")
    path = tmp_path / "race.json"
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(
        TraceFormatError, match=r"race\.json: this is not a specviz race: it has no schema_version"
    ):
        files.read_trace(path)
    monkeypatch.setattr(files, "MAX_BYTES", 100)
    path.write_text("[" * 101, encoding="utf-8")
    with pytest.raises(TraceFormatError, match="it holds more than the"):
        files.read_trace(path)
    with pytest.raises(RequestError, match="race fewer tokens"):
        files.write_trace(small_race(), path)


def test_every_field_of_a_token_is_in_the_file() -> None:
    content = files.to_json(small_race())["lanes"][1]["rounds"][0]
    assert list(content["drafted"][0]) == list(DraftToken.__dataclass_fields__)
    assert list(content["emitted"][0]) == list(EmittedToken.__dataclass_fields__)


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
        (None, "None"),
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
    assert str(caught.value) == f"lanes[1].stop_reason must be one of {choices}, is {shown}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("null", "this is not a specviz race: it is null, not an object"),
        ("[1]", "this is not a specviz race: it is a list, not an object"),
        ("{", "this is not a specviz race: it is not JSON: Expecting"),
    ],
)
def test_text_that_holds_no_object_is_named(text: str, message: str) -> None:
    with pytest.raises(TraceFormatError) as caught:
        files.loads(text)
    assert str(caught.value).startswith(message)


def test_a_file_may_be_as_long_as_the_limit_and_no_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, size = tmp_path / "race.json", len(files.dumps(small_race()).encode())
    monkeypatch.setattr(files, "MAX_BYTES", size)
    files.write_trace(small_race(), path)
    assert files.read_trace(path) == small_race()
    monkeypatch.setattr(files, "MAX_BYTES", size - 1)
    with pytest.raises(TraceFormatError, match="holds more than"):
        files.read_trace(path)
    with pytest.raises(RequestError, match="race fewer tokens"):
        files.write_trace(small_race(), path)
