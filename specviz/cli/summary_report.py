"""Shows what races and comparisons came to: tables for people, plain values for `--json`."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from specviz.bench.repeats import (
    WRONG_RULE,
    Comparison,
    LaneSummary,
    Quartiles,
    quartiles,
    summarise,
)
from specviz.cli.race_report import lane_titles
from specviz.texts import in_english, message
from specviz.trace.doubts import Doubt
from specviz.trace.metrics import LaneMetrics, race_metrics
from specviz.trace.values import Environment, Trace
from specviz.trace.verdict import Agreement, Verdict, race_verdicts

_DOUBTS = {
    Doubt.CHEAP_CHECK: "noisy machine: checking several tokens looked cheaper than a plain step of "
    "one (v = {v}); close what else runs, and race again",
    Doubt.INTERRUPTED: "noisy machine: some rounds took over three times as long as the lane's "
    "others; close what else runs, and race again",
    Doubt.PARTED: "measured speedup is {efficiency} of the predicted one: in this text guesses do "
    "not fail independently of each other",
}


def race_json(environment: Environment, summaries: Sequence[LaneSummary]) -> dict[str, Any]:
    """Return what `race --json` prints."""
    return {
        "device": environment.device,
        "dtype": environment.dtype,
        "lanes": [asdict(summary) for summary in summaries],
    }


def bench_json(traces: Sequence[Trace], summaries: Sequence[LaneSummary]) -> dict[str, Any]:
    """Return what `bench --json` prints: the same, with the quartiles of what is a time."""
    content = race_json(traces[-1].environment, summaries)
    content["num_races"] = len(traces)
    for index, lane in enumerate(content["lanes"]):
        runs = [summarise(trace)[index] for trace in traces]
        for name in ("tokens_per_second", "speedup"):
            found = _quartiles_of(runs, name)
            lane[f"{name}_quartiles"] = found and [found.low, found.high]
    return content


def comparisons_json(comparisons: Sequence[Comparison]) -> dict[str, Any]:
    """Return what `bench --against … --json` prints."""
    return {"comparisons": [asdict(comparison) for comparison in comparisons]}


def print_summary(
    console: Console, traces: Sequence[Trace], summaries: Sequence[LaneSummary]
) -> None:
    """Print all lanes side by side; of several races the medians."""
    last = traces[-1]
    where = last.environment
    many = f"; medians [quartiles] of {len(traces)} races" if len(traces) > 1 else ""
    threads = "1 thread" if where.num_threads == 1 else f"{where.num_threads} threads"
    place = f"{where.device_name} ({where.device}), {where.dtype}, {threads}"
    console.print()
    console.print(Text(place + many, style="dim"))
    if where.form_reason:
        form, reason = (message(f"form.{key}") for key in (where.form, where.form_reason))
        told = message("form.told", form=form, reason=reason)
        console.print(Text(in_english(told), style="dim"))
    runs = list(zip(*(summarise(trace) for trace in traces), strict=True))
    metrics, verdicts = race_metrics(last), race_verdicts(last)
    columns = [
        _column(summary, lane_metrics, verdict, lane_runs)
        for summary, lane_metrics, verdict, lane_runs in zip(
            summaries, metrics, verdicts, runs, strict=True
        )
    ]
    table = Table(box=None, padding=(0, 1))
    table.add_column("")
    for title in lane_titles(last):
        table.add_column(Text(title), justify="right")
    for label in columns[0]:
        table.add_row(Text(label), *(Text(column[label]) for column in columns))
    console.print(table)
    for title, summary, lane_metrics in zip(lane_titles(last), summaries, metrics, strict=True):
        if summary.speedup is not None and summary.speedup < 1:
            console.print(Text(f"{summary.name} is slower than the baseline here."))
        _print_doubts(console, title, lane_metrics)


def print_comparisons(console: Console, comparisons: Sequence[Comparison]) -> None:
    """Print our lanes beside `generate()`, in tokens a second: median [quartiles]."""
    for found in comparisons:
        gamma = f", γ={found.gamma}" if found.gamma else ""
        same = "the same ids" if found.is_same_text else "NOT the same ids"
        console.print(Text(f"{found.name} against {found.reference}{gamma}", style="bold"))
        table = Table(box=None, padding=(0, 1), show_header=False)
        table.add_row("ours", typical(found.ours, "{:.1f}"), "tokens/s by the lane's clock")
        with_recording = typical(found.ours_with_recording, "{:.1f}")
        table.add_row("", with_recording, "tokens/s by the wall clock, with the trace written")
        table.add_row("theirs", typical(found.theirs, "{:.1f}"), "tokens/s by the wall clock")
        notes = f"{found.ratio.n} turns, {found.num_tokens} tokens timed in each, {same}"
        table.add_row("ours / theirs", typical(found.ratio, "{:.3f}"), notes)
        console.print(table)
    console.print(
        Text(
            "Turns alternate in order, after a warm-up, in one process with the same threads. The "
            "first output of a run is not timed: theirs comes after the reading of the prompt.",
            style="dim",
        )
    )


def _column(
    summary: LaneSummary,
    metrics: LaneMetrics,
    verdict: Verdict | None,
    runs: Sequence[LaneSummary],
) -> dict[str, str]:
    """One lane's cells by label; counts are those of the last race."""
    judged = metrics.num_accepted + metrics.num_rejected
    drafted = metrics.num_drafted
    saved = number(summary.target_passes_saved, "{:.0%} saved")
    return {
        "tokens": str(summary.num_emitted),
        "tokens/s": typical(_quartiles_of(runs, "tokens_per_second"), "{:.1f}"),
        "speedup": _speedup(summary, runs),
        "acceptance α": _of(summary.alpha, metrics.num_accepted, judged),
        "acceptance rate": _of(summary.acceptance_rate, metrics.num_accepted, drafted),
        "tokens per round τ": _of(summary.tau, metrics.num_emitted, metrics.num_rounds),
        "draft cost c": number(summary.draft_cost, "{:.3f}"),
        "verification cost v": number(summary.verify_cost, "{:.3f}"),
        "predicted speedup": number(summary.predicted_speedup, "{:.2f}×"),
        "efficiency": number(summary.efficiency, "{:.2f}"),
        "target passes": f"{metrics.num_target_forwards} ({saved})",
        "ended by": summary.stop_reason,
        "output": _verdict(verdict, summary.verdict),
    }


