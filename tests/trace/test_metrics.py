"""Every number of a lane, recomputed by hand."""

from dataclasses import replace

import pytest
from traces import chain, drafted, emitted, lane, plain, small_race, trace

from specviz.trace.counts import RunningCounts, accepted_path
from specviz.trace.metrics import PositionRate, lane_metrics, metrics_of, race_metrics
from specviz.trace.theory import predicted_speedup
from specviz.trace.values import LaneTrace, Method, Outcome, Round, Source, StopReason
from specviz.trace.verdict import Agreement, Verdict, lossless_verdict, race_verdicts

ERROR = StopReason.ERROR


def test_counts_by_hand() -> None:
    metrics = race_metrics(small_race())[1]
    assert metrics.num_rounds == metrics.num_target_forwards == 3
    assert metrics.num_drafted == 7
    assert metrics.num_accepted == 5
    assert metrics.num_rejected == 1
    assert metrics.num_discarded == 1
    assert metrics.num_emitted == 8
    counts = RunningCounts.of(small_race().lanes[1].rounds)
    assert (counts.num_corrections, counts.num_bonuses) == (1, 2)


def test_rates_by_hand() -> None:
    metrics = race_metrics(small_race())[1]
    assert metrics.alpha == pytest.approx(5 / 6)
    assert metrics.alpha_overlap is None
    assert metrics.acceptance_rate == pytest.approx(5 / 7)
    assert metrics.acceptance_by_position == (
        PositionRate(3, 3, 1.0),
        PositionRate(1, 2, 0.5),
        PositionRate(1, 2, 0.5),
    )
    assert metrics.tau == pytest.approx(8 / 3)
    assert metrics.target_passes_saved == pytest.approx(1 - 3 / 8)
    assert metrics.wasted_fraction == pytest.approx(2 / 7)


def test_times_by_hand() -> None:
    metrics = race_metrics(small_race())[1]
    assert metrics.ms_per_token == pytest.approx(44 / 8)
    assert metrics.tokens_per_second == pytest.approx(8 / 0.044)
    assert metrics.draft_cost == pytest.approx((7 / 7) / 10)
    assert metrics.verify_cost == pytest.approx(12 / 10)
    assert metrics.speedup == pytest.approx(10 / (44 / 8))


def test_prediction_by_hand_follows_the_rounds_that_were_run() -> None:
    metrics = race_metrics(small_race())[1]
    alpha = 5 / 6
    tokens = 2 * (1 + alpha + alpha**2 + alpha**3) + (1 + alpha)
    assert metrics.predicted_speedup == pytest.approx(tokens / (7 * 0.1 + 3 * 1.2))
    assert metrics.predicted_speedup_textbook == pytest.approx(tokens / (7 * 0.1 + 3 * 1.0))
    assert metrics.efficiency == pytest.approx(metrics.speedup / metrics.predicted_speedup)


def test_prediction_at_constant_gamma_is_the_formula_of_the_paper() -> None:
    rounds = [
        chain((1, 2, 3), kept, 9, draft_ms=1.5, verify_ms=11.0, other_ms=1.0) for kept in (3, 2, 0)
    ]
    metrics = lane_metrics(lane(rounds), lane(plain(1, 2, 3), Method.BASELINE))
    assert metrics.alpha == pytest.approx(5 / 7)
    assert metrics.predicted_speedup == pytest.approx(predicted_speedup(5 / 7, 3, 0.05, 1.1))


def test_a_round_without_drafts_is_predicted_as_a_plain_step() -> None:
    rounds = [chain((), 0, 5), chain((6, 7), 2, 8, draft_ms=2.0, verify_ms=15.0)]
    metrics = lane_metrics(lane(rounds), lane(plain(5, 6, 7, 8), Method.BASELINE))
    assert metrics.verify_cost == pytest.approx(1.5)
    assert metrics.predicted_speedup == pytest.approx((1 + 3) / (1 + 2 * 0.1 + 1.5))


