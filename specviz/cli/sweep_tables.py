"""Prints a sweep: leaderboard, draft × category, speedup against γ, costs, verdicts, method."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from specviz.bench.suites import ALL
from specviz.bench.sweep_cells import Cell
from specviz.bench.sweep_record import CheckCosts, PassTime, SweepRecord
from specviz.bench.sweep_results import SweepResults
from specviz.cli.summary_report import number
from specviz.cli.tables import make_table, print_titled
from specviz.texts import in_english

MIN_WIDTH = 110
"""Columns that a report takes where it is written to a file or a pipe, which have no width."""


_CURVES = {
    "measured": "speedup",
    "predicted": "predicted_speedup",
    "textbook": "predicted_speedup_textbook",
}


def print_sweep(console: Console, record: SweepRecord, results: SweepResults) -> None:
    """Print everything that a sweep has to say."""
    if not console.is_terminal:
        console.width = max(console.width, MIN_WIDTH)
    console.print(Text(_place(record), style="dim"))
    if not results.best:
        console.print(Text("nothing was measured", style="bold red"))
    else:
        _print_leaders(console, record, results)
        _print_categories(console, record, results)
        _print_gammas(console, record, results)
    if record.costs is not None:
        _print_costs(console, record.costs)
    for verdict in results.verdicts:
        console.print()
        console.print(Text(verdict.draft, style="bold"))
        console.print(Text(" ".join(map(in_english, verdict.sentences))))
    for failure in record.failures:
        console.print(Text(f"failed, and in no number: {failure}", style="bold red"))
    console.print()
    console.print(Text(_method(record, results), style="dim"))


def _print_leaders(console: Console, record: SweepRecord, results: SweepResults) -> None:
    table = make_table("", "best γ", "speedup", "α (kept/judged)", "τ", "c", "v", "predicted", "MB")
    sizes = {model.name: model.weights_bytes for model in record.models}
    specs = {lane.draft: lane.spec for lane in record.plan.lanes}
    target = sizes.get(record.plan.target)
    for best in results.leaders:
        cell = _find(results.cells, best.draft, best.gamma, ALL)
        assert cell is not None
        size = None if target is None else target + sizes.get(specs[best.draft].draft or "", 0)
        table.add_row(
            Text(best.draft),
            _gammas(best.gamma, best.gamma_low, best.gamma_high),
            _interval(cell),
            f"{number(cell.alpha, '{:.2f}')} ({cell.num_accepted}/{cell.num_judged})",
            number(cell.tau, "{:.2f}"),
            number(cell.draft_cost, "{:.3f}"),
            number(cell.verify_cost, "{:.2f}"),
            number(cell.predicted_speedup, "{:.2f}×"),
            number(None if size is None else size / 1e6, "{:.1f}"),
        )
    print_titled(console, "Each draft at its best γ", table)


def _print_categories(console: Console, record: SweepRecord, results: SweepResults) -> None:
    categories = record.plan.categories
    if len(categories) < 2:
        return
    table = make_table("", "γ", *categories)
    for best in results.leaders:
        cells = [_find(results.cells, best.draft, best.gamma, name) for name in categories]
        speedups = (number(None if cell is None else cell.speedup, "{:.2f}×") for cell in cells)
        table.add_row(Text(best.draft), str(best.gamma), *speedups)
        table.add_row("", "", *(Text(_ends(cell), style="dim") for cell in cells))
    print_titled(console, "Speedup by category", table)


def _print_gammas(console: Console, record: SweepRecord, results: SweepResults) -> None:
    gammas = sorted({gamma for lane in record.plan.lanes for gamma in lane.gammas})
    if len(gammas) < 2:
        return
    best = {each.draft: each.gamma for each in results.best}
    table = make_table("", "", *(f"γ {gamma}" for gamma in gammas))
    for lane in record.plan.lanes:
        cells = [_find(results.cells, lane.draft, gamma, ALL) for gamma in gammas]
        found = [cell for cell in cells if cell is not None]
        rows = {
            name: {cell.gamma: getattr(cell, field) for cell in found}
            for name, field in _CURVES.items()
        }
        for index, (name, values) in enumerate(rows.items()):
            marked = [
                Text(
                    number(values.get(gamma), "{:.2f}"),
                    style=_style(name, best.get(lane.draft) == gamma),
                )
                for gamma in gammas
            ]
            table.add_row(Text("" if index else lane.draft), name, *marked)
    print_titled(console, "Speedup against γ, over all prompts (the best γ in bold)", table)


def _style(row: str, is_best: bool) -> str:
    return "bold" if is_best and row == "measured" else "" if row == "measured" else "dim"


def _print_costs(console: Console, costs: CheckCosts) -> None:
    lengths = [time.tokens for time in costs.by_tokens]
    table = make_table("one text, tokens", *map(str, lengths))
    _add_costs(table, costs.by_tokens)
    print_titled(console, "What one pass of the target costs", table)
    table = make_table("texts at once", *(str(batch) for batch in _batches(costs)))
    for tokens in dict.fromkeys(time.tokens for time in costs.by_batch):
        times = [time for time in costs.by_batch if time.tokens == tokens]
        token = "token" if tokens == 1 else "tokens"
        table.add_row(f"ms, {tokens} {token} each", *(f"{time.ms:.2f}" for time in times))
    console.print(table)


def _batches(costs: CheckCosts) -> Iterable[int]:
    return dict.fromkeys(time.batch for time in costs.by_batch)


def _add_costs(table: Table, times: Sequence[PassTime]) -> None:
    first = times[0].ms
    table.add_row("ms", *(f"{time.ms:.2f}" for time in times))
    table.add_row("times the first", *(f"{time.ms / first:.2f}" for time in times))


def _find(cells: Iterable[Cell], draft: str, gamma: int, category: str) -> Cell | None:
    key = (draft, gamma, category)
    return next((x for x in cells if (x.draft, x.gamma, x.category) == key), None)


def _ends(cell: Cell | None) -> str:
    if cell is None or cell.speedup_low is None:
        return ""
    return f"{cell.speedup_low:.2f} to {cell.speedup_high:.2f}"


def _interval(cell: Cell | None) -> str:
    if cell is None or cell.speedup is None:
        return "–"
    if cell.speedup_low is None:
        return f"{cell.speedup:.2f}×"
    return f"{cell.speedup:.2f}× ({cell.speedup_low:.2f} to {cell.speedup_high:.2f})"


def _gammas(gamma: int, low: int, high: int) -> str:
    return str(gamma) if low == high else f"{gamma} ({low} to {high})"


def _place(record: SweepRecord) -> str:
    plan, where = record.plan, record.environment
    laws = ", ".join("greedy" if not t else f"T = {t:g}" for t in plan.temperatures)
    asked = f"{plan.target}; {laws}, up to {plan.max_new_tokens} tokens"
    if where is None:
        return asked
    threads = "1 thread" if where.num_threads == 1 else f"{where.num_threads} threads"
    return f"{where.device_name} ({where.device}), {where.dtype}, {threads}; {asked}"


def _method(record: SweepRecord, results: SweepResults) -> str:
    prediction = results.prediction
    return (
        f"{record.num_races} races of {len(record.plan.prompts)} prompts took "
        f"{record.seconds / 60:.1f} minutes. A speedup is the geometric mean over "
        "the middle half of the prompts, of each the median over its races; in brackets where it "
        "would lie if these prompts were raced again (90 %). Predicted is "
        "from acceptance by position and measured c and v: over "
        f"{prediction.num_cells} cells it explains the measured speedups with R² = "
        f"{number(prediction.r_squared, '{:.3f}')}; the textbook's form (one α, v = 1) with "
        f"{number(prediction.r_squared_textbook, '{:.3f}')}."
    )
