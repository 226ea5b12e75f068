"""Turns what a visitor or a program sent into a RaceRequest that keeps to the page's limits.

Nothing a browser sends is trusted: every value is checked here again, and only models on the page's
menu are let through.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from specviz.errors import RequestError
from specviz.trace import LaneSpec, Method, RaceRequest, Sampling
from specviz.ui.options import PageLimits, PageOptions

MAX_SEED = 2**31 - 1
METHOD_LABELS: dict[Method, str] = {
    Method.BASELINE: "target alone",
    Method.DRAFT_MODEL: "draft model",
    Method.PROMPT_LOOKUP: "prompt lookup",
    Method.EARLY_EXIT: "early exit",
}
_LANE_KEYS = {"name", "method", "target", "draft", "gamma", "exit_layer", "max_ngram"}
_SAMPLING_KEYS = {"temperature", "top_k", "top_p", "seed"}


@dataclass(frozen=True, slots=True)
class FormValues:
    """The controls of the page, unchecked, as they arrive."""

    prompt: object
    target: object
    method: object
    draft: object
    gamma: object
    temperature: object
    top_k: object
    top_p: object
    seed: object
    max_new_tokens: object


def request_from_form(form: FormValues, options: PageOptions) -> RaceRequest:
    """Build the two-lane race that the controls ask for.

    Raises:
        RequestError: a value is missing, of the wrong kind, or beyond the limits.
    """
    lane = {
        "method": form.method,
        "target": form.target,
        "draft": form.draft if form.method == Method.DRAFT_MODEL else None,
        "gamma": form.gamma,
    }
    sampling = {
        "temperature": form.temperature,
        "top_k": form.top_k,
        "top_p": form.top_p,
        "seed": form.seed,
    }
    return build_request(form.prompt, [lane], sampling, form.max_new_tokens, options)


def build_request(
    prompt: object, lanes: object, sampling: object, max_new_tokens: object, options: PageOptions
) -> RaceRequest:
    """Check every field and build the request; a baseline lane is put first where there is none.

    Raises:
        RequestError: a value is missing, of the wrong kind, or beyond the limits.
    """
    limits = options.limits
    specs = [_lane(lane, options) for lane in _sequence(lanes, "lanes")]
    if not specs or specs[0].method is not Method.BASELINE:
        target = specs[0].target if specs else options.pairs[0].target
        specs.insert(0, LaneSpec(METHOD_LABELS[Method.BASELINE], Method.BASELINE, target))
    if not 2 <= len(specs) <= limits.max_lanes:
        raise RequestError(
            f"A race has 2 to {limits.max_lanes} lanes with the baseline, got {len(specs)}."
        )
    return RaceRequest(
        prompt=_prompt(prompt, limits),
        lanes=tuple(specs),
        sampling=_sampling(sampling, limits),
        max_new_tokens=_integer(max_new_tokens, "max_new_tokens", 1, limits.max_new_tokens),
    )


def _prompt(value: object, limits: PageLimits) -> str:
    if not isinstance(value, str) or not value.strip():
        raise RequestError("The prompt is empty: write a few words, or pick an example.")
    if len(value) > limits.max_prompt_chars:
        raise RequestError(
            f"The prompt has {len(value):,} characters; at most "
            f"{limits.max_prompt_chars:,} are allowed. Shorten it."
        )
    return value


def _lane(value: object, options: PageOptions) -> LaneSpec:
    fields = _mapping(value, "a lane", _LANE_KEYS)
    method = _method(fields.get("method"))
    target = fields.get("target", options.pairs[0].target)
    pair = options.pair(target) if isinstance(target, str) else None
    if pair is None:
        raise RequestError(f"Unknown target {_shown(target)}; choose one of {_targets(options)}.")
    if method is Method.BASELINE:
        name = fields.get("name", METHOD_LABELS[method])
        return LaneSpec(name=_name(name), method=method, target=pair.target)
    if method not in pair.methods:
        raise RequestError(f"{pair.target} cannot draft by {METHOD_LABELS[method]}.")
    draft = fields.get("draft")
    if method is Method.DRAFT_MODEL:
        draft = pair.drafts[0] if draft is None and pair.drafts else draft
        if not isinstance(draft, str) or draft not in pair.drafts:
            raise RequestError(
                f"Unknown draft {_shown(draft)}; choose one of {', '.join(pair.drafts)}."
            )
    elif draft is not None:
        raise RequestError(f"The method {method} takes no draft, got {_shown(draft)}.")
    exit_layer = fields.get("exit_layer")
    return LaneSpec(
        name=_name(fields.get("name", f"target + {METHOD_LABELS[method]}")),
        method=method,
        target=pair.target,
        draft=draft if isinstance(draft, str) else None,
        gamma=_integer(fields.get("gamma"), "gamma", 1, options.limits.max_gamma),
        exit_layer=None if exit_layer is None else _integer(exit_layer, "exit_layer", 1, 1_000),
        max_ngram=_integer(fields.get("max_ngram", 4), "max_ngram", 2, 16),
    )


def _sampling(value: object, limits: PageLimits) -> Sampling:
    fields = _mapping({} if value is None else value, "sampling", _SAMPLING_KEYS)
    top_p = _number(fields.get("top_p", 1.0), "top_p", 0.0, 1.0)
    if top_p == 0.0:
        raise RequestError("top_p must be above 0 and at most 1, got 0.")
    return Sampling(
        temperature=_number(fields.get("temperature", 0.0), "temperature", 0.0, 2.0),
        top_k=_integer(fields.get("top_k", 0), "top_k", 0, limits.max_top_k),
        top_p=top_p,
        seed=_integer(fields.get("seed", 0), "seed", 0, MAX_SEED),
    )


def _method(value: object) -> Method:
    if isinstance(value, str) and value in tuple(Method):
        return Method(value)
    raise RequestError(f"Unknown method {_shown(value)}; choose one of {', '.join(Method)}.")


def _name(value: object) -> str:
    if isinstance(value, str) and 0 < len(value) <= 60:
        return value
    raise RequestError("A lane's name must be a text of 1 to 60 characters.")


def _mapping(value: object, what: str, keys: set[str]) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise RequestError(f"{what} must be an object with named fields, got {_shown(value)}.")
    unknown = sorted(str(key) for key in value if key not in keys)
    if unknown:
        raise RequestError(
            f"{what} has the unknown field {_shown(unknown[0])}; "
            f"allowed are {', '.join(sorted(keys))}."
        )
    return value


def _sequence(value: object, what: str) -> Sequence[object]:
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return value
    raise RequestError(f"{what} must be a list, got {_shown(value)}.")


def _number(value: object, what: str, low: float, high: float) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and low <= value <= high:
        return float(value)
    raise RequestError(f"{what} must be {low:g} to {high:g}, got {_shown(value)}.")


def _integer(value: object, what: str, low: int, high: int) -> int:
    number = value if isinstance(value, (int, float)) and not isinstance(value, bool) else None
    if number is not None and low <= number <= high and int(number) == number:
        return int(number)
    raise RequestError(
        f"{what} must be a whole number from {low} to {high:,}, got {_shown(value)}."
    )


def _targets(options: PageOptions) -> str:
    return ", ".join(pair.target for pair in options.pairs)


def _shown(value: object) -> str:
    """Quote a value from outside, cut to a readable length."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
