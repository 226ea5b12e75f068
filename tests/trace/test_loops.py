"""A loop is three whole periods and 24 tokens at least, by token ids."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from traces import chain, lane, plain

from specviz.trace.loops import MAX_PERIOD, MIN_REPEATS, MIN_TOKENS, LaneLoop, Loop, find_loop
from specviz.trace.loops import loop_of as loop_of_lane
from specviz.trace.values import Method

UNIT = list(range(100, 110))


@pytest.mark.parametrize(
    ("ids", "loop"),
    [
        ([], None),
        ([5] * 23, None),
        ([5] * 24, Loop(0, 1, 24)),
        ([1, 2, 3] * 7, None),
        ([1, 2, 3] * 8, Loop(0, 3, 24)),
        (UNIT * 3, Loop(0, 10, 30)),
        ((UNIT * 3)[:-1], None),
        ([1, 2, *UNIT * 3], Loop(2, 10, 30)),
        ([1, 2, *UNIT * 3, 100, 101], Loop(2, 10, 32)),
        ([*UNIT * 3, 7, 8, 9], Loop(0, 10, 30)),
        ([*UNIT, *range(200, 210), *UNIT, *range(300, 310), *UNIT], None),
        ([4] * 25 + UNIT * 3, Loop(25, 10, 30)),
        ([4] * 30 + UNIT * 3, Loop(0, 1, 30)),
        ([4] * 24 + [9] + [4] * 24, Loop(0, 1, 24)),
        (list(range(64)) * 3, Loop(0, 64, 192)),
        (list(range(65)) * 3, None),
        (list(range(500)), None),
    ],
)
def test_what_counts_as_a_loop(ids: list[int], loop: Loop | None) -> None:
    assert find_loop(ids) == loop


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 1), max_size=60))
def test_a_loop_is_what_its_definition_says_and_none_longer_is_missed(ids: list[int]) -> None:
    def is_loop(start: int, end: int, period: int) -> bool:
        repeats = all(ids[i] == ids[i - period] for i in range(start + period, end))
        return repeats and end - start >= max(MIN_REPEATS * period, MIN_TOKENS)

    lengths = [
        end - start
        for start in range(len(ids))
        for end in range(start + MIN_TOKENS, len(ids) + 1)
        for period in range(1, MAX_PERIOD + 1)
        if is_loop(start, end, period)
    ]
    loop = find_loop(ids)
    assert (loop.num_tokens if loop else 0) == max(lengths, default=0)
    if loop:
        assert is_loop(loop.start, loop.start + loop.num_tokens, loop.period)


def test_guesses_are_counted_before_the_loop_and_in_it() -> None:
    """Two tokens, then a unit of four seven times: guesses fail until the unit stood once."""
    rounds = [
        chain((90, 91), 0, 1),
        chain((90, 91), 0, 2),
        chain((10, 91), 1, 11),
        chain((12, 91), 1, 13),
        *[chain((10, 11, 12), 3, 13)] * 5,
        chain((10, 11, 12), 2, 13),
    ]
    assert loop_of_lane(lane(rounds)) == LaneLoop(Loop(2, 4, 4 + 5 * 4 + 2), 2 / 6, 6, 17 / 18, 18)


def test_a_baseline_has_loops_without_an_alpha() -> None:
    found = loop_of_lane(lane(plain(*[3] * 30), Method.BASELINE))
    assert found == LaneLoop(Loop(0, 1, 30), None, 0, None, 0)
    assert loop_of_lane(lane(plain(1, 2, 3), Method.BASELINE)) is None
    assert loop_of_lane(lane([])) is None