def test_the_baseline_is_as_fast_as_itself() -> None:
    metrics = race_metrics(small_race())[0]
    assert metrics.speedup == 1.0
    assert metrics.tau == 1.0
    assert metrics.target_passes_saved == 0.0
    assert metrics.acceptance_by_position == ()
    undefined = (
        metrics.alpha,
        metrics.acceptance_rate,
        metrics.draft_cost,
        metrics.verify_cost,
        metrics.predicted_speedup,
        metrics.efficiency,
        metrics.wasted_fraction,
    )
    assert undefined == (None,) * 7


@pytest.mark.parametrize(
    "empty",
    [
        lane([], stop_reason=ERROR, error="it failed"),
        lane([chain((1, 2), 1, 3, verify_ms=0.0)]),
    ],
)
def test_nothing_is_divided_by_zero(empty: LaneTrace) -> None:
    other = lane(plain(1, 2), Method.BASELINE)
    for one, two in ((empty, other), (other, empty), (empty, empty), (empty, None)):
        metrics = lane_metrics(one, two)
        assert metrics.speedup is None
        assert metrics.efficiency is None


def test_overlap_is_averaged_over_judged_positions() -> None:
    rounds = [chain((1, 2, 3), 0, 9, overlap=0.4), chain((4,), 1, 5, overlap=0.8)]
    assert lane_metrics(lane(rounds), None).alpha_overlap == pytest.approx(0.6)


def test_a_tree_may_reject_several_siblings_of_one_round() -> None:
    tree = Round(
        index=0,
        position=0,
        gamma=2,
        drafted=(
            drafted(1, Outcome.REJECTED),
            drafted(2, Outcome.ACCEPTED),
            drafted(3, Outcome.DISCARDED),
            drafted(4, Outcome.DISCARDED, 0),
            drafted(5, Outcome.REJECTED, 1),
            drafted(6, Outcome.REJECTED, 1),
        ),
        emitted=(emitted(2, Source.DRAFT), emitted(9, Source.CORRECTION)),
        draft_ms=2.0,
        verify_ms=12.0,
        other_ms=0.0,
    )
    metrics = lane_metrics(lane([tree]), lane(plain(2, 9), Method.BASELINE))
    assert (metrics.num_accepted, metrics.num_rejected, metrics.num_discarded) == (1, 3, 2)
    assert metrics.alpha == pytest.approx(1 / 4)
    assert [each.rate for each in metrics.acceptance_by_position] == [1.0, 0.0]
    # Two levels are two draft steps, however many nodes they have.
    assert metrics.draft_cost == pytest.approx(2.0 / 2 / 10)
    assert metrics.round_cost == pytest.approx((2.0 + 12.0) / 10)
    assert metrics.acceptance_rate == pytest.approx(1 / 6)
    assert metrics.tau == 2.0
    assert metrics.target_passes_saved == 0.5
    assert metrics.predicted_speedup is None


def test_a_text_ended_inside_a_block_leaves_drafts_unjudged() -> None:
    metrics = lane_metrics(lane([chain((1, 2, 3), 2, None)], stop_reason=StopReason.EOS), None)
    assert metrics.alpha == 1.0
    assert metrics.num_discarded == 1
    assert metrics.num_emitted == 2


def test_running_counts_end_where_the_metrics_are() -> None:
    drafting, baseline = small_race().lanes[1], small_race().lanes[0]
    counts, steps = RunningCounts(), []
    for round_ in drafting.rounds:
        counts.add(round_)
        steps.append((counts.num_emitted, counts.ms))
    assert steps == [(4, 15.0), (6, 30.0), (8, 44.0)]
    running = metrics_of(counts, RunningCounts.of(baseline.rounds))
    assert running == lane_metrics(drafting, baseline)
    nothing = metrics_of(RunningCounts(), RunningCounts())
    assert nothing.alpha is nothing.tau is nothing.tokens_per_second is None
    assert nothing.rounds_by_kept == nothing.acceptance_by_position == ()


