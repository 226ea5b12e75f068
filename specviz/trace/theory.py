"""What the papers predict: tokens per round, speedup, the best draft length.

Formulas of Leviathan et al. 2023, "Fast Inference from Transformers via Speculative Decoding",
arXiv:2211.17192. They assume that every judged token is accepted with the same chance alpha,
independently of the others, and that drafts form a chain. Costs are in units of a one-token target
step: `draft_cost` (the paper's c) is one draft step, `verify_cost` is one pass over gamma + 1
tokens, which the paper takes as 1.
"""

from collections.abc import Callable, Mapping

from specviz.trace.limits import MAX_GAMMA


def expected_tokens_per_round(alpha: float, gamma: int) -> float:
    """Return how many tokens a round emits on average, the correction or bonus included.

    E = (1 - alpha^(gamma+1)) / (1 - alpha), equation 1 of the paper, written as the sum
    1 + alpha + … + alpha^gamma, which needs no special case at alpha = 1 (E = gamma + 1).
    Example: alpha 0.8 and gamma 5 give 3.69; alpha 0 gives 1 at any gamma.
    """
    _check(alpha, gamma)
    return float(sum(alpha**count for count in range(gamma + 1)))


def kept_law(alpha: float, gamma: int) -> tuple[float, ...]:
    """Return the chance that a round of gamma guesses keeps 0, 1, … gamma of them.

    alpha^k (1 - alpha) for k below gamma, where guess k + 1 is the first that fails, and
    alpha^gamma for all. Example: alpha 0.8 and gamma 2 give 0.2, 0.16, 0.64.
    """
    _check(alpha, gamma)
    return (*(alpha**kept * (1.0 - alpha) for kept in range(gamma)), alpha**gamma)


def predicted_speedup(
    alpha: float, gamma: int, draft_cost: float, verify_cost: float = 1.0
) -> float:
    """Return how many times faster than plain decoding a lane should be.

    E / (gamma·c + v): Theorem 3.8 of the paper at v = 1. Below 1 speculation loses.
    """
    _check_costs(draft_cost, verify_cost)
    return expected_tokens_per_round(alpha, gamma) / (gamma * draft_cost + verify_cost)


def speedup_by_position(
    paths: Mapping[tuple[int, int], int],
    num_rounds: int,
    draft_cost: float | None,
    verify_cost: float | None,
) -> float | None:
    """Return the speedup that acceptance by position lets expect, with measured costs.

    Σ over rounds of 1 + r_1 + … + r_g, over Σ of g·c + v: r_j is the share of the rounds with a
    token at position j that kept all tokens up to it, g the drafted tokens of a round. No token is
    taken to be accepted independently of those before it, which is what alpha alone would say.

    Args:
        paths: Rounds by how many tokens they drafted one after the other and how many they kept.
        num_rounds: All rounds; those that are not in `paths` drafted nothing and cost 1.
        draft_cost: c; None only where nothing was drafted.
        verify_cost: v; likewise.

    Example: one round that kept 3 of 3, one that kept 1 of 3, at c 0.1 and v 1.2, bring 6 tokens
    for 2 · 1.5 passes: 2.0. None without rounds, or where a cost was not measured.
    """
    num_drafting = sum(paths.values())
    if not num_rounds or (num_drafting and (draft_cost is None or verify_cost is None)):
        return None
    tokens = num_rounds + sum(kept * number for (_, kept), number in paths.items())
    cost = float(num_rounds - num_drafting)
    if draft_cost is not None and verify_cost is not None:
        _check_costs(draft_cost, verify_cost)
        cost += sum(
            (drafted * draft_cost + verify_cost) * number for (drafted, _), number in paths.items()
        )
    return tokens / cost


def best_gamma(
    alpha: float,
    draft_cost: float,
    verify_cost: float | Callable[[int], float] = 1.0,
    max_gamma: int = MAX_GAMMA,
) -> int:
    """Return the draft length with the highest predicted speedup, the shortest of several.

    `verify_cost` may be a function of gamma, as measured on a device. 0 means that no draft length
    beats plain decoding, whose speedup is 1 by definition.
    """
    best, best_speedup = 0, 1.0
    for gamma in range(1, max_gamma + 1):
        cost = verify_cost(gamma) if callable(verify_cost) else verify_cost
        speedup = predicted_speedup(alpha, gamma, draft_cost, cost)
        if speedup > best_speedup:
            best, best_speedup = gamma, speedup
    return best


def _check(alpha: float, gamma: int) -> None:
    if not 0.0 <= alpha <= 1.0:
        raise ValueError(f"alpha must be 0 to 1, got {alpha}")
    if gamma < 0:
        raise ValueError(f"gamma must not be negative, got {gamma}")


def _check_costs(draft_cost: float, verify_cost: float) -> None:
    if not draft_cost >= 0.0:
        raise ValueError(f"draft_cost must not be negative, got {draft_cost}")
    if not verify_cost > 0.0:
        raise ValueError(f"verify_cost must be above 0, got {verify_cost}")
