"""Borders of the laws and of the draws, each a case by hand."""

import pytest
import torch

from specviz.decoding.sampling import SeededChance, check_finite, to_probs
from specviz.errors import DecodingError
from specviz.trace.values import Sampling


class Drawn(SeededChance):
    """Always draws the same number."""

    def __init__(self, number: float) -> None:
        super().__init__(0)
        self._number = number

    def uniform(self) -> float:
        return self._number


ALMOST_ONE = 1.0 - 2**-53


def test_each_row_has_its_own_point_mass_at_temperature_zero() -> None:
    law = to_probs(torch.tensor([[0.0, 2.0], [5.0, 3.0], [1.0, 4.0]]), Sampling())
    assert law.tolist() == [[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]


def test_top_p_is_reached_not_passed() -> None:
    law = to_probs(torch.zeros(1, 4), Sampling(temperature=1.0, top_p=0.5))
    assert sorted(law[0].tolist()) == [0.0, 0.0, 0.5, 0.5]


def test_a_top_p_of_one_keeps_what_rounding_would_drop() -> None:
    """Beside the first token the others' mass is lost in a float32, but not in the law."""
    law = to_probs(torch.tensor([[30.0, 0.0, 0.0]]), Sampling(temperature=1.0))
    assert float(law[0, 0]) == 1.0
    assert bool((law > 0).all())


def test_a_row_without_a_possible_token_is_refused_beside_sound_ones() -> None:
    logits = torch.zeros(3, 4)
    logits[1] = -torch.inf
    with pytest.raises(DecodingError, match="returned logits that are not numbers"):
        check_finite(logits)


def test_a_seed_decides_from_the_first_draw_on() -> None:
    first = [SeededChance(seed).uniform() for seed in (1, 1, 2)]
    assert first[0] == first[1] != first[2]
    again = SeededChance(1)
    draws = [again.uniform(), again.uniform()]
    again.reset()
    assert [again.uniform(), again.uniform()] == draws
    assert draws[0] == first[0]


def test_draws_have_the_digits_of_a_double() -> None:
    chance = SeededChance(1)
    assert any((chance.uniform() * 2**24) % 1 for _ in range(20))


def test_a_coin_cannot_fall_against_certainty() -> None:
    assert not Drawn(0.0).flip(0.0).is_heads
    assert Drawn(ALMOST_ONE).flip(1.0).is_heads
    assert Drawn(0.25).flip(0.5).draw == 0.25


def test_a_rare_token_behind_a_certain_one_can_be_drawn() -> None:
    """In float32 the sum of both would be the first alone."""
    law = torch.tensor([1.0, 1e-9])
    assert Drawn(ALMOST_ONE).choose(law) == 1
    assert Drawn(0.5).choose(law) == 0
