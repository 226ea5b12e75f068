"""The models that ship with specviz, by name."""

from dataclasses import dataclass
from pathlib import Path

from specviz.errors import ModelLoadError

MODELS_FOLDER = Path(__file__).resolve().parents[2] / "assets" / "models"
DEFAULT_TARGET = "specviz-target"
DEFAULT_DRAFT = "specviz-small"


@dataclass(frozen=True, slots=True)
class ShippedModel:
    """One model of the family."""

    name: str
    folder: Path
    role: str
    """`target` or `draft`."""


def shipped_models() -> tuple[ShippedModel, ...]:
    """List the shipped models whose files are there, targets first."""
    found = [
        ShippedModel(f"specviz-{folder.name}", folder, _role(folder.name))
        for folder in sorted(MODELS_FOLDER.iterdir() if MODELS_FOLDER.is_dir() else ())
        if (folder / "config.json").is_file()
    ]
    return tuple(sorted(found, key=lambda model: (model.role != "target", model.name)))


def _role(folder_name: str) -> str:
    return "target" if folder_name.startswith("target") else "draft"


def shipped_folder(name: str) -> Path | None:
    """Folder of a shipped model, or None where `name` is not one of them.

    Raises:
        ModelLoadError: The name is a shipped one but its files are missing.
    """
    for model in shipped_models():
        if model.name == name:
            return model.folder
    if name in (DEFAULT_TARGET, DEFAULT_DRAFT):
        raise ModelLoadError(
            f"the shipped model {name} is missing: its folder in assets/models is not there; "
            "get the repository again, files of assets/models included"
        )
    return None
