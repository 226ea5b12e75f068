"""Repetition: order, medians, quartiles, and what survives of several races."""

from collections.abc import Callable, Iterator
from dataclasses import fields, replace

import pytest
from traces import chain, lane, plain, small_race, trace

from specviz.bench.repeats import (
    LaneSummary,
    Quartiles,
    finish_race,
    median_summary,
    quartiles,
    repeat_race,
    summarise,
    take_turns,
)
from specviz.errors import DecodingError
from specviz.trace.values import (
    Event,
    LaneSpec,
    Method,
    RaceFinished,
    RaceRequest,
    Rule,
    StopReason,
)

JSON_KEYS = [
    *("name", "method", "gamma", "num_emitted", "tokens_per_second", "speedup", "speedup_low"),
    *(
        "speedup_high",
        "alpha",
        "acceptance_rate",
        "tau",
        "draft_cost",
        "verify_cost",
        "predicted_speedup",
        "efficiency",
    ),
    *("target_passes_saved", "stop_reason", "verdict"),
]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([3.0], Quartiles(3.0, 3.0, 3.0, 1)),
        ([2.0, 1.0], Quartiles(1.5, 1.25, 1.75, 2)),
        ([5.0, 1.0, 3.0, 2.0, 4.0], Quartiles(3.0, 2.0, 4.0, 5)),
    ],
)
def test_spread_is_median_and_quartiles(values: list[float], expected: Quartiles) -> None:
    assert quartiles(values) == expected


def test_a_summary_has_the_keys_of_the_command_line() -> None:
    assert [field.name for field in fields(LaneSummary)] == JSON_KEYS


def test_a_summary_of_one_race() -> None:
    baseline, drafting = summarise(small_race())
    assert baseline.speedup == 1.0
    assert baseline.verdict is None
    assert drafting.num_emitted == 8
    assert drafting.alpha == pytest.approx(5 / 6)
    assert drafting.speedup == pytest.approx(80 / 44)
    assert drafting.verdict == "identical"
    assert drafting.stop_reason == "length"


def test_a_lane_with_a_wrong_rule_is_never_summed_up_as_identical() -> None:
    race = small_race()
    baseline, drafting = race.lanes
    wrong = replace(drafting, spec=replace(drafting.spec, rule=Rule.TARGET_RESAMPLE))
    one = summarise(replace(race, lanes=(baseline, wrong)))[1]
    assert one.verdict == "wrong-rule"
    assert median_summary([one, one]).verdict == "wrong-rule"


def test_medians_keep_the_worst_verdict_and_any_error() -> None:
    one = summarise(small_race())[1]
    runs = [
        replace(one, speedup=1.0, verdict="near-tie"),
        replace(one, speedup=4.0, alpha=None, stop_reason="error"),
        replace(one, speedup=2.0),
    ]
    summary = median_summary(runs)
    assert summary.speedup == 2.0
    assert summary.alpha == pytest.approx(5 / 6)
    assert summary.verdict == "near-tie"
    assert summary.stop_reason == "error"
    assert median_summary([*runs, replace(one, verdict="divergent")]).verdict == "divergent"


def test_what_one_race_could_not_measure_is_taken_from_the_others() -> None:
    one = summarise(small_race())[1]
    assert median_summary([replace(one, alpha=0.5), replace(one, alpha=None)]).alpha == 0.5
    assert median_summary([replace(one, alpha=None)]).alpha is None


def test_drafting_lanes_alternate_and_come_back_in_the_order_asked_for() -> None:
    asked: list[list[str]] = []

    def start_race(request: RaceRequest, should_stop: Callable[[], bool] = bool) -> Iterator[Event]:
        asked.append([spec.name for spec in request.lanes])
        lanes = [lane(plain(1), spec.method, name=spec.name) for spec in request.lanes]
        yield RaceFinished(trace(*lanes))

    specs = tuple(
        LaneSpec(name, Method.BASELINE if name == "base" else Method.PROMPT_LOOKUP, "target")
        for name in ("base", "one", "two")
    )
    traces = list(repeat_race(start_race, RaceRequest("hello", specs), 3))
    assert asked == [["base", "one", "two"], ["base", "two", "one"], ["base", "one", "two"]]
    assert {tuple(run.spec.name for run in found.lanes) for found in traces} == {
        ("base", "one", "two")
    }


def test_a_race_without_an_end_is_an_error() -> None:
    request = RaceRequest("hello", ())
    with pytest.raises(DecodingError, match="without a trace"):
        finish_race(lambda request, should_stop=bool: iter(()), request)


def test_contenders_take_turns_in_alternating_order_after_a_warm_up() -> None:
    calls: list[str] = []

    def contender(name: str) -> Callable[[], int]:
        def run() -> int:
            calls.append(name)
            return len(calls)

        return run

    results = take_turns({name: contender(name) for name in "ab"}, 3)
    assert "".join(calls) == "ab" + "ab" + "ba" + "ab"
    assert results == {"a": [3, 6, 7], "b": [4, 5, 8]}


def test_a_failed_lane_is_summed_up_without_numbers() -> None:
    failed = lane([], stop_reason=StopReason.ERROR, error="it failed")
    baseline = lane([chain((), 0, 1)], Method.BASELINE)
    summary = summarise(trace(baseline, failed))[1]
    assert summary.stop_reason == "error"
    assert summary.speedup is summary.alpha is summary.verdict is None
