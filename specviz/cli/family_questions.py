"""What the shipped family is meant to show, as questions that a report answers with numbers."""

from dataclasses import dataclass
from operator import ge, gt, lt

from specviz.bench.family_report import FamilyReport, Row
from specviz.bench.plan import JOINED
from specviz.models.catalogue import DEFAULT_DRAFT
from specviz.trace.values import Method

SMALL, LARGE, MISFIT = DEFAULT_DRAFT, "specviz-large", "specviz-misfit"
_SIGNS = {"≥": ge, ">": gt, "<": lt}


@dataclass(frozen=True, slots=True)
class Question:
    """One question, what was hoped for, and the answer."""

    text: str
    wanted: str
    value: float | None
    """None where the run could not measure it."""
    is_met: bool | None


def answer_questions(report: FamilyReport) -> tuple[Question, ...]:
    """Answer the questions for which the report ran the models, the groups and the temperature."""
    temperature = report.plan.sampling.temperature
    small = report.row(SMALL, JOINED)
    if temperature == 1 and small is not None:
        return (_median_speedup(small, "≥", 1.3),)
    if temperature:
        return ()
    return (*_about_small(small), *_about_groups(report), *_sizes(report), *_heads(report))


def _about_small(small: Row | None) -> tuple[Question, ...]:
    if small is None:
        return ()
    best = f"{SMALL} on the best prompt of {JOINED}, {small.best_prompt!r}, speedup"
    return (
        _median_speedup(small, "≥", 2.0),
        _question(f"{SMALL} on {JOINED}, median efficiency", small.efficiency, "≥", 0.9),
        _question(best, small.best_speedup, "≥", 3.0),
    )


def _about_groups(report: FamilyReport) -> tuple[Question, ...]:
    exits = [x.name for x in report.plan.contenders if x.method is Method.EARLY_EXIT]
    asked = [
        (report.row(str(Method.PROMPT_LOOKUP), "edit"), "≥", 2.0),
        *((report.row(name, "story"), "≥", 1.15) for name in exits),
        (report.row(MISFIT, "story"), "<", 1.0),
    ]
    return tuple(_median_speedup(row, sign, bound) for row, sign, bound in asked if row is not None)


def _sizes(report: FamilyReport) -> tuple[Question, ...]:
    small, large = report.row(SMALL, JOINED), report.row(LARGE, JOINED)
    if small is None or large is None:
        return ()
    alpha = _over(large.alpha, small.alpha)
    speedup = _over(_median(large), _median(small))
    pair = f"{LARGE} over {SMALL} on {JOINED}"
    return (
        _question(f"α of {pair}", alpha, ">", 1.0),
        _question(f"median speedup of {pair}", speedup, "<", 1.0),
    )


def _heads(report: FamilyReport) -> tuple[Question, ...]:
    """Whether each head brings more tokens a round than the small draft in every group."""
    found = []
    for head in (x.name for x in report.plan.contenders if x.method is Method.EAGLE3):
        rows = [(report.row(head, x), report.row(SMALL, x)) for x in report.plan.sections]
        ratios = [_over(one.tau, other.tau) for one, other in rows if one and other]
        known = [ratio for ratio in ratios if ratio is not None]
        if ratios:
            least = min(known) if len(known) == len(ratios) else None
            text = f"τ of {head} over {SMALL}, in the group where it is the least"
            found.append(_question(text, least, ">", 1.0))
    return tuple(found)


def _median_speedup(row: Row, sign: str, bound: float) -> Question:
    return _question(f"{row.contender} on {row.group}, median speedup", _median(row), sign, bound)


def _question(text: str, value: float | None, sign: str, bound: float) -> Question:
    is_met = None if value is None else _SIGNS[sign](value, bound)
    return Question(text, f"{sign} {bound:g}", value, is_met)


def _median(row: Row) -> float | None:
    return None if row.speedup is None else row.speedup.median


def _over(value: float | None, other: float | None) -> float | None:
    return None if value is None or not other else value / other
