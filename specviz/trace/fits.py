"""Reads what fitting a draft to a target brought: the `fit.json` beside a fitted draft's weights.

The format is the dataclass `Fit`, as `specviz.trace.typed_json` writes it, and `"format": 1`.
Standard library only. A bad file is told in one sentence that names the path:
"fit.json: held_out[3].alpha_after must be 0 to 1, is 1.2".
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from specviz.errors import FormatError
from specviz.texts import Text, message
from specviz.trace.typed_json import decode, kind_of, quoted, read_json, refusal
from specviz.trace.values import Probability

FIT_FILE = "fit.json"
FORMAT = 1
MAX_BYTES = 2_000_000
MIN_PROMPTS = 8
"""Fewer cannot be parted into prompts to learn from and prompts to judge by."""
FEW_PROMPTS = 50
"""With fewer, what a draft learns is seldom good for other prompts; whoever fits is warned."""


@dataclass(frozen=True, slots=True)
class FitScore:
    """How well a draft guesses for its target, as means over `num_tokens` tokens."""

    alpha: Probability
    """Mean of Σ min(p, q) at temperature 1: the chance that a sampled guess is kept."""
    greedy: Probability
    """Share of tokens where draft and target have the same first choice."""
    num_tokens: int


@dataclass(frozen=True, slots=True)
class HeldOutPrompt:
    """One prompt that fitting never saw, and alpha on what the target writes after it."""

    prompt: str
    alpha_before: Probability
    alpha_after: Probability
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


def find_fitted(models: Mapping[str, Path]) -> tuple[tuple[FittedDraft, ...], tuple[Text, ...]]:
    """Read the fit of every model that has one; say in a sentence each which cannot be read.

    `models` gives each model's folder by its name. A fit may name its own models by folder; where
    that is a folder of `models`, the name it has there is taken.
    """
    names = {os.path.abspath(folder): name for name, folder in models.items()}

    def known(model: str) -> str:
        return model if model in models else names.get(os.path.abspath(model), model)

    found: list[FittedDraft] = []
    problems: list[Text] = []
    for name, folder in models.items():
        if not (folder / FIT_FILE).exists():
            continue
        try:
            fit = read_fit(folder / FIT_FILE)
        except FormatError as error:
            problems.append(message("format.in_file", path=name, problem=error.text))
            continue
        before = known(fit.draft_before) if fit.draft_before else None
        fit = replace(fit, target=known(fit.target), draft_before=before)
        found.append(FittedDraft(name, before if before in models else None, fit))
    return tuple(found), tuple(problems)


def read_fit(path: Path) -> Fit:
    """Read one `fit.json` of at most 2 MB.

    Raises:
        FormatError: The file cannot be read or holds no fit; names the first bad path.
    """
    try:
        return fit_from_json(read_json(path, MAX_BYTES))
    except FormatError as error:
        raise FormatError(message("format.in_file", path=path.name, problem=error.text)) from error


def fit_from_json(content: object) -> Fit:
    """Build a fit from parsed JSON.

    Raises:
        FormatError: Names the first path that does not fit the format.
    """
    if not isinstance(content, dict):
        raise FormatError(
            message("format.no_fit", reason=message("format.no_object", found=kind_of(content)))
        )
    if "format" not in content:
        raise FormatError(message("format.no_fit", reason=message("format.no_format")))
    number = content["format"]
    if type(number) is not int or number != FORMAT:
        raise refusal("format", message("format.must_be", wanted=str(FORMAT), found=quoted(number)))
    fit: Fit = decode(Fit, {key: content[key] for key in content if key != "format"})
    for name in ("target", "draft_before"):
        if getattr(fit, name) == "":
            raise refusal(name, message("format.empty"))
    return fit
