"""The lessons are given what they race and quote."""

import re

import pytest
from fake_race import OPTIONS

from specviz.trace.files import read_trace
from specviz.trace.metrics import race_metrics
from specviz.trace.typed_json import encode
from specviz.trace.values import Outcome
from specviz.ui.assets import JS_FOLDER, TRACES_FOLDER
from specviz.ui.page_data import LESSON_PROMPTS, RECORDED, learn_data
from specviz.ui.recorded import read_recorded


def test_lessons_race_only_prompts_that_they_are_given() -> None:
    lessons = (JS_FOLDER / "learn" / "lessons.js").read_text(encoding="utf-8")
    named = set(re.findall(r"prompt: '(\w+)'", lessons))
    assert named == set(LESSON_PROMPTS)
    assert set(learn_data(OPTIONS)["prompts"]) == named


def _recording_of(step: str) -> str:
    """Return the recorded race that a step of the lessons may be done with."""
    lessons = (JS_FOLDER / "learn" / "lessons.js").read_text(encoding="utf-8")
    _, _, rest = lessons.partition(f"id: '{step}'")
    found = re.search(r"recording: '([\w-]+)'", rest)
    assert found is not None
    return found[1]


def test_every_recording_of_a_lesson_ships() -> None:
    lessons = (JS_FOLDER / "learn" / "lessons.js").read_text(encoding="utf-8")
    named = set(re.findall(r"recording: '([\w-]+)'", lessons))
    assert named
    assert named <= set(learn_data(OPTIONS)["recordings"])


@pytest.mark.parametrize("step", ["low", "dear", "long"])
def test_the_recordings_of_the_lesson_on_losing_lose(step: str) -> None:
    trace = read_trace(TRACES_FOLDER / f"{_recording_of(step)}.json")
    speedups = [metrics.speedup for metrics in race_metrics(trace)[1:]]
    assert min(each for each in speedups if each is not None) < 1


def test_the_other_recordings_show_what_their_steps_ask_for() -> None:
    sampled = read_trace(TRACES_FOLDER / f"{_recording_of('real')}.json")
    assert sampled.request.sampling.temperature > 0
    fates = {token.outcome for each in sampled.lanes[1].rounds for token in each.drafted}
    assert Outcome.REJECTED in fates
    lengths = read_trace(TRACES_FOLDER / f"{_recording_of('best')}.json")
    assert len({lane.spec.gamma for lane in lengths.lanes[1:]}) > 1
    methods = read_trace(TRACES_FOLDER / f"{_recording_of('methods')}.json")
    assert len({lane.spec.method for lane in methods.lanes[1:]}) > 2
    same = read_recorded(_recording_of("same"))
    assert same is not None
    assert same[-1]["figures"][1]["verdict"]["agreement"] == "identical"


def test_lessons_know_every_target_and_quote_the_recorded_race() -> None:
    data = learn_data(OPTIONS)
    assert data["parameters"] == {"fake-target": 5_600_000}
    assert data["drafts"] == OPTIONS.pairs[0].drafts
    trace = read_trace(TRACES_FOLDER / f"{RECORDED}.json")
    recorded = data["recorded"]
    assert recorded["started"]["specs"][0]["target"] == "specviz-target"
    assert recorded["started"]["environment"] == encode(trace.environment)
    assert [figures["metrics"] for figures in recorded["figures"]] == [
        encode(metrics) for metrics in race_metrics(trace)
    ]
