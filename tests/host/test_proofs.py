"""Proofs as long work of a page: their news, their turns, and what is refused before they begin."""

from collections.abc import Iterator
from typing import Any

import pytest
from fake_proof import SHORT, FakeProof, short_race
from fake_race import OPTIONS

from specviz.errors import RequestError
from specviz.host.proofs import ProofParts, make_read_proof
from specviz.ui.race_queue import RaceQueue
from specviz.ui.sessions import fetch_nothing
from specviz.ui.turns import Turns, WorkStopped

LANE = {"method": "draft-model", "target": "fake-target", "gamma": 3}
FORM: dict[str, Any] = {
    "prompt": "Hello",
    "lane": LANE,
    "sampling": {"temperature": 1, "seed": 3},
    "samples": 400,
    "uses_chat": True,
}


@pytest.fixture
def queue() -> RaceQueue:
    return RaceQueue(max_waiting=3)


def _news(form: dict[str, Any], queue: RaceQueue, is_stopped: bool = False) -> Iterator[Any]:
    parts = ProofParts(short_race, FakeProof(), fetch_nothing)
    work = make_read_proof(parts, OPTIONS)(form)
    return work(Turns(queue, lambda: is_stopped))


def test_the_news_of_a_proof_are_what_it_is_of_the_bars_and_the_verdict(queue: RaceQueue) -> None:
    begun, *progress, verdict = _news(FORM, queue)
    assert begun == {"kind": "begun", "rule": "right", "is_greedy": False, "num_tokens": 5}
    assert {each["kind"] for each in progress} == {"progress"}
    assert [each["num_done"] for each in progress] == [100, 200, 300, 400, 400]
    assert progress[-1]["bars"][0]["text"] == " fox"
    assert (verdict["kind"], verdict["finding"]) == ("proof", "consistent")
    assert verdict["telltale"] is None


def test_a_wrong_rule_is_different_and_the_bar_that_shows_it_is_named(queue: RaceQueue) -> None:
    *_, verdict = _news(FORM | {"lane": LANE | {"rule": "target-resample"}}, queue)
    assert verdict["finding"] == "different"
    assert verdict["telltale"]["kind"] == "next"
    assert verdict["telltale"]["target_prob"] in (0.6, 0.3)


def test_between_two_reports_others_may_race(queue: RaceQueue) -> None:
    for _ in _news(FORM, queue):
        place = queue.join_work(1)
        assert place is not None
        assert place.wait_for_turn(0), "nobody holds the device between two reports"
        queue.leave(place)


def test_at_temperature_0_every_text_of_the_gallery_is_compared(queue: RaceQueue) -> None:
    begun, *texts, verdict = _news(FORM | {"sampling": {"temperature": 0}}, queue)
    assert begun["is_greedy"]
    assert texts[0]["prompt"] == "own"
    assert {each["num_texts"] for each in texts} == {len(texts)}
    assert len({each["prompt"] for each in texts}) == len(texts) > 30
    assert texts[0]["tokens"] == texts[0]["tokens_alone"]
    assert verdict["finding"] == "consistent"
    assert verdict["counts"]["identical"] == len(texts)
    assert verdict["num_tokens"] == SHORT * len(texts)


def test_work_that_is_stopped_takes_no_turn(queue: RaceQueue) -> None:
    with pytest.raises(WorkStopped):
        list(_news(FORM, queue, is_stopped=True))


@pytest.mark.parametrize(
    ("some", "problem"),
    [
        ({"samples": 99}, "samples must be a whole number from 100 to 5,000"),
        ({"samples": 6_000}, "samples must be a whole number"),
        ({"prompt": " "}, "prompt is empty"),
        ({"lane": LANE | {"gamma": 99}}, "gamma must be"),
        ({"lane": LANE | {"rule": "mine"}}, "rule must be one of"),
        ({"lane": {"method": "baseline"}}, "lanes"),
        ({"more": 1}, "more"),
        (
            {"lane": {"method": "prompt-lookup", "gamma": 2, "rule": "argmax-softmax"}},
            "prob",
        ),
    ],
)
def test_what_cannot_be_proved_is_refused_before_it_begins(
    some: dict[str, Any], problem: str, queue: RaceQueue
) -> None:
    with pytest.raises(RequestError, match=f"(?i){problem}"):
        _news(FORM | some, queue)
