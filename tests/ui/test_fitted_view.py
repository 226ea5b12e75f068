"""What fitting brought reaches the browser as it was measured, with what keeps it from racing."""

import json
from dataclasses import replace
from typing import Any

from fake_race import FIT, OPTIONS

from specviz.trace.fits import Fit, FittedDraft
from specviz.trace.theory import expected_tokens_per_round
from specviz.ui.compare_form import CompareValues, request_from_comparison
from specviz.ui.fitted_view import fitted_views, new_fits_view
from specviz.ui.new_fits import NewFits
from specviz.ui.strings import in_english


def _view(fit: Fit = FIT, before: str | None = "fake-misfit") -> dict[str, Any]:
    options = replace(OPTIONS, fitted=(FittedDraft("fake-refit", before, fit),))
    (draft,) = json.loads(json.dumps(fitted_views(options)))["drafts"]
    return draft


def test_a_fit_is_given_as_its_file_states_it() -> None:
    view = _view()
    assert view["name"] == "fake-refit"
    assert view["fit"]["before"] == {
        "alpha": FIT.before.alpha,
        "greedy": FIT.before.greedy,
        "num_tokens": 973,
    }
    assert [row["prompt"] for row in view["fit"]["held_out"]] == [
        row.prompt for row in FIT.held_out
    ]


def test_the_prediction_is_the_papers_and_of_tokens_only() -> None:
    gamma = fitted_views(OPTIONS)["gamma"]
    assert gamma == OPTIONS.defaults.gamma
    assert _view()["expected_tokens"] == [
        expected_tokens_per_round(score.alpha, gamma) for score in (FIT.before, FIT.after)
    ]


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


def test_a_draft_that_was_fitted_meanwhile_is_offered_with_its_target() -> None:
    options = replace(OPTIONS, new_fits=NewFits())
    assert new_fits_view(options, 0) == []
    options.new_fits.add(FittedDraft("fitted/new", "fake-draft", FIT))
    (view,) = new_fits_view(options, 0)
    assert (view["draft"]["name"], view["draft"]["index"]) == ("fitted/new", 1)
    assert view["pair"]["drafts"][-1] == "fitted/new"
    assert new_fits_view(options, 1) == []
    request = request_from_comparison(CompareValues("1:0", 4, 0.0), options)
    assert [lane.draft for lane in request.lanes] == [None, "fake-draft", "fitted/new"]


def test_without_fitted_drafts_there_is_a_command() -> None:
    view = fitted_views(replace(OPTIONS, fitted=(), fit_problems=()))
    assert view["drafts"] == []
    assert view["command"] == (
        "python -m specviz distill --target fake-target --draft fake-draft --prompts my_prompts.txt"
    )
