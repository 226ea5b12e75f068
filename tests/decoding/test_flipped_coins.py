"""Some coins fall the other way; what is before them stays, and what is after them goes on."""

from itertools import count

import pytest
from fakes import MarkovRunner, PlainDetokenizer, make_decoder, random_table

from specviz.decoding.flipped_coins import FlippedCoins
from specviz.decoding.proposers.draft_model import DraftModel
from specviz.decoding.recorder import Recorder
from specviz.decoding.sampling import SeededChance
from specviz.errors import DecodingError
from specviz.trace.values import DraftToken, Outcome, Round, Sampling

NUM_FLIPS = 20
SAMPLED = Sampling(temperature=1.0, seed=11)
TARGET, DRAFT = random_table(12, 1), random_table(12, 2) + 0.6 * random_table(12, 1)


def _flips(which: tuple[int, ...], seed: int) -> list[tuple[bool, float]]:
    chance = SeededChance(seed)
    thrown = FlippedCoins(chance, which)
    return [(flip.is_heads, flip.draw or 0.0) for flip in (thrown.flip(0.6) for _ in range(20))]


@pytest.mark.parametrize("which", [(0,), (7,), (19,), (0, 7, 8, 19)])
def test_these_coins_fall_the_other_way_and_no_others(which: tuple[int, ...]) -> None:
    for seed in range(5):
        before, after = _flips((), seed), _flips(which, seed)
        changed = [index for index in range(NUM_FLIPS) if before[index] != after[index]]
        assert changed == list(which)
        assert all(after[coin][0] is not before[coin][0] for coin in which)
        assert all((draw < 0.6) is is_heads for is_heads, draw in after)


def test_a_new_text_has_its_own_coins() -> None:
    chance = FlippedCoins(SeededChance(1), (2,))
    first = [chance.flip(0.6) for _ in range(4)]
    chance.reset()
    assert [chance.flip(0.6) for _ in range(4)] == first


@pytest.mark.parametrize("prob", [0.0, 1.0])
def test_a_coin_of_one_side_cannot_be_flipped(prob: float) -> None:
    with pytest.raises(DecodingError, match="coin 1 decided nothing"):
        FlippedCoins(SeededChance(0), (0,)).flip(prob)


def _rounds(*which: int) -> list[Round]:
    chance = SeededChance(SAMPLED.seed)
    decoder = make_decoder(
        MarkovRunner(TARGET),
        DraftModel(MarkovRunner(DRAFT), SAMPLED, 12, frozenset()),  # type: ignore[arg-type]
        gamma=4,
        sampling=SAMPLED,
        max_new_tokens=40,
        chance=FlippedCoins(chance, which),
        recorder=Recorder(SAMPLED, PlainDetokenizer(), record_top=False),
    )
    decoder.prefill((1, 0))
    rounds = []
    while decoder.stop_reason is None:
        rounds.append(decoder.step())
    return rounds


def _judged(rounds: list[Round]) -> list[DraftToken]:
    drafted = [token for each in rounds for token in each.drafted]
    return [token for token in drafted if token.outcome is not Outcome.DISCARDED]


def _two_sided(judged: list[DraftToken], outcome: Outcome, after: int) -> int:
    """The first coin behind another that has two sides and fell like this."""
    return next(
        number
        for number, token in zip(count(), judged, strict=False)
        if number > after and token.outcome is outcome and 0 < (token.accept_prob or 0) < 1
    )


@pytest.mark.parametrize("outcome", [Outcome.ACCEPTED, Outcome.REJECTED])
def test_a_lane_is_the_same_up_to_its_flipped_coin_and_parts_there(outcome: Outcome) -> None:
    before = _judged(_rounds())
    which = _two_sided(before, outcome, 5)
    after = _judged(_rounds(which))
    _check_fork(before, after, which)


def test_a_fork_forks_again() -> None:
    first = _two_sided(_judged(_rounds()), Outcome.ACCEPTED, 3)
    before = _judged(_rounds(first))
    second = _two_sided(before, Outcome.REJECTED, first)
    _check_fork(before, _judged(_rounds(first, second)), second)


def _check_fork(before: list[DraftToken], after: list[DraftToken], which: int) -> None:
    assert after[:which] == before[:which]
    assert (after[which].id, after[which].accept_prob) == (
        before[which].id,
        before[which].accept_prob,
    )
    assert {after[which].outcome, before[which].outcome} == {
        Outcome.ACCEPTED,
        Outcome.REJECTED,
    }
    assert after[which + 1 :] != before[which + 1 :]
