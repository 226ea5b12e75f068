"""Pure functions from fitted drafts to what the Compare tab is given; the browser formats it."""

import shlex
from typing import Any

from specviz.trace.fits import FittedDraft
from specviz.trace.theory import expected_tokens_per_round
from specviz.trace.typed_json import encode
from specviz.ui.options import PageOptions
from specviz.ui.strings import Message, message

View = dict[str, Any]


def fitted_views(options: PageOptions) -> View:
    """Describe every fitted draft of the page, what was skipped, and how to make one.

    A draft has its `fit` as its file states it, `expected_tokens` of a round at the page's `gamma`
    before and after fitting, and a `note` where something keeps it from being raced.
    """
    return {
        "drafts": [_draft_view(fitted, options) for fitted in options.fitted],
        "gamma": options.defaults.gamma,
        "problems": list(options.fit_problems),
        "command": _fit_command(options),
    }


def _fit_command(options: PageOptions) -> str:
    """The command that fits the page's first draft to its first target."""
    pair = options.pairs[0]
    begin = ["--draft", pair.drafts[0]] if pair.drafts else ["--new", "small"]
    words = ["python", "-m", "specviz", "distill", "--target", pair.target, *begin]
    return shlex.join([*words, "--prompts", "my_prompts.txt"])


def _draft_view(fitted: FittedDraft, options: PageOptions) -> View:
    fit, gamma = fitted.fit, options.defaults.gamma
    return {
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
