"""From a name, folder or hub id to a loaded model and tokenizer; every failure becomes one
sentence."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from huggingface_hub.errors import HFValidationError
from huggingface_hub.utils._validators import validate_repo_id
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel

from specviz.errors import ModelLoadError
from specviz.models.catalogue import shipped_folder

DTYPES = {"float32": torch.float32, "float64": torch.float64, "bfloat16": torch.bfloat16}
DTYPES["float16"] = torch.float16


@dataclass(frozen=True, slots=True, eq=False)
class LoadedModel:
    """A model ready to run, and the tokenizer that belongs to it."""

    name: str
    model: PreTrainedModel
    tokenizer: Any
    eos_ids: frozenset[int]


class ModelPool:
    """Loads each model once for one device and dtype and lends it to many lanes; weights are never
    written."""

    def __init__(
        self, device: str = "cpu", dtype: str = "float32", *, allow_hub: bool = True
    ) -> None:
        if dtype not in DTYPES:
            raise ModelLoadError(f"dtype must be one of {', '.join(sorted(DTYPES))}, got {dtype}")
        self.device = _checked_device(device)
        self.dtype = dtype
        self._allow_hub = allow_hub
        self._loaded: dict[str, LoadedModel] = {}

    def has(self, name: str) -> bool:
        """Whether the model called `name` is loaded, so that `get` returns at once."""
        return name in self._loaded

    def get(self, name: str) -> LoadedModel:
        """Return the model called `name`, loading it at the first call.

        Raises:
            ModelLoadError: It cannot be found or loaded; models loaded before stay as they are.
        """
        if name not in self._loaded:
            self._loaded[name] = self._load(name)
        return self._loaded[name]

    def _load(self, name: str) -> LoadedModel:
        source, is_local = self._locate(name)
        # safetensors only and no remote code: a model is data, never a program.
        safe: dict[str, Any] = {"local_files_only": is_local, "trust_remote_code": False}
        try:
            tokenizer = AutoTokenizer.from_pretrained(source, **safe)
            model, report = AutoModelForCausalLM.from_pretrained(
                source,
                dtype=DTYPES[self.dtype],
                use_safetensors=True,
                output_loading_info=True,
                **safe,
            )
            model = model.to(self.device).eval().requires_grad_(False)
        # What a file of unknown origin makes two libraries raise has no end: ZeroDivisionError for
        # a config without heads, an error class of its own for a number that is a text, …
        except Exception as error:
            raise ModelLoadError(f"{name} cannot be loaded: {_one_line(error)}") from error
        if missing := sorted(report["missing_keys"]):
            raise ModelLoadError(
                f"{name} cannot be loaded: its files lack {missing[0]}"
                + (f" and {len(missing) - 1} more tensors" if missing[1:] else "")
                + "; get them again"
            )
        return LoadedModel(name, model, tokenizer, _eos_ids(model, tokenizer))

    def _locate(self, name: str) -> tuple[str, bool]:
        folder = shipped_folder(name)
        if folder is not None:
            return str(folder), True
        path = Path(name).expanduser()
        if path.is_dir():
            _check_folder(path)
            return str(path), True
        if not self._allow_hub:
            raise ModelLoadError(
                f"{name!r} is not a shipped model or a local folder, and hub models are "
                "switched off"
            )
        try:
            validate_repo_id(name)
        except HFValidationError as error:
            raise ModelLoadError(
                f"{name!r} is neither a shipped model, nor a local folder, nor a hub id "
                "of the form owner/name"
            ) from error
        return name, False


def _check_folder(folder: Path) -> None:
    config_file = folder / "config.json"
    if not config_file.is_file():
        raise ModelLoadError(f"{folder} holds no config.json, so it is no model folder")
    try:
        config = json.loads(config_file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ModelLoadError(f"{config_file} is not valid JSON: {error}") from error
    if not isinstance(config, dict):
        raise ModelLoadError(f"{config_file} holds no JSON object, so it is no model config")
    if "auto_map" in config:
        raise ModelLoadError(f"{folder} asks for code of its own (auto_map); that is never run")


def _checked_device(device: str) -> torch.device:
    try:
        found = torch.device(device)
        torch.empty(1, device=found)
    except (RuntimeError, AssertionError) as error:
        raise ModelLoadError(
            f"device {device!r} cannot be used here: {_one_line(error)}; try --device cpu"
        ) from error
    return found


def _eos_ids(model: PreTrainedModel, tokenizer: Any) -> frozenset[int]:
    """All ids that end a text, from the generation config, else the config, else the tokenizer."""
    for holder in (model.generation_config, model.config, tokenizer):
        ids = getattr(holder, "eos_token_id", None)
        if ids is not None:
            return frozenset(ids if isinstance(ids, list | tuple) else (ids,))
    return frozenset()


def _one_line(error: BaseException) -> str:
    return (" ".join(str(error).split()) or type(error).__name__)[:300]
