"""What other draft lengths would have given on a lane's own rounds, and what no draft can beat.

Each round is taken from the place where it began, as it was recorded. A shorter draft would have
been the first tokens of the one that was made, judged by the same coins, so its outcome is known.
A longer one is known too where the record shows a rejection, the end of the text, or a proposer
that had no more to give; where every drafted token was kept, the record says nothing of those that
were never drafted. Nothing is run again, and rounds that another draft length would have begun
elsewhere are not looked for: at a neighbouring length that makes little, over a long way more.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from specviz.trace.counts import accepted_path, is_chain
from specviz.trace.limits import MAX_GAMMA
from specviz.trace.values import Round

MIN_VERIFY_COST = 0.05


@dataclass(frozen=True, slots=True)
class OtherGamma:
    """One draft length on rounds that were run at another."""

    gamma: int
    num_rounds: int
    num_known: int
    """Rounds whose record says what this draft length would have brought."""
    tau_low: float
    """Tokens a round if no token that was never drafted had been kept."""
    tau_high: float
    """The same if each of them had been kept; equal to `tau_low` where all rounds are known."""
    speedup_low: float
    speedup_high: float
    oracle_speedup: float
    """With a draft of the same cost that is always right: (gamma + 1) / (gamma·c + v)."""


def other_gammas(
    rounds: Sequence[Round],
    gamma: int,
    draft_cost: float,
    verify_cost: float,
    gammas: Iterable[int] = range(1, MAX_GAMMA + 1),
) -> tuple[OtherGamma, ...]:
    """Say what each of `gammas` would have given on rounds that were run at `gamma`.

    `draft_cost` (c) and `verify_cost` (v) are those measured on these rounds, in passes of the
    target over one token; v is taken to grow evenly with the drafted tokens of a round, from 1 for
    none. Empty where a round drafted a tree, or none drafted anything.

    Example: rounds at γ 3 that kept 3, 1 and 3 of 3 bring 4, 2 and 4 tokens. At γ 2 they bring 3,
    2 and 3; at γ 4 the second brings 2, the others 4 or 5 each, so that one of three is known.
    """
    drafting = [len(round_.drafted) for round_ in rounds if round_.drafted]
    if not drafting or not all(map(is_chain, rounds)):
        return ()
    slope = (verify_cost - 1.0) * len(drafting) / sum(drafting)

    def cost(num_drafted: int) -> float:
        check = max(1.0 + slope * num_drafted, MIN_VERIFY_COST)
        return num_drafted * draft_cost + check if num_drafted else 1.0

    found = []
    for other in gammas:
        is_open = [_is_open(round_, gamma, other) for round_ in rounds]
        shortest = [min(len(round_.emitted), other + 1) for round_ in rounds]
        longest = [
            other + 1 if unknown else tokens
            for unknown, tokens in zip(is_open, shortest, strict=True)
        ]
        spent = sum(
            cost(other if unknown else min(len(round_.drafted), other))
            for unknown, round_ in zip(is_open, rounds, strict=True)
        )
        found.append(
            OtherGamma(
                gamma=other,
                num_rounds=len(rounds),
                num_known=len(rounds) - sum(is_open),
                tau_low=sum(shortest) / len(rounds),
                tau_high=sum(longest) / len(rounds),
                speedup_low=sum(shortest) / spent,
                speedup_high=sum(longest) / spent,
                oracle_speedup=(other + 1) / cost(other),
            )
        )
    return tuple(found)


def _is_open(round_: Round, gamma: int, other: int) -> bool:
    """Whether a longer draft might have brought more than the record shows.

    A round that was asked for fewer tokens than its lane's gamma stood at the limit of the text,
    one that drafted fewer than it was asked for had nothing more to draft, and one that emitted no
    more than it kept ended the text.
    """
    num_drafted, num_kept = accepted_path(round_)
    is_full = num_kept == num_drafted == gamma and len(round_.emitted) > num_kept
    return is_full and other > num_drafted
