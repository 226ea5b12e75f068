"""What a proposer hands to verification, and the geometry of the tree it forms."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch

from specviz.decoding.sampling import Chance

ROOT = -1


@dataclass(frozen=True, slots=True, eq=False)
class Proposal:
    """Drafted tokens as a tree below the last committed token.

    Nodes stand in an order in which parents come before children; children of one parent are tried
    in this order. A chain has parents -1, 0, 1, …
    """

    token_ids: tuple[int, ...]
    parents: tuple[int, ...]
    draft_probs: torch.Tensor | None = None
    """`[num_nodes, vocab]` float: row i is what node i was drawn from, before any sibling was
    taken out of it. None: the proposal is deterministic, each node a point mass."""
    shown_logits: torch.Tensor | None = None
    """`[num_nodes, vocab]` float: what the draft believed, for the record only, where the tokens
    are its most probable ones and verification must treat them as point masses. None elsewhere."""

    def __post_init__(self) -> None:
        if len(self.token_ids) != len(self.parents):
            raise ValueError(f"{len(self.token_ids)} tokens but {len(self.parents)} parents")
        for node, parent in enumerate(self.parents):
            if not ROOT <= parent < node:
                raise ValueError(f"parent of node {node} must be -1 to {node - 1}, got {parent}")

    def __len__(self) -> int:
        return len(self.token_ids)

    @property
    def is_chain(self) -> bool:
        """Whether every node has the node before it as its parent."""
        return self.parents == tuple(range(-1, len(self) - 1))

    def children(self, node: int) -> tuple[int, ...]:
        """Nodes below `node` (-1: the root), in the order in which they are tried."""
        return tuple(child for child, parent in enumerate(self.parents) if parent == node)


NOTHING = Proposal((), ())


def chain(
    token_ids: Sequence[int],
    draft_probs: torch.Tensor | None = None,
    shown_logits: torch.Tensor | None = None,
) -> Proposal:
    """Make a proposal in which each token follows the one before it."""
    return Proposal(
        tuple(token_ids), tuple(range(-1, len(token_ids) - 1)), draft_probs, shown_logits
    )


def depths(parents: Sequence[int]) -> list[int]:
    """Depth of each node: 0 for children of the root. Parents -1, 0, 0 give 0, 1, 1."""
    result: list[int] = []
    for parent in parents:
        result.append(0 if parent == ROOT else result[parent] + 1)
    return result


def ancestor_mask(parents: Sequence[int]) -> torch.Tensor:
    """Which node sees which: `[num_nodes, num_nodes]` bool, true where column is row or above it.

    Parents -1, 0, 0 give rows 100, 110, 101.
    """
    size = len(parents)
    if size == 0:
        return torch.zeros(0, 0, dtype=torch.bool)
    # Bytes on the host: an operation for each node would take as long as a layer.
    rows: list[bytearray] = []
    for node, parent in enumerate(parents):
        rows.append(bytearray(size) if parent == ROOT else rows[parent].copy())
        rows[node][node] = 1
    return torch.frombuffer(bytearray().join(rows), dtype=torch.bool).view(size, size)


class Proposer(Protocol):
    """Makes drafts for one lane. One object serves one lane and keeps that lane's state."""

    def reset(self, prompt_ids: Sequence[int]) -> None:
        """Forget the last text and read the prompt; not part of any round's time."""

    def propose(self, committed_ids: Sequence[int], gamma: int, chance: Chance) -> Proposal:
        """Draft at most `gamma` tokens to follow `committed_ids` (prompt included)."""
