"""What drafting and judging brought in one round, before the decoder commits it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch

from specviz.decoding.proposal import Proposal
from specviz.decoding.verify import Verification


@dataclass(frozen=True, slots=True, eq=False)
class Play:
    """A round up to its verification."""

    proposal: Proposal
    logits: torch.Tensor
    """`[num_nodes + 1, vocab]`, the target's."""
    verification: Verification
    draft_ms: float
    verify_ms: float
    """Of the target's pass; what is drawn from it counts apart."""


class RecordedPlay(Protocol):
    """Plays whole rounds in its own way, where that fits: by what a device has recorded, or by a
    rule that is known to be wrong."""

    def fits(self, committed_ids: Sequence[int], gamma: int) -> bool:
        """Whether it can play a round of this draft length behind these tokens."""

    def play(self, committed_ids: Sequence[int], gamma: int) -> Play:
        """Draft at most `gamma` tokens, read and judge; tensors of the result hold until the next
        round."""
