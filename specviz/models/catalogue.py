"""The models that specviz knows by name: those that ship with it, drafts and EAGLE-3 heads fitted
here."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

from specviz.errors import ModelLoadError
from specviz.models.description import describe_model
from specviz.models.head_folders import is_head_folder, target_of_head
from specviz.texts import message

_ROOT = Path(__file__).resolve().parents[2]
MODELS_FOLDER = _ROOT / "assets" / "models"
FITTED_FOLDER = _ROOT / "fitted"
SHIPPED_PREFIX = "specviz-"
FITTED_PREFIX = "fitted/"
FOLDER_VARIABLE = "SPECVIZ_MODELS"
"""Environment variable that may name one more folder of fitted drafts."""
DEFAULT_TARGET = "specviz-target"
DEFAULT_DRAFT = "specviz-small"


@dataclass(frozen=True, slots=True)
class ShippedModel:
    """One model that is known by name."""

    name: str
    folder: Path
    role: str
    """`target` or `draft`."""


@dataclass(frozen=True, slots=True)
class KnownHead:
    """One EAGLE-3 head that is known by name."""

    name: str
    folder: Path
    target: str | None
    """The target that it was trained for; None where its config does not say."""


def shipped_models() -> tuple[ShippedModel, ...]:
    """List the shipped models whose files are there, targets first."""
    found = [
        ShippedModel(f"{SHIPPED_PREFIX}{folder.name}", folder, _role(folder.name))
        for folder in _model_folders(MODELS_FOLDER)
        if not is_head_folder(folder)
    ]
    return tuple(sorted(found, key=lambda model: (model.role != "target", model.name)))


def known_heads() -> tuple[KnownHead, ...]:
    """List the EAGLE-3 heads that ship, and those that were trained here, by their names."""
    found = {
        name: KnownHead(name, folder, target_of_head(folder))
        for prefix, place in (
            *((FITTED_PREFIX, place) for place in reversed(fitted_places())),
            (SHIPPED_PREFIX, MODELS_FOLDER),
        )
        for folder in _model_folders(place)
        if is_head_folder(folder)
        for name in [f"{prefix}{folder.name}"]
    }
    return tuple(found[name] for name in sorted(found, key=lambda x: (is_fitted(x), x)))


def fitted_models() -> tuple[ShippedModel, ...]:
    """List the fitted drafts whose files can be read, by the names of their folders.

    They lie in `fitted/` beside `assets/`, or in the folder that SPECVIZ_MODELS names.
    """
    found = {
        folder.name: ShippedModel(f"{FITTED_PREFIX}{folder.name}", folder, "draft")
        for place in reversed(fitted_places())
        for folder in _model_folders(place)
        if not is_head_folder(folder) and _can_be_read(folder)
    }
    return tuple(found[name] for name in sorted(found))


def listed_models() -> tuple[ShippedModel, ...]:
    """List the shipped models, and the fitted drafts that have a shipped target's vocabulary."""
    shipped, fitted = shipped_models(), fitted_models()
    if not fitted:
        return shipped
    known = [_vocabulary(model.folder) for model in shipped if model.role == "target"]
    return (*shipped, *(model for model in fitted if _vocabulary(model.folder) in known))


def fitted_places() -> tuple[Path, ...]:
    """The folders in which fitted drafts are looked for; the first wins where names are equal."""
    named = os.environ.get(FOLDER_VARIABLE)
    return (FITTED_FOLDER, Path(named).expanduser()) if named else (FITTED_FOLDER,)


def is_fitted(name: str) -> bool:
    """Whether a name is that of a fitted draft, known or not."""
    return name.startswith(FITTED_PREFIX)


def shipped_folder(name: str) -> Path | None:
    """Folder of a shipped model, a fitted draft or a head of either kind, or None where `name` is
    none of them.

    Raises:
        ModelLoadError: The name is that of one but its files are missing.
    """
    if name.startswith(SHIPPED_PREFIX):
        for folder in _model_folders(MODELS_FOLDER):
            if f"{SHIPPED_PREFIX}{folder.name}" == name:
                return folder
    if name in (DEFAULT_TARGET, DEFAULT_DRAFT):
        raise ModelLoadError(message("refusal.shipped_missing", model=name))
    if is_fitted(name):
        return _fitted_folder(name)
    return None


def listed_name(name: str) -> str | None:
    """The name by which a model is known here, for that name or a path to its folder; else None."""
    path = Path(name).expanduser().resolve()
    folders = {each.name: each.folder for each in (*shipped_models(), *fitted_models())}
    folders |= {head.name: head.folder for head in known_heads()}
    found = (own for own, folder in folders.items() if name == own or path == folder.resolve())
    return next(found, None)


def _fitted_folder(name: str) -> Path:
    """Also a broken folder, so that loading it says what is wrong with it."""
    for place in fitted_places():
        for folder in _model_folders(place):
            if f"{FITTED_PREFIX}{folder.name}" == name:
                return folder
    there = ", ".join(model.name for model in fitted_models())
    raise ModelLoadError(
        message("refusal.no_fitted_draft", draft=name, allowed=there)
        if there
        else message("refusal.no_fitted_drafts", draft=name)
    )


def _model_folders(place: Path) -> list[Path]:
    try:
        return [folder for folder in sorted(place.iterdir()) if (folder / "config.json").is_file()]
    except OSError:
        return []


def _can_be_read(folder: Path) -> bool:
    try:
        return describe_model(folder.name, "draft", folder).num_parameters > 0
    except ModelLoadError:
        return False


def has_other_vocabulary(target: Path, draft: Path) -> bool:
    """Whether the tokenizers of two folders have different pieces or ids, as far as their files say
    it; races compare the tokenizers themselves."""
    ours, theirs = _vocabulary(target), _vocabulary(draft)
    return isinstance(ours, dict) and isinstance(theirs, dict) and ours != theirs


def _vocabulary(folder: Path) -> object:
    """The pieces and ids of the tokenizer's file; the folder itself where it cannot be read, which
    equals nobody's."""
    try:
        return json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    except (OSError, ValueError, KeyError, TypeError):
        return folder


def _role(folder_name: str) -> str:
    return "target" if folder_name.startswith("target") else "draft"
