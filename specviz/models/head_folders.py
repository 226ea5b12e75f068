"""Which folders hold EAGLE-3 heads, and for which target: read from their configs alone.

A head lies beside models and has a `config.json` as they have, so that both must be told apart
before anything is loaded. The target stands where vllm-project's speculators write it, or under a
key that this package writes into the flat configs of the other dialects, which have no place for
it.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from specviz.models.eagle_form import TARGET_KEY


def is_head_folder(folder: Path) -> bool:
    """Whether the config in a folder is that of an EAGLE-3 head of any dialect."""
    config = read_head_config(folder)
    named = [config.get("speculators_model_type"), *_listed(config.get("architectures"))]
    if any("eagle" in str(name).lower() for name in named if name):
        return True
    # SafeAILab's heads call themselves a Llama; no model has a draft vocabulary.
    return "draft_vocab_size" in config or "eagle_config" in config


def target_of_head(folder: Path) -> str | None:
    """Name of the target that a head was trained for; None where its config does not say."""
    config = read_head_config(folder)
    found = config.get(TARGET_KEY)
    speculators = config.get("speculators_config")
    verifier = speculators.get("verifier") if isinstance(speculators, dict) else None
    if found is None and isinstance(verifier, dict):
        found = verifier.get("name_or_path")
    return found if isinstance(found, str) and found else None


def read_head_config(folder: Path) -> Mapping[str, Any]:
    """The config of a folder; an empty one where it cannot be read, which loading it will say."""
    try:
        content = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []
