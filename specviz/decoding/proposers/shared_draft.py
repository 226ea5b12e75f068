"""Drafts with a smaller model of another tokenizer, in the tokens that both have.

The draft's law q is kept to the tokens whose bytes the target's tokenizer has too, made a law
again, and written at their ids of the target; a draft is drawn from that and judged by that. It is
plain rejection sampling with the q that was drawn from, exact for every such q (token-level
intersection, Timor et al. 2025, arXiv:2502.05202, algorithm 4). Of the target's tokens that the
draft lacks none is ever drafted: they come as corrections.

Example: q = (.5, .3, .2) over a, b, c of which the target has a and c, as its ids 7 and 2: drafted
is 7 with probability .5/.7 and 2 with .2/.7.
"""

from collections.abc import Mapping, Sequence

import torch

from specviz.decoding.model_runner import ModelRunner
from specviz.decoding.proposal import NOTHING, Proposal
from specviz.decoding.proposers.autoregressive import draft_chain, read_prompt
from specviz.decoding.proposers.bridge import Bridge
from specviz.decoding.proposers.retokenised_draft import UNSETTLED
from specviz.decoding.sampling import Chance
from specviz.trace.values import Sampling


class SharedDraft:
    """A chain of tokens that target and draft share, from a draft model with its own KV cache."""

    def __init__(
        self,
        runner: ModelRunner,
        bridge: Bridge,
        shared: Mapping[int, int],
        sampling: Sampling,
        vocab_size: int,
        eos_ids: frozenset[int],
        least_confidence: float = 0.0,
    ) -> None:
        """Draft in shared tokens.

        Args:
            shared: From ids of the draft to the target's, one to one; at least one.
            vocab_size: Rows of the target's output layer.
            eos_ids: Of the target.
        """
        self.runner = runner
        self._bridge = bridge
        self._draft_id_of = {ours: theirs for theirs, ours in shared.items()}
        self._theirs = torch.tensor(list(shared), device=runner.device)
        self._ours = torch.tensor(list(shared.values()), device=runner.device)
        self._sampling = sampling
        self._vocab_size = vocab_size
        self._eos_ids = eos_ids
        self._least_confidence = least_confidence

    def reset(self, prompt_ids: Sequence[int]) -> None:
        """Read the prompt, all but its last token, which the first round feeds."""
        self.runner.reset()
        self._bridge.reset()
        read_prompt(self.runner, self._bridge.read(prompt_ids))

    def propose(self, committed_ids: Sequence[int], gamma: int, chance: Chance) -> Proposal:
        """Draft up to `gamma` tokens; none where the text ends inside a character by tokens that
        the draft lacks."""
        read = self._bridge.read(committed_ids)
        half = [self._draft_id_of.get(token_id) for token_id in self._bridge.half]
        ids = [*read, *(token_id for token_id in half if token_id is not None)]
        if self.runner.context is not None:
            gamma = min(gamma, self.runner.context - len(ids))
        if gamma <= 0 or not ids or None in half:
            return NOTHING
        self.runner.expect_return_to(max(0, len(ids) - UNSETTLED))

        def next_logits(text: list[int]) -> torch.Tensor:
            drafted = [self._draft_id_of[token_id] for token_id in text[len(committed_ids) :]]
            return self._over_target(self.runner.forward([*ids, *drafted], 1))

        return draft_chain(
            next_logits,
            committed_ids,
            gamma,
            self._sampling,
            self._eos_ids,
            chance,
            self._least_confidence,
        )

    def _over_target(self, logits: torch.Tensor) -> torch.Tensor:
        """Move logits `[1, draft vocab]` to the target's ids, `[1, vocab]`; all that are not shared
        are minus infinity."""
        moved = torch.full((1, self._vocab_size), -torch.inf, dtype=logits.dtype).to(logits.device)
        kept = logits[0, self._theirs]
        # A draft that rules all of them out drafts any: every law over them is exact.
        moved[0, self._ours] = torch.where(kept.amax() == -torch.inf, 0.0, kept)
        return moved
