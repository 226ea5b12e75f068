"""Writes down a round: from token ids, logits and judgements to the values of the trace.

Runs after the round's clock has stopped; nothing here is part of a measured time.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import torch

from specviz.decoding.proposal import Proposal
from specviz.decoding.sampling import to_probs
from specviz.decoding.top_tokens import TopTokens
from specviz.decoding.verify import Judgement, Verification, laws_tried
from specviz.trace.values import (
    DraftToken,
    EmittedToken,
    Outcome,
    Round,
    Sampling,
    Source,
)


class Detokenizer(Protocol):
    """Turns ids into text."""

    def reset(self, prompt_ids: Sequence[int]) -> None:
        """Start a new output, the one that follows a prompt."""

    def token_text(self, token_id: int) -> str:
        """Text of one token by itself."""

    def append(self, token_id: int) -> str:
        """Text that this token adds to the output; a character is added by the token that completes
        it."""


@dataclass(frozen=True, slots=True, eq=False)
class RoundFacts:
    """What the decoder knows when a round is over."""

    index: int
    position: int
    gamma: int
    proposal: Proposal
    logits: torch.Tensor
    """`[num_nodes + 1, vocab]`, the target's."""
    verification: Verification
    emitted_ids: tuple[int, ...]
    """After the cut at an end token or the length limit."""
    draft_ms: float
    verify_ms: float
    other_ms: float


