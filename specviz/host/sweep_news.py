"""What the page is shown of a sweep, as plain JSON that is small enough to be sent often.

A cell is a row of numbers with four digits, in the order of `FIELDS`; drafts and categories stand
in it by their numbers. Rows that did not change are not told again.
"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from specviz.bench.suites import ALL, own_kinds
from specviz.bench.sweep_best import Best
from specviz.bench.sweep_cells import Cell, median_of
from specviz.bench.sweep_record import SweepRecord
from specviz.bench.sweep_results import SweepResults, results_of
from specviz.trace.speedup_map import iso_lines
from specviz.trace.typed_json import encode
from specviz.trace.values import Tree

Told = dict[str, Any]
FIELDS = (
    "n",
    "num_prompts",
    "speedup",
    "speedup_low",
    "speedup_high",
    "alpha",
    "num_judged",
    "tau",
    "draft_cost",
    "verify_cost",
    "predicted_speedup",
    "predicted_speedup_textbook",
    "draft_ms",
    "verify_ms",
    "other_ms",
)
"""Of a `Cell`; before them stand the numbers of draft, γ and category."""
LISTS = ("acceptance_by_position", "rounds_by_kept")
"""Of a cell over all categories, behind them."""
_DIGITS = 4
_Key = tuple[int, int, int]


def head_of(record: SweepRecord) -> Told:
    """Say what a sweep was asked for: its lanes, categories, and of each the first prompt."""
    plan = record.plan
    first: dict[str, str] = {}
    for prompt in plan.prompts:
        first.setdefault(prompt.group, prompt.text)
    return {
        "target": plan.target,
        "lanes": [_lane(lane) for lane in encode(plan.lanes)],
        "categories": [ALL, *plan.categories],
        "own_kinds": own_kinds(plan.prompts),
        "prompts": first,
        "tokens": plan.max_new_tokens,
        "models": {model.name: asdict(model) for model in record.models},
        "fields": ["draft", "gamma", "category", *FIELDS, *LISTS],
    }


class SweepNews:
    """Tells the results of one sweep as it goes on; what is as before is left out."""

    def __init__(self, record: SweepRecord) -> None:
        plan = record.plan
        self._drafts = {lane.draft: number for number, lane in enumerate(plan.lanes)}
        self._categories = {name: number for number, name in enumerate((ALL, *plan.categories))}
        self._told: dict[_Key, list[Any]] = {}

    def tell(self, record: SweepRecord, results: SweepResults | None = None) -> Told:
        """Give the results as they stand, of the cells those that are new or have changed."""
        results = results or results_of(record)
        rows = {self._key(cell): self._row(cell) for cell in results.cells}
        changed = [[*key, *row] for key, row in rows.items() if self._told.get(key) != row]
        self._told = rows
        return {
            "cells": changed,
            "best": [rounded(encode(best)) for best in results.best],
            "prediction": rounded(encode(results.prediction)),
            "verdicts": [asdict(verdict) for verdict in results.verdicts],
            "failures": list(record.failures),
            "map": _map(results.best, results.cells),
            "num_races": record.num_races,
            "num_prompts": len({run.prompt for run in record.runs}),
            "seconds": rounded(record.seconds),
            "environment": encode(record.environment),
        }

    def _key(self, cell: Cell) -> _Key:
        return self._drafts[cell.draft], cell.gamma, self._categories[cell.category]

    def _row(self, cell: Cell) -> list[Any]:
        lists = LISTS if cell.category == ALL else ()
        return [rounded(encode(getattr(cell, name))) for name in (*FIELDS, *lists)]


def shown_of(record: SweepRecord) -> Told:
    """Give all that the page shows of a sweep, at once."""
    return head_of(record) | SweepNews(record).tell(record)


def rounded(value: Any) -> Any:
    """Leave of every fraction in plain JSON four digits."""
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}")
    if isinstance(value, list):
        return [rounded(each) for each in value]
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    return value


def _lane(lane: Told) -> Told:
    """Name of a lane and what it runs, as the form of races takes it."""
    spec = lane["spec"]
    of_tree = () if spec["tree"] == Tree.NONE else ("tree", "branches", "budget")
    kept = ("method", "draft", "exit_layer", "max_ngram", "head", "head_reading", *of_tree)
    return {
        "draft": lane["draft"],
        "gammas": lane["gammas"],
        "temperature": lane["temperature"],
        "spec": {key: spec[key] for key in kept},
    }


def _map(best: Sequence[Best], cells: Sequence[Cell]) -> Told | None:
    """Lines of equal speedup, with the v that checks of the best draft lengths cost."""
    chosen = {(each.draft, each.gamma) for each in best}
    own = [cell for cell in cells if cell.category == ALL and (cell.draft, cell.gamma) in chosen]
    cost = median_of(cell.verify_cost for cell in own)
    if not cost:
        return None
    most = max((cell.draft_cost or 0.0 for cell in own), default=0.0)
    lines = rounded(encode(iso_lines(cost, 1.15 * most)))
    named = [{"speedup": speedup, "points": points} for speedup, points in lines]
    return {"verify_cost": rounded(cost), "lines": named}
