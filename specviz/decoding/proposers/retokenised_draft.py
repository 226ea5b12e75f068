"""Drafts with a smaller model of another tokenizer: it writes text, which is cut into the target's
tokens.

The draft writes its most probable tokens whatever the temperature, so what is proposed follows from
the committed text alone: a point mass at each token, which the verification treats exactly (the
proposals are those of string-level exact match, Timor et al. 2025, arXiv:2502.05202, algorithm 2).
A draft that drew its text would be as exact, since its draws are not the target's coins: whatever
chain comes, p(x) accepts and p without x corrects. But p at the most probable token is larger on
average than p at a drawn one.

What the draft believed is not handed on: its law is over other tokens, and dividing by it would not
follow the target's.
"""

from collections.abc import Sequence
from math import ceil

import torch

from specviz.decoding.model_runner import ModelRunner
from specviz.decoding.proposal import NOTHING, Proposal, chain
from specviz.decoding.proposers.autoregressive import read_prompt
from specviz.decoding.proposers.bridge import Bridge
from specviz.decoding.sampling import Chance, check_finite

MAX_TOKENS_A_TOKEN = 6.0
"""Most tokens that the draft writes for one of the target's: about the letters of a word."""
UNSETTLED = 4
"""Newest tokens of what the draft reads that the next round may cut otherwise."""


class RetokenisedDraft:
    """A chain of the target's tokens, from the text of a draft model with its own KV cache."""

    def __init__(self, runner: ModelRunner, bridge: Bridge, least_confidence: float = 0.0) -> None:
        """Draft by text.

        Args:
            least_confidence: A token of its own that the draft gives a smaller probability, at
                temperature 1, ends what it writes, itself included.
        """
        self.runner = runner
        self._bridge = bridge
        self._least_confidence = least_confidence

    def reset(self, prompt_ids: Sequence[int]) -> None:
        """Read the prompt, all but its last token, which the first round feeds."""
        self.runner.reset()
        self._bridge.reset()
        read_prompt(self.runner, self._bridge.read(prompt_ids))

    def propose(self, committed_ids: Sequence[int], gamma: int, chance: Chance) -> Proposal:
        """Draft up to `gamma` tokens; nothing is drawn."""
        ids = self._bridge.read(committed_ids)
        if gamma <= 0 or not ids:
            return NOTHING
        share = min(len(ids) / len(committed_ids), MAX_TOKENS_A_TOKEN)
        # One more, since the last of the target's tokens may be the beginning of a longer one.
        num_tokens = ceil(gamma * share) + 1
        if self.runner.context is not None:
            num_tokens = min(num_tokens, self.runner.context - len(ids))
        drafted, is_ended = self._write(ids, num_tokens)
        return chain(self._bridge.write(drafted, is_ended=is_ended)[:gamma])

    def _write(self, ids: list[int], num_tokens: int) -> tuple[list[int], bool]:
        """Go on with at most so many tokens; and whether the text ends there.

        Raises:
            DecodingError: The draft returned logits that are not numbers.
        """
        self.runner.expect_return_to(max(0, len(ids) - UNSETTLED))
        text = list(ids)
        for _ in range(num_tokens):
            logits = self.runner.forward(text, 1)[:, : self._bridge.num_draft_ids]
            check_finite(logits)
            token = int(logits.argmax())
            if token in self._bridge.draft_stops:
                return text[len(ids) :], token in self._bridge.draft_eos
            text.append(token)
            if self._is_unsure(logits, token):
                break
        return text[len(ids) :], False

    def _is_unsure(self, logits: torch.Tensor, token: int) -> bool:
        """Whether the draft gives a token of its own, of logits `[1, ids]`, too little."""
        if self._least_confidence <= 0:
            return False
        return float(logits[0].softmax(dim=-1)[token]) < self._least_confidence
