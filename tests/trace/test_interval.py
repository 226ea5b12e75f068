"""The interval around a speedup says what the race's own rounds can say."""

import random

import pytest
from traces import chain, lane, plain

from specviz.trace.counts import RunningCounts
from specviz.trace.interval import MIN_ROUNDS, Interval, speedup_interval
from specviz.trace.metrics import lane_metrics
from specviz.trace.values import LaneTrace, Method
from specviz.trace.window import common_window


def race(kept: list[int], step_times: list[float]) -> tuple[LaneTrace, LaneTrace]:
    """A lane of rounds of 12 ms that keep so many of 4 guesses, and a baseline of these times."""
    rounds = [chain((1, 2, 3, 4), each, 9, draft_ms=2.0) for each in kept]
    steps = [each for ms in step_times for each in plain(1, ms=ms)]
    return lane(rounds), lane(steps, Method.BASELINE)


def interval(drafting: LaneTrace, baseline: LaneTrace) -> Interval | None:
    counts = [RunningCounts.of(each.rounds) for each in (drafting, baseline)]
    return speedup_interval(common_window(*counts))


def test_rounds_that_are_all_alike_leave_no_doubt() -> None:
    found = interval(*race([2] * 12, [10.0] * 20))
    assert found == pytest.approx((10 / 4, 10 / 4))


def test_the_interval_holds_the_speedup_and_widens_with_the_spread() -> None:
    steps = [10.0] * 40
    calm, wild = race([2, 2, 1, 3] * 6, steps), race([4, 0, 4, 0, 0, 4] * 4, steps)
    widths = []
    for drafting, baseline in (calm, wild):
        metrics, found = lane_metrics(drafting, baseline), interval(drafting, baseline)
        assert found is not None
        assert found.low <= metrics.speedup <= found.high
        assert (metrics.speedup_low, metrics.speedup_high) == found
        widths.append(found.high - found.low)
    assert widths[0] < widths[1]


def test_a_machine_that_slows_both_lanes_leaves_their_ratio_alone() -> None:
    """For the first 200 ms of either clock every pass takes four times as long."""
    slow, quick = [2] * 4, [2] * 12
    rounds = [
        *(chain((1, 2, 3, 4), each, 9, draft_ms=8.0, verify_ms=42.0) for each in slow),
        *(chain((1, 2, 3, 4), each, 9, draft_ms=2.0) for each in quick),
    ]
    steps = [*plain(*range(5), ms=40.0), *plain(*range(30), ms=10.0)]
    found = interval(lane(rounds), lane(steps, Method.BASELINE))
    assert found is not None
    assert found.high - found.low < 0.15


def test_steps_that_slow_the_baseline_alone_widen_it() -> None:
    found = interval(*race([2] * 16, [6.0, 6.0, 6.0, 6.0, 14.0, 14.0, 14.0, 14.0] * 5))
    assert found is not None
    assert found.low < 10 / 4 * 0.95
    assert found.high > 10 / 4 * 1.05


def test_few_rounds_say_nothing() -> None:
    enough, few = [2] * MIN_ROUNDS, [2] * (MIN_ROUNDS - 1)
    assert interval(*race(enough, [10.0] * 30)) is not None
    assert interval(*race(few, [10.0] * 30)) is None
    assert interval(*race(enough * 9, [10.0] * (MIN_ROUNDS - 1))) is None


def test_a_lane_of_no_time_has_no_interval() -> None:
    rounds = [chain((1,), 1, 2, verify_ms=0.0)] * MIN_ROUNDS
    assert interval(lane(rounds), lane(plain(*range(9)), Method.BASELINE)) is None


def test_the_baseline_has_no_interval_beside_itself() -> None:
    _, baseline = race([2] * 12, [10.0] * 20)
    metrics = lane_metrics(baseline, baseline)
    assert metrics.speedup == 1.0
    assert metrics.speedup_low is metrics.speedup_high is None


def test_nine_of_ten_intervals_hold_the_truth() -> None:
    """Of races whose rounds keep 0 to 4 guesses by a known law, the true speedup is in about 90 %.

    200 races of 40 rounds, fixed seed; below 80 % the bootstrap would be wrong, not unlucky
    (binomial, p = 0.9: less than once in 10^5).
    """
    luck, held = random.Random(3), 0
    truth = 10 / (12 / (1 + 2))
    for _ in range(200):
        drafting, baseline = race([luck.randint(0, 4) for _ in range(40)], [10.0] * 48)
        found = interval(drafting, baseline)
        assert found is not None
        held += found.low <= truth <= found.high
    assert 160 <= held < 200
