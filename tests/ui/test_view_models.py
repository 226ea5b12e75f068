"""Events become the small values that a browser draws."""

import json

from fake_race import FakeRace

from specviz.trace.outcomes import FATE_OF_OUTCOME, FATE_OF_SOURCE, OUTCOMES, outcome_table
from specviz.trace.values import (
    DraftToken,
    LaneSpec,
    Method,
    Outcome,
    RaceRequest,
    RaceStarted,
    Round,
    RoundFinished,
    Sampling,
    Source,
)
from specviz.ui.strings import in_english
from specviz.ui.view_models import law_text, narration, round_item, start_item, token_views

LANES = (
    LaneSpec("target alone", Method.BASELINE, "fake-target"),
    LaneSpec("target + draft model", Method.DRAFT_MODEL, "fake-target", "fake-draft", 4),
)


def _events(temperature: float = 0.0) -> list[object]:
    request = RaceRequest("Hello", LANES, Sampling(temperature=temperature), max_new_tokens=24)
    return list(FakeRace(pause=0)(request))


def _rounds(lane: int, temperature: float = 0.0) -> list[Round]:
    events = _events(temperature)
    return [e.round for e in events if isinstance(e, RoundFinished) and e.lane == lane]


def _labels(round_: Round) -> list[str]:
    return [OUTCOMES[view["f"]].name for view in token_views(round_)]


def test_every_fate_has_a_row_and_no_two_rows_look_alike_without_colour() -> None:
    assert set(FATE_OF_OUTCOME) == set(Outcome)
    assert set(FATE_OF_SOURCE) == set(Source)
    table = outcome_table()
    assert len({row["name"] for row in table}) == len(table)
    marks = [row["mark"] for row in table if row["mark"]]
    assert len(set(marks)) == len(marks)


def test_guesses_come_in_order_and_the_correction_last() -> None:
    round_ = next(r for r in _rounds(1) if r.emitted[-1].source is Source.CORRECTION)
    kept = sum(token.outcome is Outcome.ACCEPTED for token in round_.drafted)
    thrown = len(round_.drafted) - kept - 1
    expected = ["accepted"] * kept + ["rejected"] + ["discarded"] * thrown + ["correction"]
    assert _labels(round_) == expected


def test_a_round_without_a_rejection_ends_in_a_bonus() -> None:
    round_ = next(r for r in _rounds(1) if r.emitted[-1].source is Source.BONUS)
    assert _labels(round_) == ["accepted"] * len(round_.drafted) + ["bonus"]


def test_positions_of_all_rounds_count_the_output_without_gaps() -> None:
    views = [view for round_ in _rounds(1) for view in token_views(round_)]
    assert [view["i"] for view in views if "i" in view] == list(range(24))


def test_what_was_not_recorded_is_absent_rather_than_zero() -> None:
    views = [view for round_ in _rounds(1) for view in token_views(round_)]
    discarded = [v for v in views if OUTCOMES[v["f"]].name == "discarded"]
    assert discarded
    assert all("p" not in view and "a" not in view and "i" not in view for view in discarded)
    assert all("u" not in view for view in views), "greedy decoding throws no coin"
    sampled = [view for round_ in _rounds(1, 0.8) for view in token_views(round_)]
    rejected = next(v for v in sampled if OUTCOMES[v["f"]].name == "rejected")
    assert {"q", "p", "a", "u", "d", "g", "r"} <= set(rejected)
    assert rejected["u"] >= rejected["a"]


def test_small_probabilities_keep_the_digits_that_their_quotient_needs() -> None:
    token = DraftToken(
        5, " a", -1, Outcome.REJECTED, 3.1234567e-5, 1.2345678e-5, 0.39525634, 0.5, 0.7
    )
    round_ = Round(0, 0, 1, (token,), (), 1.0, 1.0, 0.0)
    view = token_views(round_)[0]
    assert round(view["p"] / view["q"], 4) == round(view["a"], 4) == 0.3953


def test_an_accepted_token_takes_its_text_from_the_output() -> None:
    round_ = next(r for r in _rounds(1) if r.drafted and r.drafted[0].outcome is Outcome.ACCEPTED)
    assert token_views(round_)[0]["t"] == round_.emitted[0].text


def test_items_are_plain_json() -> None:
    for event in _events(0.8):
        if isinstance(event, RaceStarted):
            assert json.loads(json.dumps(start_item(event)))["lanes"][0]["plain"] is True
        if isinstance(event, RoundFinished):
            assert json.dumps(round_item(event.lane, event.round, []), allow_nan=False)


def test_a_round_is_told_in_one_sentence() -> None:
    by_end = {r.emitted[-1].source: in_english(narration(r)) for r in _rounds(1)}
    assert by_end[Source.CORRECTION].endswith("1 corrected.")
    assert by_end[Source.BONUS].endswith("1 bonus.")
    assert "nothing guessed" in in_english(narration(_rounds(0)[0]))
    told = in_english(narration(_rounds(1)[2], "after fitting"))
    assert told.startswith("Round 3 (after fitting): ")


def test_the_law_is_named_with_what_is_switched_on() -> None:
    assert in_english(law_text(Sampling())) == "greedy (temperature 0)"
    text = in_english(law_text(Sampling(temperature=0.7, top_k=40, top_p=0.9, seed=3)))
    assert text == "temperature 0.7, top-k 40, top-p 0.9, seed 3"
