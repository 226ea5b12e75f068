"""Where the files of a model lie that is called by a name: in a folder here, or on the hub."""

import json
from pathlib import Path

from huggingface_hub.errors import HFValidationError
from huggingface_hub.utils._validators import validate_repo_id

from specviz.errors import ModelLoadError
from specviz.models.catalogue import shipped_folder
from specviz.texts import message


def find_folder(name: str, *, allow_hub: bool = True) -> Path | None:
    """Find the folder of a shipped model, a fitted draft or a path; None for the id of a hub model.

    Raises:
        ModelLoadError: The name can be nothing of this, or the folder is no model folder.
    """
    folder = shipped_folder(name)
    if folder is not None:
        return folder
    path = Path(name).expanduser()
    if path.is_dir():
        check_folder(path)
        return path
    if not allow_hub:
        raise ModelLoadError(message("refusal.unknown_local_model", model=repr(name)))
    try:
        validate_repo_id(name)
    except HFValidationError as error:
        raise ModelLoadError(message("refusal.unknown_model", model=repr(name))) from error
    return None


def check_folder(folder: Path) -> None:
    """Refuse a folder without a config that can be read, or whose config asks for code.

    Raises:
        ModelLoadError: Says which.
    """
    config_file = folder / "config.json"
    if not config_file.is_file():
        raise ModelLoadError(message("refusal.no_config", path=str(folder)))
    try:
        config = json.loads(config_file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ModelLoadError(
            message("refusal.not_json", path=str(config_file), reason=str(error))
        ) from error
    if not isinstance(config, dict):
        raise ModelLoadError(message("refusal.no_object", path=str(config_file)))
    if "auto_map" in config:
        raise ModelLoadError(message("refusal.own_code", path=str(folder)))


def one_line(error: BaseException) -> str:
    """What an error of another library says, short enough to stand inside a sentence of ours."""
    return (" ".join(str(error).split()) or type(error).__name__)[:300]
