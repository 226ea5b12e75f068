"""A speedup is doubted for reasons that are named, and for no others."""

from dataclasses import replace

import pytest
from traces import chain, lane, plain

from specviz.trace.doubts import Doubt
from specviz.trace.metrics import lane_metrics
from specviz.trace.values import LaneTrace, Method, Round

STEADY = lane(plain(*range(30)), Method.BASELINE)
# Of four guesses 4, 3, 2, 1 and 0 are kept by turns: tokens a round as alpha lets expect, nearly.
KEPT = (4, 3, 2, 4, 1, 4, 0, 4, 3, 4)


def rounds(verify_ms: float = 12.0, kept: tuple[int, ...] = KEPT) -> list[Round]:
    return [chain((1, 2, 3, 4), each, 9, draft_ms=4.0, verify_ms=verify_ms) for each in kept]


def doubts(drafting: list[Round], baseline: LaneTrace = STEADY) -> tuple[Doubt, ...]:
    return lane_metrics(lane(drafting), baseline).doubts


def test_a_steady_race_is_not_doubted() -> None:
    assert doubts(rounds()) == ()


@pytest.mark.parametrize(("verify_ms", "found"), [(9.9, (Doubt.CHEAP_CHECK,)), (10.0, ())])
def test_a_check_that_seems_cheaper_than_a_plain_step(
    verify_ms: float, found: tuple[Doubt, ...]
) -> None:
    assert doubts(rounds(verify_ms)) == found


def test_an_interrupted_lane_is_doubted_whichever_it_is() -> None:
    own, alone = rounds(), plain(*range(30))
    own[3] = replace(own[3], other_ms=60.0)
    assert Doubt.INTERRUPTED in doubts(own)
    alone[5] = replace(alone[5], verify_ms=90.0)
    assert Doubt.INTERRUPTED in doubts(rounds(), lane(alone, Method.BASELINE))


def test_what_interrupts_for_a_twentieth_of_the_clock_at_most_is_let_pass() -> None:
    """16 ms a round and 300 in all, so that one of 30 ms more than twice the median is too much."""
    own = rounds(kept=KEPT * 8)
    own[3] = replace(own[3], other_ms=40.0)
    baseline = lane(plain(*range(150)), Method.BASELINE)
    assert Doubt.INTERRUPTED not in doubts(own, baseline)


def test_measured_and_predicted_may_part_by_15_percent() -> None:
    dependent = (3,) * 10  # the last guess fails, and no other ever does
    assert doubts(rounds(kept=dependent)) == (Doubt.PARTED,)
    metrics = lane_metrics(lane(rounds(kept=dependent)), STEADY)
    assert metrics.efficiency is not None
    assert metrics.efficiency > 1.15
    assert metrics.tau is not None
    assert metrics.expected_tau is not None
    assert metrics.tau / metrics.expected_tau == pytest.approx(metrics.efficiency)
    overhead = [replace(each, other_ms=4.0) for each in rounds()]
    assert doubts(overhead) == (Doubt.PARTED,)


def test_a_race_that_has_hardly_begun_is_not_doubted() -> None:
    assert doubts(rounds(5.0)[:7]) == ()
    assert doubts(rounds(5.0), lane(plain(*range(7)), Method.BASELINE)) == ()
