"""The command `sweep`: which draft for this target, at which γ, on which text, on this machine."""

import json
import sys
import time
from argparse import Namespace
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from specviz.bench.sweep import SweepProgress, run_sweep
from specviz.bench.sweep_files import (
    cells_csv,
    not_written,
    read_sweep,
    sweep_json,
    write_sweep,
)
from specviz.bench.sweep_plan import SweepPlan
from specviz.bench.sweep_record import SweepRecord
from specviz.bench.sweep_results import results_of
from specviz.cli.sweep_options import build_sweep_plan
from specviz.cli.sweep_tables import print_sweep
from specviz.errors import RequestError
from specviz.host.sweep_costs import measure_check_costs, model_sizes
from specviz.host.sweep_news import shown_of
from specviz.models.dtype_choice import pick_dtype
from specviz.texts import message
from specviz.trace.values import StartRace

SECONDS_BETWEEN_WRITES = 60.0
INTERRUPTED = 130


def run_sweep_command(
    args: Namespace, start_race_on: Callable[[str, str], StartRace], console: Console
) -> int:
    """Measure, write the files, print the tables; return the exit status.

    An interruption ends the races, not the command: what was measured is written and printed.

    Raises:
        RequestError: What was asked for cannot be raced, or a file cannot be read or written.
    """
    plan = build_sweep_plan(args)
    dtype = pick_dtype(args.dtype, args.device, plan.target)
    record = _begun(plan, args.out)
    for path in filter(None, (args.out, args.csv, args.page)):
        _check_folder(path)
    drafting = (name for lane in plan.lanes for name in (lane.spec.draft, lane.spec.head) if name)
    names = (plan.target, *drafting)
    record = replace(record, models=model_sizes(names, dtype, args.quantize))
    start_race = start_race_on(args.device, dtype)
    if args.out is not None and not args.no_costs and record.costs is None:
        costs = measure_check_costs(plan.target, args.device, dtype, args.quantize)
        record = replace(record, costs=costs)
    record, was_interrupted = _measure(args, start_race, record)
    results = results_of(record)
    if args.out is not None:
        write_sweep(record, args.out)
    if args.csv is not None:
        _write(args.csv, cells_csv(results.cells))
    if args.page is not None:
        _write(args.page, json.dumps(shown_of(record), ensure_ascii=False) + "\n")
    if args.json:
        console.out(json.dumps(sweep_json(record, results), indent=2, allow_nan=False))
    else:
        print_sweep(console, record, results)
    return INTERRUPTED if was_interrupted else int(bool(record.failures))


def _begun(plan: SweepPlan, path: Path | None) -> SweepRecord:
    """Give the record to go on with: that of the file, where there is one, else an empty one."""
    if path is None or not path.exists():
        return SweepRecord(plan)
    record = read_sweep(path)
    if record.plan != plan:
        raise RequestError(message("sweep.other_plan", path=str(path)))
    return record


def _measure(
    args: Namespace, start_race: StartRace, record: SweepRecord
) -> tuple[SweepRecord, bool]:
    """Run the races; say whether somebody ended them."""
    written = time.monotonic()
    races = run_sweep(start_race, record, minutes=args.minutes)
    try:
        for progress in races:
            record = progress.record
            _tell(progress)
            if args.out is not None and time.monotonic() - written > SECONDS_BETWEEN_WRITES:
                write_sweep(record, args.out)
                written = time.monotonic()
    except KeyboardInterrupt:
        return record, True
    finally:
        _tell(None)
    return record, False


def _tell(progress: SweepProgress | None) -> None:
    """Say how far it is, on one line that is written over; between races and so in no clock."""
    if not sys.stderr.isatty():
        return
    if progress is None:
        sys.stderr.write("\r\033[K")
    else:
        doing = "racing again" if progress.is_repeating else "racing"
        left = f"{progress.seconds_left / 60:.1f} minutes left"
        sys.stderr.write(f"\r\033[K{doing}: {progress.done} of {progress.of} races, {left}")
    sys.stderr.flush()


def _check_folder(path: Path) -> None:
    """Refuse before the races what cannot be written after them."""
    if not path.absolute().parent.is_dir():
        reason = "its folder is not there"
        raise RequestError(message("refusal.not_written", path=str(path), reason=reason))


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise not_written(path, error) from error
