"""Whether a lane's greedy output is the baseline's, token by token."""

from dataclasses import dataclass
from enum import StrEnum

from specviz.trace.metrics import baseline_lane
from specviz.trace.values import EmittedToken, LaneTrace, StopReason, Trace


class Agreement(StrEnum):
    """How a lane's output compares with the baseline's at temperature 0."""

    IDENTICAL = "identical"
    NEAR_TIE = "near-tie"
    DIVERGENT = "divergent"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a lane's output is the baseline's, and where it first is not."""

    agreement: Agreement
    num_compared: int
    """Tokens compared: fewer than emitted where a lane was stopped early."""
    first_difference: int | None
    """Index of the first token that differs, counted from 0; None where none does."""
    margin: float | None
    """Gap between the baseline's two largest logits at the first difference, where there is one."""


def lossless_verdict(lane: LaneTrace, baseline: LaneTrace, logit_noise: float) -> Verdict | None:
    """Compare a greedy lane's token ids with the baseline's.

    A first difference is a near-tie where the baseline's margin is below 2 · `logit_noise`, since
    rounding can move each of the two logits by the noise, and the lane's token is the baseline's
    runner-up: rounding swaps the best two, a bug may choose any. Traces that were recorded before
    the runner-up was say too little for the second condition, and are judged by the first alone.

    A lane that was cancelled or failed is compared as far as it came. None where nothing can be
    said: a temperature above 0 (the baseline then records no margins), or no token to compare.
    """
    expected, got = baseline.emitted, lane.emitted
    if not expected or not got or all(token.margin is None for token in expected):
        return None
    num_common = min(len(expected), len(got))
    for index in range(num_common):
        if expected[index].id != got[index].id:
            is_tie = _is_near_tie(expected[index], got[index].id, logit_noise)
            agreement = Agreement.NEAR_TIE if is_tie else Agreement.DIVERGENT
            return Verdict(agreement, num_common, index, expected[index].margin)
    if len(expected) != len(got):
        shorter, longer = (lane, baseline) if len(got) < len(expected) else (baseline, lane)
        if shorter.stop_reason in (StopReason.EOS, StopReason.LENGTH, StopReason.CONTEXT):
            margin = longer.emitted[num_common].margin if longer is baseline else None
            return Verdict(Agreement.DIVERGENT, num_common, num_common, margin)
    return Verdict(Agreement.IDENTICAL, num_common, None, None)


def _is_near_tie(expected: EmittedToken, other_id: int, logit_noise: float) -> bool:
    if expected.margin is None or expected.margin >= 2.0 * logit_noise:
        return False
    return expected.runner_up is None or expected.runner_up == other_id


def race_verdicts(trace: Trace) -> tuple[Verdict | None, ...]:
    """Give each lane's verdict; None for the baseline itself and where nothing can be said."""
    baseline = baseline_lane(trace)
    noise = trace.environment.logit_noise
    return tuple(
        None if baseline is None or lane is baseline else lossless_verdict(lane, baseline, noise)
        for lane in trace.lanes
    )
