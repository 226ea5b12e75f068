"""Trees that are none."""

import pytest

from specviz.decoding.proposal import Proposal


def test_a_proposal_with_a_node_that_is_its_own_parent_is_refused() -> None:
    for parents in ((0,), (-1, 1), (-2,)):
        with pytest.raises(ValueError, match=f"parent of node {len(parents) - 1} must be -1 to"):
            Proposal(tuple(range(len(parents))), parents)
