"""Pure functions from fitted drafts to the small values that the Compare tab draws."""

import shlex
from typing import Any

from specviz.fit_io import Fit, FittedDraft
from specviz.theory import expected_tokens_per_round
from specviz.ui.options import PageOptions

View = dict[str, Any]


def fitted_views(options: PageOptions) -> View:
    """Describe every fitted draft of the page, what was skipped, and how to make one."""
    return {
        "drafts": [_draft_view(fitted, options) for fitted in options.fitted],
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
    fit = fitted.fit
    order = sorted(range(len(fit.held_out)), key=lambda index: -fit.held_out[index].alpha_after)
    rows = [
        {
            "index": index,
            "number": number,
            "prompt": fit.held_out[index].prompt,
            "before": round(fit.held_out[index].alpha_before, 4),
            "after": round(fit.held_out[index].alpha_after, 4),
            "tokens": fit.held_out[index].num_tokens,
        }
        for number, index in enumerate(order, 1)
    ]
    return {
        "name": fitted.name,
        "from": fit.draft_before or "a new draft",
        "target": fit.target,
        "figures": _figures(fit, options.defaults.gamma),
        "facts": _facts(fit),
        "note": _note(fitted, options),
        "made_by": fit.made_by,
        "rows": rows,
    }


def _figures(fit: Fit, gamma: int) -> list[dict[str, str]]:
    """Give each number before and after fitting, with the counts behind it."""
    before, after = fit.before, fit.after
    lengths = [expected_tokens_per_round(score.alpha, gamma) for score in (before, after)]
    return [
        {
            "label": "α on held-out prompts",
            "before": _percent(before.alpha),
            "after": _percent(after.alpha),
            "detail": f"{_points(after.alpha - before.alpha)}; {_counted(fit)}",
        },
        {
            "label": "same first choice",
            "before": _percent(before.greedy),
            "after": _percent(after.greedy),
            "detail": f"{_points(after.greedy - before.greedy)}; decides at temperature 0",
        },
        {
            "label": f"tokens a target pass at γ = {gamma}",
            "before": f"{lengths[0]:.2f}",
            "after": f"{lengths[1]:.2f}",
            "detail": "predicted from α alone: 1 + α + … + α^γ",
        },
    ]


def _counted(fit: Fit) -> str:
    before, after = fit.before.num_tokens, fit.after.num_tokens
    if before == after:
        return f"mean of {after:,} tokens"
    return f"means of {before:,} and {after:,} tokens"


def _facts(fit: Fit) -> str:
    held_out = f"{fit.num_held_out:,} held-out {'prompt' if fit.num_held_out == 1 else 'prompts'}"
    return (
        f"Fitted on {fit.num_prompts - fit.num_held_out:,} of {fit.num_prompts:,} prompts in "
        f"{_duration(fit.seconds)}: the target wrote {fit.num_tokens_written:,} tokens, the draft "
        f"was trained on {fit.num_tokens_trained:,}. Measured on {held_out} that it never saw."
    )


def _note(fitted: FittedDraft, options: PageOptions) -> str | None:
    """Say what keeps the pair from being raced here, if anything does."""
    fit = fitted.fit
    if options.pair(fit.target) is None:
        return f"It cannot race here: this page does not offer its target, {fit.target}."
    if not fit.held_out:
        return "It cannot race here: its file names no held-out prompt."
    if fit.draft_before is None:
        return "This draft was made new, so it races against the target alone."
    if fitted.before is None:
        return (
            f"The draft it was made from, {fit.draft_before}, is not among the models here, "
            "so only the fitted one races against the target."
        )
    return None


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _points(gain: float) -> str:
    return f"{100 * gain:+.0f} points".replace("-", "−")


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
