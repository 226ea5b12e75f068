"""Pure functions from fitted drafts to what the Compare tab is given; the browser formats it."""

import shlex
from typing import Any

from specviz.trace.fits import FEW_PROMPTS, MIN_PROMPTS, FittedDraft
from specviz.trace.theory import expected_tokens_per_round
from specviz.trace.typed_json import encode
from specviz.ui.assets import example_prompts
from specviz.ui.fit_form import LEAST_MINUTES
from specviz.ui.options import PageOptions
from specviz.ui.settings_data import pair_data
from specviz.ui.strings import Message, message

View = dict[str, Any]


def fitted_views(options: PageOptions) -> View:
    """Describe every fitted draft of the page, what was skipped, and how to make one.

    A draft has its `index` among them, its `fit` as its file states it, `expected_tokens` of a
    round at the page's `gamma` before and after fitting, and a `note` where something keeps it from
    being raced. `limits` are those of a fit that the page does itself; None where it does none.
    """
    limits = options.limits
    return {
        "drafts": [_draft_view(index, options) for index in range(len(options.fitted))],
        "gamma": options.defaults.gamma,
        "problems": list(options.fit_problems),
        "command": _fit_command(options),
        "limits": {
            "minutes": [LEAST_MINUTES, limits.max_fit_minutes],
            "prompts": [MIN_PROMPTS, limits.max_fit_prompts],
            "few": FEW_PROMPTS,
        }
        if limits.allows_fits
        else None,
        "pairs": [{"target": pair.target, "drafts": pair.drafts} for pair in options.pairs],
        "example": example_prompts() if limits.allows_fits else "",
    }


def new_fits_view(options: PageOptions, first: int) -> list[View]:
    """Describe the drafts that were fitted while the page was open, from a number on."""
    begin = len(options.fitted) + first
    return [new_fit_view(index, options) for index in range(begin, len(options.all_fitted))]


def new_fit_view(index: int, options: PageOptions) -> View:
    """Describe one draft as `fitted_views` does, with the menu's entry of its target."""
    pair = options.pair(options.all_fitted[index].fit.target)
    return {"draft": _draft_view(index, options), "pair": pair and pair_data(pair)}


def _fit_command(options: PageOptions) -> str:
    """The command that fits the page's first draft to its first target."""
    pair = options.pairs[0]
    begin = ["--draft", pair.drafts[0]] if pair.drafts else ["--new", "small"]
    words = ["python", "-m", "specviz", "distill", "--target", pair.target, *begin]
    return shlex.join([*words, "--prompts", "my_prompts.txt"])


def _draft_view(index: int, options: PageOptions) -> View:
    fitted, gamma = options.all_fitted[index], options.defaults.gamma
    fit = fitted.fit
    return {
        "index": index,
        "name": fitted.name,
        "fit": encode(fit),
        "expected_tokens": [
            expected_tokens_per_round(score.alpha, gamma) for score in (fit.before, fit.after)
        ],
        "note": _note(fitted, options),
    }


def _note(fitted: FittedDraft, options: PageOptions) -> Message | None:
    """Say what keeps the pair from being raced here, if anything does."""
    fit = fitted.fit
    if options.pair(fit.target) is None:
        return message("fit.no_target", target=fit.target)
    if not fit.held_out:
        return message("fit.no_prompts")
    if fit.draft_before is None:
        return message("fit.made_new")
    if fitted.before is None:
        return message("fit.no_before", draft=fit.draft_before)
    return None
