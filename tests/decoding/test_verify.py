"""Verification where rounding has left nothing of a law, and by which laws siblings are tried."""

import pytest
import torch

from specviz.decoding.proposal import Proposal, chain
from specviz.decoding.sampling import Flip, SeededChance
from specviz.decoding.verify import Judgement, laws_tried, verify
from specviz.trace.values import Source


class HighDraws(SeededChance):
    """Draws 0.9 every time: rejects whatever can be rejected with that chance."""

    def uniform(self) -> float:
        return 0.9


class Tails(SeededChance):
    """Every coin shows tails."""

    def flip(self, prob: float) -> Flip:
        return Flip(False, 1.0)


def siblings(target: list[float]) -> tuple[tuple[int, ...], int, list[float]]:
    """Judge tokens 0 and 1, siblings of a draft law that had given all its mass to token 0."""
    target_probs = torch.tensor(target, dtype=torch.float64).expand(3, -1)
    draft_probs = torch.zeros_like(target_probs[:2])
    draft_probs[:, 0] = 1.0
    result = verify(Proposal((0, 1), (-1, -1), draft_probs), target_probs, HighDraws(0))
    return result.path, result.next_token, [judged.accept_prob for judged in result.judgements]


def test_a_sibling_without_mass_is_accepted_where_the_target_allows_it() -> None:
    path, _, accept_probs = siblings([0.25, 0.5, 0.25])
    assert path == (1,)
    assert accept_probs == [0.25, 1.0]


def test_a_sibling_without_mass_is_rejected_where_the_target_forbids_it() -> None:
    path, next_token, accept_probs = siblings([0.25, 0.0, 0.75])
    assert path == ()
    assert next_token == 2
    assert accept_probs == [0.25, 0.0]


def test_a_point_mass_that_is_all_of_the_target_leaves_the_target() -> None:
    """Rounding alone can reject it; then nothing is left to draw the correction from."""
    certain = torch.tensor([[0.0, 1.0], [0.5, 0.5]])
    result = verify(chain([1]), certain, Tails(0))
    assert (result.path, result.next_token, result.source) == ((), 1, Source.CORRECTION)
    assert result.residual is not None
    assert torch.equal(result.residual, certain[0])


def test_the_source_of_the_next_token_of_a_walk_without_drafts() -> None:
    result = verify(Proposal((), ()), torch.tensor([[0.0, 1.0]]), SeededChance(0))
    assert (result.path, result.next_token, result.source) == ((), 1, Source.TARGET)
    assert result.judgements == ()
    assert result.residual is None


@pytest.mark.parametrize("is_drawn", [True, False], ids=["drawn", "point masses"])
def test_the_laws_that_siblings_were_tried_by(is_drawn: bool) -> None:
    """p = (.5, .3, .2), q = (.6, .3, .1): after token 0, drawn, p is (0, 0, 1) and q (0, .75, .25);
    a point mass leaves p = (0, .6, .4). Below token 1 both laws are new."""
    p = torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64)
    q = torch.tensor([0.6, 0.3, 0.1], dtype=torch.float64)
    proposal = Proposal((0, 1, 2), (-1, -1, 1), q.expand(3, -1) if is_drawn else None)
    judgements = [
        Judgement(node, is_accepted, 0.0, 0.0, None)
        for node, is_accepted in enumerate((False, True, True))
    ]
    tried = list(laws_tried(proposal, p.expand(4, -1), judgements))
    assert [node for node, _, _ in tried] == [0, 1, 2]
    second = [0.0, 0.0, 1.0] if is_drawn else [0.0, 0.6, 0.4]
    for (_, target, draft), expected, other in zip(
        tried,
        (p.tolist(), second, p.tolist()),
        (q.tolist(), [0.0, 0.75, 0.25], q.tolist()),
        strict=True,
    ):
        assert target.tolist() == pytest.approx(expected)
        assert (draft is None) == (not is_drawn)
        if draft is not None:
            assert draft.tolist() == pytest.approx(other)
