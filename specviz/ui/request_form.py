"""Turns what a visitor or a program sent into a RaceRequest that keeps to the page's limits.

Nothing a browser sends is trusted: every value is checked here again, and only models on the page's
menu are let through.
"""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from specviz.errors import RequestError
from specviz.models.eagle_form import Reading
from specviz.texts import message
from specviz.trace.limits import (
    CONFIDENCES,
    DEFAULT_BRANCHES,
    DEFAULT_BUDGET,
    DEFAULT_CONFIDENCE,
    DEFAULT_NGRAM,
    MAX_BRANCHES,
    MAX_BUDGET,
    MAX_COIN,
    MAX_NGRAM,
    MIN_BRANCHES,
    MIN_BUDGET,
    MIN_NGRAM,
)
from specviz.trace.values import LaneSpec, Method, RaceRequest, Rule, Sampling, Schedule, Tree
from specviz.ui.options import PageOptions
from specviz.ui.page_limits import PageLimits
from specviz.ui.pair_option import PairOption
from specviz.ui.request_values import (
    read_choice,
    read_integer,
    read_mapping,
    read_number,
    read_sequence,
    shown,
)
from specviz.ui.strings import PageError, PagePromptError

MAX_LANES_CHARS = 4_000
"""Longest description of the lanes that a page may send."""
_NOT_OFFERED = {"translation"}
"""Fields of lanes that the page does not offer."""
_LANE_KEYS = {field.name for field in dataclasses.fields(LaneSpec)} - _NOT_OFFERED
_SAMPLING_KEYS = {"temperature", "top_k", "top_p", "seed"}


@dataclass(frozen=True, slots=True)
class FormValues:
    """The controls of the page, unchecked, as they arrive."""

    prompt: object
    lanes: object
    """The lanes that guess, as the text of a JSON list."""
    temperature: object
    top_k: object
    top_p: object
    seed: object
    max_new_tokens: object
    uses_chat: object


def request_from_form(form: FormValues, options: PageOptions) -> RaceRequest:
    """Build the race that the controls ask for.

    Raises:
        RequestError: a value is missing, of the wrong kind, or beyond the limits.
    """
    sampling = {
        "temperature": form.temperature,
        "top_k": form.top_k,
        "top_p": form.top_p,
        "seed": form.seed,
    }
    lanes = _lanes_of_text(form.lanes)
    return build_request(
        form.prompt, lanes, sampling, form.max_new_tokens, options, uses_chat=form.uses_chat
    )


def build_request(
    prompt: object,
    lanes: object,
    sampling: object,
    max_new_tokens: object,
    options: PageOptions,
    *,
    uses_chat: object = True,
) -> RaceRequest:
    """Check every field and build the request; a baseline lane is put first where there is none.

    Raises:
        RequestError: a value is missing, of the wrong kind, or beyond the limits.
    """
    limits = options.limits
    specs = [_lane(lane, options) for lane in read_sequence(lanes)]
    if not specs or specs[0].method is not Method.BASELINE:
        target = specs[0].target if specs else options.pairs[0].target
        specs.insert(0, LaneSpec(None, Method.BASELINE, target))
    if not 2 <= len(specs) <= limits.max_lanes:
        raise PageError("error.number_of_lanes", most=limits.max_lanes, found=len(specs))
    return RaceRequest(
        prompt=_prompt(prompt, limits),
        lanes=_with_different_names(specs),
        sampling=_sampling(sampling, limits),
        max_new_tokens=read_integer(max_new_tokens, "max_new_tokens", 1, limits.max_new_tokens),
        uses_chat=read_choice(uses_chat, "uses_chat"),
    )


def _lanes_of_text(text: object) -> object:
    if not isinstance(text, str) or len(text) > MAX_LANES_CHARS:
        raise PageError("error.lanes_unreadable")
    try:
        lanes: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PageError("error.lanes_unreadable") from error
    return lanes


def _prompt(value: object, limits: PageLimits) -> str:
    if not isinstance(value, str) or not value.strip():
        raise PagePromptError("error.prompt_empty")
    if len(value) > limits.max_prompt_chars:
        allowed = limits.max_prompt_chars
        raise PagePromptError("error.prompt_too_long", chars=len(value), allowed=allowed)
    return value


def _lane(value: object, options: PageOptions) -> LaneSpec:
    """Read one lane; it has only a name that it was given."""
    fields = read_mapping(value, "lane", _LANE_KEYS)
    method = _method(fields.get("method"))
    target = fields.get("target", options.pairs[0].target)
    pair = _pair(target, options)
    name = _name(fields["name"], options.limits) if "name" in fields else None
    if method is Method.BASELINE:
        return LaneSpec(name, method, pair.target)
    if method not in pair.methods:
        allowed = ", ".join(pair.methods)
        raise PageError(
            "error.no_such_method", target=pair.target, method=method.value, allowed=allowed
        )
    return LaneSpec(
        name=name,
        method=method,
        target=pair.target,
        draft=_draft(fields.get("draft"), method, pair),
        gamma=read_integer(fields.get("gamma"), "gamma", 1, options.limits.max_gamma),
        exit_layer=_exit_layer(fields.get("exit_layer"), method, pair),
        max_ngram=read_integer(
            fields.get("max_ngram", DEFAULT_NGRAM), "max_ngram", MIN_NGRAM, MAX_NGRAM
        ),
        rule=_rule(fields.get("rule", Rule.RIGHT.value)),
        schedule=_schedule(fields.get("schedule", Schedule.FIXED.value)),
        confidence=read_number(
            fields.get("confidence", DEFAULT_CONFIDENCE), "confidence", *CONFIDENCES
        ),
        flipped_coins=_coins(fields.get("flipped_coins", [])),
        head=_head(fields.get("head"), method, pair),
        head_reading=_head_reading(fields.get("head_reading"), method),
        **_tree(fields),
    )


