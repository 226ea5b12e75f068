"""Turns what the Compare tab sent into a race of one draft before and after it was fitted.

The tab names a fitted draft and one of its held-out prompts by their numbers; the prompt itself is
taken from the fit, never from the browser.
"""

import re
from dataclasses import dataclass

from specviz.trace.fits import FittedDraft
from specviz.trace.values import Method, RaceRequest
from specviz.ui.options import PageOptions
from specviz.ui.request_form import build_request
from specviz.ui.strings import PageError, in_english, message

BEFORE, AFTER = (in_english(message(f"waiting.{key}")) for key in ("before", "after"))
"""Names that the lanes are given; `model/names.js` translates them."""
_CHOICE = re.compile(r"(\d{1,6}):(\d{1,6})")


@dataclass(frozen=True, slots=True)
class CompareValues:
    """The controls of the Compare tab, unchecked, as they arrive."""

    choice: object
    """`"F:P"`: number of the fitted draft and of its held-out prompt, both from 0."""
    gamma: object
    temperature: object


def request_from_comparison(form: CompareValues, options: PageOptions) -> RaceRequest:
    """Build the race: the target alone, with the draft before fitting, with the draft after.

    The lane before is left out where that draft does not exist or is not at hand.

    Raises:
        RequestError: A value is missing, of the wrong kind, or names what is not there.
    """
    fitted, prompt = _chosen(form.choice, options)
    drafts = [(BEFORE, fitted.before), (AFTER, fitted.name)]
    lanes = [
        {
            "name": name,
            "method": Method.DRAFT_MODEL.value,
            "target": fitted.fit.target,
            "draft": draft,
            "gamma": form.gamma,
        }
        for name, draft in drafts
        if draft is not None
    ]
    sampling = {"temperature": form.temperature, "seed": options.defaults.seed}
    return build_request(prompt, lanes, sampling, options.defaults.max_new_tokens, options)


def _chosen(choice: object, options: PageOptions) -> tuple[FittedDraft, str]:
    numbers = _CHOICE.fullmatch(choice) if isinstance(choice, str) else None
    if numbers is None:
        raise PageError("compare.nothing_chosen")
    index, row = int(numbers[1]), int(numbers[2])
    all_fitted = options.all_fitted
    if index >= len(all_fitted) or row >= len(all_fitted[index].fit.held_out):
        raise PageError("compare.not_there")
    fitted = all_fitted[index]
    return fitted, fitted.fit.held_out[row].prompt