def test_rounds_are_counted_by_what_they_kept_and_by_what_alpha_expects() -> None:
    metrics = race_metrics(small_race())[1]
    assert metrics.rounds_by_kept == (0, 2, 0, 1)
    assert metrics.expected_rounds_by_kept is not None
    alpha, fail = 5 / 6, 1 / 6
    longer = [2 * fail, 2 * alpha * fail, 2 * alpha**2 * fail, 2 * alpha**3]
    longer[0] += fail
    longer[1] += alpha
    assert metrics.expected_rounds_by_kept == pytest.approx(longer)
    assert metrics.expected_by_position == pytest.approx((alpha, alpha**2, alpha**3))


def test_every_metric_survives_a_trace_without_a_baseline() -> None:
    metrics = race_metrics(trace(small_race().lanes[1]))[0]
    assert metrics.alpha == pytest.approx(5 / 6)
    assert metrics.speedup is metrics.draft_cost is metrics.predicted_speedup is None


def test_the_same_ids_are_identical() -> None:
    assert race_verdicts(small_race()) == (None, Verdict(Agreement.IDENTICAL, 8, None, None))


@pytest.mark.parametrize(
    ("margin", "agreement"),
    [(1.9e-5, Agreement.NEAR_TIE), (2e-5, Agreement.DIVERGENT), (3.0, Agreement.DIVERGENT)],
)
def test_a_first_difference_is_judged_by_the_margin_there(
    margin: float, agreement: Agreement
) -> None:
    baseline = lane([*plain(1, 2), *plain(3, margin=margin), *plain(4)], Method.BASELINE)
    other = lane([chain((1, 2), 2, 99), chain((5,), 0, 6)])
    assert lossless_verdict(other, baseline, 1e-5) == Verdict(agreement, 4, 2, margin)


def test_a_stopped_lane_is_compared_as_far_as_it_came() -> None:
    baseline = lane(plain(1, 2, 3, 4), Method.BASELINE)
    short = lane([chain((1,), 1, 2)])
    cancelled = replace(short, stop_reason=StopReason.CANCELLED)
    assert lossless_verdict(cancelled, baseline, 1e-5) == Verdict(
        Agreement.IDENTICAL, 2, None, None
    )
    failed = lane([], stop_reason=ERROR, error="it failed")
    assert lossless_verdict(failed, baseline, 1e-5) is None


def test_a_lane_that_ends_too_early_or_too_late_is_divergent() -> None:
    baseline = lane(plain(1, 2, 3), Method.BASELINE, stop_reason=StopReason.EOS)
    early = lane([chain((1,), 1, 2)], stop_reason=StopReason.EOS)
    late = lane([chain((1, 2, 3), 3, 4)], stop_reason=StopReason.CANCELLED)
    assert lossless_verdict(early, baseline, 1e-5) == Verdict(Agreement.DIVERGENT, 2, 2, 1.5)
    assert lossless_verdict(late, baseline, 1e-5) == Verdict(Agreement.DIVERGENT, 3, 3, None)
    full = replace(early, stop_reason=StopReason.CONTEXT)
    assert lossless_verdict(full, baseline, 1e-5) == Verdict(Agreement.DIVERGENT, 2, 2, 1.5)


def test_sampled_texts_are_not_compared() -> None:
    baseline = lane(plain(1, 2, margin=None), Method.BASELINE)
    other = lane([chain((1,), 1, 2, margin=None)])
    assert race_verdicts(trace(baseline, other, temperature=1.0)) == (None, None)


def test_tokens_a_round_are_those_that_reached_the_output() -> None:
    """A text that ends inside an accepted block gets no token from the target in that round."""
    cut = lane([chain((1, 2), 1, 3), chain((4, 5, 6), 2, None)], stop_reason=StopReason.EOS)
    metrics = lane_metrics(cut, None)
    assert metrics.tau == (2 + 2) / 2
    assert metrics.target_passes_saved == 1 - 2 / 4