def _pair(target: object, options: PageOptions) -> PairOption:
    pair = options.pair(target) if isinstance(target, str) else None
    if pair is not None:
        return pair
    if isinstance(target, str) and options.hub is not None:
        refusal = options.hub.refusal(target)
        if refusal is not None:
            raise refusal
    allowed = ", ".join(each.target for each in options.pairs)
    raise PageError("error.unknown_target", found=shown(target), allowed=allowed)


def _draft(value: object, method: Method, pair: PairOption) -> str | None:
    """Read the draft of a lane; the first one on the menu stands in where none was named."""
    if method is not Method.DRAFT_MODEL:
        if value is not None:
            raise PageError("error.no_draft_taken", method=method.value, found=shown(value))
        return None
    draft = pair.drafts[0] if value is None and pair.drafts else value
    if not isinstance(draft, str) or draft not in pair.drafts:
        raise PageError("error.unknown_draft", found=shown(draft), allowed=", ".join(pair.drafts))
    return draft


def _exit_layer(value: object, method: Method, pair: PairOption) -> int | None:
    """Read the exit of a lane; the first one on the menu stands in where none was named."""
    if method is not Method.EARLY_EXIT:
        return None
    if value is None:
        return pair.exits[0] if pair.exits else None
    layer = read_integer(value, "exit_layer", 1, 1_000)
    if pair.exits and layer not in pair.exits:
        allowed = ", ".join(map(str, pair.exits))
        raise PageError("error.no_such_exit", target=pair.target, found=layer, allowed=allowed)
    return layer


def _head(value: object, method: Method, pair: PairOption) -> str | None:
    """Read the head of a lane; the first one on the menu stands in where none was named."""
    if method is not Method.EAGLE3:
        if value is not None:
            raise PageError("error.no_head_taken", method=method.value, found=shown(value))
        return None
    head = pair.heads[0] if value is None and pair.heads else value
    if not isinstance(head, str) or head not in pair.heads:
        raise PageError("error.unknown_head", found=shown(head), allowed=", ".join(pair.heads))
    return head


def _head_reading(value: object, method: Method) -> str | None:
    """Read how a head is to be read; None leaves it to what agrees best with the target."""
    if value is None or method is not Method.EAGLE3:
        return None
    reading = Reading.parse(value) if isinstance(value, str) else None
    if reading is None:
        raise RequestError(message("refusal.head_reading", found=shown(value)))
    return reading.text


def _with_different_names(specs: Sequence[LaneSpec]) -> tuple[LaneSpec, ...]:
    """Refuse lanes that were given the same name; those without one are told apart anyway."""
    names = [spec.name for spec in specs if spec.name]
    for name in names:
        if names.count(name) > 1:
            raise PageError("error.same_names", name=name)
    return tuple(specs)


def _sampling(value: object, limits: PageLimits) -> Sampling:
    fields: Mapping[str, object] = {}
    if value is not None:
        fields = read_mapping(value, "sampling", _SAMPLING_KEYS)
    top_p = read_number(fields.get("top_p", 1.0), "top_p", 0.0, 1.0)
    if top_p == 0.0:
        raise PageError("error.top_p_zero")
    highest = limits.max_temperature
    return Sampling(
        temperature=read_number(fields.get("temperature", 0.0), "temperature", 0.0, highest),
        top_k=read_integer(fields.get("top_k", 0), "top_k", 0, limits.max_top_k),
        top_p=top_p,
        seed=read_integer(fields.get("seed", 0), "seed", 0, limits.max_seed),
    )


def _method(value: object) -> Method:
    if isinstance(value, str) and value in tuple(Method):
        return Method(value)
    raise PageError("error.unknown_method", found=shown(value), allowed=", ".join(Method))


def _rule(value: object) -> Rule:
    if isinstance(value, str) and value in tuple(Rule):
        return Rule(value)
    raise PageError("error.unknown_rule", found=shown(value), allowed=", ".join(Rule))


def _coins(value: object) -> tuple[int, ...]:
    coins = read_sequence(value)
    return tuple(read_integer(coin, "flipped_coins", 0, MAX_COIN) for coin in coins)


def _schedule(value: object) -> Schedule:
    if isinstance(value, str) and value in tuple(Schedule):
        return Schedule(value)
    raise PageError("error.unknown_schedule", found=shown(value), allowed=", ".join(Schedule))


def _tree(fields: Mapping[str, object]) -> dict[str, Any]:
    """Read how a lane's guesses hang together; only of a tree branches and nodes are read."""
    tree = fields.get("tree", Tree.NONE.value)
    if not isinstance(tree, str) or tree not in tuple(Tree):
        raise PageError("error.unknown_tree", found=shown(tree), allowed=", ".join(Tree))
    if tree == Tree.NONE:
        return {}
    branches, budget = (
        fields.get("branches", DEFAULT_BRANCHES),
        fields.get("budget", DEFAULT_BUDGET),
    )
    return {
        "tree": Tree(tree),
        "branches": read_integer(branches, "branches", MIN_BRANCHES, MAX_BRANCHES),
        "budget": read_integer(budget, "budget", MIN_BUDGET, MAX_BUDGET),
    }


def _name(value: object, limits: PageLimits) -> str:
    most = limits.max_lane_name_chars
    if isinstance(value, str) and 0 < len(value) <= most:
        return value
    raise PageError("error.lane_name", most=most, found=shown(value))
