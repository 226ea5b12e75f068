"""One coin falls the other way; what is before it stays, and what is after it goes on."""

import pytest

from specviz.decoding.flipped_coin import FlippedCoin
from specviz.decoding.sampling import SeededChance
from specviz.errors import DecodingError

NUM_FLIPS = 20


def _flips(which: int | None, seed: int) -> list[tuple[bool, float]]:
    chance = SeededChance(seed)
    thrown = chance if which is None else FlippedCoin(chance, which)
    return [(flip.is_heads, flip.draw or 0.0) for flip in (thrown.flip(0.6) for _ in range(20))]


@pytest.mark.parametrize("which", [0, 7, 19])
def test_one_coin_falls_the_other_way_and_no_other(which: int) -> None:
    for seed in range(5):
        before, after = _flips(None, seed), _flips(which, seed)
        changed = [index for index in range(NUM_FLIPS) if before[index] != after[index]]
        assert changed == [which]
        assert after[which][0] is not before[which][0]
        assert all((draw < 0.6) is is_heads for is_heads, draw in after)


def test_a_new_text_has_its_own_coins() -> None:
    chance = FlippedCoin(SeededChance(1), 2)
    first = [chance.flip(0.6) for _ in range(4)]
    chance.reset()
    assert [chance.flip(0.6) for _ in range(4)] == first


@pytest.mark.parametrize("prob", [0.0, 1.0])
def test_a_coin_of_one_side_cannot_be_flipped(prob: float) -> None:
    with pytest.raises(DecodingError, match="coin 1 decided nothing"):
        FlippedCoin(SeededChance(0), 0).flip(prob)
