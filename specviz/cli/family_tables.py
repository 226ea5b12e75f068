"""Prints the list of models and the family's report as tables."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from specviz.bench.family_report import NUM_CANDIDATES, FamilyReport, Row
from specviz.bench.plan import JOINED, NUM_CHOOSING_PROMPTS, Contender, ReportPlan
from specviz.cli.family_questions import Question
from specviz.cli.models_report import ListedModel
from specviz.cli.summary_report import number, typical
from specviz.cli.tables import make_table, print_titled
from specviz.models.description import ModelDescription
from specviz.trace.values import Method

MIN_WIDTH = 110
"""Columns that a report takes where it is written to a file or a pipe, which have no width."""


def print_models(console: Console, models: Sequence[ListedModel]) -> None:
    """Print one row a model."""
    _widen(console)
    table = make_table(
        "model", "role", "layers × width", "parameters", "MB", "context", "exit layers"
    )
    table.add_column("fitted from")
    for model in models:
        about = model.description
        table.add_row(
            Text(about.name),
            about.role,
            _shape(about),
            _millions(about.num_parameters),
            f"{about.folder_bytes / 1e6:.1f}",
            "–" if about.context is None else str(about.context),
            ", ".join(map(str, about.exit_layers)) or "–",
            Text(model.fitted_from or "–"),
        )
    console.print(table)
    total = sum(model.description.folder_bytes for model in models)
    console.print(Text(f"{total / 1e6:.1f} MB on disk, tokenizers included", style="dim"))


def print_report(
    console: Console,
    report: FamilyReport,
    models: Sequence[ListedModel],
    questions: Sequence[Question],
) -> None:
    """Print the family, one table a group, stored losses, the questions, and how it was done."""
    _widen(console)
    described = {model.description.name: model.description for model in models}
    console.print(Text(_place(report), style="dim"))
    _print_family(console, report, described)
    for group in report.plan.sections:
        _print_group(console, group, [row for row in report.rows if row.group == group])
    _print_losses(console, report.plan, described)
    _print_questions(console, questions)
    for failure in report.failures:
        console.print(Text(f"failed, and in no number: {failure}", style="bold red"))
    console.print()
    console.print(Text(_method(report), style="dim"))


def _print_family(
    console: Console, report: FamilyReport, described: dict[str, ModelDescription]
) -> None:
    groups = [group for group in report.plan.sections if group != JOINED]
    table = make_table("", "parameters", "held-out loss", *groups)
    names = {report.plan.target: _losses(None, report.plan, described)}
    names |= {x.name: _losses(x, report.plan, described) for x in report.plan.contenders}
    for name, losses in names.items():
        rows = [report.row(name, group) for group in groups]
        table.add_row(
            Text(name),
            _millions(described[name].num_parameters) if name in described else "–",
            number(sum(losses.values()) / len(losses) if losses else None, "{:.3f}"),
            *("" if row is None else number(row.alpha, "{:.2f}") for row in rows),
        )
    print_titled(console, "The family, and α for each group of prompts", table)


def _print_group(console: Console, group: str, rows: Sequence[Row]) -> None:
    table = make_table("", "γ", "α (kept/judged)", "τ", "c", "v", "speedup", "efficiency")
    table.add_column("output", no_wrap=True)
    for row in rows:
        alpha = f"{number(row.alpha, '{:.2f}')} ({row.num_accepted}/{row.num_judged})"
        table.add_row(
            Text(row.contender),
            str(row.gamma),
            alpha if row.num_judged else "–",
            number(row.tau, "{:.2f}"),
            number(row.draft_cost, "{:.3f}"),
            number(row.verify_cost, "{:.2f}"),
            typical(row.speedup, "{:.2f}×"),
            number(row.efficiency, "{:.2f}"),
            row.verdict or "–",
        )
    num_prompts = max(row.num_prompts for row in rows)
    prompts = "1 prompt" if num_prompts == 1 else f"{num_prompts} prompts"
    print_titled(console, f"{group}, {prompts}", table)


def _print_losses(
    console: Console, plan: ReportPlan, described: dict[str, ModelDescription]
) -> None:
    """Print the held-out loss of every source of text, where it was stored with the models."""
    columns = {plan.target: _losses(None, plan, described)}
    columns |= {x.name: _losses(x, plan, described) for x in plan.contenders}
    columns = {name: losses for name, losses in columns.items() if losses}
    if not columns:
        return
    table = make_table("text")
    for name in columns:
        table.add_column(Text(name.removeprefix("specviz-")), justify="right")
    for source in dict.fromkeys(source for losses in columns.values() for source in losses):
        cells = (number(losses.get(source), "{:.3f}") for losses in columns.values())
        table.add_row(Text(source), *cells)
    title = "Held-out loss in nats a token, measured when the models were trained (its mean: above)"
    print_titled(console, title, table)


def _print_questions(console: Console, questions: Sequence[Question]) -> None:
    if not questions:
        return
    table = Table(box=None, padding=(0, 1))
    table.add_column("")
    for name in ("wanted", "measured"):
        table.add_column(name, justify="right")
    table.add_column("")
    for question in questions:
        met = {True: "✓", False: "✗ not reached", None: "not measured"}[question.is_met]
        table.add_row(Text(question.text), question.wanted, number(question.value, "{:.2f}"), met)
    print_titled(console, "What the family is meant to show", table)


def _losses(
    contender: Contender | None, plan: ReportPlan, described: dict[str, ModelDescription]
) -> dict[str, float]:
    """Held-out losses of what a contender drafts with; of the target itself for None."""
    if contender is not None and contender.method is Method.EARLY_EXIT:
        exits = described[plan.target].measures.exit_loss
        return dict(exits.get(str(contender.exit_layer), {}))
    drafting = plan.target if contender is None else contender.draft or contender.head or ""
    about = described.get(drafting)
    return dict(about.measures.held_out_loss) if about else {}


def _place(report: FamilyReport) -> str:
    where, plan, rate = report.environment, report.plan, report.baseline_tokens_per_second
    threads = "1 thread" if where.num_threads == 1 else f"{where.num_threads} threads"
    law = f"T = {plan.sampling.temperature:g}" if plan.sampling.temperature else "greedy"
    return (
        f"{where.device_name} ({where.device}), {where.dtype}, {threads}; {law}, up to "
        f"{plan.max_new_tokens} tokens; {plan.target} alone {typical(rate, '{:.1f}')} tokens/s"
    )


def _method(report: FamilyReport) -> str:
    plan = report.plan
    short, gammas = plan.for_choosing, ", ".join(map(str, sorted(plan.gammas)))
    same = "" if plan.sampling.temperature else " (greedy texts are the same again, times are not)"
    times = "once" if plan.num_repeats == 1 else f"{plan.num_repeats} times"
    return (
        f"γ was chosen among {gammas}, for each way to draft and each group: on the group's first "
        f"{NUM_CHOOSING_PROMPTS} prompts, {short.max_new_tokens} tokens each, races at "
        f"γ = {plan.middle_gamma} measured α, c and v, with these the theory named "
        f"{NUM_CANDIDATES} candidates, and the fastest in a race was taken. Every number above "
        f"comes from fresh races at that γ alone, each prompt {times}; the runs that chose it are "
        f"in none of them{same}. α counts tokens over all prompts of the group; τ, c, v, speedup "
        "and efficiency are medians over the prompts, with quartiles in brackets. "
        f"{report.num_races} races took {report.seconds:.0f} s."
    )


def _shape(about: ModelDescription) -> str:
    return f"{about.num_layers or '?'} × {about.hidden_size or '?'}"


def _millions(num_parameters: int) -> str:
    return f"{num_parameters / 1e6:.2f}M"


def _widen(console: Console) -> None:
    if not console.is_terminal:
        console.width = max(console.width, MIN_WIDTH)
