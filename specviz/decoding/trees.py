"""Grows a tree of drafts below a text, level by level: a draft model or a head reads each level in
one pass, and only its new nodes.

*Dynamic* is EAGLE-2's tree (Li et al. 2024, arXiv:2406.16858): of each level the k nodes of the
highest cumulative log-probability are read and give k children each, and of all that came
together the best are verified, as many as the budget allows. A child is never more probable than
its parent, so they hang together. The children are fixed by the draft's laws, not drawn: point
masses, which are accepted with the target's own probability.

*Static* has one shape for all rounds, made by `static_shape`. At temperature 0 the children of a
node are its most probable tokens. Else they are drawn from the draft's law without replacement, and
verification takes the recursive residual (`decoding/verify.py`): a coin is then thrown for how well
both laws agree, not for how probable the token is.

Either is exact whatever it leaves out, since what a tree holds below a node depends on nothing but
the drafts above it.
"""

import heapq
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import torch

from specviz.decoding.proposal import ROOT
from specviz.decoding.sampling import Chance, check_finite, to_probs
from specviz.trace.values import LaneSpec, Sampling, Tree

FIRST_RANK = 0.7
"""Chance that the first draft in a place is right, as assumed for shapes: the acceptance that a
lane is taken to have before anything was judged (`decoding/draft_lengths.py`). With the shipped
pair it is .72, and .3 for each later draft that is tried. Shapes of .7 and .3 lean to one branch,
and kept no more on ten prompts of the gallery: τ 3.52 and 3.71 with 16 and 24 nodes, greedy, where
those of `static_shape` came to 3.62 and 3.77: a text has hard places, where siblings count."""


@dataclass(frozen=True, slots=True)
class TreeSize:
    """What trees a lane grows."""

    kind: Tree
    branches: int
    """Drafts tried in one place at most."""
    budget: int
    """Nodes of the tree at most."""

    @classmethod
    def of(cls, spec: LaneSpec) -> "TreeSize | None":
        """Of a lane; None where it drafts chains."""
        if spec.tree is Tree.NONE:
            return None
        return cls(spec.tree, spec.branches, spec.budget)

    def num_read(self, depth: int) -> int:
        """Most nodes that a draft reads of such a tree, or of the shallower ones at a text's end:
        those of its last level are never read."""
        return max(sum(self.level_widths(level)) for level in range(1, depth + 1))

    def level_widths(self, depth: int) -> tuple[int, ...]:
        """Most nodes that are read at once, of each level."""
        if self.kind is Tree.DYNAMIC:
            return (self.branches,) * (depth - 1)
        shape = static_shape(depth, self.branches, self.budget)
        widths = [0] * depth
        for node in set(shape.parents) - {ROOT}:
            widths[shape.depths[node]] += 1
        return tuple(width for width in widths if width)


@dataclass(frozen=True, slots=True)
class Shape:
    """A tree without tokens, level by level, siblings side by side in the order of their ranks."""

    parents: tuple[int, ...]
    depths: tuple[int, ...]
    """0 for children of the root."""

    def num_children(self, node: int) -> int:
        """Children of a node (-1: the root)."""
        return self.parents.count(node)


@lru_cache
def static_shape(depth: int, branches: int, budget: int) -> Shape:
    """Choose the nodes that are most likely to be on the accepted path, greedily.

    The draft of rank r (0 for the first) in a place is taken to be right with a chance of
    a·(1 - a)^r, a = 0.7: each takes the same share of what those before it missed. A node is on the
    path with the product of the chances along its own, so the best tree of `budget` nodes is that
    of the largest products, and it hangs together (Chen et al. 2024, arXiv:2402.12374, search for
    the same optimum with chances that they measure).

    Example: depth 2, 2 branches, 4 nodes: ranks (0) .7, (0, 0) .49, (1) .21 and of (0, 1) and
    (1, 0), .147 each, the first in that order; parents -1, -1, 0, 0.
    """

    def log_chance(ranks: tuple[int, ...]) -> float:
        # Written so that orders of the same ranks tie to the last bit.
        return len(ranks) * math.log(FIRST_RANK) + sum(ranks) * math.log(1.0 - FIRST_RANK)

    heap: list[tuple[float, tuple[int, ...]]] = [(-log_chance((0,)), (0,))]
    chosen: list[tuple[int, ...]] = []
    while heap and len(chosen) < budget:
        ranks = heapq.heappop(heap)[1]
        chosen.append(ranks)
        if ranks[-1] + 1 < branches:
            beside = (*ranks[:-1], ranks[-1] + 1)
            heapq.heappush(heap, (-log_chance(beside), beside))
        if len(ranks) < depth:
            heapq.heappush(heap, (-log_chance((*ranks, 0)), (*ranks, 0)))
    chosen.sort(key=lambda ranks: (len(ranks), ranks))
    number = {(): ROOT} | {ranks: node for node, ranks in enumerate(chosen)}
    return Shape(
        tuple(number[ranks[:-1]] for ranks in chosen), tuple(len(ranks) - 1 for ranks in chosen)
    )


