"""Says in words whether a draft is worth it, why, on which prompts, and what to try next.

The practitioners' rules of thumb (acceptance of 0.7 and more is excellent, 0.5 to 0.7 good, below
look for another draft; ten times fewer parameters than the target) are said beside what was
measured, and contradicted where the measurement contradicts them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from specviz.bench.suites import ALL, kind_name, own_kinds
from specviz.bench.sweep_best import Best
from specviz.bench.sweep_cells import Cell, median_of
from specviz.bench.sweep_plan import SweepLane
from specviz.bench.sweep_record import SweepRecord
from specviz.texts import Message, message
from specviz.trace.limits import MAX_GAMMA
from specviz.trace.values import Method

EXCELLENT_ALPHA, GOOD_ALPHA = 0.7, 0.5
SMALLER_BY = 10.0
"""Times fewer parameters that the rule asks of a draft."""
DEAR_GUESS = 0.2
"""A guess above this share of a pass is said to cost too much where a draft does not pay."""


@dataclass(frozen=True, slots=True)
class SweepVerdict:
    """What is said of one draft."""

    draft: str
    is_worth_it: bool | None
    """None where the interval of its speedup holds 1, or is not known."""
    sentences: tuple[Message, ...]
    """Texts of the table, in the order in which they are read."""


@dataclass(frozen=True, slots=True)
class _Pair:
    """A draft at its best draft length, with what was measured there."""

    best: Best
    lane: SweepLane
    over_all: Cell
    by_category: tuple[Cell, ...]
    own_kinds: tuple[str, ...]
    """Categories whose names are texts of the table."""
    round_cost: float | None
    """A round's time in tokens of the target alone."""
    times_smaller: float | None
    """Parameters of the target over those of the draft model, where both are known."""

    @property
    def is_worth_it(self) -> bool | None:
        """Whether the whole interval lies above 1, or below."""
        return _side(self.over_all)


def verdict_of(
    best: Best, others: Sequence[Best], cells: Sequence[Cell], record: SweepRecord
) -> SweepVerdict:
    """Give the verdict on one draft beside the others of its sweep."""
    pair = _pair(best, cells, record)
    rivals = [_pair(other, cells, record) for other in others if other is not best]
    sentences = (
        _worth(pair),
        *_why(pair),
        _gamma(pair),
        *_categories(pair),
        *_rule_of_alpha(pair),
        *_rule_of_size(pair),
        *_beside(pair, rivals),
        *_next(pair),
    )
    return SweepVerdict(best.draft, pair.is_worth_it, sentences)


def _pair(best: Best, cells: Sequence[Cell], record: SweepRecord) -> _Pair:
    lane = next(lane for lane in record.plan.lanes if lane.draft == best.draft)
    own = [cell for cell in cells if (cell.draft, cell.gamma) == (best.draft, best.gamma)]
    sizes = {model.name: model.num_parameters for model in record.models}
    target, draft = sizes.get(record.plan.target), sizes.get(lane.spec.draft or "")
    runs = [run for run in record.runs if (run.draft, run.gamma) == (best.draft, best.gamma)]
    return _Pair(
        best=best,
        lane=lane,
        over_all=next(cell for cell in own if cell.category == ALL),
        by_category=tuple(cell for cell in own if cell.category != ALL),
        own_kinds=own_kinds(record.plan.prompts),
        round_cost=median_of(run.round_cost for run in runs),
        times_smaller=target / draft if target and draft else None,
    )


def _side(cell: Cell) -> bool | None:
    """Whether a cell is faster than the target alone, as far as its interval tells."""
    if cell.speedup_low is None or cell.speedup_high is None:
        return None
    if cell.speedup_low > 1.0:
        return True
    return False if cell.speedup_high < 1.0 else None


def _worth(pair: _Pair) -> Message:
    best = pair.best
    values = {"draft": best.draft, "gamma": best.gamma, "speedup": _short(best.speedup)}
    if best.speedup_low is None or best.speedup_high is None:
        return message("sweep.worth_unknown", **values)
    values |= {"low": _short(best.speedup_low), "high": _short(best.speedup_high)}
    if pair.is_worth_it is None:
        return message("sweep.worth_unclear", **values)
    if pair.is_worth_it:
        return message("sweep.worth_it", **values)
    return message("sweep.not_worth_it", **values)


def _why(pair: _Pair) -> Iterator[Message]:
    cell, cost = pair.over_all, pair.round_cost
    if cell.tau is None or cost is None:
        return
    values = {"tokens": _short(cell.tau), "cost": _short(cost)}
    if cell.draft_cost is None or cell.verify_cost is None:
        yield message("sweep.why", **values)
    else:
        costs = {"c": _short(cell.draft_cost, 3), "v": _short(cell.verify_cost)}
        yield message("sweep.why_costs", **values, **costs)


