"""How single continuations score under the target's law, position by position.

Given the text so far, a token that follows the law p is among the tokens that the draft proposes
more often than the target, q > p (of a point mass: is the proposed one), with probability Σ p over
them; and its own p is Σ p² on average. What is scored less what is expected are martingale
differences, however far the text goes, so their sums over many continuations are 0 on average and
nearly normal. Rules that let the draft through, or that write what cannot follow, move these sums,
however large the vocabulary.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch

from specviz.decoding.model_runner import ModelRunner
from specviz.decoding.proposal import Proposer
from specviz.decoding.sampling import SeededChance, to_probs
from specviz.trace.values import Sampling

Text = tuple[int, ...]
"""Tokens behind the prompt."""


class Score(NamedTuple):
    """One score of one text, a row a position: `[num_tokens]` each, float64."""

    difference: torch.Tensor
    """What was scored less what was expected."""
    variance: torch.Tensor


class TextScores:
    """Scores texts behind one prompt with a target and a proposer of their own."""

    def __init__(
        self,
        target: ModelRunner,
        proposer: Proposer,
        prompt_ids: Sequence[int],
        sampling: Sampling,
    ) -> None:
        self._target = target
        self._proposer = proposer
        self._prompt_ids = list(prompt_ids)
        self._sampling = sampling
        # What is proposed here is looked at, never written.
        self._chance = SeededChance(0)

    @torch.inference_mode()
    def law_after(self, text: Text) -> torch.Tensor:
        """The target's law `[vocab]` behind the prompt and `text`, float64 on the CPU."""
        logits = self._target.forward([*self._prompt_ids, *text], 1)
        return to_probs(logits, self._sampling)[0].cpu().double()

    @torch.inference_mode()
    def scores_of(self, text: Text) -> tuple[Score, Score]:
        """Score a text by what the draft favours, and by the target's probabilities."""
        self._proposer.reset(self._prompt_ids)
        before = [*self._prompt_ids, *text[:-1]]
        probs = to_probs(self._target.forward(before, len(text)), self._sampling).cpu().double()
        ids = torch.tensor(text)[:, None]
        favoured = torch.stack(
            [self._favoured(probs[index], text[:index]) for index in range(len(text))]
        )
        share = (probs * favoured).sum(dim=-1)
        mean = probs.square().sum(dim=-1)
        return (
            Score(favoured.gather(1, ids)[:, 0].double() - share, share * (1 - share)),
            Score(probs.gather(1, ids)[:, 0] - mean, probs.pow(3).sum(dim=-1) - mean.square()),
        )

    def _favoured(self, target_probs: torch.Tensor, text: Text) -> torch.Tensor:
        """Which tokens the draft proposes behind `text` more often than the target has them,
        `[vocab]` bool."""
        proposal = self._proposer.propose([*self._prompt_ids, *text], 1, self._chance)
        if proposal.draft_probs is not None:
            return proposal.draft_probs[0].to(target_probs) > target_probs
        favoured = torch.zeros_like(target_probs, dtype=torch.bool)
        favoured[list(proposal.token_ids)] = True
        return favoured
