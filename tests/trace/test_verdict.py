"""A near-tie: two best logits within the noise, and the lane's token is the second of them."""

from dataclasses import replace

import pytest
from traces import chain, lane, plain

from specviz.trace.values import LaneTrace, Method
from specviz.trace.verdict import Agreement, Verdict, lossless_verdict

NOISE = 1e-5
RUNNER_UP = 7


def baseline_with(runner_up: int | None, margin: float) -> LaneTrace:
    """Writes 1 2 3 4; at the third token the second best lies `margin` behind."""
    first, second, third, fourth = plain(1, 2, 3, 4)
    token = replace(third.emitted[0], margin=margin, runner_up=runner_up)
    third = replace(third, emitted=(token,))
    return lane([first, second, third, fourth], Method.BASELINE)


@pytest.mark.parametrize(
    ("token_id", "runner_up", "margin", "agreement"),
    [
        (RUNNER_UP, RUNNER_UP, 1.9e-5, Agreement.NEAR_TIE),
        (RUNNER_UP, RUNNER_UP, 2.0e-5, Agreement.DIVERGENT),
        (8, RUNNER_UP, 1.9e-5, Agreement.DIVERGENT),
        (8, RUNNER_UP, 0.0, Agreement.DIVERGENT),
        (8, None, 1.9e-5, Agreement.NEAR_TIE),
        (8, None, 2.0e-5, Agreement.DIVERGENT),
        (0, 0, 1.9e-5, Agreement.NEAR_TIE),
        (8, 0, 1.9e-5, Agreement.DIVERGENT),
    ],
)
def test_a_first_difference(
    token_id: int, runner_up: int | None, margin: float, agreement: Agreement
) -> None:
    other = lane([chain((1,), 1, 2), chain((token_id,), 1, 9)])
    verdict = lossless_verdict(other, baseline_with(runner_up, margin), NOISE)
    assert verdict == Verdict(agreement, 4, 2, margin)
