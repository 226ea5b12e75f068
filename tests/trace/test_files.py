"""Trace JSON: an exact round trip, a stored file that loads, files that are written and read."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from traces import chain, drafted, emitted, lane, small_race, trace

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
    assert {lane["spec"].pop("rule") for lane in content["lanes"]} == {"right"}
    assert files.from_json(content | {"schema_version": 4}) == small_race()
    for added in ("form", "form_reason"):
        del content["environment"][added]
    assert files.from_json(content | {"schema_version": 3}) == small_race()
    for each, coin in zip(content["lanes"], (None, 12), strict=True):
        assert each["spec"].pop("flipped_coins") == []
        each["spec"]["flipped_coin"] = coin
    specs = [lane.spec for lane in files.from_json(content | {"schema_version": 6}).lanes]
    assert [spec.flipped_coins for spec in specs] == [(), (12,)]
    for each in content["lanes"]:
        del each["spec"]["flipped_coin"]
    del content["request"]["uses_chat"]
    assert files.from_json(content | {"schema_version": 4}) == small_race()
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


def test_emitted_ids_concatenate_to_the_output() -> None:
    for lane_ in files.read_trace(FIXTURE).lanes:
        assert [token.id for token in lane_.emitted] == [10, 11, 12, 13, 14, 15, 16, 17]


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
