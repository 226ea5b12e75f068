"""Drafts with a smaller model of the same vocabulary."""

from collections.abc import Sequence

import torch

from specviz.decoding.model_runner import ModelRunner
from specviz.decoding.proposal import NOTHING, Proposal
from specviz.decoding.proposers.autoregressive import draft_chain, read_prompt
from specviz.decoding.sampling import Chance, over_vocab
from specviz.trace.values import Sampling


class DraftModel:
    """A chain of tokens from a draft model with its own KV cache.

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
    ) -> None:
        self.runner = runner
        self._sampling = sampling
        self._vocab_size = vocab_size
        self._eos_ids = eos_ids
        self._least_confidence = least_confidence

    def reset(self, prompt_ids: Sequence[int]) -> None:
        """Read the prompt, all but its last token, which the first round feeds."""
        self.runner.reset()
        read_prompt(self.runner, self.readable(prompt_ids))

    def propose(self, committed_ids: Sequence[int], gamma: int, chance: Chance) -> Proposal:
        """Draft up to `gamma` tokens, fewer where the draft's own context ends."""
        gamma = self.num_drafts(committed_ids, gamma)
        if gamma <= 0:
            return NOTHING
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
        return over_vocab(self.runner.forward(self.readable(ids), 1), self._vocab_size)