class Recorder:
    """Makes `Round`s for one lane."""

    def __init__(self, sampling: Sampling, detokenizer: Detokenizer, *, record_top: bool) -> None:
        self._sampling = sampling
        self._detokenizer = detokenizer
        self._record_top = record_top
        self._shown_sampling = sampling if sampling.temperature > 0 else Sampling(temperature=1.0)

    def reset(self, prompt_ids: Sequence[int]) -> None:
        """Start a new output, the one that follows a prompt."""
        self._detokenizer.reset(prompt_ids)

    def record(self, facts: RoundFacts) -> Round:
        """Make the round's record."""
        target_probs = to_probs(facts.logits, self._shown_sampling)
        draft_probs = self._draft_probs(facts.proposal)
        text_of = self._detokenizer.token_text
        tops = TopTokens(text_of, target_probs, draft_probs) if self._record_top else None
        return Round(
            index=facts.index,
            position=facts.position,
            gamma=facts.gamma,
            drafted=self._drafted(facts, target_probs, draft_probs, tops),
            emitted=self._emitted(facts, target_probs, tops),
            draft_ms=facts.draft_ms,
            verify_ms=facts.verify_ms,
            other_ms=facts.other_ms,
        )

    def _draft_probs(self, proposal: Proposal) -> torch.Tensor | None:
        if proposal.shown_logits is not None:
            return to_probs(proposal.shown_logits, self._shown_sampling)
        return proposal.draft_probs

    def _drafted(
        self,
        facts: RoundFacts,
        target_probs: torch.Tensor,
        draft_probs: torch.Tensor | None,
        tops: TopTokens | None,
    ) -> tuple[DraftToken, ...]:
        proposal = facts.proposal
        if len(proposal) == 0:
            return ()
        nodes = range(len(proposal))
        rows = [proposal.parents[node] + 1 for node in nodes]
        ids = list(proposal.token_ids)
        p_of = target_probs[rows, ids].tolist()
        # Above temperature 0 a point mass is judged as one, whatever the draft believed.
        laws = draft_probs if self._sampling.temperature == 0 else proposal.draft_probs
        q_of = [None] * len(ids) if laws is None else laws[list(nodes), ids].tolist()
        overlaps = self._overlaps(facts, target_probs)
        judgements = {each.node: each for each in facts.verification.judgements}
        result = []
        for node in nodes:
            token = self._unjudged(proposal, node, q_of[node], tops)
            judgement = judgements.get(node)
            if judgement is not None and self._is_part_of_output(facts, judgement):
                residual = self._residual(facts, judgement)
                token = replace(
                    token,
                    outcome=Outcome.ACCEPTED if judgement.is_accepted else Outcome.REJECTED,
                    target_prob=p_of[node],
                    accept_prob=judgement.accept_prob,
                    draw=judgement.draw,
                    overlap=overlaps.get(node),
                    top_target=tops.target(rows[node]) if tops else (),
                    top_residual=tops.of(residual) if tops and residual is not None else (),
                )
            result.append(token)
        return tuple(result)

    def _overlaps(self, facts: RoundFacts, target_probs: torch.Tensor) -> dict[int, float]:
        """Σ min(p, q) by judged node, of the laws that it was tested by; q may be a point mass."""
        if self._sampling.temperature == 0:
            return {}
        tried = laws_tried(facts.proposal, target_probs, facts.verification.judgements)
        return {
            node: float(
                p[facts.proposal.token_ids[node]] if q is None else torch.minimum(p, q).sum()
            )
            for node, p, q in tried
        }

    def _is_part_of_output(self, facts: RoundFacts, judgement: Judgement) -> bool:
        """Whether the output did not end before this node's turn came."""
        path, num_emitted = facts.verification.path, len(facts.emitted_ids)
        if judgement.is_accepted:
            return judgement.node in path[:num_emitted]
        is_cut = num_emitted <= len(path)
        return not (is_cut and facts.proposal.parents[judgement.node] in path[num_emitted - 1 :])

    def _residual(self, facts: RoundFacts, judgement: Judgement) -> torch.Tensor | None:
        """What the correction was drawn from, where it was this node's rejection that led to it."""
        is_last = facts.verification.judgements[-1].node == judgement.node
        return facts.verification.residual if is_last and not judgement.is_accepted else None

    def _unjudged(
        self, proposal: Proposal, node: int, draft_prob: float | None, tops: TopTokens | None
    ) -> DraftToken:
        return DraftToken(
            id=proposal.token_ids[node],
            text=self._detokenizer.token_text(proposal.token_ids[node]),
            parent=proposal.parents[node],
            outcome=Outcome.DISCARDED,
            draft_prob=draft_prob,
            target_prob=None,
            accept_prob=None,
            draw=None,
            overlap=None,
            top_draft=tops.draft(node) if tops else (),
        )

    def _emitted(
        self, facts: RoundFacts, target_probs: torch.Tensor, tops: TopTokens | None
    ) -> tuple[EmittedToken, ...]:
        path = facts.verification.path
        rows = [0, *(node + 1 for node in path)][: len(facts.emitted_ids)]
        probs = target_probs[rows, list(facts.emitted_ids)].tolist()
        gaps = self._gaps(facts.logits[rows], facts.emitted_ids)
        result = []
        for index, (token_id, (margin, runner_up)) in enumerate(
            zip(facts.emitted_ids, gaps, strict=True)
        ):
            source = Source.DRAFT if index < len(path) else facts.verification.source
            is_chosen_here = source in (Source.BONUS, Source.TARGET)
            result.append(
                EmittedToken(
                    id=token_id,
                    text=self._detokenizer.append(token_id),
                    source=source,
                    target_prob=probs[index],
                    margin=margin,
                    top_target=tops.target(rows[index]) if tops and is_chosen_here else (),
                    runner_up=runner_up,
                )
            )
        return tuple(result)

    def _gaps(
        self, logits: torch.Tensor, emitted_ids: Sequence[int]
    ) -> list[tuple[float | None, int | None]]:
        """How far each greedy choice lies before the second best, and which that is."""
        if self._sampling.temperature > 0:
            return [(None, None)] * len(logits)
        best = logits.topk(2, dim=-1)
        margins = (best.values[:, 0] - best.values[:, 1]).double().tolist()
        # Of equal logits argmax and topk may put another first.
        runners_up = [
            second if first == emitted else first
            for (first, second), emitted in zip(best.indices.tolist(), emitted_ids, strict=True)
        ]
        return list(zip(margins, runners_up, strict=True))
