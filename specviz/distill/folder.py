"""The folder that a fit fills: work in progress first, in the end a model for `from_pretrained`."""

import copy
import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, PreTrainedModel
from transformers.utils.logging import disable_progress_bar

from specviz.errors import RequestError
from specviz.models.catalogue import shipped_folder
from specviz.models.loading import LoadedModel

WORK = "work"
NUM_HASHED = 64
LOADING_KEYS = ("is_local", "local_files_only")


def open_work(folder: Path, plan: dict[str, Any]) -> bool:
    """Make the work folder, or take up the one that is there; return whether it was there.

    Args:
        plan: Everything that decides what the fit comes to, by name.

    Raises:
        RequestError: It holds the work of another fit, or the folder cannot be written.
    """
    work = folder / WORK
    path = work / "plan.json"
    if path.exists():
        known = json.loads(path.read_text())
        if other := [name for name in plan if known.get(name) != plan[name]]:
            raise RequestError(
                f"{work} holds an unfinished fit with other {', '.join(other)}; finish it with the "
                "command that began it, or remove that folder"
            )
        return True
    try:
        work.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(plan, indent=1))
    except OSError as error:
        raise RequestError(f"{folder} cannot be written: {error.strerror}") from error
    return False


def digest_of(model: PreTrainedModel) -> str:
    """A short hash of a few numbers of every weight, by which another model is noticed."""
    found = hashlib.sha1()
    for name, weight in model.state_dict().items():
        some = weight.flatten()[:NUM_HASHED].float().cpu().numpy()
        found.update(f"{name} {tuple(weight.shape)}".encode() + some.tobytes())
    return found.hexdigest()[:16]


def stored_dtype(name: str) -> torch.dtype:
    """The dtype in which the weights of a model are kept on disk, float32 where it does not say."""
    local = Path(name).expanduser()
    source = shipped_folder(name) or (local if local.is_dir() else name)
    config = AutoConfig.from_pretrained(source, trust_remote_code=False)
    dtype = getattr(config.get_text_config(), "dtype", None)
    return dtype if isinstance(dtype, torch.dtype) else torch.float32


def write_model(draft: LoadedModel, dtype: torch.dtype, folder: Path) -> None:
    """Write weights, configs and tokenizer, over what may have been written there before."""
    disable_progress_bar()
    shutil.rmtree(folder, ignore_errors=True)
    stored = copy.deepcopy(draft.model).to(dtype)
    stored.save_pretrained(folder)
    draft.tokenizer.save_pretrained(folder)
    _forget_loading(folder / "tokenizer_config.json")


def _forget_loading(path: Path) -> None:
    """Take out how the tokenizer was loaded here, which is stored with it."""
    settings = json.loads(path.read_text(encoding="utf-8"))
    kept = {key: value for key, value in settings.items() if key not in LOADING_KEYS}
    path.write_text(json.dumps(kept, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def publish(folder: Path, model: Path, *, keeps_work: bool) -> None:
    """Move a whole model out of the work folder; its config last, by which it is found."""
    for file in sorted(model.iterdir(), key=lambda file: file.name == "config.json"):
        file.replace(folder / file.name)
    if not keeps_work:
        shutil.rmtree(folder / WORK)


def leave(folder: Path) -> None:
    """Take away the work of a fit that came to nothing, and the folder if nothing else is in it."""
    shutil.rmtree(folder / WORK)
    if not any(folder.iterdir()):
        folder.rmdir()
