"""Reads what a page sent to have a draft fitted; everything is checked here."""

from dataclasses import dataclass

from specviz.trace.fits import MIN_PROMPTS
from specviz.ui.options import PageOptions
from specviz.ui.request_values import read_number, shown
from specviz.ui.strings import PageError

LEAST_MINUTES = 0.5
FIELDS = {"target", "draft", "prompts", "minutes"}


@dataclass(frozen=True, slots=True)
class FitAsked:
    """A fit that a visitor asks for."""

    target: str
    draft: str | None
    """The draft to start from; None for a new one."""
    prompts: tuple[str, ...]
    """Each once; a line break within one is written as `\\n`."""
    minutes: float


def read_fit_form(form: object, options: PageOptions) -> FitAsked:
    """Read `{"target", "draft", "prompts": text with one a line, "minutes"}`.

    Raises:
        PageError: The page fits no drafts, a value is of the wrong kind or beyond its limit, or
            there are too few prompts.
    """
    limits = options.limits
    if not limits.allows_fits or not isinstance(form, dict) or set(form) != FIELDS:
        raise PageError("error.wrong_call")
    target, draft, text = form["target"], form["draft"], form["prompts"]
    pair = options.pair(target) if isinstance(target, str) else None
    if pair is None:
        allowed = ", ".join(each.target for each in options.pairs)
        raise PageError("error.unknown_target", found=shown(target), allowed=allowed)
    if draft is not None and draft not in pair.drafts:
        allowed = ", ".join(pair.drafts)
        raise PageError("error.unknown_draft", found=shown(draft), allowed=allowed)
    if not isinstance(text, str):
        raise PageError("error.wrong_call")
    minutes = read_number(form["minutes"], "minutes", LEAST_MINUTES, limits.max_fit_minutes)
    return FitAsked(pair.target, draft, _prompts(text, options), minutes)


def _prompts(text: str, options: PageOptions) -> tuple[str, ...]:
    limits = options.limits
    prompts = tuple(dict.fromkeys(line for line in text.splitlines() if line.strip()))
    if len(prompts) < MIN_PROMPTS:
        raise PageError("fitting.few", found=len(prompts), least=MIN_PROMPTS)
    if len(prompts) > limits.max_fit_prompts:
        raise PageError("fitting.many", found=len(prompts), most=limits.max_fit_prompts)
    longest = max(map(len, prompts))
    if longest > limits.max_prompt_chars:
        raise PageError("fitting.long", found=longest, most=limits.max_prompt_chars)
    return prompts
