"""What a target has read: quantiles of held-out beginnings, each source by its weight."""

import json
from dataclasses import replace

import numpy as np
import pytest

from specviz.trace.reading import READING_FILE, Distance, familiarity, reading_from_json
from specviz.training import reading
from specviz.training.reading import beginnings_of, kinds_read, weighted_quantiles
from specviz.training.settings import load_settings


@pytest.mark.parametrize(
    ("share", "quantile"), [(0.1, 1.0), (0.25, 1.0), (0.5, 2.0), (0.51, 3.0), (1.0, 3.0)]
)
def test_a_quantile_is_where_so_much_of_the_weight_lies(share: float, quantile: float) -> None:
    assert weighted_quantiles([3.0, 1.0, 2.0], [2.0, 1.0, 1.0], [share]) == [quantile]


def test_a_source_counts_by_its_weight_and_not_by_its_texts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One text of 0 nats weighs as much as three of -6, and is too short for two tokens."""
    monkeypatch.setattr(reading, "LENGTHS", (1, 2, 3))
    monkeypatch.setattr(reading, "SHARES", (0.4, 0.6))
    monkeypatch.setattr(reading, "MIN_TEXTS", 3)
    scores = {
        "easy": [np.array([0.0])],
        "hard": [np.array([-6.0, -2.0])] * 3,
    }
    found = beginnings_of(scores, {"easy": 1.0, "hard": 1.0})
    assert [(each.num_tokens, each.num_texts, each.log_probs) for each in found] == [
        (1, 4, (-6.0, 0.0)),
        (2, 3, (-4.0, -4.0)),
    ]


def test_kinds_come_by_how_much_of_them_was_read() -> None:
    target = load_settings().target
    assert kinds_read(target) == ("stories", "tasks", "code")
    stage = replace(target.stages[0], mix={"code_python": 3, "translate_stories": 1})
    assert kinds_read(replace(target, stages=(stage,))) == ("code",)


def test_the_shipped_file_tells_foreign_prompts_from_the_family_s_own() -> None:
    """Numbers of the shipped target: a story's beginning, a question, German, Chinese."""
    from specviz.models.catalogue import DEFAULT_TARGET, shipped_folder

    folder = shipped_folder(DEFAULT_TARGET)
    assert folder is not None
    shipped = reading_from_json(json.loads((folder / READING_FILE).read_text(encoding="utf-8")))
    distances = [
        found.distance if (found := familiarity(log_prob, num_tokens, shipped)) else None
        for log_prob, num_tokens in [(-0.9, 8), (-3.8, 9), (-7.6, 31), (-10.8, 45)]
    ]
    assert distances == [Distance.NEAR, Distance.UNUSUAL, Distance.FAR, Distance.FAR]
