"""Pure functions from events to the small JSON values that the browser draws.

A *token view* is one drawn token. Its keys are short because hundreds travel in a race: `t` text,
`f` row of the outcome table, `i` index in the output (absent where the token is not part of it),
`q` draft probability, `p` target probability, `a` acceptance probability, `u` the coin, `d`, `g`,
`r` the ten most probable tokens of draft, target and residual as [text, probability]. An absent key
was not recorded.
"""

from collections.abc import Iterable
from pathlib import PurePath
from typing import Any

from specviz.trace import (
    DraftToken,
    EmittedToken,
    Environment,
    LaneSpec,
    Method,
    Outcome,
    RaceStarted,
    Round,
    Sampling,
    Source,
    TopToken,
)
from specviz.ui.outcomes import FATE_OF_OUTCOME, FATE_OF_SOURCE

MISSING = "–"
TokenView = dict[str, Any]
Item = dict[str, Any]


def start_item(event: RaceStarted) -> Item:
    """Describe the race and its lanes before the first round."""
    request = event.request
    return {
        "k": "start",
        "prompt": request.prompt,
        "max": request.max_new_tokens,
        "greedy": request.sampling.temperature == 0.0,
        "law": law_text(request.sampling),
        "place": place_text(event.environment),
        "lanes": [
            {"name": spec.name, "about": lane_text(spec), "plain": spec.method is Method.BASELINE}
            for spec in event.specs
        ],
    }


def round_item(lane: int, round_: Round, point: list[float | None]) -> Item:
    """Describe one round: its tokens in reading order, and its point on the charts."""
    return {
        "k": "round",
        "lane": lane,
        "round": round_.index + 1,
        "tokens": token_views(round_),
        "point": point,
    }


def token_views(round_: Round) -> list[TokenView]:
    """Give the drafted tokens as they were guessed, then what the target added.

    An accepted token takes its text from the output, where pieces of one character are joined.
    """
    kept = [token for token in round_.emitted if token.source is Source.DRAFT]
    added = [token for token in round_.emitted if token.source is not Source.DRAFT]
    views: list[TokenView] = []
    position = round_.position
    for drafted in round_.drafted:
        if drafted.outcome is Outcome.ACCEPTED and kept:
            views.append(_drafted_view(drafted, kept.pop(0).text, position))
            position += 1
        else:
            views.append(_drafted_view(drafted, drafted.text, None))
    for emitted in added:
        views.append(_emitted_view(emitted, position))
        position += 1
    return views


def narration(round_: Round, lane: str | None = None) -> str:
    """Tell one round in a sentence, with the name of its lane where one is given."""
    number = f"{round_.index + 1}" if lane is None else f"{round_.index + 1} ({lane})"
    if not round_.drafted:
        return f"Round {number}: nothing guessed, one plain step."
    guesses = len(round_.drafted)
    kept = sum(token.outcome is Outcome.ACCEPTED for token in round_.drafted)
    sources = [token.source for token in round_.emitted]
    end = ""
    if Source.CORRECTION in sources:
        end = ", 1 corrected"
    elif Source.BONUS in sources:
        end = ", 1 bonus"
    return f"Round {number}: {guesses} {'guess' if guesses == 1 else 'guesses'}, {kept} kept{end}."


def lane_text(spec: LaneSpec) -> str:
    """Say what a lane runs."""
    if spec.method is Method.BASELINE:
        return f"{_short(spec.target)}, one token a pass"
    ways = {
        Method.DRAFT_MODEL: f"guesses by {_short(spec.draft or MISSING)}",
        Method.PROMPT_LOOKUP: "guesses copied from the text so far",
        Method.EARLY_EXIT: "guesses by the target's first layers",
    }
    return f"{ways[spec.method]}, γ = {spec.gamma}"


def law_text(sampling: Sampling) -> str:
    """Say which law the tokens are drawn from."""
    if sampling.temperature == 0.0:
        return "greedy (temperature 0)"
    parts = [f"temperature {sampling.temperature:g}"]
    if sampling.top_k:
        parts.append(f"top-k {sampling.top_k}")
    if sampling.top_p < 1.0:
        parts.append(f"top-p {sampling.top_p:g}")
    return ", ".join([*parts, f"seed {sampling.seed}"])


def place_text(environment: Environment) -> str:
    """Say where the race ran."""
    place = f"{environment.device_name}, {environment.dtype}"
    if environment.device != "cpu":
        return place
    number = environment.num_threads
    return f"{place}, {number} {'thread' if number == 1 else 'threads'}"


def _short(model: str) -> str:
    """Give a local folder by its last name; shipped names and hub ids stay as they are."""
    return PurePath(model).name if PurePath(model).is_absolute() else model


def _drafted_view(token: DraftToken, text: str, position: int | None) -> TokenView:
    return _present(
        t=text,
        f=FATE_OF_OUTCOME[token.outcome],
        i=position,
        q=_rounded(token.draft_prob),
        p=_rounded(token.target_prob),
        a=_rounded(token.accept_prob),
        u=_rounded(token.draw),
        d=_top(token.top_draft),
        g=_top(token.top_target),
        r=_top(token.top_residual),
    )


def _emitted_view(token: EmittedToken, position: int) -> TokenView:
    return _present(
        t=token.text,
        f=FATE_OF_SOURCE[token.source],
        i=position,
        p=_rounded(token.target_prob),
        g=_top(token.top_target),
    )


def _present(**fields: object) -> TokenView:
    return {key: value for key, value in fields.items() if value is not None}


def _top(tokens: Iterable[TopToken]) -> list[list[str | float]] | None:
    return [[token.text, round(token.prob, 4)] for token in tokens] or None


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 4)
