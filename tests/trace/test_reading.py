"""A prompt is compared with beginnings of held-out texts that are no longer than it."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from specviz.errors import FormatError
from specviz.trace.reading import (
    READING_FILE,
    Beginnings,
    Distance,
    Reading,
    familiarity,
    read_reading,
    reading_from_json,
    reading_to_json,
)

READING = Reading(
    kinds=("stories",),
    languages=("en",),
    shares=(0.1, 0.5, 0.9),
    beginnings=(
        Beginnings(1, 200, (-9.0, -7.0, -5.0)),
        Beginnings(8, 100, (-6.0, -4.0, -2.0)),
    ),
)


@pytest.mark.parametrize(
    ("log_prob", "share", "distance"),
    [
        (-6.1, 0.0, Distance.FAR),
        (-6.0, 0.1, Distance.UNUSUAL),
        (-5.8, 0.14, Distance.UNUSUAL),
        (-5.7, 0.16, Distance.NEAR),
        (-5.0, 0.3, Distance.NEAR),
        (-4.0, 0.5, Distance.NEAR),
        (-2.0, 0.9, Distance.NEAR),
        (-1.9, 1.0, Distance.NEAR),
    ],
)
def test_the_share_of_texts_below_is_read_between_the_quantiles(
    log_prob: float, share: float, distance: Distance
) -> None:
    found = familiarity(log_prob, 8, READING)
    assert found is not None
    assert found.share_below == pytest.approx(share)
    assert found.distance is distance
    assert found.usual_log_prob == -4.0
    assert (found.num_tokens, found.num_compared_tokens, found.num_texts) == (8, 8, 100)


def test_far_is_below_a_twentieth_of_the_texts() -> None:
    fine = replace(
        READING, shares=(0.02, 0.06, 0.5), beginnings=(Beginnings(1, 99, (-8.0, -6.0, -4.0)),)
    )
    at = [familiarity(log_prob, 4, fine) for log_prob in (-7.0, -6.4)]
    assert [found.distance for found in at if found] == [Distance.FAR, Distance.UNUSUAL]


def test_a_word_or_two_are_never_far() -> None:
    found = [familiarity(-20.0, num_tokens, READING) for num_tokens in (1, 3, 4)]
    unusual, far = Distance.UNUSUAL, Distance.FAR
    assert [each.distance for each in found if each] == [unusual, unusual, far]


def test_beginnings_no_longer_than_the_prompt_are_taken() -> None:
    short, long = familiarity(-7.0, 7, READING), familiarity(-7.0, 300, READING)
    assert short is not None
    assert long is not None
    assert (short.num_compared_tokens, short.share_below) == (1, 0.5)
    assert (long.num_compared_tokens, long.share_below) == (8, 0.0)
    later = replace(READING, beginnings=READING.beginnings[1:])
    assert familiarity(-7.0, 7, later) is None


def test_a_prompt_without_a_number_is_not_compared() -> None:
    assert familiarity(None, 8, READING) is None
    assert familiarity(-3.0, 0, READING) is None


def test_a_file_is_read_back_exactly(tmp_path: Path) -> None:
    assert read_reading(tmp_path) is None
    (tmp_path / READING_FILE).write_text(json.dumps(reading_to_json(READING)))
    assert read_reading(tmp_path) == READING


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 2}, "format must be 1, is 2"),
        ({"shares": [0.5, 0.1, 0.9]}, "shares must rise, but entry 1 is 0.1 after 0.5"),
        ({"shares": [0.1, 0.5]}, r"beginnings\[0\].log_probs must hold 2 entries, holds 3"),
        ({"beginnings": []}, "beginnings must not be empty"),
        ({"kinds": 3}, "kinds must be a list"),
        ({"more": 1}, "more is not a key"),
        (
            {"beginnings": [{"num_tokens": 1, "num_texts": 2, "log_probs": [-1, -2, -3]}]},
            r"beginnings\[0\].log_probs must rise",
        ),
        (
            {"beginnings": [{"num_tokens": 1, "num_texts": 2, "log_probs": [-1, 0, 0.5]}]},
            r"log_probs\[2\] must be 0 or less, is 0.5",
        ),
    ],
)
def test_what_is_no_reading_is_refused_by_its_path(change: dict[str, Any], message: str) -> None:
    with pytest.raises(FormatError, match=message):
        reading_from_json({**reading_to_json(READING), **change})
    with pytest.raises(FormatError, match="not an object"):
        reading_from_json([])
