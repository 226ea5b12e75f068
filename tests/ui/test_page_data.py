"""The lessons are given what they race and quote."""

import re

from fake_race import OPTIONS

from specviz.trace.files import read_trace
from specviz.trace.metrics import race_metrics
from specviz.trace.typed_json import encode
from specviz.ui.assets import JS_FOLDER, TRACES_FOLDER
from specviz.ui.page_data import LESSON_PROMPTS, RECORDED, learn_data


def test_lessons_race_only_prompts_that_they_are_given() -> None:
    lessons = (JS_FOLDER / "learn" / "lessons.js").read_text(encoding="utf-8")
    named = set(re.findall(r"prompt: '(\w+)'", lessons))
    assert named == set(LESSON_PROMPTS)
    assert set(learn_data(OPTIONS)["prompts"]) == named


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
