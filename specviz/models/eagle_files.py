"""The files of an EAGLE-3 head: where they lie, and their tensors by one set of names.

Four dialects name the same tensors (SafeAILab, SpecForge with SGLang, vllm-project's speculators,
NVIDIA ModelOpt). Here all are called as SpecForge calls them, but with `layers.0` for `midlayer`.
"""

import json
import pickle
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from specviz.errors import ModelLoadError
from specviz.hub_key import HubKey
from specviz.models.config_limits import CONFIG_FILE, size_problem
from specviz.models.hub_catalogue import known_revision
from specviz.models.hub_files import OnProgress, fetch_files, list_or_find
from specviz.models.location import find_folder, one_line
from specviz.texts import message

BIN_FILE = "pytorch_model.bin"
SAFE_FILE = "model.safetensors"
QUANTISER_FILE = "hf_quant_config.json"
HEAD_SMALL_FILES = (CONFIG_FILE, QUANTISER_FILE)
"""What says how a head is to be read."""
PREFIXES = ("model.", "draft_model.", "eagle_module.", "module.")
ALIASES = (
    (r"^midlayer\.", "layers.0."),
    (r"^additional_layers\.(\d+)\.", lambda found: f"layers.{int(found[1]) + 1}."),
    (r"^aux_norm_low\.", "fc_norm.0."),
    (r"^aux_norm_mid\.", "fc_norm.1."),
    (r"^aux_norm_high\.", "fc_norm.2."),
    (r"^draft_id_to_target_id$", "d2t"),
)
IGNORED = re.compile(r"^verifier_|rotary_emb|\.inv_freq$")


@dataclass(frozen=True, slots=True, eq=False)
class HeadFiles:
    """What a folder holds, unjudged."""

    name: str
    config: Mapping[str, Any]
    tensors: Mapping[str, torch.Tensor]
    """By the names of this module."""
    is_quantised: bool


def read_head_files(
    name: str,
    *,
    allow_hub: bool = True,
    on_progress: OnProgress | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> HeadFiles:
    """Read the head called `name`: a folder, or the id of a hub model, which is downloaded.

    Raises:
        ModelLoadError: It is not there, or a file of it cannot be read.
    """
    folder = find_folder(name, allow_hub=allow_hub)
    if folder is None:
        folder = fetch_head(name, known_revision(name), on_progress, should_stop)
    config = read_head_config(name, folder)
    try:
        stored = _read_tensors(name, folder)
    except (OSError, SafetensorError, pickle.UnpicklingError, RuntimeError, ValueError) as error:
        raise _unread(name, one_line(error)) from error
    tensors = {plain_name(key): value for key, value in stored.items()}
    tensors = {key: value for key, value in tensors.items() if not IGNORED.search(key)}
    is_quantised = "quantization_config" in config or (folder / QUANTISER_FILE).exists()
    return HeadFiles(name, config, tensors, is_quantised)


def plain_name(key: str) -> str:
    """Return what a tensor of any dialect is called here.

    Example: `draft_model.midlayer.mlp.up_proj.weight` is `layers.0.mlp.up_proj.weight`.
    """
    while prefix := next((each for each in PREFIXES if key.startswith(each)), None):
        key = key.removeprefix(prefix)
    for pattern, replacement in ALIASES:
        key = re.sub(pattern, replacement, key)
    return key


def head_weight_files(there: Iterable[str]) -> tuple[str, ...]:
    """Name the files of weights among those of a folder: safetensors, else the one pickle."""
    files = tuple(there)
    safe = tuple(sorted(file for file in files if file.endswith(".safetensors")))
    return safe or tuple(file for file in files if file == BIN_FILE)


def fetch_head(
    name: str,
    revision: str = "main",
    on_progress: OnProgress | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    key: HubKey | None = None,
) -> Path:
    """Bring all files of a hub's head here and return their folder.

    Without the hub, what was downloaded before serves if it is complete.

    Raises:
        ModelLoadError: Says what is wrong and what to do.
    """
    listing = list_or_find(name, revision, _has_weights)
    if isinstance(listing, Path):
        return listing
    there = listing.file_bytes
    small = [file for file in HEAD_SMALL_FILES if file in there]
    if CONFIG_FILE not in small:
        raise ModelLoadError(message("refusal.no_config", path=name))
    wanted = (*small, *head_weight_files(there))
    return fetch_files(listing, wanted, on_progress, should_stop, key)


def _has_weights(folder: Path) -> bool:
    return bool(head_weight_files(file.name for file in folder.iterdir()))


def read_head_config(name: str, folder: Path) -> dict[str, Any]:
    """Read the config in the folder of the head called `name`.

    Raises:
        ModelLoadError: There is none, or it cannot be read.
    """
    path = folder / CONFIG_FILE
    if not path.is_file():
        raise ModelLoadError(message("refusal.no_config", path=str(path.parent)))
    if (problem := size_problem(path.stat().st_size)) is not None:
        raise _unread(name, problem)
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise _unread(name, one_line(error)) from error
    if not isinstance(config, dict):
        raise _unread(name, message("refusal.no_object", path=CONFIG_FILE))
    return config


def _read_tensors(name: str, folder: Path) -> dict[str, torch.Tensor]:
    files = sorted(folder.glob("*.safetensors"))
    if files:
        return {key: value for file in files for key, value in load_file(file).items()}
    if not (folder / BIN_FILE).is_file():
        raise ModelLoadError(message("refusal.head_no_weights", head=name))
    # A pickle may hold any program; this reads numbers alone and refuses the rest.
    stored = torch.load(folder / BIN_FILE, map_location="cpu", weights_only=True)
    if not isinstance(stored, dict):
        raise _unread(name, message("refusal.no_object", path=BIN_FILE))
    return {key: value for key, value in stored.items() if isinstance(value, torch.Tensor)}


def _unread(name: str, reason: object) -> ModelLoadError:
    return ModelLoadError(message("refusal.not_loaded", model=name, reason=reason))
