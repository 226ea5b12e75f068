"""What the page's settings are at the start, and what they may become."""

from typing import Any

from specviz.models.eagle_form import EVERY_READING
from specviz.trace.limits import (
    CONFIDENCES,
    DEFAULT_BRANCHES,
    DEFAULT_BUDGET,
    DEFAULT_CONFIDENCE,
    DEFAULT_NGRAM,
    MAX_BRANCHES,
    MAX_BUDGET,
    MAX_NGRAM,
    MIN_BRANCHES,
    MIN_BUDGET,
    MIN_NGRAM,
)
from specviz.trace.values import Rule, Schedule, Tree
from specviz.ui.hub_offer import HubAccess
from specviz.ui.options import PageOptions
from specviz.ui.page_limits import PageLimits
from specviz.ui.pair_option import PairOption

Span = tuple[float, float, float]
"""Lowest value, highest value and step of a number."""


def spans(limits: PageLimits) -> dict[str, Span]:
    """Return the numbers that a visitor may set; a whole step allows whole numbers only."""
    return {
        "temperature": (0, limits.max_temperature, 0.05),
        "top_k": (0, 200, 1),
        "top_p": (0.05, 1, 0.05),
        "seed": (0, limits.max_seed, 1),
        "tokens": (8, limits.max_new_tokens, 8),
        "gamma": (1, limits.max_gamma, 1),
        "max_ngram": (MIN_NGRAM, MAX_NGRAM, 1),
        "confidence": (*CONFIDENCES, 0.01),
        "branches": (MIN_BRANCHES, MAX_BRANCHES, 1),
        "budget": (MIN_BUDGET, MAX_BUDGET, 1),
    }


def first_lanes(options: PageOptions) -> list[dict[str, Any]]:
    """Return the lanes that guess before anyone touches them."""
    return [{"method": options.pairs[0].methods[0].value, "gamma": options.defaults.gamma}]


def settings_data(options: PageOptions) -> dict[str, Any]:
    """Give the browser the settings at the start, their limits, and the menu of models."""
    shown, limits = options.defaults, options.limits
    return {
        "first": {
            "prompt": shown.prompt,
            "temperature": shown.temperature,
            "top_k": 0,
            "top_p": 1,
            "seed": shown.seed,
            "tokens": shown.max_new_tokens,
            "chat": True,
            "target": options.pairs[0].target,
            "lanes": first_lanes(options),
        },
        "lane": {
            "gamma": shown.gamma,
            "max_ngram": DEFAULT_NGRAM,
            "confidence": DEFAULT_CONFIDENCE,
            "branches": DEFAULT_BRANCHES,
            "budget": DEFAULT_BUDGET,
        },
        "rules": [rule.value for rule in Rule],
        "schedules": [schedule.value for schedule in Schedule],
        "trees": [tree.value for tree in Tree],
        "readings": [reading.text for reading in EVERY_READING],
        "spans": spans(limits),
        "max_prompt_chars": limits.max_prompt_chars,
        "max_lane_name_chars": limits.max_lane_name_chars,
        "max_drafting_lanes": limits.max_lanes - 1,
        "asks_hub": options.hub is not None and options.hub.access is not HubAccess.OFF,
        "pairs": [pair_data(pair) for pair in options.pairs],
    }


def pair_data(pair: PairOption) -> dict[str, Any]:
    """Give the browser one entry of the menu of models."""
    return {
        "target": pair.target,
        "drafts": pair.drafts,
        "methods": [method.value for method in pair.methods],
        "exits": pair.exits,
        "num_parameters": pair.num_parameters,
        "has_chat": pair.has_chat,
        "is_hub": pair.is_hub,
        "translated": pair.translated,
        "is_known": pair.reading is not None,
        "heads": pair.heads,
    }
