"""Writes a sweep as JSON and as CSV, and reads both back.

The JSON holds the raw facts (plan, runs, costs), from which everything else is computed again when
it is read, and beside them what was computed: cells, best, prediction, verdicts. A CSV holds the
cells alone, one a row.
"""

import csv
import io
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, get_type_hints

from specviz.bench.sweep_cells import Cell
from specviz.bench.sweep_record import SweepRecord
from specviz.bench.sweep_results import SweepResults, results_of
from specviz.errors import FormatError, RequestError
from specviz.texts import in_english, message
from specviz.trace.files import ADDED_LATER, upgraded_spec
from specviz.trace.typed_json import decode, encode, parse_json, quoted, read_json, refusal

FORMAT = 1
MAX_BYTES = 200_000_000
RAW = tuple(field.name for field in fields(SweepRecord))
COMPUTED = ("cells", "best", "prediction", "verdicts")


def sweep_json(record: SweepRecord, results: SweepResults | None = None) -> dict[str, Any]:
    """Return a sweep as values that `json` can write: results first, raw facts after them."""
    results = results or results_of(record)
    return {
        "format": FORMAT,
        "cells": encode(results.cells),
        "best": {each.draft: encode(each) for each in results.best},
        "prediction": encode(results.prediction),
        "verdicts": [
            asdict(verdict) | {"text": " ".join(map(in_english, verdict.sentences))}
            for verdict in results.verdicts
        ],
        **encode(record),
    }


def write_sweep(record: SweepRecord, path: Path) -> None:
    """Write a sweep whole or not at all. Raises: RequestError where the file cannot be written."""
    text = json.dumps(sweep_json(record), allow_nan=False, ensure_ascii=False)
    beside = path.with_name(f"{path.name}.part")
    try:
        beside.write_text(text + "\n", encoding="utf-8")
        os.replace(beside, path)
    except OSError as error:
        raise not_written(path, error) from error


def not_written(path: Path, error: OSError) -> RequestError:
    """Say why a file cannot be written."""
    return RequestError(
        message("refusal.not_written", path=str(path), reason=str(error.strerror or error))
    )


def read_sweep(path: Path) -> SweepRecord:
    """Read the raw facts of a sweep. Raises: FormatError naming file and first bad path."""
    try:
        return sweep_from_json(read_json(path, MAX_BYTES))
    except FormatError as error:
        raise FormatError(message("format.in_file", path=str(path), problem=error.text)) from error


def parse_sweep(text: str | bytes) -> SweepRecord:
    """Read a sweep from JSON text. Raises: FormatError."""
    return sweep_from_json(parse_json(text, MAX_BYTES))


def sweep_from_json(content: object) -> SweepRecord:
    """Build the raw facts from parsed JSON; what was computed of them is left alone.

    Raises:
        FormatError: Names the first path that does not fit the format.
    """
    if not isinstance(content, dict) or "format" not in content or "plan" not in content:
        raise FormatError(message("sweep.no_sweep"))
    number = content["format"]
    if type(number) is not int or number != FORMAT:
        raise refusal("format", message("format.must_be", wanted=str(FORMAT), found=quoted(number)))
    apart = {"format", *COMPUTED}
    body = {key: content[key] for key in content if key not in apart}
    body["plan"] = _upgraded_plan(body["plan"])
    record: SweepRecord = decode(SweepRecord, body, may_be_absent=ADDED_LATER)
    known = {lane.draft for lane in record.plan.lanes}
    prompts = {prompt.id for prompt in record.plan.prompts}
    for index, run in enumerate(record.runs):
        if run.draft not in known or run.prompt not in prompts:
            raise refusal(f"runs[{index}]", message("sweep.foreign_run"))
    return record


def _upgraded_plan(plan: object) -> object:
    """Bring the lanes of a plan to the form of today; what is none is left to be refused."""
    if not isinstance(plan, dict) or not isinstance(plan.get("lanes"), list):
        return plan
    lanes = [
        lane | {"spec": upgraded_spec(lane["spec"])}
        if isinstance(lane, dict) and "spec" in lane
        else lane
        for lane in plan["lanes"]
    ]
    return plan | {"lanes": lanes}


def cells_csv(cells: Sequence[Cell]) -> str:
    """Write cells as CSV with a head line; lists are written with spaces between their numbers."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(field.name for field in fields(Cell))
    for cell in cells:
        writer.writerow(_written(getattr(cell, field.name)) for field in fields(Cell))
    return stream.getvalue()


def read_cells_csv(text: str) -> tuple[Cell, ...]:
    """Read cells from CSV. Raises: FormatError that names the line."""
    names = [field.name for field in fields(Cell)]
    rows = list(csv.reader(io.StringIO(text)))
    if not rows or rows[0] != names:
        raise FormatError(message("sweep.no_cells"))
    hints = get_type_hints(Cell, include_extras=True)
    cells = []
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(names):
            raise FormatError(message("sweep.bad_row", line=number))
        try:
            content = {
                name: _read(hints[name], value) for name, value in zip(names, row, strict=True)
            }
        except ValueError as error:
            raise FormatError(message("sweep.bad_row", line=number)) from error
        cells.append(decode(Cell, content, f"line {number}"))
    return tuple(cells)


def _written(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, tuple):
        return " ".join(map(repr, value))
    return repr(value) if isinstance(value, float) else str(value)


def _read(hint: Any, text: str) -> Any:
    """Read a cell of CSV into what JSON would hold."""
    if hint == tuple[int, ...]:
        return [int(part) for part in text.split()]
    if hint == tuple[float, ...]:
        return [float(part) for part in text.split()]
    if hint is int:
        return int(text)
    if hint in (float, float | None):
        return float(text) if text else None
    return text or None
