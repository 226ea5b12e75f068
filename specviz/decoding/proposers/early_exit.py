"""Drafts with the target's own first layers; no second model, and no layer is run twice."""

from collections.abc import Sequence

from specviz.decoding.proposal import Proposal
from specviz.decoding.proposers.autoregressive import draft_chain
from specviz.decoding.sampling import Chance
from specviz.decoding.split_runner import SplitRunner
from specviz.trace.values import Sampling


class EarlyExit:
    """A chain of tokens from the target's early exit.

    `runner` must be the one that verifies: what the first layers compute here is not computed again
    there.
    """

    def __init__(
        self,
        runner: SplitRunner,
        sampling: Sampling,
        eos_ids: frozenset[int],
        least_confidence: float = 0.0,
    ) -> None:
        self._runner = runner
        self._sampling = sampling
        self._eos_ids = eos_ids
        self._least_confidence = least_confidence

    def reset(self, prompt_ids: Sequence[int]) -> None:
        """The target reads the prompt for both."""

    def propose(self, committed_ids: Sequence[int], gamma: int, chance: Chance) -> Proposal:
        """Draft up to `gamma` tokens."""
        return draft_chain(
            self._runner.exit_logits,
            committed_ids,
            gamma,
            self._sampling,
            self._eos_ids,
            chance,
            self._least_confidence,
        )
