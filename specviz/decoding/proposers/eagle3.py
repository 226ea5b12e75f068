"""Drafts with an EAGLE-3 head: a small network that reads the target's own states.

Slot i holds the state of position i and the token at i + 1. Of a text of n tokens the target has
read n - 1 before a round, so n - 1 slots are true and the last of them predicts the token behind
the text. Drafts beyond it stand in slots that are guessed from the head's own states; their keys
and values are dropped at the next round, which reads the true states in their place: leaving them
costs a tenth of what is accepted.
"""

from collections.abc import Sequence
from typing import Protocol

import torch

from specviz.decoding.eagle3_pass import Eagle3Pass
from specviz.decoding.lean_cache import LeanCache
from specviz.decoding.proposal import NOTHING, Proposal, ancestor_mask, chain, depths
from specviz.decoding.proposers.autoregressive import chance_of
from specviz.decoding.sampling import Chance, check_finite, to_probs
from specviz.decoding.trees import TreeSize, grow
from specviz.trace.values import Sampling


class TappedTarget(Protocol):
    """What is needed of the runner that verifies."""

    vocab_size: int

    def tap(self, taps: Sequence[int]) -> None:
        """As `ModelRunner.tap`."""

    def features(self, ids: Sequence[int], first: int) -> torch.Tensor:
        """As `ModelRunner.features`."""


class Eagle3:
    """A chain or a tree of tokens from a head. `target` must be the runner that verifies: what it
    has read is not read again here."""

    def __init__(
        self,
        head: Eagle3Pass,
        target: TappedTarget,
        sampling: Sampling,
        eos_ids: frozenset[int],
        room: int,
        least_confidence: float = 0.0,
        tree: TreeSize | None = None,
    ) -> None:
        """Draft for one lane.

        Args:
            room: Most tokens that will follow a prompt.
            least_confidence: As in `draft_chain`; probabilities are those over the draft
                vocabulary. Of trees none.
            tree: What tree; None: a chain.

        Raises:
            IncompatibleModelError: The target has no such boundaries as the head taps.
        """
        target.tap(head.form.taps)
        self._head, self._target = head, target
        self._sampling, self._eos_ids, self._room = sampling, eos_ids, room
        self._draft_ids = head.head.draft_ids
        self._target_ids: list[int] = self._draft_ids.tolist()
        self._least_confidence = least_confidence
        self._tree = tree
        self._cache = head.new_cache(room)
        self._num_true = 0

    @torch.inference_mode()
    def reset(self, prompt_ids: Sequence[int]) -> None:
        """Read the prompt, all but its last slot, which the first round fills."""
        self._cache = self._head.new_cache(self._room)
        self._num_true = 0
        if len(prompt_ids) > 2:
            self._read_true(list(prompt_ids)[:-1])

    @torch.inference_mode()
    def propose(self, committed_ids: Sequence[int], gamma: int, chance: Chance) -> Proposal:
        """Draft up to `gamma` tokens one behind the other; none behind a text of one token, of
        which no state is known.

        Raises:
            DecodingError: The head returned logits that are not numbers.
        """
        ids = list(committed_ids)
        if gamma <= 0 or len(ids) < 2:
            return NOTHING
        self._cache.truncate(self._num_true)
        state = self._read_true(ids)
        if self._tree is not None:
            return self._grow(
                _Below(self._head, state, self._cache, self._target_ids), gamma, chance
            )
        drafts: list[int] = []
        rows: list[torch.Tensor] = []
        while True:
            index, row = self._draw(state, chance)
            drafts.append(self._target_ids[index])
            rows.append(row)
            if len(drafts) == gamma or drafts[-1] in self._eos_ids or self._is_unsure(index, row):
                break
            state = self._head.read(self._head.head.carried(state), drafts[-1:], self._cache)
        if self._sampling.temperature == 0:
            return chain(drafts, shown_logits=self._over_vocab(rows, -torch.inf))
        return chain(drafts, draft_probs=self._over_vocab(rows, 0.0))

    def _grow(self, below: "_Below", gamma: int, chance: Chance) -> Proposal:
        assert self._tree is not None

        def is_end(index: int) -> bool:
            return self._target_ids[index] in self._eos_ids

        grown = grow(below, gamma, self._tree, self._sampling, is_end, chance)
        ids = tuple(self._target_ids[index] for index in grown.tokens)
        if grown.draft_probs is not None:
            return Proposal(ids, grown.parents, self._over_vocab([grown.draft_probs], 0.0))
        assert grown.shown_logits is not None
        shown = self._over_vocab([grown.shown_logits], -torch.inf)
        return Proposal(ids, grown.parents, None, shown)

    def _read_true(self, ids: list[int]) -> torch.Tensor:
        """Fill all slots up to the one that predicts what follows `ids`; return its state
        `[1, hidden]`."""
        first = min(self._num_true, len(ids) - 2)
        self._cache.truncate(first)
        features = self._target.features(ids[:-1], first)
        states = self._head.read(self._head.head.fuse(features), ids[first + 1 :], self._cache)
        self._num_true = len(ids) - 1
        return states[-1:]

    def _draw(self, state: torch.Tensor, chance: Chance) -> tuple[int, torch.Tensor]:
        """Draw a place in the draft vocabulary; return its row `[1, draft_vocab]` too."""
        logits = self._head.predict(state)
        check_finite(logits)
        if self._sampling.temperature == 0:
            return int(logits.argmax()), logits
        probs = to_probs(logits, self._sampling)
        return chance.choose(probs[0]), probs

    def _is_unsure(self, index: int, row: torch.Tensor) -> bool:
        """Whether a draft ends with the token at `index`, which the head gives too little."""
        least = self._least_confidence
        return least > 0 and chance_of(row, index, self._sampling) < least

    def _over_vocab(self, rows: list[torch.Tensor], empty: float) -> torch.Tensor:
        """Put rows over the draft vocabulary where the target's ids are: `[num_nodes, vocab]`."""
        own = torch.cat(rows)
        whole = own.new_full((len(own), self._target.vocab_size), empty)
        return whole.index_copy_(1, self._draft_ids, own)


class _Below:
    """The head behind one text, as a tree is grown there: each node is read with the state that its
    parent came to, in the slot of its depth."""

    def __init__(
        self, head: Eagle3Pass, state: torch.Tensor, cache: LeanCache, target_ids: Sequence[int]
    ) -> None:
        """Begin with the state `[1, hidden]` that predicts what follows the text, which `cache`
        ends with."""
        self._head, self._states, self._cache = head, state, cache
        self._target_ids = target_ids
        self._num_true = len(cache)
        self._parents: list[int] = []

    def root(self) -> torch.Tensor:
        """Logits `[1, draft_vocab]` of the token that follows the text."""
        return self._head.predict(self._states)

    def read(self, tokens: Sequence[int], parents: Sequence[int]) -> torch.Tensor:
        """Read nodes of one level; return logits `[num_new, draft_vocab]`."""
        self._parents += parents
        num_new, num_nodes = len(tokens), len(self._parents)
        visible = torch.ones(num_new, self._num_true + num_nodes, dtype=torch.bool)
        visible[:, self._num_true :] = ancestor_mask(self._parents)[-num_new:]
        positions = [self._num_true + depth for depth in depths(self._parents)[-num_new:]]
        above = self._head.head.carried(self._states[[parent + 1 for parent in parents]])
        ids = [self._target_ids[token] for token in tokens]
        states = self._head.read_branches(above, ids, self._cache, positions, visible)
        self._states = torch.cat([self._states, states])
        return self._head.predict(states)
