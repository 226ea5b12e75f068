"""What one race measured of its device: the numbers that the lessons speak with."""

from typing import Any

from specviz.trace.metrics import RunningCounts, baseline_lane, race_metrics
from specviz.trace.values import Method, Trace
from specviz.ui.lane_names import lane_names
from specviz.ui.view_models import place_text

Measured = dict[str, Any]

WEIGHT_BYTES = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2}


def measured_of(trace: Trace) -> Measured | None:
    """Give the times and rates of a race's lanes, or None where no target ran alone in it.

    `step_ms` is one pass of the target over one token. A lane has `draft_ms` a guess and
    `verify_ms` a pass over all its guesses, the rates of metrics.md, and only what is defined.
    """
    baseline = baseline_lane(trace)
    if baseline is None or not baseline.rounds:
        return None
    step_ms = RunningCounts.of(baseline.rounds).verify_ms / len(baseline.rounds)
    specs = [lane.spec for lane in trace.lanes]
    named = zip(specs, lane_names(specs), race_metrics(trace), strict=True)
    return {
        "device": trace.environment.device,
        "place": place_text(trace.environment),
        "target": baseline.spec.target,
        "weight_bytes": WEIGHT_BYTES.get(trace.environment.dtype),
        "step_ms": round(step_ms, 3),
        "lanes": [
            {
                "name": name,
                "method": spec.method.value,
                "gamma": spec.gamma,
                "alpha": _rounded(numbers.alpha),
                "tau": _rounded(numbers.tau),
                "draft_cost": _rounded(numbers.draft_cost),
                "verify_cost": _rounded(numbers.verify_cost),
                "draft_ms": _rounded(_times(numbers.draft_cost, step_ms)),
                "verify_ms": _rounded(_times(numbers.verify_cost, step_ms)),
                "speedup": _rounded(numbers.speedup),
            }
            for spec, name, numbers in named
            if spec.method is not Method.BASELINE
        ],
    }


def _times(cost: float | None, step_ms: float) -> float | None:
    return None if cost is None else cost * step_ms


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 4)
