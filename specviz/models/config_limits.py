"""What a model's config may say: it is a stranger's text, read before anything is built from it."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from transformers import CONFIG_MAPPING

from specviz.errors import ModelLoadError
from specviz.texts import Message, message

CONFIG_FILE = "config.json"
MAX_CONFIG_BYTES = 64_000
MAX_COUNT = 1024
"""Layers or experts of one kind: what a config asks for is built, if only as shapes."""
_COUNTED = re.compile(r"(layers?|blocks|experts)$|^depth$")
_CODE_KEY = "_implementation"
"""Keys that end so name an implementation, which may be a program of the hub."""


def check_config(name: str, folder: Path) -> None:
    """Refuse a folder without a config that can be read, or whose config asks for code or for more
    than is built.

    Raises:
        ModelLoadError: Says which, of the model called `name`.
    """
    if not (folder / CONFIG_FILE).is_file():
        raise ModelLoadError(message("refusal.no_config", path=str(folder)))
    problem = _problem(folder / CONFIG_FILE)
    if problem is not None:
        raise ModelLoadError(message("refusal.not_loaded", model=name, reason=problem))


def size_problem(num_bytes: int) -> Message | None:
    """What is wrong with a config of this size; None where nothing is."""
    if num_bytes <= MAX_CONFIG_BYTES:
        return None
    return message(
        "refusal.config_too_big", found=-(-num_bytes // 1000), allowed=MAX_CONFIG_BYTES // 1000
    )


def _problem(file: Path) -> Message | None:
    if (too_big := size_problem(file.stat().st_size)) is not None:
        return too_big
    try:
        config = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        return message("refusal.not_json", path=CONFIG_FILE, reason=str(error))
    if not isinstance(config, dict):
        return message("refusal.no_object", path=CONFIG_FILE)
    for key, value in _entries(config):
        if key == "auto_map":
            return message("refusal.own_code", path=CONFIG_FILE)
        if key.endswith(_CODE_KEY) and value is not None:
            return message("refusal.config_names_code", key=key)
        if _COUNTED.search(key) and isinstance(value, int | float) and value > MAX_COUNT:
            return message("refusal.config_count", key=key, found=value, allowed=MAX_COUNT)
    kind = config.get("model_type")
    if not isinstance(kind, str) or kind not in CONFIG_MAPPING:
        return message("refusal.config_unknown", kind=repr(kind)[:100])
    return None


def _entries(content: object) -> Iterator[tuple[str, object]]:
    """Every key of an object and of those inside it, with its value."""
    if isinstance(content, dict):
        for key, value in content.items():
            yield key, value
            yield from _entries(value)
    elif isinstance(content, list):
        for value in content:
            yield from _entries(value)