def test_what_was_never_judged_is_wasted_too() -> None:
    metrics = lane_metrics(lane([chain((1, 2, 3, 4), 1, 9)]), None)
    assert (metrics.num_rejected, metrics.num_discarded) == (1, 2)
    assert metrics.wasted_fraction == 3 / 4


def test_drafts_of_which_none_was_judged_predict_nothing() -> None:
    metrics = lane_metrics(lane([chain((1, 2), 0, None)]), lane(plain(1, 2), Method.BASELINE))
    assert metrics.alpha is metrics.predicted_speedup is metrics.predicted_speedup_textbook is None
    assert metrics.draft_cost == 0.0


def test_an_overlap_that_decided_nothing_is_not_averaged() -> None:
    judged = chain((1, 2), 0, 9, overlap=0.5)
    discarded = replace(judged.drafted[1], overlap=1.0)
    odd = replace(judged, drafted=(judged.drafted[0], discarded))
    assert lane_metrics(lane([odd]), None).alpha_overlap == 0.5


def test_a_margin_that_is_missing_hides_no_difference() -> None:
    baseline = lane([*plain(1), *plain(2, margin=None), *plain(3)], Method.BASELINE)
    same, other = lane([chain((1, 2), 2, 3)]), lane([chain((1,), 1, 9)])
    assert lossless_verdict(same, baseline, 1e-5) == Verdict(Agreement.IDENTICAL, 3, None, None)
    assert lossless_verdict(other, baseline, 1e-5) == Verdict(Agreement.DIVERGENT, 2, 1, None)


def test_without_a_baseline_nothing_is_said_of_any_output() -> None:
    assert race_verdicts(trace(small_race().lanes[1])) == (None,)


def test_a_round_without_drafts_accepts_at_no_position() -> None:
    assert accepted_path(chain((), 0, 5)) == (0, 0)
    assert accepted_path(chain((1, 2), 0, 9)) == (2, 0)
    mixed = lane([chain((), 0, 5), chain((1,), 0, 9), chain((), 0, 6), chain((2,), 1, 3)])
    (only,) = lane_metrics(mixed, None).acceptance_by_position
    assert only == PositionRate(1, 2, 0.5)


def test_a_tree_anywhere_in_a_lane_leaves_theory_without_an_answer() -> None:
    """The formulas describe chains; a chain that follows makes no chain of what came before."""
    siblings = (drafted(1, Outcome.REJECTED), drafted(2, Outcome.ACCEPTED))
    tree = replace(chain((1, 2), 1, 9), drafted=siblings, emitted=chain((2,), 1, 9).emitted)
    baseline = lane(plain(1, 2, 3), Method.BASELINE)
    for rounds in ([tree, chain((3,), 1, 4)], [chain((3,), 1, 4), tree]):
        metrics = lane_metrics(lane(rounds), baseline)
        assert metrics.alpha == 2 / 3
        assert metrics.predicted_speedup is metrics.predicted_speedup_textbook is None
        assert metrics.expected_rounds_by_kept is metrics.expected_by_position is None


def test_every_round_counts_once_and_whole() -> None:
    rounds = [
        chain((1, 2), 1, 9, draft_ms=2.0, verify_ms=10.0, other_ms=0.5),
        chain((3, 4), 1, 9, draft_ms=3.0, verify_ms=11.0, other_ms=0.25),
        chain((), 0, 5, verify_ms=8.0, other_ms=0.125),
    ]
    counts = RunningCounts.of(rounds)
    assert (counts.draft_ms, counts.verify_ms, counts.other_ms) == (5.0, 29.0, 0.875)
    assert counts.ms == 34.875
    assert counts.draft_lengths == {2: 2, 0: 1}
    assert counts.paths == {(2, 1): 2}
    assert (counts.num_drafting_rounds, counts.drafting_verify_ms) == (2, 21.0)
