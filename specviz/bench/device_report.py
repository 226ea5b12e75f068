"""What a device can do, with pairs of real size and no network: one command, one JSON file.

Random weights cost what trained ones cost, and a draft made of the target's first layers agrees
with it as often as wanted: see `specviz/models/synthetic.py`.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from statistics import median
from typing import Any

from specviz.bench.against import LaneRun, run_lane
from specviz.bench.repeats import finish_race, quartiles, take_turns
from specviz.trace.metrics import LaneMetrics, race_metrics
from specviz.trace.values import LaneSpec, Method, RaceRequest, Sampling, StartRace, Trace
from specviz.trace.verdict import race_verdicts

PROMPT = " ".join(str(7 * number) for number in range(64))
GAMMAS = tuple(range(1, 11))
MAX_NEW_TOKENS = 128
NUM_TURNS = 3
Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class DevicePlan:
    """What to measure."""

    device: str
    dtype: str
    shapes: tuple[str, ...]
    compile: str = "auto"
    max_new_tokens: int = MAX_NEW_TOKENS
    gammas: tuple[int, ...] = GAMMAS
    minutes: float = 10.0
    """No new shape is begun after this."""


@dataclass(slots=True)
class DeviceReport:
    """What was measured."""

    environment: dict[str, Any] = field(default_factory=dict)
    copy_gb_per_second: float = 0.0
    """Read and written while a copy runs: what memory allows."""
    pairs: list[dict[str, Any]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    """Shapes that were not begun, since time was up."""


def measure_device(plan: DevicePlan, tell: Tell) -> DeviceReport:
    """Measure every shape of the plan.

    Raises:
        ModelLoadError: The device cannot be used.
    """
    # Imported here, so that help and refusals do not wait for torch.
    from specviz.decoding.pass_times import copy_rate
    from specviz.models.loading import ModelPool

    report, begun = DeviceReport(), time.monotonic()
    report.copy_gb_per_second = copy_rate(ModelPool(plan.device, plan.dtype).device) / 1e9
    for shape in plan.shapes:
        if time.monotonic() - begun > 60 * plan.minutes:
            report.left_out.append(shape)
            continue
        tell(f"{shape}: making the pair")
        report.pairs.append(_measure_pair(shape, plan, report, tell))
    return report


def _measure_pair(shape: str, plan: DevicePlan, report: DeviceReport, tell: Tell) -> dict[str, Any]:
    from specviz.decoding.forms import Compile, Forms
    from specviz.decoding.pass_times import pass_times, weight_bytes
    from specviz.models.synthetic import DRAFT, TARGET, synthetic_pool
    from specviz.models.threads import choose_threads
    from specviz.race.wiring import make_start_race

    pool = synthetic_pool(shape, device=plan.device, dtype=plan.dtype)
    start_race = make_start_race(pool, Compile(plan.compile))
    lanes = [
        LaneSpec(f"γ={gamma}", Method.DRAFT_MODEL, TARGET, DRAFT, gamma) for gamma in plan.gammas
    ]
    request = RaceRequest(
        PROMPT,
        (LaneSpec(None, Method.BASELINE, TARGET), lanes[0]),
        Sampling(),
        plan.max_new_tokens,
        record_top=False,
    )
    target = pool.get(TARGET).model
    if pool.device.type == "cpu":
        # As every race does, so that passes, races and generate() run with one count.
        choose_threads([target])
    form = Forms.on(pool.device, Compile(plan.compile)).of_race(
        [target, pool.get(DRAFT).model], request.lanes
    )
    tell(f"{shape}: one pass over 1 to 256 tokens ({form.form})")
    times = pass_times(target, form.make_runner)
    size = weight_bytes(target)
    bound_ms = 1000 * size / (report.copy_gb_per_second * 1e9)
    gammas = []
    for lane in lanes:
        tell(f"{shape}: races at {lane.name}")
        gammas.append(
            _race_at(start_race, replace(request, lanes=(request.lanes[0], lane)), report)
        )
    tell(f"{shape}: alone, and against generate()")
    against = _against(pool, start_race, request, plan, form)
    form.give_back()
    return {
        "shape": shape,
        "weight_gb": size / 1e9,
        "agreement": pool.agreement,
        "form": str(form.form),
        "form_reason": form.reason,
        "pass_ms": times,
        "bound_ms": bound_ms,
        "share_of_bound": bound_ms / times[1],
        "gammas": gammas,
        "against": against,
    }


def _race_at(start_race: StartRace, request: RaceRequest, report: DeviceReport) -> dict[str, Any]:
    traces = [finish_race(start_race, request) for _ in range(NUM_TURNS)]
    report.environment = asdict(traces[-1].environment)
    both = [race_metrics(trace) for trace in traces]
    drafted = [metrics[1] for metrics in both]
    verdict = race_verdicts(traces[-1])[1]
    return {
        "gamma": request.lanes[1].gamma,
        **{name: _median_of(drafted, name) for name in _SHOWN},
        "baseline_tokens_per_second": _median_of([m[0] for m in both], "tokens_per_second"),
        "verdict": None if verdict is None else str(verdict.agreement),
    }


_SHOWN = (
    "speedup",
    "alpha",
    "draft_cost",
    "verify_cost",
    "predicted_speedup",
    "efficiency",
    "tokens_per_second",
)


def _median_of(metrics: Sequence[LaneMetrics], name: str) -> float | None:
    values = [value for each in metrics if (value := getattr(each, name)) is not None]
    return median(values) if values else None


def _against(
    pool: Any, start_race: StartRace, request: RaceRequest, plan: DevicePlan, form: Any
) -> dict[str, Any]:
    """Our lanes, together and alone, beside `generate()`, plain and assisted."""
    from specviz.models.reference import run_generate
    from specviz.models.synthetic import DRAFT, TARGET
    from specviz.race.lanes import build_decoder

    target, draft = pool.get(TARGET), pool.get(DRAFT)
    ids = target.tokenizer(request.prompt)["input_ids"]
    lane = replace(request.lanes[1], gamma=min(4, max(plan.gammas)))
    together = replace(request, lanes=(request.lanes[0], lane))
    decoder = build_decoder(request.lanes[0], pool, request, form, num_prompt=len(ids))
    turns = take_turns(
        {
            "plain": lambda: _rate(run_generate(target, ids, plan.max_new_tokens)),
            "assisted": lambda: _rate(
                run_generate(target, ids, plan.max_new_tokens, draft, lane.gamma)
            ),
            "race": lambda: _rates(finish_race(start_race, together)),
            "alone": lambda: _rate(run_lane(decoder, ids)),
        },
        NUM_TURNS,
    )

    def ratio(numerators: Sequence[float], denominators: Sequence[float]) -> dict[str, float]:
        pairs = zip(numerators, denominators, strict=True)
        return asdict(quartiles([one / other for one, other in pairs]))

    baseline, drafted = zip(*turns["race"], strict=True)
    return {
        "gamma": lane.gamma,
        "baseline_over_generate": ratio(baseline, turns["plain"]),
        "drafted_over_assisted": ratio(drafted, turns["assisted"]),
        "interleaved_over_alone": ratio(baseline, turns["alone"]),
    }


def _rate(run: Any) -> Any:
    """Tokens a second of a `GenerateRun` or a `LaneRun`."""
    took = run.clock_ms if isinstance(run, LaneRun) else run.timed_ms
    return 1000 * run.num_timed / took


def _rates(trace: Trace) -> Any:
    """Tokens a second of both lanes of a race."""
    return tuple(metrics.tokens_per_second or 0.0 for metrics in race_metrics(trace))
