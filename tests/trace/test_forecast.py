"""A forecast is frozen after twenty rounds, and the finished race confirms or refutes it."""

import random
from dataclasses import replace

import pytest
from traces import chain, lane, plain, trace

from specviz.trace.counts import RunningCounts
from specviz.trace.forecast import NUM_ROUNDS, Forecast, forecast_speedup
from specviz.trace.metrics import race_metrics
from specviz.trace.values import Method, Trace
from specviz.ui.recorded import packets_of


def counts(kept: list[int], step_ms: float = 10.0) -> tuple[RunningCounts, RunningCounts]:
    """A lane of rounds of 12 ms, and a baseline that ran as long."""
    rounds = [chain((1, 2, 3, 4), each, 9, draft_ms=2.0) for each in kept]
    num_steps = int(12 * len(kept) / step_ms)
    steps = plain(*range(num_steps), ms=step_ms)
    return RunningCounts.of(rounds), RunningCounts.of(steps)


def race(kept: list[int]) -> Trace:
    rounds = [chain((1, 2, 3, 4), each, 9, draft_ms=2.0) for each in kept]
    tokens = sum(each + 1 for each in kept)
    baseline = lane(plain(*range(tokens)), Method.BASELINE)
    return trace(baseline, lane(rounds), max_new_tokens=tokens)


def test_steady_rounds_are_forecast_as_they_are() -> None:
    forecast = forecast_speedup(*counts([2] * NUM_ROUNDS), 200)
    assert forecast is not None
    assert forecast.num_rounds == NUM_ROUNDS
    assert (forecast.low, forecast.speedup, forecast.high) == pytest.approx((2.5, 2.5, 2.5))


def test_the_less_is_left_the_surer_it_is() -> None:
    kept = [4, 0, 3, 1, 2] * 4
    written = sum(each + 1 for each in kept)
    widths = []
    for left in (5, 60, 600):
        forecast = forecast_speedup(*counts(kept), written + left)
        assert forecast is not None
        widths.append(forecast.high - forecast.low)
    assert 0 < widths[0] < widths[1] < widths[2]


def test_nothing_is_forecast_of_a_lane_that_is_done_or_has_hardly_begun() -> None:
    kept = [2] * NUM_ROUNDS
    assert forecast_speedup(*counts(kept), 3 * NUM_ROUNDS) is None
    assert forecast_speedup(*counts([2] * 7), 200) is None


def test_the_finished_race_judges_it() -> None:
    forecast = Forecast(20, 2.4, 2.2, 2.6)
    assert forecast.held is None
    assert forecast.judged(2.2).held is True
    assert forecast.judged(2.61).held is False
    assert forecast.judged(None).held is None


def test_a_race_brings_it_from_the_twentieth_round_on_and_never_changes_it() -> None:
    finished = race([4, 0, 3, 1, 2] * 8)
    seen = [packet["figures"][1] for packet in packets_of(finished) if "figures" in packet]
    made = [each["forecast"] for each in seen if each["forecast"] is not None]
    first = next(index for index, each in enumerate(seen) if each["forecast"] is not None)
    assert seen[first]["metrics"]["num_rounds"] == NUM_ROUNDS
    assert seen[first - 1]["metrics"]["num_rounds"] == NUM_ROUNDS - 1
    assert all(each == made[0] for each in made[:-1])
    assert made[0]["held"] is None
    final = race_metrics(finished)[1].speedup
    assert final is not None
    assert made[-1] == made[0] | {"held": made[0]["low"] <= final <= made[0]["high"]}


def test_a_short_race_has_none() -> None:
    *_, last = packets_of(race([2] * (NUM_ROUNDS - 1)))
    assert last["figures"][1]["forecast"] is None


def test_about_nine_of_ten_hold_where_the_text_goes_on_as_it_began() -> None:
    """150 races of 60 rounds that keep 0 to 4 guesses by chance, fixed seed."""
    luck, held = random.Random(5), 0
    for _ in range(150):
        kept = [luck.randint(0, 4) for _ in range(60)]
        tokens = sum(each + 1 for each in kept)
        forecast = forecast_speedup(*counts(kept[:NUM_ROUNDS]), tokens)
        assert forecast is not None
        final = 10 / (12 * 60 / tokens)
        held += replace(forecast).judged(final).held is True
    assert 120 <= held <= 148
