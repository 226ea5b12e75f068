"""From a name, folder or hub id to a loaded model and tokenizer; every failure becomes one
sentence.

A hub model is downloaded first (`hub_files.py`) and then loaded as any other folder.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from threading import RLock
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel

from specviz.errors import FullMemoryError, ModelLoadError
from specviz.models.eagle_files import read_head_files
from specviz.models.eagle_head import LoadedHead
from specviz.models.free_space import gigabytes
from specviz.models.full_memory import free_gigabytes, is_full_memory, release_memory
from specviz.models.hub_catalogue import known_revision
from specviz.models.hub_files import OnProgress, fetch_model
from specviz.models.location import find_folder, one_line
from specviz.models.placement import place_model
from specviz.models.precision import Precision
from specviz.models.shapes import SAFE, read_shapes
from specviz.texts import message

MAX_TARGETS = 2
"""Targets whose models, drafts included, stay in memory at once."""


@dataclass(frozen=True, slots=True, eq=False)
class LoadedModel:
    """A model ready to run, and the tokenizer that belongs to it."""

    name: str
    model: PreTrainedModel
    tokenizer: Any
    eos_ids: frozenset[int]
    built: dict[str, Any] = field(default_factory=dict)
    """What was made of its files for lanes that ask for more, by what it is."""


class ModelPool:
    """Loads each model once for one device and dtype and lends it to many lanes; weights are never
    written. Models of the targets that were held least recently are let go."""

    def __init__(
        self,
        device: str = "cpu",
        dtype: str = "float32",
        *,
        quantize: str | None = None,
        allow_hub: bool = True,
    ) -> None:
        """Load models for one device.

        Args:
            quantize: `8bit` or `4bit` for weights that are made smaller while they are read; None
                for weights of the dtype.
            allow_hub: Whether names may be those of hub models.

        Raises:
            ModelLoadError: There is no such device or dtype here, or it cannot quantise.
        """
        self.device = _checked_device(device)
        self._precision = Precision.checked(dtype, quantize, str(self.device))
        self._allow_hub = allow_hub
        self._loaded: dict[str, LoadedModel] = {}
        self._heads: dict[str, LoadedHead] = {}
        self._held: dict[str, set[str]] = {}
        self._lock = RLock()

    @property
    def dtype(self) -> str:
        """What the weights are held in and computed in, as traces say it."""
        return self._precision.label

    def has(self, name: str) -> bool:
        """Whether the model called `name` is loaded, so that `get` returns at once."""
        return name in self._loaded

    def get(
        self,
        name: str,
        on_progress: OnProgress | None = None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> LoadedModel:
        """Return the model called `name`, loading it at the first call.

        Args:
            on_progress: Is told how far the download of a hub model is, in bytes.
            should_stop: Is asked during a download whether to give it up.

        Raises:
            ModelLoadError: It cannot be found or loaded; models loaded before stay as they are.
        """
        loaded = self._loaded.get(name)
        if loaded is not None:  # Nobody waits here for what another downloads.
            return loaded
        with self._lock:
            if name not in self._loaded:
                self._loaded[name] = self._load(name, on_progress, should_stop)
            return self._loaded[name]

    def has_head(self, name: str) -> bool:
        """Whether the files of the EAGLE-3 head called `name` are read."""
        return name in self._heads

    def get_head(self, name: str, should_stop: Callable[[], bool] = lambda: False) -> LoadedHead:
        """Return the EAGLE-3 head called `name`, reading its files at the first call.

        Raises:
            ModelLoadError: They cannot be found or read, or `should_stop` ended their download.
        """
        with self._lock:
            if name not in self._heads:
                files = read_head_files(name, allow_hub=self._allow_hub, should_stop=should_stop)
                self._heads[name] = LoadedHead(files)
            return self._heads[name]

    def hold(self, target: str, drafts: Iterable[str] = ()) -> None:
        """Note what a race is about to use, and let go of what only older targets used.

        A model that is let go lives on where somebody still runs it, and is loaded again when it is
        asked for.
        """
        with self._lock:
            self._held[target] = self._held.pop(target, set()) | {target, *drafts}
            oldest = list(self._held)[:-MAX_TARGETS]
            let_go = {name for old in oldest for name in self._held.pop(old)}
            for names in self._held.values():
                let_go -= names
            dropped = [self._loaded.pop(name) for name in let_go if name in self._loaded]
            for name in let_go:
                self._heads.pop(name, None)
        if dropped:
            dropped.clear()
            release_memory(self.device)

    def let_go(self, names: Iterable[str]) -> None:
        """Let go of models that a race has asked for and cannot use, since others did not fit."""
        names = set(names)
        with self._lock:
            for target in [target for target in self._held if target in names]:
                del self._held[target]
            for held in self._held.values():
                held -= names
            for name in names:
                self._loaded.pop(name, None)
                self._heads.pop(name, None)
        release_memory(self.device)

    def _load(
        self, name: str, on_progress: OnProgress | None, should_stop: Callable[[], bool]
    ) -> LoadedModel:
        folder = find_folder(name, allow_hub=self._allow_hub)
        if folder is None:
            folder = fetch_model(name, known_revision(name), on_progress, should_stop)
        try:
            return self._load_folder(name, folder)
        # What a file of unknown origin makes two libraries raise has no end.
        except Exception as error:
            # The frames that failed hold what was read so far, which may be most of the memory.
            release_memory(self.device, error)
            if isinstance(error, ModelLoadError):
                raise
            if is_full_memory(error):
                raise self._full_memory(name, folder) from error
            raise ModelLoadError(
                message("refusal.not_loaded", model=name, reason=one_line(error))
            ) from error

    def _load_folder(self, name: str, folder: Path) -> LoadedModel:
        shapes = read_shapes(name, folder)
        needed = self._weights_bytes(shapes, folder)
        placement = place_model(name, needed, self._precision, self.device)
        tokenizer = AutoTokenizer.from_pretrained(folder, **SAFE)
        model, report = AutoModelForCausalLM.from_pretrained(
            folder,
            use_safetensors=True,
            output_loading_info=True,
            **SAFE,
            **self._precision.loading_options(),
            **placement,
        )
        if missing := sorted(report["missing_keys"]):
            raise ModelLoadError(
                message("refusal.tensors_lack", model=name, tensor=missing[0], n=len(missing))
            )
        if not placement:
            model = model.to(self.device)
        model = model.eval().requires_grad_(False)
        self._precision.check_runs(name, model)
        return LoadedModel(name, model, tokenizer, _eos_ids(model, tokenizer))

    def _weights_bytes(self, shapes: PreTrainedModel, folder: Path) -> int:
        """Bytes of the weights; of those whose files are quantised already, what the files take."""
        if getattr(shapes.config, "quantization_config", None) is not None:
            return sum(file.stat().st_size for file in folder.glob("*.safetensors"))
        return self._precision.weights_bytes(shapes)

    def _full_memory(self, name: str, folder: Path) -> FullMemoryError:
        """What is said of a model whose reading filled the memory."""
        needed = self._weights_bytes(read_shapes(name, folder), folder)
        return FullMemoryError(
            message(
                "refusal.memory_ran_out",
                model=name,
                needed=gigabytes(needed),
                dtype=self.dtype,
                device=str(self.device),
                free=free_gigabytes(self.device),
            )
        )


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
