"""Lanes and draft lengths as they are written on the command line."""

from argparse import ArgumentTypeError
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from specviz.errors import RequestError
from specviz.trace.limits import DEFAULT_BRANCHES, DEFAULT_BUDGET, MAX_GAMMA
from specviz.trace.values import LaneSpec, Method, Schedule, Translation, Tree

_CHOOSING = [str(schedule) for schedule in Schedule if schedule is not Schedule.FIXED]
DRAFTING = [str(method) for method in Method if method is not Method.BASELINE]
LANE_KEYS = [
    field.name for field in fields(LaneSpec) if field.name not in ("schedule", "confidence")
]
_WHOLE_NUMBERS = ("exit_layer", "max_ngram")
DEFAULT_LONGEST = 10
"""Most tokens a round where a schedule chooses and nobody said."""


def read_lane(text: str) -> dict[str, str]:
    """Read `key=value,key=value`. Raises: RequestError where it is written otherwise."""
    lane: dict[str, str] = {}
    for part in text.split(","):
        key, sign, value = (piece.strip() for piece in part.partition("="))
        if not sign or not value:
            raise RequestError(f"--lane is written key=value,key=value; cannot read {part!r}")
        if key not in LANE_KEYS:
            raise RequestError(f"--lane has no key {key!r}; its keys are {', '.join(LANE_KEYS)}")
        if key in lane:
            raise RequestError(f"--lane names {key!r} twice: {text!r}")
        lane[key] = value
    return lane


def lane_method(lane: Mapping[str, str], default: Method) -> Method:
    """The method of a lane: its own, or that which its draft or head asks for.

    Raises: RequestError.
    """
    if "method" not in lane and "head" in lane and "draft" not in lane:
        return Method.EAGLE3
    if "method" not in lane:
        return Method.DRAFT_MODEL if "draft" in lane else default
    if lane["method"] not in DRAFTING:
        raise RequestError(
            f"--lane method must be one of {', '.join(DRAFTING)}, got {lane['method']!r}; "
            "the baseline always runs"
        )
    return Method(lane["method"])


def whole_numbers(lane: Mapping[str, str]) -> dict[str, int]:
    """Read those keys of a lane that are whole numbers. Raises: RequestError."""
    return {key: _whole_number(key, lane[key]) for key in _WHOLE_NUMBERS if key in lane}


def read_tree(lane: Mapping[str, str]) -> dict[str, Any]:
    """Read how the drafts of a lane hang together, as fields of a LaneSpec; what a tree leaves out
    is the usual. Raises: RequestError."""
    tree = lane.get("tree", Tree.NONE.value)
    if tree not in tuple(Tree):
        raise RequestError(f"--lane tree must be one of {', '.join(Tree)}, got {tree!r}")
    usual = {"branches": DEFAULT_BRANCHES, "budget": DEFAULT_BUDGET} if tree != Tree.NONE else {}
    given = {key: _whole_number(key, lane[key]) for key in ("branches", "budget") if key in lane}
    return {"tree": Tree(tree), **usual, **given}


def read_coins(lane: Mapping[str, str]) -> tuple[int, ...]:
    """Read which coins fall the other way, `12+40`, counted from 0. Raises: RequestError."""
    text = lane.get("flipped_coins", "")
    coins = text.split("+") if text else []
    if not all(coin.strip().isdecimal() for coin in coins):
        raise RequestError(
            f"--lane flipped_coins must be numbers of coins, counted from 0: 12+40, got {text!r}"
        )
    return tuple(int(coin) for coin in coins)


def read_translation(lane: Mapping[str, str]) -> Translation | None:
    """Read how a lane's draft is to be translated, None where it does not say. Raises:
    RequestError."""
    value = lane.get("translation")
    if value is not None and value not in tuple(Translation):
        allowed = ", ".join(Translation)
        raise RequestError(f"--lane translation must be one of {allowed}, got {value!r}")
    return None if value is None else Translation(value)


def read_gammas(text: str) -> tuple[int, ...]:
    """Read draft lengths, `2,4,8` or `1-10`. Raises: ArgumentTypeError."""
    gammas: set[int] = set()
    for part in text.split(","):
        low, sign, high = (piece.strip() for piece in part.partition("-"))
        ends = (low, high) if sign else (low, low)
        if not all(end.isdecimal() and 1 <= int(end) <= MAX_GAMMA for end in ends):
            raise ArgumentTypeError(f"must be whole numbers from 1 to {MAX_GAMMA}, got {text!r}")
        if int(ends[0]) > int(ends[1]):
            raise ArgumentTypeError(f"a range begins with its smaller end, got {text!r}")
        gammas.update(range(int(ends[0]), int(ends[1]) + 1))
    return tuple(sorted(gammas))


def read_gamma(text: str, option: str = "--lane gamma") -> dict[str, Any]:
    """Read a draft length, `4`, or how it is chosen, `auto`, `heuristic` or `confidence:0.4`, each
    with the most that it may be where that is not ten: `auto<=6`. Gives fields of a LaneSpec.

    Raises: RequestError that names the option.
    """
    chosen, _, most = (piece.strip() for piece in text.partition("<="))
    name, sign, confidence = (piece.strip() for piece in chosen.partition(":"))
    try:
        if name not in _CHOOSING:
            return {"gamma": int(text)}
        fields: dict[str, Any] = {"schedule": Schedule(name)}
        fields["gamma"] = int(most) if most else DEFAULT_LONGEST
        if sign:
            fields["confidence"] = float(confidence)
        if sign and fields["schedule"] is not Schedule.CONFIDENCE:
            raise ValueError
        return fields
    except ValueError:
        raise RequestError(
            f"{option} must be a whole number, auto, heuristic or confidence:0.4 (with the most "
            f"that it may be: auto<=6), got {text!r}"
        ) from None


def _whole_number(key: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise RequestError(f"--lane {key} must be a whole number, got {text!r}") from None
