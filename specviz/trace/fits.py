"""Reads what fitting a draft to a target brought: the `fit.json` beside a fitted draft's weights.

The format is the dataclass `Fit`, each field under its own name, and `"format": 1`. Standard
library only. A bad file is told in one sentence that names the place:
"fit.json: held_out[3].alpha_after must be a number from 0 to 1, is 1.2".
"""

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from specviz.errors import RequestError

FIT_FILE = "fit.json"
FORMAT = 1
MAX_BYTES = 2_000_000


@dataclass(frozen=True, slots=True)
class FitScore:
    """How well a draft guesses for its target, as means over `num_tokens` held-out tokens."""

    alpha: float
    """Mean of Σ min(p, q) at temperature 1: the chance that a sampled guess is kept."""
    greedy: float
    """Share of tokens where draft and target have the same first choice."""
    num_tokens: int


@dataclass(frozen=True, slots=True)
class HeldOutPrompt:
    """One prompt that fitting never saw, and alpha on what the target writes after it."""

    prompt: str
    alpha_before: float
    alpha_after: float
    num_tokens: int


@dataclass(frozen=True, slots=True)
class Fit:
    """What one run of `python -m specviz distill` did and measured."""

    target: str
    draft_before: str | None
    """The draft that was fitted; None where the draft was made new."""
    made_by: str
    """The command."""
    num_prompts: int
    num_held_out: int
    num_tokens_written: int
    """Tokens that the target wrote to learn from."""
    num_tokens_trained: int
    seconds: float
    before: FitScore
    after: FitScore
    held_out: tuple[HeldOutPrompt, ...]


@dataclass(frozen=True, slots=True)
class FittedDraft:
    """A fitted draft, by the names that a LaneSpec takes."""

    name: str
    before: str | None
    """The same draft before fitting; None where it was made new or is not at hand."""
    fit: Fit


def find_fitted(models: Mapping[str, Path]) -> tuple[tuple[FittedDraft, ...], tuple[str, ...]]:
    """Read the fit of every model that has one; say in a sentence each which cannot be read.

    `models` gives each model's folder by its name. A fit may name its own models by folder; where
    that is a folder of `models`, the name it has there is taken.
    """
    names = {os.path.abspath(folder): name for name, folder in models.items()}

    def known(model: str) -> str:
        return model if model in models else names.get(os.path.abspath(model), model)

    found: list[FittedDraft] = []
    problems: list[str] = []
    for name, folder in models.items():
        if not (folder / FIT_FILE).exists():
            continue
        try:
            fit = read_fit(folder / FIT_FILE)
        except RequestError as error:
            problems.append(f"{name}: {error}.")
            continue
        before = known(fit.draft_before) if fit.draft_before else None
        fit = replace(fit, target=known(fit.target), draft_before=before)
        found.append(FittedDraft(name, before if before in models else None, fit))
    return tuple(found), tuple(problems)


def read_fit(path: Path) -> Fit:
    """Read one `fit.json` of at most 2 MB.

    Raises:
        RequestError: The file cannot be read or holds no fit; names the first bad place.
    """
    try:
        with path.open("rb") as file:
            text = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise RequestError(f"{path.name} cannot be read: {error.strerror}") from error
    if len(text) > MAX_BYTES:
        raise RequestError(f"{path.name} holds more than the {MAX_BYTES // 10**6} MB allowed")
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RequestError(f"{path.name} is not JSON: {error}") from error
    try:
        return fit_from_json(content)
    except RequestError as error:
        raise RequestError(f"{path.name}: {error}") from error


def fit_from_json(content: object) -> Fit:
    """Build a fit from parsed JSON.

    Raises:
        RequestError: Names the first place that does not fit the format.
    """
    if not isinstance(content, dict) or type(content.get("format")) is not int:
        raise RequestError('it must be an object with "format"')
    if content["format"] != FORMAT:
        raise RequestError(f"format must be {FORMAT}, is {_shown(content['format'])}")
    whole = _Fields({key: content[key] for key in content if key != "format"}, Fit, "")
    return Fit(
        target=whole.text("target"),
        draft_before=None if whole["draft_before"] is None else whole.text("draft_before"),
        made_by=whole.text("made_by"),
        num_prompts=whole.count("num_prompts"),
        num_held_out=whole.count("num_held_out"),
        num_tokens_written=whole.count("num_tokens_written"),
        num_tokens_trained=whole.count("num_tokens_trained"),
        seconds=whole.number("seconds", math.inf),
        before=_score(whole["before"], "before"),
        after=_score(whole["after"], "after"),
        held_out=tuple(
            _held_out(row, f"held_out[{index}]") for index, row in enumerate(whole.rows("held_out"))
        ),
    )


def _score(content: object, place: str) -> FitScore:
    score = _Fields(content, FitScore, place)
    return FitScore(score.number("alpha", 1), score.number("greedy", 1), score.count("num_tokens"))


def _held_out(content: object, place: str) -> HeldOutPrompt:
    row = _Fields(content, HeldOutPrompt, place)
    return HeldOutPrompt(
        prompt=row.text("prompt"),
        alpha_before=row.number("alpha_before", 1),
        alpha_after=row.number("alpha_after", 1),
        num_tokens=row.count("num_tokens"),
    )


class _Fields:
    """The fields of one object, each given out only as what it must be."""

    def __init__(self, content: object, cls: Any, place: str) -> None:
        if not isinstance(content, dict):
            raise RequestError(f"{place or 'it'} must be an object, is {_shown(content)}")
        self._content: dict[str, Any] = content
        self._prefix = f"{place}." if place else ""
        wanted = {field.name for field in fields(cls)}
        for name in sorted(wanted ^ content.keys()):
            problem = "is missing" if name in wanted else "is not a key of this format"
            raise RequestError(f"{self._prefix}{name} {problem}")

    def __getitem__(self, name: str) -> Any:
        return self._content[name]

    def text(self, name: str) -> str:
        value = self[name]
        return value if isinstance(value, str) and value else self._refuse(name, "a text")

    def count(self, name: str) -> int:
        value = self[name]
        return value if type(value) is int and value >= 0 else self._refuse(name, "a whole number")

    def number(self, name: str, most: float) -> float:
        value = self[name]
        is_number = type(value) in (int, float) and 0 <= value <= most and value != math.inf
        wanted = "a number" + ("" if math.isinf(most) else f" from 0 to {most:g}")
        return float(value) if is_number else self._refuse(name, wanted)

    def rows(self, name: str) -> list[Any]:
        value = self[name]
        return value if isinstance(value, list) else self._refuse(name, "a list")

    def _refuse(self, name: str, wanted: str) -> Any:
        raise RequestError(f"{self._prefix}{name} must be {wanted}, is {_shown(self[name])}")


def _shown(value: object) -> str:
    """Quote a value from outside, cut to a readable length."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