class TreeReader(Protocol):
    """What trees grow on: a model that predicts below one text. Tokens are numbers of its own
    columns."""

    def root(self) -> torch.Tensor:
        """Logits `[1, columns]` of the token that follows the text."""

    def read(self, tokens: Sequence[int], parents: Sequence[int]) -> torch.Tensor:
        """Read nodes of one level.

        Args:
            parents: Nodes, counted in the order in which they were read here, or -1.

        Returns:
            Logits `[num_new, columns]` of what follows each.
        """


@dataclass(frozen=True, slots=True, eq=False)
class Grown:
    """A tree of drafts."""

    tokens: tuple[int, ...]
    """Columns."""
    parents: tuple[int, ...]
    draft_probs: torch.Tensor | None
    """`[num_nodes, columns]`, as in a `Proposal`; None: its nodes are point masses."""
    shown_logits: torch.Tensor | None
    """The same where they are: what the draft believed."""


def grow(
    reader: TreeReader,
    depth: int,
    size: TreeSize,
    sampling: Sampling,
    ends: Callable[[int], bool],
    chance: Chance,
) -> Grown:
    """Grow a tree of at most `depth` levels, at least one.

    Args:
        ends: Whether the text would end with the token of a column: nothing is drafted below it.

    Raises:
        DecodingError: The draft returned logits that are not numbers.
    """
    if size.kind is Tree.DYNAMIC:
        return _Dynamic(reader, size, sampling, ends).grow(depth)
    shape = static_shape(depth, size.branches, size.budget)
    return _Static(reader, shape, sampling, ends, chance).grow()


class _Growth:
    """The nodes of a tree as it grows, and what was read of them."""

    def __init__(self, reader: TreeReader, ends: Callable[[int], bool]) -> None:
        self._reader, self._ends = reader, ends
        self.tokens: list[int] = []
        self.parents: list[int] = []
        self._numbers: dict[int, int] = {ROOT: ROOT}
        """In which order nodes were read."""
        self.logits: list[torch.Tensor] = []

    def read(self, nodes: Sequence[int]) -> torch.Tensor:
        """Read nodes, or the root (-1) alone; return their logits `[len(nodes), columns]`."""
        if list(nodes) == [ROOT]:
            logits = self._reader.root()
        else:
            parents = [self._numbers[self.parents[node]] for node in nodes]
            logits = self._reader.read([self.tokens[node] for node in nodes], parents)
            for node in nodes:
                self._numbers[node] = len(self._numbers) - 1
        check_finite(logits)
        self.logits.append(logits)
        return logits

    def add(self, token: int, parent: int) -> int:
        """Add a node; return its number."""
        self.tokens.append(token)
        self.parents.append(parent)
        return len(self.tokens) - 1

    def is_end(self, node: int) -> bool:
        """Whether nothing may stand below a node."""
        return node != ROOT and self._ends(self.tokens[node])

    def rows(self, rows: Sequence[torch.Tensor], nodes: Sequence[int]) -> torch.Tensor:
        """Of rows as they were read, give each node that of its parent, which it comes from."""
        places = [self._numbers[self.parents[node]] + 1 for node in nodes]
        return torch.cat(list(rows))[places]


