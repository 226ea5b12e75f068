"""Where the files of a model lie that is called by a name: in a folder here, or on the hub."""

from pathlib import Path

from huggingface_hub.errors import HFValidationError
from huggingface_hub.utils._validators import validate_repo_id

from specviz.errors import ModelLoadError
from specviz.models.catalogue import shipped_folder
from specviz.texts import message


def find_folder(name: str, *, allow_hub: bool = True) -> Path | None:
    """Find the folder of a shipped model, a fitted draft or a path; None for the id of a hub model.

    Raises:
        ModelLoadError: The name can be nothing of this.
    """
    folder = shipped_folder(name)
    if folder is not None:
        return folder
    path = Path(name).expanduser()
    if path.is_dir():
        return path
    if not allow_hub:
        raise ModelLoadError(message("refusal.unknown_local_model", model=repr(name)))
    try:
        validate_repo_id(name)
    except HFValidationError as error:
        raise ModelLoadError(message("refusal.unknown_model", model=repr(name))) from error
    # Old ids without an owner, a line's end (which the check lets pass), and files that are here.
    if name.count("/") != 1 or name != name.strip() or path.exists():
        raise ModelLoadError(message("refusal.unknown_model", model=repr(name)))
    return None


def one_line(error: BaseException) -> str:
    """What an error of another library says, short enough to stand inside a sentence of ours."""
    return (" ".join(str(error).split()) or type(error).__name__)[:300]
