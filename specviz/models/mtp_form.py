"""Which models have layers of their own that draft (multi-token prediction), by config and tensors.

Families store them in two ways: as one more layer behind the last (`layers.N` of N layers), or
apart, as `mtp.*`. What the files hold counts, not what the config says: configs are known to
declare layers that a repository does not ship, and to be silent about those that it does.
"""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from specviz.models.hub_files import INDEX_FILE
from specviz.texts import Message, message

BEHIND, APART = r"^(?:model\.)?(?:language_model\.)?layers\.(\d+)\.", r"^mtp\.layers\.(\d+)\."
FAMILIES = {
    "deepseek_v3": BEHIND,
    "glm4_moe": BEHIND,
    "glm4_moe_lite": BEHIND,
    "mellum": APART,
    "qwen3_next": APART,
    "qwen3_5_text": APART,
    "qwen3_5_moe_text": APART,
}
"""How the layers of each family are named, by the model type of its text config."""
DECLARED = ("num_mtp_layers", "num_nextn_predict_layers", "mtp_num_hidden_layers")
_TEXT_TYPES = {"qwen3_5": "qwen3_5_text", "qwen3_5_moe": "qwen3_5_moe_text"}
"""Types of configs around a text config, and of that."""


def declared_layers(config: Mapping[str, Any]) -> int:
    """How many such layers a config says that the model has."""
    inner = _text_config(config)
    found = (inner.get(key) for key in DECLARED)
    return next((number for number in found if isinstance(number, int) and number > 0), 0)


def stored_layers(config: Mapping[str, Any], tensors: Iterable[str]) -> int:
    """How many of them are among the tensors called so; 0 of a family that is not known."""
    inner = _text_config(config)
    pattern = FAMILIES.get(_family(inner))
    if pattern is None:
        return 0
    first = int(inner.get("num_hidden_layers") or 0) if pattern == BEHIND else 0
    numbers = [int(found[1]) for name in tensors if (found := re.match(pattern, name))]
    return max((number - first + 1 for number in numbers), default=0)


def mtp_problem(
    name: str, config: Mapping[str, Any], tensors: Iterable[str] | None
) -> Message | None:
    """Why a model cannot draft by layers of its own; None where it can.

    Args:
        tensors: What its files hold; None where they are not here to be looked at, and the config's
            word is taken.
    """
    inner = _text_config(config)
    declared, family = declared_layers(config), _family(inner)
    allowed = ", ".join(FAMILIES)
    if family not in FAMILIES and declared:
        return message("refusal.mtp_family", target=name, kind=family, allowed=allowed)
    num_there = declared if tensors is None else stored_layers(config, tensors)
    if family not in FAMILIES or not (num_there or declared):
        return message("refusal.mtp_none", target=name, allowed=allowed)
    if not num_there:
        return message("refusal.mtp_not_shipped", target=name, n=declared)
    if (config.get("quantization_config") or inner.get("quantization_config")) is not None:
        return message("refusal.mtp_quantised", target=name)
    return None


def folder_drafts_itself(folder: Path) -> bool:
    """Whether the model of a folder can draft by layers of its own."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    if not isinstance(config, dict):
        return False
    return mtp_problem(folder.name, config, tensor_names(folder)) is None


def tensor_names(folder: Path) -> tuple[str, ...] | None:
    """Names of the tensors in a folder's weight files: those of its index, else those that the
    files begin with. None where there is neither, or it cannot be read."""
    try:
        if (folder / INDEX_FILE).is_file():
            content = json.loads((folder / INDEX_FILE).read_text(encoding="utf-8"))
            return tuple(content["weight_map"])
        names: list[str] = []
        for path in sorted(folder.glob("*.safetensors")):
            with safe_open(path, framework="numpy") as stored:
                names += list(stored.keys())
    except (OSError, ValueError, KeyError, TypeError, SafetensorError):
        return None
    return tuple(names) or None


def _text_config(config: Mapping[str, Any]) -> Mapping[str, Any]:
    inner = config.get("text_config")
    return inner if isinstance(inner, dict) else config


def _family(config: Mapping[str, Any]) -> str:
    kind = str(config.get("model_type"))
    return _TEXT_TYPES.get(kind, kind)