def _gamma(pair: _Pair) -> Message:
    best = pair.best
    if len(pair.lane.gammas) == 1:
        return message("sweep.only_gamma", gamma=best.gamma)
    if not best.curve:
        return message("sweep.fastest_gamma", gamma=best.gamma)
    if best.gamma_low == best.gamma_high:
        return message("sweep.best_gamma", gamma=best.gamma)
    ends = {"low": best.gamma_low, "high": best.gamma_high}
    return message("sweep.best_gamma_between", gamma=best.gamma, **ends)


def _categories(pair: _Pair) -> Iterator[Message]:
    if len(pair.by_category) < 2:
        return
    if gaining := _listed(pair, is_faster=True):
        yield message("sweep.gains", names=gaining)
    if losing := _listed(pair, is_faster=False):
        yield message("sweep.loses", names=losing)


def _listed(pair: _Pair, *, is_faster: bool) -> Message | None:
    """Name the categories that gain, the best first, or those that lose, the worst first; None
    where there is none."""
    found = [cell for cell in pair.by_category if _side(cell) is is_faster]
    found.sort(key=lambda cell: cell.speedup or 0.0, reverse=is_faster)
    named = [
        message(
            "kind.gain",
            kind=kind_name(cell.category, pair.own_kinds),
            speedup=_short(cell.speedup or 0.0),
        )
        for cell in found
    ]
    if not named:
        return None
    *first, rest = named
    for each in reversed(first):
        rest = message("kind.list", first=each, rest=rest)
    return rest


def _rule_of_alpha(pair: _Pair) -> Iterator[Message]:
    alpha = pair.over_all.alpha
    if alpha is None:
        return
    # As it is written, so that no 0.5 is said to lie below 0.5.
    alpha = _short(alpha)
    if alpha >= EXCELLENT_ALPHA:
        yield message("sweep.rule_excellent", alpha=alpha)
    elif alpha >= GOOD_ALPHA:
        yield message("sweep.rule_good", alpha=alpha)
    else:
        yield message("sweep.rule_poor", alpha=alpha)
    if pair.is_worth_it is None:
        return
    if pair.is_worth_it is (alpha >= GOOD_ALPHA):
        yield message("sweep.rule_holds")
    elif pair.is_worth_it:
        yield message("sweep.rule_too_strict")
    else:
        yield message("sweep.rule_too_kind")


def _rule_of_size(pair: _Pair) -> Iterator[Message]:
    ratio, cost = pair.times_smaller, pair.over_all.draft_cost
    if ratio is None:
        return
    if ratio >= SMALLER_BY:
        yield message("sweep.size_meets", ratio=_short(ratio, 1))
        if pair.is_worth_it is False and cost is not None:
            yield message("sweep.size_fails", c=_short(cost, 3))
    else:
        yield message("sweep.size_misses", ratio=_short(ratio, 1))
        if pair.is_worth_it and cost is not None:
            yield message("sweep.size_pays", c=_short(cost, 3))


def _beside(pair: _Pair, rivals: Sequence[_Pair]) -> Iterator[Message]:
    """Name the fastest rival that beats it clearly, and say where a better draft loses."""
    fastest = max(rivals, key=lambda rival: rival.best.speedup, default=None)
    if fastest is None or not _is_clearly_faster(fastest.best, pair.best):
        return
    other = fastest.best
    values = {"other": other.draft, "speedup": _short(other.speedup), "gamma": other.gamma}
    alpha, other_alpha = pair.over_all.alpha, fastest.over_all.alpha
    if alpha is not None and other_alpha is not None and alpha > other_alpha:
        alphas = {"alpha": _short(alpha), "other_alpha": _short(other_alpha)}
        yield message("sweep.better_loses", **values, **alphas)
    else:
        yield message("sweep.other_wins", **values)


def _is_clearly_faster(best: Best, other: Best) -> bool:
    low, high = best.speedup_low, other.speedup_high
    return low is not None and high is not None and low > high


def _next(pair: _Pair) -> Iterator[Message]:
    best, cell = pair.best, pair.over_all
    longest = pair.lane.gammas[-1]
    if pair.is_worth_it is None:
        yield message("sweep.next_more")
    if pair.is_worth_it and pair.lane.gammas[0] < best.gamma == longest < MAX_GAMMA:
        yield message("sweep.next_longer", gamma=best.gamma, most=MAX_GAMMA)
    elif pair.is_worth_it:
        yield message("sweep.next_take", gamma=best.gamma)
    if pair.is_worth_it and (losing := _listed(pair, is_faster=False)):
        yield message("sweep.next_leave_out", names=losing)
    if pair.is_worth_it is False:
        if cell.draft_cost is not None and cell.draft_cost > DEAR_GUESS:
            yield message("sweep.next_cheaper", c=_short(cell.draft_cost, 3))
        if cell.alpha is not None and cell.alpha < EXCELLENT_ALPHA:
            is_model = pair.lane.spec.method is Method.DRAFT_MODEL
            yield message("sweep.next_fit") if is_model else message("sweep.next_other_way")


def _short(value: float, digits: int = 2) -> float:
    return round(value, digits)
