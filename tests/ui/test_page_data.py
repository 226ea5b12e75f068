"""The lessons are given what they race and quote."""

import re
from dataclasses import replace

import pytest
from fake_race import ENVIRONMENT, OPTIONS, FakeRace

from specviz.trace.values import LaneSpec, Method, RaceFinished, RaceRequest, Trace
from specviz.ui.assets import JS_FOLDER
from specviz.ui.measured import measured_of
from specviz.ui.page_data import LESSON_PROMPTS, learn_data
from specviz.ui.recorded import read_recorded

ALONE = LaneSpec("target alone", Method.BASELINE, "fake-target")
GUESSES = LaneSpec("target + draft model", Method.DRAFT_MODEL, "fake-target", "fake-draft", 4)


def _trace(*lanes: LaneSpec) -> Trace:
    request = RaceRequest("Hello", lanes, max_new_tokens=24)
    finished = list(FakeRace(pause=0)(request))[-1]
    assert isinstance(finished, RaceFinished)
    return finished.trace


def test_lessons_race_only_prompts_that_they_are_given() -> None:
    lessons = (JS_FOLDER / "learn" / "lessons.js").read_text(encoding="utf-8")
    named = set(re.findall(r"prompt: '(\w+)'", lessons))
    assert named == set(LESSON_PROMPTS)
    assert set(learn_data(OPTIONS)["prompts"]) == named


def test_lessons_know_every_target_and_quote_the_recorded_race() -> None:
    data = learn_data(OPTIONS)
    assert data["parameters"] == {"fake-target": 5_600_000}
    assert data["drafts"] == OPTIONS.pairs[0].drafts
    recording = read_recorded("2-sampled")
    assert recording is not None
    assert data["measured"] == recording["measured"]
    assert data["measured"]["target"] == "specviz-target"


def test_measured_times_are_the_race_s_own() -> None:
    trace = _trace(ALONE, GUESSES)
    measured = measured_of(trace)
    assert measured is not None
    alone, guessing = trace.lanes
    step_ms = sum(round_.verify_ms for round_ in alone.rounds) / len(alone.rounds)
    assert measured["step_ms"] == pytest.approx(step_ms, abs=1e-3)
    assert measured["weight_bytes"] == 4
    assert measured["device"] == ENVIRONMENT.device
    (lane,) = measured["lanes"]
    drafted = sum(len(round_.drafted) for round_ in guessing.rounds)
    draft_ms = sum(round_.draft_ms for round_ in guessing.rounds) / drafted
    assert lane["draft_ms"] == pytest.approx(draft_ms, abs=1e-3)
    assert lane["draft_cost"] == pytest.approx(draft_ms / step_ms, abs=1e-3)
    assert lane["gamma"] == 4


def test_nothing_is_measured_without_the_target_alone() -> None:
    trace = _trace(ALONE, GUESSES)
    assert measured_of(replace(trace, lanes=trace.lanes[1:])) is None


def test_an_unknown_dtype_has_no_size() -> None:
    trace = _trace(ALONE, GUESSES)
    odd = replace(trace, environment=replace(ENVIRONMENT, dtype="float8"))
    measured = measured_of(odd)
    assert measured is not None
    assert measured["weight_bytes"] is None
