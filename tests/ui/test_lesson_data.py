"""The lessons reckon with a large model's pass, and draw from a real p and q."""

import pytest
from fake_race import FakeRace

from specviz.trace.values import LaneSpec, Method, RaceFinished, RaceRequest, Sampling
from specviz.ui.lesson_data import (
    LARGE_PASS,
    MOST_OVERLAP,
    NUM_WORDS,
    example_distributions,
    large_pass_data,
)
from specviz.ui.page_data import RECORDED
from specviz.ui.recorded import packets_of, read_recorded

LANES = (
    LaneSpec(None, Method.BASELINE, "fake-target"),
    LaneSpec(None, Method.DRAFT_MODEL, "fake-target", "fake-draft", 4),
)


def test_memory_decides_over_the_pass_of_a_large_model() -> None:
    data = large_pass_data()
    assert data["gigabytes"] == 14
    assert data["read_ms"] == pytest.approx(14 / 2039 * 1000)
    assert data["arithmetic_ms"] == pytest.approx(14e9 / 312e12 * 1000)
    assert data["num_tokens"] == 153
    assert LARGE_PASS.read_ms > 100 * LARGE_PASS.arithmetic_ms


def test_a_real_position_is_drawn_from_where_the_target_is_undecided() -> None:
    example = example_distributions(read_recorded(RECORDED))
    assert example is not None
    assert example["before"].startswith("Once upon a time")
    assert example["words"][-1]["text"] is None
    assert max(each["target_prob"] for each in example["words"]) < 0.5
    for name in ("target_prob", "draft_prob"):
        assert sum(each[name] for each in example["words"]) == pytest.approx(1)


def test_every_example_has_enough_words_and_something_to_reject() -> None:
    request = RaceRequest("Hello", LANES, Sampling(temperature=0.8), max_new_tokens=48)
    *_, last = FakeRace(pause=0)(request)
    assert isinstance(last, RaceFinished)
    example = example_distributions(list(packets_of(last.trace)))
    assert example is not None
    assert len(example["words"]) == NUM_WORDS + 1
    assert example["overlap"] <= MOST_OVERLAP


def test_without_a_recorded_race_there_is_no_example() -> None:
    assert example_distributions(None) is None
