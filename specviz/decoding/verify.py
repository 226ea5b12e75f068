"""Which drafted tokens survive: one walk, exact for chains and trees, greedy and sampled.

Notation of the formulas: p is the target's distribution, q the one that the draft was drawn from.

At each node of the walk the children are tried in order. Child x is accepted with probability
min(1, p(x) / q(x)). After a rejection p becomes norm(max(0, p - q)) (Leviathan et al. 2023,
arXiv:2211.17192, section 2.3; Chen et al. 2023, arXiv:2302.01318, theorem 1) and, for siblings
drawn without replacement, q loses x and is renormalised (Jeon et al. 2024, arXiv:2402.14160). When
no child is left, the token is drawn from p. A deterministic child is a point mass, q(x) = 1:
accepted with probability p(x), and p loses x after a rejection.

Worked example, vocabulary {a, b, c}, p = (.5, .3, .2), q = (.2, .5, .3), drafted b: accepted with
probability .3 / .5 = .6; else the correction comes from norm(.3, 0, 0) = a.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from specviz.decoding.proposal import ROOT, Proposal
from specviz.decoding.sampling import Chance
from specviz.trace.values import Source


@dataclass(frozen=True, slots=True)
class Judgement:
    """How one drafted token was judged."""

    node: int
    is_accepted: bool
    target_prob: float
    """Probability of the token in the distribution it was tested against."""
    accept_prob: float
    draw: float | None


@dataclass(frozen=True, slots=True, eq=False)
class Verification:
    """Outcome of one walk through a proposal."""

    path: tuple[int, ...]
    """Accepted nodes, from the root down."""
    next_token: int
    source: Source
    """CORRECTION after a rejection, BONUS after full acceptance, TARGET with nothing drafted."""
    judgements: tuple[Judgement, ...]
    residual: torch.Tensor | None
    """`[vocab]`: what the correction was drawn from; None where nothing was rejected."""


def verify(proposal: Proposal, target_probs: torch.Tensor, chance: Chance) -> Verification:
    """Walk from the root and keep what rejection sampling keeps.

    Args:
        target_probs: `[num_nodes + 1, vocab]`: row 0 follows the last committed token, row i + 1
            follows node i.
    """
    node = ROOT
    path: list[int] = []
    judgements: list[Judgement] = []
    while True:
        children = proposal.children(node)
        accepted, left, judged = _try_children(proposal, children, target_probs[node + 1], chance)
        judgements += judged
        if accepted is None:
            break
        path.append(accepted)
        node = accepted
    token = chance.choose(left)
    if children:
        return Verification(tuple(path), token, Source.CORRECTION, tuple(judgements), left)
    source = Source.BONUS if path else Source.TARGET
    return Verification(tuple(path), token, source, tuple(judgements), None)


def _try_children(
    proposal: Proposal, children: Sequence[int], target_probs: torch.Tensor, chance: Chance
) -> tuple[int | None, torch.Tensor, list[Judgement]]:
    """Try siblings in turn: the accepted one or None, what rejections left of `target_probs`, and
    the judgements."""
    judged: list[Judgement] = []
    drawn = proposal.draft_probs
    draft_probs = None if drawn is None or not children else drawn[children[0]]
    for child in children:
        token = proposal.token_ids[child]
        target_prob = float(target_probs[token])
        draft_prob = 1.0 if draft_probs is None else float(draft_probs[token])
        # A sibling drawn without replacement can have lost its mass to rounding: then p decides
        # alone.
        accept_prob = (
            min(1.0, target_prob / draft_prob) if draft_prob > 0 else float(target_prob > 0)
        )
        flip = chance.flip(accept_prob)
        judged.append(Judgement(child, flip.is_heads, target_prob, accept_prob, flip.draw))
        if flip.is_heads:
            return child, target_probs, judged
        target_probs = residual_probs(target_probs, draft_probs, token)
        if draft_probs is not None and child != children[-1]:
            draft_probs = _without(draft_probs, token)
    return None, target_probs, judged


def laws_tried(
    proposal: Proposal, target_probs: torch.Tensor, judgements: Sequence[Judgement]
) -> Iterator[tuple[int, torch.Tensor, torch.Tensor | None]]:
    """Go through a walk again and give of each judged node p and q, `[vocab]` each, as they stood
    when it was tried: later siblings find what those before them left. q is None for a point
    mass."""
    drawn = proposal.draft_probs
    place, left, below = None, target_probs[0], None
    for judgement in judgements:
        node = judgement.node
        parent = proposal.parents[node]
        if parent != place:
            place, left = parent, target_probs[parent + 1]
            below = None if drawn is None else drawn[node]
        yield node, left, below
        if not judgement.is_accepted:
            token = proposal.token_ids[node]
            left = residual_probs(left, below, token)
            below = None if below is None else _without(below, token)


def residual_probs(
    target_probs: torch.Tensor, draft_probs: torch.Tensor | None, token: int
) -> torch.Tensor:
    """Return norm(max(0, p - q)) `[vocab]`, with q the point mass at `token` where `draft_probs` is
    None.

    Where rounding leaves nothing (p and q equal to the last bit) `target_probs` are returned.
    """
    if draft_probs is None:
        return _without(target_probs, token)
    return excess(target_probs, draft_probs)


def excess(target_probs: torch.Tensor, draft_probs: torch.Tensor) -> torch.Tensor:
    """Return norm(max(0, p - q)) `[vocab]`, or p where rounding leaves nothing; no value is read
    back from the device."""
    left = (target_probs - draft_probs).clamp_min(0)
    total = left.sum()
    return torch.where(total > 0, left / total, target_probs)


def _without(probs: torch.Tensor, token: int) -> torch.Tensor:
    left = probs.clone()
    left[token] = 0
    total = left.sum()
    return left / total if float(total) > 0 else probs


def verify_greedy(proposal: Proposal, target_ids: Sequence[int]) -> Verification:
    """Do what `verify` does for one-hot laws, without building them.

    Args:
        target_ids: Argmax of the target's logits: entry 0 follows the last committed token, entry i
            + 1 follows node i.
    """
    node = ROOT
    path: list[int] = []
    judgements: list[Judgement] = []
    while True:
        wanted = target_ids[node + 1]
        children = proposal.children(node)
        for child in children:
            is_match = proposal.token_ids[child] == wanted
            judgements.append(Judgement(child, is_match, float(is_match), float(is_match), None))
            if is_match:
                break
        else:
            break
        path.append(child)
        node = child
    source = Source.CORRECTION if children else Source.BONUS if path else Source.TARGET
    return Verification(tuple(path), wanted, source, tuple(judgements), None)
