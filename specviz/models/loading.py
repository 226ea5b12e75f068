"""From a name, folder or hub id to a loaded model and tokenizer; every failure becomes one
sentence."""

from dataclasses import dataclass
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel

from specviz.errors import ModelLoadError
from specviz.models.location import find_folder, one_line
from specviz.texts import message

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
            raise ModelLoadError(
                message(
                    "refusal.choice", name="dtype", allowed=", ".join(sorted(DTYPES)), found=dtype
                )
            )
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
        folder = find_folder(name, allow_hub=self._allow_hub)
        source, is_local = (name, False) if folder is None else (str(folder), True)
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
            raise ModelLoadError(
                message("refusal.not_loaded", model=name, reason=one_line(error))
            ) from error
        if missing := sorted(report["missing_keys"]):
            raise ModelLoadError(
                message("refusal.tensors_lack", model=name, tensor=missing[0], n=len(missing))
            )
        return LoadedModel(name, model, tokenizer, _eos_ids(model, tokenizer))


def _checked_device(device: str) -> torch.device:
    try:
        found = torch.device(device)
        torch.empty(1, device=found)
    except (RuntimeError, AssertionError) as error:
        raise ModelLoadError(
            message("refusal.device", device=repr(device), reason=one_line(error))
        ) from error
    return found


def _eos_ids(model: PreTrainedModel, tokenizer: Any) -> frozenset[int]:
    """All ids that end a text, from the generation config, else the config, else the tokenizer."""
    for holder in (model.generation_config, model.config, tokenizer):
        ids = getattr(holder, "eos_token_id", None)
        if ids is not None:
            return frozenset(ids if isinstance(ids, list | tuple) else (ids,))
    return frozenset()
