"""Describes a model folder without loading the model: shape, size, and what was measured of it.

Reads the config, the headers of the weight files, and the `measures.json` that the export of the
family leaves there (held-out loss and agreement with the target).
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from specviz.errors import ModelLoadError
from specviz.texts import message

MEASURES_FILE = "measures.json"
TABLES = ("d2t", "t2d")
"""What the files of EAGLE-3 heads hold beside weights: which ids they draft."""


@dataclass(frozen=True, slots=True)
class Measures:
    """What training measured on text that the model never saw, by source of the text."""

    held_out_loss: Mapping[str, float] = field(default_factory=dict)
    """Nats a token."""
    exit_loss: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """The same of the layers that a target may exit after, by their number."""
    alpha: Mapping[str, float] = field(default_factory=dict)
    """Of a draft: mean Σ min(p, q) on what the target writes after held-out prompts."""


@dataclass(frozen=True, slots=True)
class ModelDescription:
    """One model folder; None where its config does not say."""

    name: str
    role: str
    """`target`, `draft` or `head`."""
    num_layers: int | None
    hidden_size: int | None
    num_parameters: int
    folder_bytes: int
    context: int | None
    exit_layers: tuple[int, ...]
    measures: Measures


def describe_model(name: str, role: str, folder: Path) -> ModelDescription:
    """Describe one folder.

    Raises:
        ModelLoadError: A file of it cannot be read.
    """
    config = _read_json(folder / "config.json")
    return ModelDescription(
        name=name,
        role=role,
        num_layers=config.get("num_hidden_layers"),
        hidden_size=config.get("hidden_size"),
        num_parameters=sum(_num_parameters(path) for path in folder.glob("*.safetensors")),
        folder_bytes=sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()),
        context=config.get("max_position_embeddings"),
        exit_layers=tuple(config.get("exit_layers", ())),
        measures=_read_measures(folder / MEASURES_FILE),
    )


def _read_measures(path: Path) -> Measures:
    if not path.exists():
        return Measures()
    try:
        return Measures(**_read_json(path))
    except TypeError as error:
        raise ModelLoadError(
            message("refusal.no_measure", path=str(path), reason=str(error))
        ) from error


def _num_parameters(path: Path) -> int:
    try:
        with safe_open(path, framework="numpy") as stored:
            names = [name for name in list(stored.keys()) if name not in TABLES]
            shapes = [stored.get_slice(name).get_shape() for name in names]
    except (OSError, SafetensorError) as error:
        raise ModelLoadError(
            message("refusal.unreadable", path=str(path), reason=str(error))
        ) from error
    return sum(map(math.prod, shapes))


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelLoadError(
            message("refusal.unreadable", path=str(path), reason=str(error))
        ) from error
    if not isinstance(content, dict):
        raise ModelLoadError(message("refusal.no_object", path=str(path)))
    return content
