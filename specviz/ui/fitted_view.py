"""Pure functions from fitted drafts to the small values that the Compare tab draws."""

import shlex
from typing import Any

from specviz.trace.fits import Fit, FittedDraft
from specviz.trace.theory import expected_tokens_per_round
from specviz.ui.options import PageOptions
from specviz.ui.strings import Message, message

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
        "from": fit.draft_before or message("fit.new_draft"),
        "target": fit.target,
        "figures": _figures(fit, options.defaults.gamma),
        "facts": _facts(fit),
        "note": _note(fitted, options),
        "made_by": fit.made_by,
        "rows": rows,
    }


def _figures(fit: Fit, gamma: int) -> list[View]:
    """Give each number before and after fitting, with the counts behind it."""
    before, after = fit.before, fit.after
    lengths = [expected_tokens_per_round(score.alpha, gamma) for score in (before, after)]
    gains = [_points(after.alpha - before.alpha), _points(after.greedy - before.greedy)]
    return [
        {
            "label": message("fit.alpha"),
            "before": _percent(before.alpha),
            "after": _percent(after.alpha),
            "detail": _alpha_detail(fit, gains[0]),
        },
        {
            "label": message("fit.greedy"),
            "before": _percent(before.greedy),
            "after": _percent(after.greedy),
            "detail": message("fit.greedy_detail", points=gains[1]),
        },
        {
            "label": message("fit.length", gamma=gamma),
            "before": f"{lengths[0]:.2f}",
            "after": f"{lengths[1]:.2f}",
            "detail": message("fit.length_detail"),
        },
    ]


def _alpha_detail(fit: Fit, points: str) -> Message:
    before, after = (f"{score.num_tokens:,}" for score in (fit.before, fit.after))
    if before == after:
        return message("fit.alpha_detail", points=points, tokens=after)
    return message("fit.alpha_detail_apart", points=points, before=before, after=after)


def _facts(fit: Fit) -> Message:
    return message(
        "fit.facts",
        learned=f"{fit.num_prompts - fit.num_held_out:,}",
        prompts=f"{fit.num_prompts:,}",
        time=_duration(fit.seconds),
        written=f"{fit.num_tokens_written:,}",
        trained=f"{fit.num_tokens_trained:,}",
        n=fit.num_held_out,
    )


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


def _duration(seconds: float) -> Message:
    minutes, rest = divmod(round(seconds), 60)
    if minutes:
        return message("fit.minutes", minutes=minutes, seconds=rest)
    return message("fit.seconds", seconds=rest)


def _points(gain: float) -> str:
    return f"{100 * gain:+.0f}".replace("-", "−")


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
