"""Other draft lengths on recorded rounds, and speedup by position: every number by hand."""

from dataclasses import replace

import pytest
from traces import chain, lane, plain, small_race

from specviz.trace.metrics import lane_metrics
from specviz.trace.other_gammas import other_gammas
from specviz.trace.theory import speedup_by_position
from specviz.trace.values import Round

ROUNDS = (
    chain((1, 2, 3), 3, 4),
    chain((5, 90, 91), 1, 6),
    chain((7, 8, 9), 3, 10),
)


def test_a_shorter_draft_is_known_in_every_round() -> None:
    (one, two, three) = other_gammas(ROUNDS, 3, 0.1, 1.3, (1, 2, 3))
    assert [x.num_known for x in (one, two, three)] == [3, 3, 3]
    # γ 1: 2 tokens each for 0.1 + 1.1; γ 2: 3, 2 and 3 for 0.2 + 1.2; γ 3: 4, 2 and 4 for 1.6.
    assert (one.tau_low, one.tau_high) == (2.0, 2.0)
    assert one.speedup_low == one.speedup_high == pytest.approx(2 / 1.2)
    assert two.tau_low == pytest.approx(8 / 3)
    assert two.speedup_low == pytest.approx(8 / 3 / 1.4)
    assert three.tau_low == pytest.approx(10 / 3)
    assert three.speedup_high == pytest.approx(10 / 3 / 1.6)
    assert three.oracle_speedup == pytest.approx(4 / 1.6)


def test_a_longer_draft_is_known_where_a_token_was_rejected() -> None:
    (longer,) = other_gammas(ROUNDS, 3, 0.1, 1.3, (5,))
    assert longer.num_known == 1
    assert (longer.tau_low, longer.tau_high) == pytest.approx((10 / 3, 14 / 3))
    # The two open rounds would have drafted 5 (0.5 + 1.5), the one that is known 3 at most.
    spent = 2.0 + 2.0 + 1.6
    assert longer.speedup_low == pytest.approx(10 / spent)
    assert longer.speedup_high == pytest.approx(14 / spent)
    assert longer.oracle_speedup == pytest.approx(6 / 2.0)


@pytest.mark.parametrize(
    "round_",
    [
        # At the limit of the text: two were asked for in a lane of three.
        chain((1, 2), 2, 3),
        # Nothing more to draft: three were asked for.
        replace(chain((1, 2), 2, 3), gamma=3),
        # The third ended the text.
        chain((1, 2, 3), 3, None),
        *plain(4),
    ],
)
def test_the_end_of_text_or_proposer_is_known(round_: Round) -> None:
    (_, longer) = other_gammas((ROUNDS[1], round_), 3, 0.1, 1.3, (3, 8))
    assert longer.num_known == 2
    assert longer.tau_low == longer.tau_high == (2 + len(round_.emitted)) / 2


def test_all_lengths_are_told_unless_asked_otherwise() -> None:
    found = other_gammas(ROUNDS, 3, 0.1, 1.3)
    assert [each.gamma for each in found] == list(range(1, 17))
    assert all(each.tau_low <= each.tau_high <= each.gamma + 1 for each in found)


def test_nothing_is_said_of_trees_or_of_rounds_without_drafts() -> None:
    first, second, *_ = ROUNDS[0].drafted
    tree = replace(ROUNDS[0], drafted=(first, second, replace(second, parent=0)))
    assert other_gammas((tree,), 3, 0.1, 1.3) == ()
    assert other_gammas(tuple(plain(1, 2)), 3, 0.1, 1.3) == ()
    assert other_gammas((), 3, 0.1, 1.3) == ()


def test_speedup_by_position_by_hand() -> None:
    assert speedup_by_position({(3, 3): 1, (3, 1): 1}, 2, 0.1, 1.2) == pytest.approx(6 / 3.0)
    # One round more that drafted nothing brings one token for one pass.
    assert speedup_by_position({(3, 3): 1, (3, 1): 1}, 3, 0.1, 1.2) == pytest.approx(7 / 4.0)
    assert speedup_by_position({}, 5, None, None) == 1.0
    assert speedup_by_position({(1, 1): 1}, 1, None, None) is None
    assert speedup_by_position({}, 0, None, None) is None


def test_speedup_by_position_leaves_out_only_what_is_between_passes() -> None:
    race = small_race()
    metrics = lane_metrics(race.lanes[1], race.lanes[0])
    paths = {(3, 3): 1, (3, 1): 1, (1, 1): 1}
    found = speedup_by_position(paths, 3, metrics.draft_cost, metrics.verify_cost)
    # 43 of the lane's 44 ms were drafting and checking.
    assert found == pytest.approx(80 / 43)
    assert metrics.speedup == pytest.approx(80 / 44)


def test_rounds_of_a_lane_give_back_its_own_tau_at_its_own_length() -> None:
    drafting = lane(ROUNDS)
    (own,) = other_gammas(drafting.rounds, 3, 0.1, 1.3, (3,))
    assert own.tau_low == own.tau_high == len(drafting.emitted) / len(ROUNDS)
