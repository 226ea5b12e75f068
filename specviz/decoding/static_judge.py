"""Rejection sampling of a chain as one computation that a device can record.

The formulas are those of `verify`, with the same numbers drawn in the same order: one coin for each
draft up to the first rejection, then one number for the token that follows. What comes of it, ids,
flags and counts, lies in one small tensor, which is all that the host reads in a round.
"""

from dataclasses import dataclass

import torch

from specviz.decoding.capture import Capture
from specviz.decoding.proposal import Proposal, chain
from specviz.decoding.sampling import are_finite, invert, no_numbers, to_probs
from specviz.decoding.static_chain import StaticChain
from specviz.decoding.verify import Judgement, Verification, excess
from specviz.trace.values import Source

NUM_COUNTS = 4


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """A chain and what became of it, as the host knows it."""

    proposal: Proposal
    verification: Verification
    drafted_ids: tuple[int, ...]
    """All that the chain drafted, those behind an end token included."""
    num_drawn: int
    """Uniform numbers that were used, of those that were filled in."""


class StaticJudge:
    """Judges the last chain of a `StaticChain` by the target's logits."""

    def __init__(self, drafted: StaticChain, dtype: torch.dtype, capture: Capture) -> None:
        """Record the judgement.

        Args:
            dtype: Of the target's logits.
        """
        kind, device = drafted.kind, drafted.rows.device
        self._drafted = drafted
        self._kind = kind
        shape = (kind.gamma + 1, kind.vocab_size)
        self.logits = torch.zeros(shape, dtype=dtype, device=device)
        """`[gamma + 1, vocab]`, the target's, to be filled in."""
        self._left = torch.zeros_like(drafted.rows[0])
        self._nodes = torch.arange(kind.gamma, device=device)
        self._rows = torch.arange(kind.gamma + 1, device=device)
        self._run = capture(self._compute)

    def judge(self, draws: list[float]) -> Judged:
        """Judge what was filled in, and read the outcome: the only place that waits for the device.

        Args:
            draws: The uniform numbers that were filled into the chain; none at temperature 0.

        Raises:
            DecodingError: A model returned logits that are not numbers.
        """
        values: list[float] = self._run().tolist()
        gamma = self._kind.gamma
        length, num_accepted, next_token, is_sound = (int(each) for each in values[:NUM_COUNTS])
        if not is_sound:
            raise no_numbers()
        ids = tuple(int(each) for each in values[NUM_COUNTS : NUM_COUNTS + gamma])
        target_probs, accept_probs = (
            values[NUM_COUNTS + gamma * part : NUM_COUNTS + gamma * (part + 1)] for part in (1, 2)
        )
        num_judged = min(num_accepted + 1, length)
        judgements = tuple(
            Judgement(
                node,
                node < num_accepted,
                target_probs[node],
                accept_probs[node],
                draws[length + node] if draws else None,
            )
            for node in range(num_judged)
        )
        is_rejected = num_accepted < length
        verification = Verification(
            tuple(range(num_accepted)),
            next_token,
            Source.CORRECTION if is_rejected else Source.BONUS,
            judgements,
            self._left if is_rejected and draws else None,
        )
        num_drawn = length + num_judged + 1 if draws else 0
        return Judged(self._proposal(ids[:length]), verification, ids, num_drawn)

    def _proposal(self, ids: tuple[int, ...]) -> Proposal:
        rows = self._drafted.rows[: len(ids)]
        if self._kind.is_greedy:
            return chain(ids, shown_logits=rows)
        return chain(ids, draft_probs=rows)

    def _compute(self) -> torch.Tensor:
        length, ids = self._drafted.length, self._drafted.ids
        decide = self._decide_greedily if self._kind.is_greedy else self._decide
        num_accepted, next_token, target_probs, accept_probs = decide(ids, length)
        is_sound = (self._drafted.are_sound | (self._nodes >= length)).all()
        is_sound &= (are_finite(self.logits) | (self._rows > length)).all()
        counts = torch.stack([length, num_accepted, next_token, is_sound.long()])
        return torch.cat([counts.double(), ids.double(), target_probs, accept_probs])

    def _decide_greedily(
        self, ids: torch.Tensor, length: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        """As `_decide`, by one-hot laws."""
        wanted = self.logits.argmax(dim=-1)
        is_match = ids == wanted[:-1]
        num_accepted = self._num_accepted(is_match, length)
        return num_accepted, _at(wanted, num_accepted), is_match.double(), is_match.double()

    def _decide(
        self, ids: torch.Tensor, length: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        """How many drafts are accepted and the token that follows, `[]` int64 each, and of each
        draft p(x) and its chance of acceptance `[gamma]` float64."""
        draws, draft_laws = self._drafted.draws, self._drafted.rows
        target_laws = to_probs(self.logits, self._kind.sampling)
        target_probs = target_laws[self._nodes, ids].double()
        draft_probs = draft_laws[self._nodes, ids].double()
        accept_probs = torch.where(
            draft_probs > 0, (target_probs / draft_probs).clamp(max=1), (target_probs > 0).double()
        )
        num_accepted = self._num_accepted(draws[length + self._nodes] < accept_probs, length)
        law = _at(target_laws, num_accepted)
        rejected = num_accepted.clamp(max=self._kind.gamma - 1)
        is_rejected = num_accepted < length
        left = torch.where(is_rejected, excess(law, _at(draft_laws, rejected)), law)
        self._left.copy_(left)
        num_judged = torch.minimum(num_accepted + 1, length)
        next_token = invert(left, _at(draws, length + num_judged))
        return num_accepted, next_token, target_probs, accept_probs

    def _num_accepted(self, is_accepted: torch.Tensor, length: torch.Tensor) -> torch.Tensor:
        """Drafts before the first that fails: of yes, no, yes it is one."""
        return (is_accepted & (self._nodes < length)).long().cumprod(dim=0).sum()


def _at(rows: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """The row at an index `[]` on the device, which square brackets would read back first."""
    return rows.index_select(0, index[None])[0]