class _Dynamic:
    def __init__(
        self, reader: TreeReader, size: TreeSize, sampling: Sampling, ends: Callable[[int], bool]
    ) -> None:
        self._growth = _Growth(reader, ends)
        self._size = size
        # At temperature 0 the draft's own law ranks the nodes, as it is.
        self._law = sampling if sampling.temperature > 0 else Sampling(temperature=1.0)
        self._scores: list[float] = []

    def grow(self, depth: int) -> Grown:
        level = self._expand([ROOT])
        for _ in range(depth - 1):
            above = self._worth_reading(level)
            if not above:
                break
            level = self._expand(above)
        best = sorted(range(len(self._scores)), key=lambda node: (-self._scores[node], node))
        kept = sorted(best[: self._size.budget])
        number = {ROOT: ROOT} | {node: index for index, node in enumerate(kept)}
        growth = self._growth
        return Grown(
            tuple(growth.tokens[node] for node in kept),
            tuple(number[growth.parents[node]] for node in kept),
            None,
            growth.rows(growth.logits, kept),
        )

    def _expand(self, nodes: Sequence[int]) -> list[int]:
        """Read nodes and add the children of each, the most probable first; return those."""
        probs = to_probs(self._growth.read(nodes), self._law)
        best = probs.topk(min(self._size.branches, probs.shape[-1]), dim=-1)
        children = []
        for node, values, tokens in zip(
            nodes, best.values.tolist(), best.indices.tolist(), strict=True
        ):
            before = 0.0 if node == ROOT else self._scores[node]
            for value, token in zip(values, tokens, strict=True):
                if value > 0:
                    children.append(self._growth.add(token, node))
                    self._scores.append(before + math.log(value))
        return children

    def _worth_reading(self, level: Sequence[int]) -> list[int]:
        """The best nodes of a level, without those below which nothing could come into the tree."""
        budget = self._size.budget
        least = -math.inf
        if len(self._scores) >= budget:
            least = heapq.nlargest(budget, self._scores)[-1]
        fit = [
            node for node in level if self._scores[node] > least and not self._growth.is_end(node)
        ]
        fit.sort(key=lambda node: (-self._scores[node], node))
        return sorted(fit[: self._size.branches])


class _Static:
    def __init__(
        self,
        reader: TreeReader,
        shape: Shape,
        sampling: Sampling,
        ends: Callable[[int], bool],
        chance: Chance,
    ) -> None:
        self._growth = _Growth(reader, ends)
        self._shape, self._sampling, self._chance = shape, sampling, chance
        self._is_drawn = sampling.temperature > 0
        self._laws: list[torch.Tensor] = []

    def grow(self) -> Grown:
        # Nodes to read, with their places in the shape.
        level = [(ROOT, ROOT)]
        while level:
            below = self._expand(level)
            level = [
                (node, place)
                for node, place in below
                if self._shape.num_children(place) and not self._growth.is_end(node)
            ]
        growth = self._growth
        rows = growth.rows(
            self._laws if self._is_drawn else growth.logits, range(len(growth.tokens))
        )
        return Grown(
            tuple(growth.tokens),
            tuple(growth.parents),
            rows if self._is_drawn else None,
            None if self._is_drawn else rows,
        )

    def _expand(self, level: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """Read the nodes of a level and add their children; return those with their places."""
        logits = self._growth.read([node for node, _ in level])
        widths = [self._shape.num_children(place) for _, place in level]
        children = self._draw(logits, widths) if self._is_drawn else self._best(logits, widths)
        below = []
        for (node, place), tokens in zip(level, children, strict=True):
            # As many as the draft holds possible, which may be fewer than the shape has.
            first = self._shape.parents.index(place)
            for rank, token in enumerate(tokens):
                below.append((self._growth.add(token, node), first + rank))
        return below

    def _best(self, logits: torch.Tensor, widths: Sequence[int]) -> list[list[int]]:
        most = min(max(widths), logits.shape[-1])
        found: list[list[int]] = logits.topk(most, dim=-1).indices.tolist()
        return [tokens[:width] for tokens, width in zip(found, widths, strict=True)]

    def _draw(self, logits: torch.Tensor, widths: Sequence[int]) -> list[list[int]]:
        """Draw the children of each node without replacement."""
        laws = to_probs(logits, self._sampling)
        self._laws.append(laws)
        possible: list[int] = (laws > 0).sum(dim=-1).tolist()
        children = []
        for law, width, most in zip(laws, widths, possible, strict=True):
            left, drawn = law.clone(), []
            for _ in range(min(width, most)):
                drawn.append(self._chance.choose(left))
                left[drawn[-1]] = 0.0
            children.append(drawn)
        return children
