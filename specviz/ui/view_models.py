"""Pure functions from events to the small JSON values that the browser draws.

A *token view* is one drawn token. Its keys are short because hundreds travel in a race: `t` text,
`f` row of the outcome table, `i` index in the output (absent where the token is not part of it),
`q` draft probability, `p` target probability, `a` acceptance probability, `u` the coin, `o` the
overlap Σ min(p, q), `d`, `g`, `r` the ten most probable tokens of draft, target and residual as
[text, probability], `b` in a tree the place of its parent among the round's drafts (-1: the root).
An absent key was not recorded. Texts for readers are messages of the table in `strings`.
"""

from collections.abc import Iterable
from typing import Any

from specviz.trace.outcomes import FATE_OF_OUTCOME, FATE_OF_SOURCE
from specviz.trace.values import (
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
from specviz.ui.lane_names import lane_names, short_name
from specviz.ui.strings import Message, Text, message

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
            {
                "name": name,
                "about": lane_text(spec),
                "plain": spec.method is Method.BASELINE,
                "method": spec.method.value,
                "gamma": spec.gamma,
            }
            for name, spec in zip(lane_names(event.specs), event.specs, strict=True)
        ],
    }


def round_item(lane: int, round_: Round, point: list[float | None]) -> Item:
    """Describe one round: its tokens in reading order, its times and its point on the charts.

    `ms` holds the times of drafting, of verifying and of the rest in milliseconds.
    """
    times = (round_.draft_ms, round_.verify_ms, round_.other_ms)
    return {
        "k": "round",
        "lane": lane,
        "round": round_.index + 1,
        "gamma": round_.gamma,
        "ms": [round(ms, 2) for ms in times],
        "tokens": token_views(round_),
        "point": point,
    }


def token_views(round_: Round) -> list[TokenView]:
    """Give the drafted tokens as they were guessed, then what the target added.

    An accepted token takes its text from the output, where pieces of one character are joined.
    """
    is_chain = all(token.parent == index - 1 for index, token in enumerate(round_.drafted))
    kept = [token for token in round_.emitted if token.source is Source.DRAFT]
    added = [token for token in round_.emitted if token.source is not Source.DRAFT]
    views: list[TokenView] = []
    position = round_.position
    for drafted in round_.drafted:
        if drafted.outcome is Outcome.ACCEPTED and kept:
            view = _drafted_view(drafted, kept.pop(0).text, position)
            position += 1
        else:
            view = _drafted_view(drafted, drafted.text, None)
        views.append(view if is_chain else view | {"b": drafted.parent})
    for emitted in added:
        views.append(_emitted_view(emitted, position))
        position += 1
    return views


def narration(round_: Round, lane: Text | None = None) -> Message:
    """Tell one round in a sentence, with the name of its lane where one is given."""
    number: Text = str(round_.index + 1)
    if lane is not None:
        number = message("round.of_lane", round=number, lane=lane)
    if not round_.drafted:
        return message("round.plain", round=number)
    guesses = len(round_.drafted)
    kept = sum(token.outcome is Outcome.ACCEPTED for token in round_.drafted)
    sources = [token.source for token in round_.emitted]
    end = "kept"
    if Source.CORRECTION in sources:
        end = "corrected"
    elif Source.BONUS in sources:
        end = "bonus"
    return message(f"round.{end}", round=number, n=guesses, kept=kept)


def lane_text(spec: LaneSpec) -> Message:
    """Say what a lane runs."""
    if spec.method is Method.BASELINE:
        return message("lane.about_alone", target=short_name(spec.target))
    if spec.method is Method.DRAFT_MODEL:
        draft = short_name(spec.draft or "?")
        return message("lane.about_draft_model", draft=draft, gamma=spec.gamma)
    if spec.method is Method.EARLY_EXIT and spec.exit_layer is not None:
        return message("lane.about_exit_layer", layer=spec.exit_layer, gamma=spec.gamma)
    key = spec.method.value.replace("-", "_")
    return message(f"lane.about_{key}", gamma=spec.gamma)


def law_text(sampling: Sampling) -> Message:
    """Say which law the tokens are drawn from."""
    if sampling.temperature == 0.0:
        return message("law.greedy")
    cuts = ""
    if sampling.top_k:
        cuts += f", top-k {sampling.top_k}"
    if sampling.top_p < 1.0:
        cuts += f", top-p {sampling.top_p:g}"
    temperature = f"{sampling.temperature:g}"
    return message("law.sampled", temperature=temperature, cuts=cuts, seed=sampling.seed)


def place_text(environment: Environment) -> Text:
    """Say where the race ran."""
    place = f"{environment.device_name}, {environment.dtype}"
    if environment.device != "cpu":
        return place
    return message("lane.place", place=place, n=environment.num_threads)


def _drafted_view(token: DraftToken, text: str, position: int | None) -> TokenView:
    return _present(
        t=text,
        f=FATE_OF_OUTCOME[token.outcome],
        i=position,
        q=_rounded(token.draft_prob),
        p=_rounded(token.target_prob),
        a=_rounded(token.accept_prob),
        u=_rounded(token.draw),
        o=_rounded(token.overlap),
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
    """Keep six significant digits: a quotient and a comparison must come out as they did."""
    return None if number is None else float(f"{number:.6g}")
