"""Downloads the models that the page opens with, with progress on the terminal."""

from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from specviz.errors import SpecvizError
from specviz.models.chat import folder_has_chat
from specviz.models.free_space import free_memory
from specviz.models.hub_catalogue import best_fit, known_revision, read_catalogue
from specviz.models.hub_files import fetch_model
from specviz.models.location import find_folder
from specviz.models.mtp_form import folder_drafts_itself
from specviz.ui.pair_option import PairOption, hub_option


def download_named(target: str, draft: str | None, console: Console | None = None) -> Path | None:
    """Download what of a named pair lies on the hub; gives the target's folder if it does.

    Raises:
        ModelLoadError: A name is none, or the model cannot be had.
    """
    console = console or Console(stderr=True)
    folders = {
        name: _download(name, console)
        for name in (target, draft)
        if name is not None and find_folder(name) is None
    }
    return folders.get(target)


def opening_pair(
    device: str,
    dtype: str,
    console: Console | None = None,
    free: Callable[[str], int | None] = free_memory,
) -> PairOption | None:
    """Download the best pair of the catalogue that fits a device's memory, with its progress on the
    terminal; None where the page opens with the shipped family.

    Only CUDA devices open with a hub pair. What keeps it from being downloaded is printed as one
    sentence.
    """
    if not device.startswith("cuda"):
        return None
    console = console or Console(stderr=True)
    try:
        free_bytes = free(device)
        pair = None if free_bytes is None else best_fit(free_bytes, dtype=dtype)
        if pair is None:
            return None
        folder = _download(pair.target, console)
        if pair.draft is not None:
            _download(pair.draft, console)
    except SpecvizError as error:
        console.print(f"{error}. The page opens with the shipped models.", markup=False)
        return None
    num_parameters = read_catalogue().models[pair.target].num_parameters
    has_chat = folder_has_chat(folder)
    return hub_option(
        pair.target,
        pair.draft,
        pair.exit_layers,
        num_parameters,
        has_chat=has_chat,
        has_mtp=folder_drafts_itself(folder),
    )


def _download(name: str, console: Console) -> Path:
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, TransferSpeedColumn(), console=console) as progress:
        task = progress.add_task(name, total=None)

        def advance(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)

        return fetch_model(name, known_revision(name), advance)