def _speedup(summary: LaneSummary, runs: Sequence[LaneSummary]) -> str:
    """Of one race the interval that its own rounds give, of several their quartiles."""
    found = typical(_quartiles_of(runs, "speedup"), "{:.2f}×")
    if len(runs) > 1 or summary.speedup_low is None or summary.speedup_high is None:
        return found
    return f"{found} ({summary.speedup_low:.1f} to {summary.speedup_high:.1f})"


def _print_doubts(console: Console, title: str, metrics: LaneMetrics) -> None:
    for doubt in metrics.doubts:
        about = _DOUBTS[doubt].format(
            v=number(metrics.verify_cost, "{:.2f}"), efficiency=number(metrics.efficiency, "{:.0%}")
        )
        console.print(Text(f"{title}: {about}", style="yellow"))


def _verdict(verdict: Verdict | None, worst: str | None) -> str:
    if worst == WRONG_RULE:
        return _wrong(verdict)
    if verdict is None or worst is None:
        return "–"
    if verdict.agreement is Agreement.IDENTICAL:
        return "identical ✓" if worst == verdict.agreement else f"{worst} in one race"
    assert verdict.first_difference is not None
    margin = number(verdict.margin, " (margin {:.1e})")
    return f"{verdict.agreement} at token {verdict.first_difference + 1}{margin}"


def _wrong(verdict: Verdict | None) -> str:
    """What is said of a lane with a wrong rule, which is not lossless where it wrote the same."""
    if verdict is None:
        return "WRONG: another law"
    if verdict.first_difference is None:
        return "WRONG: no harm in this text"
    return f"WRONG: differs at token {verdict.first_difference + 1}"


def _quartiles_of(runs: Sequence[LaneSummary], name: str) -> Quartiles | None:
    values = [value for run in runs if (value := getattr(run, name)) is not None]
    return quartiles(values) if values else None


def typical(found: Quartiles | None, form: str) -> str:
    if found is None:
        return "–"
    middle = form.format(found.median)
    if found.n == 1:
        return middle
    return f"{middle} [{form.format(found.low)}–{form.format(found.high)}]"


def number(value: float | None, form: str) -> str:
    return "–" if value is None else form.format(value)


def _of(value: float | None, part: int, whole: int) -> str:
    return "–" if value is None else f"{value:.2f} ({part}/{whole})"
