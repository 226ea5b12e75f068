"""Drafting token by token with something that predicts the next one: a draft model, or an early
exit."""

from collections.abc import Callable, Sequence

import torch

from specviz.decoding.model_runner import ModelRunner
from specviz.decoding.proposal import Proposal, chain
from specviz.decoding.sampling import Chance, check_finite, to_probs
from specviz.trace.values import Sampling

NextLogits = Callable[[list[int]], torch.Tensor]
"""From all ids so far to the logits `[1, vocab]` of the next token."""


def read_prompt(runner: ModelRunner, prompt_ids: Sequence[int]) -> None:
    """Read what a draft reads of a prompt, all but its last token, which the first round feeds;
    nothing where it is longer than the draft's context."""
    is_too_long = runner.context is not None and len(prompt_ids) > runner.context
    if len(prompt_ids) > 1 and not is_too_long:
        runner.forward(prompt_ids[:-1], 1)


def draft_chain(
    next_logits: NextLogits,
    committed_ids: Sequence[int],
    gamma: int,
    sampling: Sampling,
    eos_ids: frozenset[int],
    chance: Chance,
    least_confidence: float = 0.0,
) -> Proposal:
    """Draft up to `gamma` tokens, each from what follows the one before; an end token ends the
    draft.

    At temperature 0 the drafts are argmaxes and the proposal is deterministic. Otherwise each token
    is drawn from the draft's distribution under the same temperature, top-k and top-p as the
    target's, and that very distribution goes into the proposal: testing against another one would
    not be lossless.

    Args:
        least_confidence: A token that the draft gives a smaller probability ends the draft, itself
            included; at temperature 0 by the draft's softmax at temperature 1. What follows from
            the drafts alone cannot change the law of the text.

    Raises:
        DecodingError: The draft returned logits that are not numbers.
    """
    ids = list(committed_ids)
    rows: list[torch.Tensor] = []
    for _ in range(gamma):
        logits = next_logits(ids)
        check_finite(logits)
        if sampling.temperature == 0:
            rows.append(logits)
            token = int(logits.argmax())
        else:
            rows.append(to_probs(logits, sampling))
            token = chance.choose(rows[-1][0])
        ids.append(token)
        if token in eos_ids or (
            least_confidence > 0 and chance_of(rows[-1], token, sampling) < least_confidence
        ):
            break
    drafts = ids[len(committed_ids) :]
    stacked = torch.cat(rows) if rows else None
    if sampling.temperature == 0:
        return chain(drafts, shown_logits=stacked)
    return chain(drafts, draft_probs=stacked)


def chance_of(row: torch.Tensor, token: int, sampling: Sampling) -> float:
    """Return the probability that a draft gives a token.

    Args:
        row: `[1, vocab]`, logits at temperature 0, else a law.
    """
    law = row[0].softmax(dim=-1) if sampling.temperature == 0 else row[0]
    return float(law[token])
