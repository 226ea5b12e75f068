"""What fitting brought is read strictly, and a bad file is told in one sentence."""

import json
from pathlib import Path
from typing import Any

import pytest

from specviz.errors import RequestError
from specviz.texts import in_english
from specviz.trace.fits import FIT_FILE, MAX_BYTES, find_fitted, fit_from_json, read_fit

FIXTURE = Path(__file__).parents[1] / "fixtures" / "fit_v1.json"


def _content(**changes: object) -> dict[str, Any]:
    return json.loads(FIXTURE.read_text(encoding="utf-8")) | changes


def _model(folder: Path, **changes: object) -> Path:
    folder.mkdir()
    (folder / FIT_FILE).write_text(json.dumps(_content(**changes)), encoding="utf-8")
    return folder


def test_a_stored_fit_is_read_whole() -> None:
    fit = read_fit(FIXTURE)
    assert (fit.target, fit.draft_before) == ("fake-target", "fake-misfit")
    assert (fit.before.alpha, fit.after.alpha) == (0.3204, 0.5731)
    assert len(fit.held_out) == fit.num_held_out == 11
    assert fit.held_out[0].prompt.startswith("Once upon a time")
    assert fit.seconds == 187.4


def test_a_new_draft_has_nothing_before_it() -> None:
    assert fit_from_json(_content(draft_before=None)).draft_before is None


ROW = {"prompt": "Hi", "alpha_before": 0.5, "alpha_after": 0.6, "num_tokens": 3}
SCORE = {"alpha": 0.5, "greedy": 0.5, "num_tokens": 3}


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"format": 2}, "format must be 1, is 2"),
        ({"format": "1"}, "format must be 1, is '1'"),
        ({"format": True}, "format must be 1, is true or false"),
        ({"target": ""}, "target must not be empty"),
        ({"target": None}, "target must be a text"),
        ({"draft_before": 7}, "draft_before must be a text"),
        ({"num_prompts": -1}, "num_prompts must be 0 to"),
        ({"num_prompts": 5.0}, "num_prompts must be an integer, is a number"),
        ({"num_held_out": True}, "num_held_out must be an integer"),
        ({"seconds": "long"}, "seconds must be a number"),
        ({"seconds": float("inf")}, "seconds must be a finite number, is inf"),
        ({"seconds": float("nan")}, "seconds must be a finite number, is nan"),
        ({"before": []}, "before must be an object"),
        ({"before": SCORE | {"alpha": 1.2}}, "before.alpha must be 0 to 1, is 1.2"),
        ({"after": SCORE | {"greedy": -0.1}}, "after.greedy must be 0 to 1"),
        ({"after": {"alpha": 0.5}}, "after.greedy is missing"),
        ({"held_out": {}}, "held_out must be a list"),
        ({"held_out": [ROW, 7]}, "held_out[1] must be an object, is an integer"),
        ({"held_out": [ROW | {"alpha_after": True}]}, "held_out[0].alpha_after must be a number"),
        ({"held_out": [ROW | {"prompt": 7}]}, "held_out[0].prompt must be a text, is an integer"),
        ({"held_out": [ROW | {"text": "x"}]}, "held_out[0].text is not a key of this format"),
        ({"more": 1}, "more is not a key of this format"),
    ],
)
def test_a_bad_path_is_named(changes: dict[str, Any], path: str) -> None:
    with pytest.raises(RequestError) as refusal:
        fit_from_json(_content(**changes))
    assert path in str(refusal.value)
    assert len(str(refusal.value)) < 200


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "it is null, not an object"),
        ([], "it is a list, not an object"),
        ("fit", "it is a text, not an object"),
        ({}, "it has no format"),
    ],
)
def test_what_is_no_fit_is_told(content: object, reason: str) -> None:
    with pytest.raises(RequestError, match=f"this is not a fit: {reason}"):
        fit_from_json(content)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"{", "was cut short"),
        (b"\xff\xfe\x00", "is not JSON"),
        (b"[" * 100_000, "nested too deep"),
        (b" " * (MAX_BYTES + 1), "more than the 2 MB allowed"),
        (b"{}", "fit.json: this is not a fit: it has no format"),
    ],
)
def test_a_file_of_something_else_is_refused(tmp_path: Path, text: bytes, reason: str) -> None:
    path = tmp_path / FIT_FILE
    path.write_bytes(text)
    with pytest.raises(RequestError, match=reason):
        read_fit(path)


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"fit\.json: it cannot be read"):
        read_fit(tmp_path / FIT_FILE)


def test_fits_are_found_among_models_and_a_bad_one_is_left_out(tmp_path: Path) -> None:
    models = {
        "fake-target": tmp_path / "target",
        "fake-misfit": tmp_path / "misfit",
        "fake-refit": _model(tmp_path / "refit"),
        "broken": _model(tmp_path / "broken", seconds="long"),
    }
    (fitted,), (problem,) = find_fitted(models)
    assert (fitted.name, fitted.before) == ("fake-refit", "fake-misfit")
    assert in_english(problem) == "broken: fit.json: seconds must be a number, is a text"


def test_models_named_by_their_folders_are_known(tmp_path: Path) -> None:
    models = {
        "fake-target": tmp_path / "target",
        "fake-misfit": tmp_path / "misfit",
        "fitted/mine": _model(
            tmp_path / "mine",
            target=str(tmp_path / "target"),
            draft_before=str(tmp_path / "x" / ".." / "misfit"),
        ),
    }
    (fitted,), problems = find_fitted(models)
    assert problems == ()
    assert (fitted.fit.target, fitted.before) == ("fake-target", "fake-misfit")


def test_a_draft_that_is_not_at_hand_cannot_be_the_one_before(tmp_path: Path) -> None:
    (fitted,), _ = find_fitted({"mine": _model(tmp_path / "mine", draft_before="some/draft\0")})
    assert fitted.before is None
    assert fitted.fit.draft_before == "some/draft\0"
