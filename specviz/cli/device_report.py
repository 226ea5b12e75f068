"""The device report of the command `bench --out`: what was measured, as a file and as a table."""

import json
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from specviz.bench.device_report import DevicePlan, DeviceReport, measure_device
from specviz.errors import RequestError
from specviz.models.dtype_choice import AUTO, large_dtype
from specviz.texts import message

SHAPES = ("tiny", "1B", "3B", "8B")
LARGE = SHAPES[1:]


def run_device_report(args: Namespace, console: Console) -> int:
    """Measure the device, write the file, print a table; return the exit status.

    Raises:
        RequestError: A shape is unknown, weights are to be quantised, or the file cannot be
            written.
        ModelLoadError: The device cannot be used.
    """
    if args.quantize is not None:
        raise RequestError("--out measures models that are made here; leave out --quantize")
    plan = _plan(args)
    path = Path(args.out)
    try:
        path.touch()
    except OSError as error:
        problem = {"path": args.out, "reason": str(error.strerror)}
        raise RequestError(message("refusal.not_written", **problem)) from error
    errors = Console(stderr=True, highlight=False)
    from transformers.utils import logging

    # The assisted generate() warns about how it calls itself.
    logging.set_verbosity_error()
    if not sys.stderr.isatty():
        logging.disable_progress_bar()
    report = measure_device(plan, lambda text: errors.print(text, style="dim"))
    path.write_text(json.dumps(asdict(report), indent=1) + "\n", encoding="utf-8")
    if args.json:
        console.print_json(data=asdict(report))
    else:
        _print(console, report)
    return 0 if all(_is_lossless(pair) for pair in report.pairs) else 1


def _plan(args: Namespace) -> DevicePlan:
    given = args.shapes or ",".join(LARGE if args.device.startswith("cuda") else SHAPES[:1])
    shapes = tuple(part.strip() for part in given.split(","))
    if unknown := [shape for shape in shapes if shape not in SHAPES]:
        raise RequestError(f"--shapes takes {', '.join(SHAPES)}; got {unknown[0]!r}")
    return DevicePlan(
        args.device,
        _dtype(args, shapes),
        shapes,
        args.compile,
        args.max_new_tokens,
        minutes=args.minutes,
    )


def _dtype(args: Namespace, shapes: Sequence[str]) -> str:
    """What the synthetic models are computed in."""
    if args.dtype != AUTO:
        return str(args.dtype)
    return "float32" if "tiny" in shapes else large_dtype(args.device)


def _is_lossless(pair: Mapping[str, Any]) -> bool:
    return all(row["verdict"] in (None, "identical", "near-tie") for row in pair["gammas"])


def _print(console: Console, report: DeviceReport) -> None:
    where = report.environment
    console.print(f"{where.get('device_name')} ({where.get('device')}), {where.get('dtype')}")
    console.print(f"memory, read and written by a copy: {report.copy_gb_per_second:,.0f} GB/s")
    table = Table(box=None, padding=(0, 1))
    table.add_column("")
    for pair in report.pairs:
        table.add_column(pair["shape"], justify="right")
    for name, read in _ROWS.items():
        table.add_row(name, *(read(pair) for pair in report.pairs))
    console.print(table)
    if report.left_out:
        console.print(f"left out, since time was up: {', '.join(report.left_out)}")


def _best(pair: Mapping[str, Any]) -> Mapping[str, Any]:
    best: Mapping[str, Any] = max(pair["gammas"], key=lambda row: row["speedup"] or 0.0)
    return best


def _lowest_efficiency(pair: Mapping[str, Any]) -> float:
    return min(row["efficiency"] or 0.0 for row in pair["gammas"])


_ROWS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "form": lambda pair: pair["form"],
    "weights, GB": lambda pair: f"{pair['weight_gb']:.2f}",
    "one token, ms": lambda pair: f"{pair['pass_ms'][1]:.2f}",
    "share of the memory's bound": lambda pair: f"{pair['share_of_bound']:.2f}",
    "8 tokens / 1 token": lambda pair: f"{pair['pass_ms'][8] / pair['pass_ms'][1]:.2f}",
    "64 tokens / 1 token": lambda pair: f"{pair['pass_ms'][64] / pair['pass_ms'][1]:.2f}",
    "best γ": lambda pair: str(_best(pair)["gamma"]),
    "its speedup": lambda pair: f"{_best(pair)['speedup']:.2f}×",
    "its α": lambda pair: f"{_best(pair)['alpha']:.2f}",
    "lowest efficiency over γ": lambda pair: f"{_lowest_efficiency(pair):.2f}",
    "baseline / generate()": lambda pair: (
        f"{pair['against']['baseline_over_generate']['median']:.2f}"
    ),
    "drafted / assisted generate()": lambda pair: (
        f"{pair['against']['drafted_over_assisted']['median']:.2f}"
    ),
    "baseline in the race / alone": lambda pair: (
        f"{pair['against']['interleaved_over_alone']['median']:.3f}"
    ),
    "output": lambda pair: ", ".join(sorted({str(row["verdict"]) for row in pair["gammas"]})),
}
