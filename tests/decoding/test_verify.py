"""Verification where rounding has left nothing of a law."""

import torch

from specviz.decoding.proposal import Proposal, chain
from specviz.decoding.sampling import Flip, SeededChance
from specviz.decoding.verify import verify
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
