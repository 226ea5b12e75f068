"""Drafts with a smaller model of the same vocabulary."""

from collections.abc import Sequence

import torch

from specviz.decoding.model_runner import ModelRunner
from specviz.decoding.proposal import NOTHING, Proposal
from specviz.decoding.proposers.autoregressive import draft_chain, read_prompt
from specviz.decoding.sampling import Chance, over_vocab
from specviz.decoding.trees import TreeSize, grow
from specviz.trace.values import Sampling


class DraftModel:
    """A chain or a tree of tokens from a draft model with its own KV cache.

    Where the draft's output layer has more or fewer rows than the target's (padding of the
    vocabulary), its logits are cut or filled with minus infinity, so that both laws range over the
    target's ids.
    """

    def __init__(
        self,
        runner: ModelRunner,
        sampling: Sampling,
        vocab_size: int,
        eos_ids: frozenset[int],
        least_confidence: float = 0.0,
        tree: TreeSize | None = None,
    ) -> None:
        """Draft for one lane.

        Args:
            least_confidence: As in `draft_chain`; of trees none.
            tree: What tree; None: a chain.
        """
        self.runner = runner
        self._sampling = sampling
        self._vocab_size = vocab_size
        self._eos_ids = eos_ids
        self._least_confidence = least_confidence
        self._tree = tree

    def reset(self, prompt_ids: Sequence[int]) -> None:
        """Read the prompt, all but its last token, which the first round feeds."""
        self.runner.reset()
        read_prompt(self.runner, self.readable(prompt_ids))

    def propose(self, committed_ids: Sequence[int], gamma: int, chance: Chance) -> Proposal:
        """Draft up to `gamma` tokens one behind the other, fewer where the draft's own context
        ends."""
        gamma = self.num_drafts(committed_ids, gamma)
        if gamma <= 0:
            return NOTHING
        if self._tree is not None:
            below = _Below(self, committed_ids)
            is_end = self._eos_ids.__contains__
            grown = grow(below, gamma, self._tree, self._sampling, is_end, chance)
            return Proposal(grown.tokens, grown.parents, grown.draft_probs, grown.shown_logits)
        self.runner.expect_return_to(len(committed_ids))
        return draft_chain(
            self._next_logits,
            committed_ids,
            gamma,
            self._sampling,
            self._eos_ids,
            chance,
            self._least_confidence,
        )

    def num_drafts(self, committed_ids: Sequence[int], gamma: int) -> int:
        """How many of `gamma` tokens the draft's own context has room for; none if below one."""
        context = self.runner.context
        return gamma if context is None else min(gamma, context - len(committed_ids))

    def readable(self, ids: Sequence[int]) -> Sequence[int]:
        """Where the draft has fewer rows, read an id past its last row as that row: the worst that
        can come of it is a poor draft."""
        last = self.runner.vocab_size - 1
        if last >= self._vocab_size - 1:
            return ids
        return [min(token_id, last) for token_id in ids]

    def _next_logits(self, ids: list[int]) -> torch.Tensor:
        return self.over_target(self.runner.forward(self.readable(ids), 1))

    def over_target(self, logits: torch.Tensor) -> torch.Tensor:
        """Let logits `[num_rows, own vocab]` range over the target's ids."""
        return over_vocab(logits, self._vocab_size)


class _Below:
    """The draft model behind one text, as a tree is grown there."""

    def __init__(self, draft: DraftModel, committed_ids: Sequence[int]) -> None:
        self._draft, self._ids = draft, committed_ids

    def root(self) -> torch.Tensor:
        """Logits `[1, vocab]` of the token that follows the text."""
        readable = self._draft.readable(self._ids)
        return self._draft.over_target(self._draft.runner.forward(readable, 1))

    def read(self, tokens: Sequence[int], parents: Sequence[int]) -> torch.Tensor:
        """Read nodes of one level; return logits `[num_new, vocab]`."""
        readable = self._draft.readable(tokens)
        return self._draft.over_target(self._draft.runner.grow_tree(readable, parents))
