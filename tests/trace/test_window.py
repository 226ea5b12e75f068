"""Speeds are compared over the stretch in which both lanes ran, and over nothing else."""

from traces import chain, lane, plain

from specviz.trace.counts import RunningCounts
from specviz.trace.metrics import lane_metrics
from specviz.trace.values import LaneTrace, Method
from specviz.trace.window import common_window


def counts(trace: LaneTrace) -> RunningCounts:
    return RunningCounts.of(trace.rounds)


def baseline(*times: float) -> LaneTrace:
    rounds = [each for ms in times for each in plain(1, ms=ms)]
    return lane(rounds, Method.BASELINE)


def drafting(*times: float) -> LaneTrace:
    """Rounds that keep both of two guesses and gain a bonus: three tokens each."""
    return lane([chain((1, 2), 2, 3, draft_ms=2.0, verify_ms=ms - 2.0) for ms in times])


def test_rounds_that_begin_after_the_other_lane_ended_do_not_count() -> None:
    slow_at_the_end = baseline(10, 10, 10, 50, 50, 50)
    window = common_window(counts(drafting(12, 13)), counts(slow_at_the_end))
    assert (window.num_lane_rounds, window.num_baseline_rounds) == (2, 3)
    assert window.speedup == (30 / 3) / (25 / 6)


def test_a_round_counts_where_it_began_and_not_where_it_ended() -> None:
    window = common_window(counts(drafting(12, 13)), counts(baseline(10, 14, 40, 9)))
    assert window.num_baseline_rounds == 3
    window = common_window(counts(drafting(12, 13)), counts(baseline(10, 15, 40, 9)))
    assert window.num_baseline_rounds == 2, "the third begins at 25 ms, when the lane has ended"


def test_a_lane_that_goes_on_alone_is_cut_too() -> None:
    window = common_window(counts(drafting(20, 20, 90, 90)), counts(baseline(10, 10, 10)))
    assert (window.num_lane_rounds, window.num_baseline_rounds) == (2, 3)
    assert window.speedup == (30 / 3) / (40 / 6)


def test_costs_are_measured_in_the_window_and_counts_in_the_whole_lane() -> None:
    metrics = lane_metrics(drafting(12, 13), baseline(10, 10, 10, 50, 50, 50))
    assert metrics.step_ms == 10.0
    assert metrics.draft_cost == (4 / 4) / 10
    assert metrics.verify_cost == (21 / 2) / 10
    alone = lane_metrics(drafting(20, 20, 90, 90), baseline(10, 10, 10))
    assert alone.verify_cost == (36 / 2) / 10
    assert (alone.num_emitted, alone.num_accepted, alone.ms) == (12, 8, 220.0)


def test_the_counts_behind_a_speedup_are_told() -> None:
    metrics = lane_metrics(drafting(12, 13), baseline(10, 10, 10, 50, 50, 50))
    assert metrics.window is not None
    own = (metrics.window.ms, metrics.window.num_emitted, metrics.window.num_rounds)
    assert own == (25.0, 6, 2)
    alone = metrics.window.baseline_ms, metrics.window.baseline_num_emitted
    assert (*alone, metrics.window.baseline_num_rounds) == (30.0, 3, 3)


def test_what_the_whole_clocks_would_give_is_told_beside_it() -> None:
    metrics = lane_metrics(drafting(12, 13), baseline(10, 10, 10, 50, 50, 50))
    assert metrics.speedup == (30 / 3) / (25 / 6)
    assert metrics.whole_speedup == (180 / 6) / (25 / 6)


def test_without_a_round_or_a_clock_there_is_no_window() -> None:
    for one, two in ((drafting(), baseline(10)), (drafting(12), baseline())):
        metrics = lane_metrics(one, two)
        assert metrics.window is metrics.speedup is metrics.step_ms is metrics.verify_cost is None


def test_while_both_run_every_round_lies_within() -> None:
    """A race steps whoever is behind; then no round begins after the other's clock."""
    lanes = [RunningCounts(), RunningCounts()]
    waiting = [iter(baseline(*[10.0] * 30).rounds), iter(drafting(*[17.0] * 15).rounds)]
    for _ in range(20):
        behind = min((0, 1), key=lambda index: lanes[index].ms)
        lanes[behind].add(next(waiting[behind]))
        window = common_window(lanes[1], lanes[0])
        if lanes[1].num_rounds:
            assert window.num_lane_rounds == lanes[1].num_rounds
            assert window.num_baseline_rounds == lanes[0].num_rounds
