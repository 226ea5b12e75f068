"""Why a lane was slower than the target alone, in the lane's own numbers, and what would help.

Costs are in passes of the target over one token, measured in the same race: c is one guess, v one
check of a round's guesses. A round that guessed g tokens cost g·c + v passes, one without a guess
1, and a lane is faster where its rounds bring more tokens than they cost passes. Of a tree g counts
the levels, each of which is one step of the draft.
"""

from dataclasses import dataclass
from enum import StrEnum

from specviz.trace.metrics import LaneMetrics
from specviz.trace.theory import best_gamma, expected_tokens_per_round, predicted_speedup

MIN_GAIN = 0.02
"""A remedy that brings less than this is not worth a word."""
CHEAP_GUESS = 0.02
"""A guess below this share of a pass cannot be made much cheaper."""
DEAR_CHECK = 1.1
"""A check above this share of a pass is said to cost."""


class RemedyKind(StrEnum):
    """What would help; the texts are `slower.KIND` in `assets/strings`."""

    GAMMA = "gamma"
    """Another draft length: `value` tokens, which makes `speedup`."""
    NO_GAMMA = "no_gamma"
    """None would: even one guess a round costs `cost` passes for `tokens` tokens."""
    CHEAPER_GUESS = "cheaper_guess"
    """A guess of at most `value` passes breaks even."""
    BETTER_GUESS = "better_guess"
    """Guesses that are kept with a chance of `value` break even."""
    CHEAPER_CHECK = "cheaper_check"
    """A device on which a check costs one pass, which makes `speedup`."""
    MORE_GUESSES = "more_guesses"
    """Rounds that guess at all: `value` of the rounds did."""
    QUIET_MACHINE = "quiet_machine"
    """Nothing of the kind: by its rounds the lane is not slower; `value` is by how much it fell
    short of them."""


@dataclass(frozen=True, slots=True)
class Remedy:
    """One thing that would help; a number that its kind does not name is None."""

    kind: RemedyKind
    value: float | None = None
    speedup: float | None = None
    cost: float | None = None
    tokens: float | None = None


@dataclass(frozen=True, slots=True)
class Slowness:
    """The sum that makes a lane slower."""

    num_rounds: int
    num_drafting_rounds: int
    """Rounds that guessed at all."""
    guesses: float
    """Mean guesses of a round that guessed, one behind the other: of a tree its levels."""
    drafting_round_cost: float
    """Passes that such a round cost: guesses·c + v."""
    round_cost: float
    """Passes of any round, those without a guess among them."""
    tokens_per_round: float
    expected_speedup: float
    """tokens_per_round / round_cost."""
    speedup: float
    """Measured; the sum leaves out what a lane does between its passes."""
    remedies: tuple[Remedy, ...]


def why_slower(metrics: LaneMetrics) -> Slowness | None:
    """Do the sum for a lane; None where it was not slower, or costs are not known."""
    c, v, num_drafting = metrics.draft_cost, metrics.verify_cost, sum(metrics.rounds_by_kept)
    if metrics.speedup is None or metrics.speedup >= 1.0 or not num_drafting:
        return None
    if c is None or v is None or metrics.tau is None or metrics.round_cost is None:
        return None
    guesses = sum(each.num_drafted for each in metrics.acceptance_by_position) / num_drafting
    expected = metrics.tau / metrics.round_cost
    return Slowness(
        num_rounds=metrics.num_rounds,
        num_drafting_rounds=num_drafting,
        guesses=guesses,
        drafting_round_cost=guesses * c + v,
        round_cost=metrics.round_cost,
        tokens_per_round=metrics.tau,
        expected_speedup=expected,
        speedup=metrics.speedup,
        remedies=_remedies(metrics, c, v, guesses, num_drafting, expected),
    )


def _remedies(
    metrics: LaneMetrics, c: float, v: float, guesses: float, num_drafting: int, expected: float
) -> tuple[Remedy, ...]:
    if expected >= 1.0 and metrics.speedup is not None:
        return (Remedy(RemedyKind.QUIET_MACHINE, value=1.0 - metrics.speedup / expected),)
    found = [
        *_of_gamma(metrics, c, v, guesses),
        _cheaper_guess(metrics, c, v, guesses, num_drafting),
        _better_guess(metrics, c, v, guesses),
        _more_guesses(metrics, num_drafting),
        _cheaper_check(metrics, c, v, guesses, num_drafting),
    ]
    return tuple(each for each in found if each is not None)


def _of_gamma(metrics: LaneMetrics, c: float, v: float, guesses: float) -> list[Remedy]:
    """Another γ, or none: v is taken to grow evenly with it, from 1 for no guess at all."""
    alpha = metrics.alpha
    # Without a prediction the drafts are trees, which the formula does not describe.
    if alpha is None or metrics.predicted_speedup is None:
        return []

    def check(gamma: int) -> float:
        return max(1.0 + (v - 1.0) * gamma / guesses, 0.05)

    best = best_gamma(alpha, c, check)
    if best == 0:
        tokens = expected_tokens_per_round(alpha, 1)
        return [Remedy(RemedyKind.NO_GAMMA, cost=c + check(1), tokens=tokens)]
    speedup = predicted_speedup(alpha, best, c, check(best))
    is_other = best != round(guesses) and speedup >= metrics.predicted_speedup + MIN_GAIN
    return [Remedy(RemedyKind.GAMMA, value=best, speedup=speedup)] if is_other else []


def _cheaper_guess(
    metrics: LaneMetrics, c: float, v: float, guesses: float, num_drafting: int
) -> Remedy | None:
    """What a guess may cost at most so that the rounds bring what they cost."""
    num_plain = metrics.num_rounds - num_drafting
    affordable = (metrics.num_emitted - num_plain) / num_drafting
    most = (affordable - v) / guesses
    if c <= CHEAP_GUESS or most <= 0.0:
        return None
    return Remedy(RemedyKind.CHEAPER_GUESS, value=most)


def _better_guess(metrics: LaneMetrics, c: float, v: float, guesses: float) -> Remedy | None:
    """The chance of being kept at which a round brings what it costs; None where no chance does."""
    gamma, cost = max(1, round(guesses)), guesses * c + v
    if metrics.alpha is None or metrics.predicted_speedup is None or cost >= gamma + 1:
        return None
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        is_enough = expected_tokens_per_round(middle, gamma) >= cost
        low, high = (low, middle) if is_enough else (middle, high)
    return Remedy(RemedyKind.BETTER_GUESS, value=high) if high > metrics.alpha else None


def _more_guesses(metrics: LaneMetrics, num_drafting: int) -> Remedy | None:
    share = num_drafting / metrics.num_rounds
    return Remedy(RemedyKind.MORE_GUESSES, value=share) if share < 0.5 else None


def _cheaper_check(
    metrics: LaneMetrics, c: float, v: float, guesses: float, num_drafting: int
) -> Remedy | None:
    if v < DEAR_CHECK:
        return None
    num_plain = metrics.num_rounds - num_drafting
    passes = num_drafting * (guesses * c + 1.0) + num_plain
    return Remedy(RemedyKind.CHEAPER_CHECK, speedup=metrics.num_emitted / passes)
