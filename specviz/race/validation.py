"""Checks a race request before anything is loaded."""

import math
from itertools import pairwise

from specviz.errors import RequestError
from specviz.texts import Message, Text, message
from specviz.trace.limits import (
    CONFIDENCES,
    MAX_BRANCHES,
    MAX_BUDGET,
    MAX_COIN,
    MAX_FLIPPED,
    MAX_GAMMA,
    MAX_LANES,
    MAX_NEW_TOKENS,
    MAX_NGRAM,
    MAX_SEED,
    MAX_TEMPERATURE,
    MAX_TOP_K,
    MIN_BRANCHES,
    MIN_BUDGET,
    MIN_NGRAM,
    MIN_TEMPERATURE,
)
from specviz.trace.names import lane_names
from specviz.trace.values import LaneSpec, Method, RaceRequest, Rule, Sampling, Schedule, Tree


def check_request(request: RaceRequest) -> None:
    """Refuse what cannot be raced.

    Raises:
        RequestError: Names the first field that is off, what it holds and what is allowed.
    """
    if not request.prompt.strip():
        raise RequestError(message("refusal.no_words"))
    _check_range("max_new_tokens", request.max_new_tokens, 1, MAX_NEW_TOKENS)
    _check_sampling(request.sampling)
    _check_range(message("refusal.number_of_lanes"), len(request.lanes), 2, MAX_LANES)
    names = lane_names(request.lanes)
    for name, spec in zip(names, request.lanes, strict=True):
        _check_lane(name, spec)
        _check_coins(spec, request.sampling)
    methods = [spec.method for spec in request.lanes]
    if methods[0] is not Method.BASELINE or methods.count(Method.BASELINE) > 1:
        raise RequestError(message("refusal.baseline_first"))
    targets = {spec.target for spec in request.lanes}
    if len(targets) > 1:
        raise RequestError(message("refusal.one_target", found=", ".join(sorted(targets))))
    if len(set(names)) < len(names):
        raise RequestError(message("refusal.same_names", found=", ".join(names)))


def _check_sampling(sampling: Sampling) -> None:
    temperature = sampling.temperature
    if not (math.isfinite(temperature) and 0 <= temperature <= MAX_TEMPERATURE):
        raise RequestError(
            message(
                "refusal.range",
                name="temperature",
                low=0,
                high=MAX_TEMPERATURE,
                found=str(temperature),
            )
        )
    if 0 < temperature < MIN_TEMPERATURE:
        raise RequestError(
            message(
                "refusal.temperature_between", least=str(MIN_TEMPERATURE), found=str(temperature)
            )
        )
    _check_range(message("refusal.top_k"), sampling.top_k, 0, MAX_TOP_K)
    if not 0 < sampling.top_p <= 1:
        raise RequestError(message("refusal.top_p", found=str(sampling.top_p)))
    _check_range("seed", sampling.seed, 0, MAX_SEED)


def _check_lane(name: str, spec: LaneSpec) -> None:
    if spec.method is Method.BASELINE:
        if spec.gamma != 0 or spec.draft is not None or spec.tree is not Tree.NONE:
            raise RequestError(message("refusal.baseline_drafts"))
        if spec.rule is not Rule.RIGHT:
            raise RequestError(message("refusal.baseline_rule", found=spec.rule.value))
        return
    _check_range(_of_lane("gamma", name), spec.gamma, 1, MAX_GAMMA)
    _check_schedule(name, spec)
    _check_tree(name, spec)
    if spec.method is Method.DRAFT_MODEL and not spec.draft:
        raise RequestError(message("refusal.needs_draft", lane=repr(name)))
    if spec.method is not Method.DRAFT_MODEL and spec.draft:
        raise RequestError(
            message("refusal.takes_no_draft", lane=repr(name), method=spec.method.value)
        )
    if spec.method is not Method.DRAFT_MODEL and spec.translation:
        raise RequestError(
            message("refusal.takes_no_translation", lane=repr(name), method=spec.method.value)
        )
    if spec.method is Method.EAGLE3 and not spec.head:
        raise RequestError(message("refusal.needs_head", lane=repr(name)))
    if spec.method is not Method.EAGLE3 and (spec.head or spec.head_reading):
        raise RequestError(
            message("refusal.takes_no_head", lane=repr(name), method=spec.method.value)
        )
    if spec.method is Method.PROMPT_LOOKUP:
        _check_range(_of_lane("max_ngram", name), spec.max_ngram, MIN_NGRAM, MAX_NGRAM)
        if spec.rule is Rule.ARGMAX_SOFTMAX:
            raise RequestError(message("refusal.rule_needs_probabilities", lane=repr(name)))
    if spec.exit_layer is not None and spec.exit_layer < 1:
        raise RequestError(
            message(
                "refusal.least",
                name=_of_lane("exit_layer", name),
                least=1,
                found=str(spec.exit_layer),
            )
        )


def _check_coins(spec: LaneSpec, sampling: Sampling) -> None:
    coins = spec.flipped_coins
    if not coins:
        return
    if spec.method is Method.BASELINE or sampling.temperature == 0:
        raise RequestError(message("refusal.no_coin"))
    if spec.schedule is Schedule.COST_AWARE:
        raise RequestError(message("refusal.coin_by_time"))
    for coin in coins:
        _check_range("flipped_coins", coin, 0, MAX_COIN)
    if len(coins) > MAX_FLIPPED:
        raise RequestError(message("refusal.many_coins", most=MAX_FLIPPED, found=len(coins)))
    if any(later <= coin for coin, later in pairwise(coins)):
        found = ", ".join(map(str, coins))
        raise RequestError(message("refusal.coins_rise", found=found))


def _check_schedule(name: str, spec: LaneSpec) -> None:
    if spec.schedule is not Schedule.CONFIDENCE:
        return
    if spec.method is Method.PROMPT_LOOKUP:
        raise RequestError(message("refusal.schedule_needs_probabilities", lane=repr(name)))
    low, high = CONFIDENCES
    if not low <= spec.confidence <= high:
        values = {"low": str(low), "high": str(high), "found": str(spec.confidence)}
        raise RequestError(message("refusal.range", name=_of_lane("confidence", name), **values))


def _check_tree(name: str, spec: LaneSpec) -> None:
    if spec.tree is Tree.NONE:
        if spec.branches or spec.budget:
            raise RequestError(message("refusal.no_tree", lane=repr(name)))
        return
    if spec.method not in (Method.DRAFT_MODEL, Method.EAGLE3):
        raise RequestError(
            message("refusal.tree_of_method", lane=repr(name), method=spec.method.value)
        )
    if spec.schedule is not Schedule.FIXED:
        found = spec.schedule.value
        raise RequestError(message("refusal.tree_of_schedule", lane=repr(name), found=found))
    if spec.rule is not Rule.RIGHT:
        raise RequestError(message("refusal.tree_of_rule", lane=repr(name)))
    _check_range(_of_lane("branches", name), spec.branches, MIN_BRANCHES, MAX_BRANCHES)
    _check_range(_of_lane("budget", name), spec.budget, MIN_BUDGET, MAX_BUDGET)


def _of_lane(field: str, lane: str) -> Message:
    return message("refusal.of_lane", field=field, lane=repr(lane))


def _check_range(name: Text, value: int, low: int, high: int) -> None:
    if type(value) is not int:
        raise RequestError(message("refusal.whole", name=name, found=repr(value)))
    if not low <= value <= high:
        raise RequestError(
            message("refusal.range", name=name, low=low, high=str(high), found=str(value))
        )
