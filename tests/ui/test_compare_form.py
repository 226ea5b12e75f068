"""The Compare tab races one draft before and after fitting, on prompts of the fit alone."""

from dataclasses import replace

import pytest
from fake_race import FIT, OPTIONS

from specviz.errors import RequestError
from specviz.trace.fits import FittedDraft
from specviz.trace.values import Method
from specviz.ui.assets import JS_FOLDER
from specviz.ui.compare_form import AFTER, BEFORE, CompareValues, request_from_comparison
from specviz.ui.strings import PageError


def test_three_lanes_share_the_target_and_the_prompt_of_the_fit() -> None:
    request = request_from_comparison(CompareValues("0:1", 5, 0.0), OPTIONS)
    assert [lane.name for lane in request.lanes] == [None, BEFORE, AFTER]
    assert [lane.draft for lane in request.lanes] == [None, "fake-misfit", "fake-refit"]
    assert {lane.target for lane in request.lanes} == {"fake-target"}
    assert [lane.gamma for lane in request.lanes] == [0, 5, 5]
    assert request.prompt == FIT.held_out[1].prompt


def test_the_page_tells_the_lanes_in_its_own_words() -> None:
    names = (JS_FOLDER / "model" / "names.js").read_text(encoding="utf-8")
    assert f"{{ '{BEFORE}': 'waiting.before', '{AFTER}': 'waiting.after' }}" in names


@pytest.mark.parametrize("before", [None, "some/other-draft"])
def test_a_draft_without_a_before_races_against_the_target_alone(before: str | None) -> None:
    fitted = FittedDraft("fake-refit", None, replace(FIT, draft_before=before))
    options = replace(OPTIONS, fitted=(fitted,))
    request = request_from_comparison(CompareValues("0:0", 4, 1.0), options)
    assert [lane.method for lane in request.lanes] == [Method.BASELINE, Method.DRAFT_MODEL]
    assert request.lanes[1].name == AFTER


@pytest.mark.parametrize(
    "choice", [None, 0, "", "0", "0:", ":0", "-1:0", "1:0", "0:11", "0:0:0", "0:1\n", ["0:0"]]
)
def test_a_forged_choice_is_refused(choice: object) -> None:
    with pytest.raises(PageError):
        request_from_comparison(CompareValues(choice, 4, 0.0), OPTIONS)


@pytest.mark.parametrize(("gamma", "temperature"), [(0, 0.0), (17, 0.0), ("4", 0.0), (4, 2.1)])
def test_the_limits_of_the_page_hold_here_too(gamma: object, temperature: object) -> None:
    with pytest.raises(RequestError):
        request_from_comparison(CompareValues("0:0", gamma, temperature), OPTIONS)


def test_a_target_that_the_page_does_not_offer_is_refused() -> None:
    options = replace(
        OPTIONS, fitted=(FittedDraft("x", None, replace(FIT, target="other-target")),)
    )
    with pytest.raises(RequestError, match="Unknown target 'other-target'"):
        request_from_comparison(CompareValues("0:0", 4, 0.0), options)
