"""What fitting brought becomes texts with counts, and says what keeps it from being raced."""

import json
from dataclasses import replace
from typing import Any

from fake_race import FIT, OPTIONS

from specviz.trace.fits import Fit, FittedDraft
from specviz.trace.theory import expected_tokens_per_round
from specviz.ui.fitted_view import fitted_views
from specviz.ui.strings import in_english


def _view(fit: Fit = FIT, before: str | None = "fake-misfit") -> dict[str, Any]:
    options = replace(OPTIONS, fitted=(FittedDraft("fake-refit", before, fit),))
    (draft,) = json.loads(json.dumps(fitted_views(options)))["drafts"]
    return draft


def test_alpha_is_told_before_and_after_with_its_counts() -> None:
    alpha, greedy, _ = _view()["figures"]
    assert (alpha["before"], alpha["after"]) == ("32 %", "57 %")
    assert in_english(alpha["detail"]) == "+25 points; mean of 973 tokens"
    assert (greedy["before"], greedy["after"]) == ("34 %", "61 %")


def test_the_prediction_is_the_papers_and_of_tokens_only() -> None:
    length = _view()["figures"][2]
    gamma = OPTIONS.defaults.gamma
    assert in_english(length["label"]) == f"tokens a target pass at γ = {gamma}"
    assert length["after"] == f"{expected_tokens_per_round(FIT.after.alpha, gamma):.2f}"


def test_a_loss_is_told_as_a_loss() -> None:
    worse = replace(FIT, before=FIT.after, after=FIT.before)
    assert in_english(_view(worse)["figures"][0]["detail"]).startswith("−25 points")


def test_means_over_unlike_counts_are_told_apart() -> None:
    unlike = replace(FIT, before=replace(FIT.before, num_tokens=1_200))
    detail = in_english(_view(unlike)["figures"][0]["detail"])
    assert detail == "+25 points; means of 1,200 and 973 tokens"


def test_a_draft_that_was_made_new_is_called_so() -> None:
    assert in_english(_view(replace(FIT, draft_before=None), None)["from"]) == "a new draft"


def test_rows_are_sorted_by_alpha_and_keep_their_place_in_the_file() -> None:
    rows = _view()["rows"]
    assert [row["number"] for row in rows] == list(range(1, 12))
    assert [row["after"] for row in rows] == sorted((row["after"] for row in rows), reverse=True)
    for row in rows:
        assert row["prompt"] == FIT.held_out[row["index"]].prompt
        assert row["before"] == FIT.held_out[row["index"]].alpha_before


def test_the_facts_are_sentences_with_numbers() -> None:
    assert in_english(_view()["facts"]) == (
        "Fitted on 44 of 55 prompts in 3 min 7 s: the target wrote 20,480 tokens, the draft was "
        "trained on 161,000. Measured on 11 held-out prompts that it never saw."
    )


def test_what_keeps_a_pair_from_racing_is_said() -> None:
    assert _view()["note"] is None
    notes = {
        "made new": _view(replace(FIT, draft_before=None), None),
        "is not among the models": _view(FIT, None),
        "does not offer its target": _view(replace(FIT, target="other")),
        "no held-out prompt": _view(replace(FIT, held_out=())),
    }
    for said, view in notes.items():
        assert said in in_english(view["note"])


def test_without_fitted_drafts_there_is_a_command() -> None:
    view = fitted_views(replace(OPTIONS, fitted=(), fit_problems=()))
    assert view["drafts"] == []
    assert view["command"] == (
        "python -m specviz distill --target fake-target --draft fake-draft --prompts my_prompts.txt"
    )
