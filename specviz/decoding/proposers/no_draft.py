"""The baseline: proposes nothing, so every round is one plain step of the target."""

from collections.abc import Sequence

from specviz.decoding.proposal import NOTHING, Proposal
from specviz.decoding.sampling import Chance


class NoDraft:
    """A proposer that never drafts."""

    def reset(self, prompt_ids: Sequence[int]) -> None:
        """Nothing to read."""

    def propose(self, committed_ids: Sequence[int], gamma: int, chance: Chance) -> Proposal:
        """Return the empty proposal."""
        return NOTHING
