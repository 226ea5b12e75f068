"""Four well-known wrong ways to accept and correct drafts, for lanes that show what they do.

Each stands in real programs; none follows the target's law. In the notation of `verify`:

- *target-resample*: after a rejection the correction is drawn from p, not from norm(max(0, p - q)),
  so what the draft proposes more than the target does is written too often. With p = (.5, .3, .2)
  and q = (.2, .5, .3) the first token follows (.35, .39, .26): .7 of the mass is min(p, q), and .3
  times p is added.
- *argmax-softmax*: drafts are the draft's most probable tokens, though they are divided by their
  softmax probability as if they had been drawn: p = (.5, .3, .2), q = (.6, .3, .1) gives
  (.83, 0, .17).
- *keep-after-rejection*: the rejected token is replaced, and the drafts behind it that pass their
  own coin are kept, though draft and target have read the rejected token before them.
- *no-renormalise*: the correction is drawn from max(0, p - q) as it is. Its mass is 1 less
  Σ min(p, q); no entry of its cumulative sum exceeds a draw beyond it, and the argmax of none is
  id 0.

At temperature 0 only *keep-after-rejection* does harm: laws are one-hot there.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch

from specviz.decoding.clock import Clock
from specviz.decoding.model_runner import ModelRunner
from specviz.decoding.play import Play
from specviz.decoding.proposal import Proposal, Proposer, chain
from specviz.decoding.sampling import Chance, Flip, check_finite, to_probs
from specviz.decoding.verify import Verification, verify, verify_greedy
from specviz.trace.values import Rule, Sampling, Source

FALLS_ON = 0
"""The id that an exhausted search for the first larger entry gives."""


@dataclass(frozen=True, slots=True, eq=False)
class _Kept:
    """Drafts behind a rejected one, as they were judged with it before them."""

    committed_ids: list[int]
    """The text at which they are kept."""
    proposal: Proposal
    logits: torch.Tensor
    """`[num_nodes + 1, vocab]`, the target's after the rejected token."""


class WrongRounds:
    """Plays all rounds of one lane by a wrong rule; proposals must be chains.

    Drafts that *keep-after-rejection* keeps make a round of their own, for which nothing is
    drafted. The target reads them behind the correction, as it would in any round, so that caches
    and counts stay true; they are judged by what it said before.
    """

    def __init__(
        self,
        rule: Rule,
        proposer: Proposer,
        target: ModelRunner,
        sampling: Sampling,
        chance: Chance,
        clock: Clock,
    ) -> None:
        if rule is Rule.RIGHT:
            raise ValueError("the right rule is the decoder's own")
        self._rule = rule
        self._proposer = proposer
        self._target = target
        self._sampling = sampling
        self._chance = chance
        self._draft_chance = MostProbable(chance) if rule is Rule.ARGMAX_SOFTMAX else chance
        self._clock = clock
        self._kept: _Kept | None = None

    def fits(self, committed_ids: Sequence[int], gamma: int) -> bool:
        """Every round is played here."""
        return True

    def play(self, committed_ids: Sequence[int], gamma: int) -> Play:
        """Draft, read and judge by the wrong rule.

        Raises:
            DecodingError: A model returned logits that are not numbers.
        """
        kept, self._kept = self._kept, None
        if kept is not None and kept.committed_ids != list(committed_ids):
            kept = None
        begun = self._clock.now_ms()
        proposal = (
            self._proposer.propose(committed_ids, gamma, self._draft_chance)
            if kept is None
            else kept.proposal
        )
        drafted = self._clock.now_ms()
        logits = self._target.forward([*committed_ids, *proposal.token_ids], len(proposal) + 1)
        read = self._clock.now_ms()
        if kept is not None:
            logits = kept.logits
        verification = self._verify(proposal, logits)
        if self._rule is Rule.KEEP_AFTER_REJECTION and verification.source is Source.CORRECTION:
            self._keep_rest(committed_ids, proposal, logits, verification)
        return Play(proposal, logits, verification, drafted - begun, read - drafted)

    def _verify(self, proposal: Proposal, logits: torch.Tensor) -> Verification:
        check_finite(logits)
        if self._sampling.temperature == 0:
            return verify_greedy(proposal, logits.argmax(dim=-1).tolist())
        target_probs = to_probs(logits, self._sampling)
        verification = verify(proposal, target_probs, self._chance)
        if verification.source is not Source.CORRECTION:
            return verification
        node = len(verification.path)
        left = correction_law(self._rule, proposal, node, target_probs[node])
        if left is None:
            return verification
        return replace(verification, next_token=self._chance.choose(left), residual=left)

    def _keep_rest(
        self,
        committed_ids: Sequence[int],
        proposal: Proposal,
        logits: torch.Tensor,
        verification: Verification,
    ) -> None:
        first = len(verification.path) + 1
        if first == len(proposal):
            return
        accepted = proposal.token_ids[: first - 1]
        self._kept = _Kept(
            [*committed_ids, *accepted, verification.next_token],
            chain(
                proposal.token_ids[first:],
                None if proposal.draft_probs is None else proposal.draft_probs[first:],
                None if proposal.shown_logits is None else proposal.shown_logits[first:],
            ),
            # The next pass may write over it.
            logits[first:].clone(),
        )


def correction_law(
    rule: Rule, proposal: Proposal, node: int, target_probs: torch.Tensor
) -> torch.Tensor | None:
    """Return what a wrong rule draws the correction of a rejected node from, `[vocab]`.

    None where it draws from the residual, as the right one does.
    """
    if rule is Rule.TARGET_RESAMPLE:
        return target_probs
    if rule is not Rule.NO_RENORMALISE:
        return None
    if proposal.draft_probs is None:
        left = target_probs.clone()
        left[proposal.token_ids[node]] = 0
    else:
        left = (target_probs - proposal.draft_probs[node]).clamp_min(0)
    left[FALLS_ON] += 1 - left.sum()
    return left


class MostProbable:
    """Chance that throws coins as ever, but takes the most probable token instead of a draw."""

    def __init__(self, inner: Chance) -> None:
        self._inner = inner

    def reset(self) -> None:
        """Start again, as for a new text."""
        self._inner.reset()

    def flip(self, prob: float) -> Flip:
        """Throw a coin that shows heads with probability `prob`."""
        return self._inner.flip(prob)

    def choose(self, probs: torch.Tensor) -> int:
        """Return the index of the largest entry of `probs` `[vocab]`, the lowest among equals."""
        return int(probs.argmax())
