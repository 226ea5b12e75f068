"""Files of hub models: what a repository holds, and how those that are needed come here.

Every request has a time limit, files go into the hub library's own cache, and what is complete
there stays when a download ends early: the next one goes on with the rest. The file that was on its
way begins anew, since the library throws its part away.
"""

import fnmatch
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from huggingface_hub import HfApi, constants, hf_hub_download, try_to_load_from_cache
from huggingface_hub.utils.tqdm import tqdm

from specviz.errors import ModelLoadError
from specviz.hub_key import HubKey, token_of
from specviz.models.config_limits import CONFIG_FILE, check_config, size_problem
from specviz.models.free_space import free_disk, gigabytes
from specviz.models.hub_problems import OUT_OF_REACH, hub_problem
from specviz.texts import message

OnProgress = Callable[[int, int], None]
"""Is told the bytes that are here and the bytes that are wanted."""
ANSWER_SECONDS = 5.0
"""How long the hub may take to say what a repository holds."""
INDEX_FILE = "model.safetensors.index.json"
CONFIG_FILES = (CONFIG_FILE, "generation_config.json")
TOKENIZER_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "tokenizer.model",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "vocab.txt",
    "merges.txt",
    "chat_template.jinja",
)
MAX_SMALL_BYTES = 10**8
"""Of a file that describes a model: those of the largest vocabularies take a third of it."""
WEIGHT_FILES = (
    "model.safetensors",
    "model-*.safetensors",
    "model.safetensors-*.safetensors",
    "*mtp*.safetensors",
    INDEX_FILE,
)
"""Some repositories keep the layers for multi-token prediction in a file of their own."""


@dataclass(frozen=True, slots=True)
class HubListing:
    """What one revision of a repository holds."""

    name: str
    revision: str
    commit: str
    """What the revision is at this moment."""
    file_bytes: Mapping[str, int]
    """Sizes of the files of its top folder."""
    is_gated: bool

    @property
    def small_files(self) -> tuple[str, ...]:
        """Files that describe the model and its tokenizer."""
        return tuple(x for x in self.file_bytes if x in CONFIG_FILES + TOKENIZER_FILES)

    @property
    def weight_files(self) -> tuple[str, ...]:
        """The weights as safetensors, and their index."""
        return tuple(
            name
            for name in self.file_bytes
            if any(fnmatch.fnmatchcase(name, pattern) for pattern in WEIGHT_FILES)
        )

    def missing_bytes(self) -> int:
        """Bytes that loading the model would have to download."""
        return sum(
            self.file_bytes[name]
            for name in self.small_files + self.weight_files
            if self.cached_file(name) is None
        )

    def cached_file(self, file_name: str) -> str | None:
        """Path of a file that was downloaded before; None where it was not."""
        found = try_to_load_from_cache(self.name, file_name, revision=self.commit)
        return found if isinstance(found, str) else None


def list_model(name: str, revision: str = "main") -> HubListing:
    """Ask the hub what a model's repository holds.

    Raises:
        ModelLoadError: It is not there, must not be read, or the hub cannot be reached in time.
    """
    try:
        info = HfApi().model_info(
            name, revision=revision, files_metadata=True, timeout=ANSWER_SECONDS
        )
    # The hub's library lets errors of the HTTP library through, and of its JSON.
    except Exception as error:
        raise ModelLoadError(hub_problem(name, error, revision)) from error
    sizes = {file.rfilename: file.size or 0 for file in info.siblings or ()}
    return HubListing(
        name=name,
        revision=revision,
        commit=info.sha or revision,
        file_bytes={name: size for name, size in sizes.items() if "/" not in name},
        is_gated=bool(info.gated),
    )


def fetch_files(
    listing: HubListing,
    names: Iterable[str],
    on_progress: OnProgress | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    key: HubKey | None = None,
) -> Path:
    """Bring files of a repository here and return their folder.

    A visitor's key opens what the hub lets them in to; without one the host asks as itself.

    Raises:
        ModelLoadError: A file is too large for what it is, or cannot be had, the disk has no room,
            or `should_stop` said so; it is asked whenever some megabytes have come.
    """
    wanted = tuple(names)
    _check_small(listing, wanted)
    missing = [name for name in wanted if listing.cached_file(name) is None]
    _check_disk(listing, missing)
    total = sum(listing.file_bytes[name] for name in wanted)
    num_done = total - sum(listing.file_bytes[name] for name in missing)

    def add(num_bytes: int) -> None:
        nonlocal num_done
        num_done += num_bytes
        if should_stop():
            raise ModelLoadError(message("refusal.hub_stopped", model=listing.name))
        if on_progress is not None:
            on_progress(min(num_done, total), total)

    add(0)
    folder = None
    for name in wanted:
        folder = _fetch(listing, name, add, key)
    if folder is None:
        raise ModelLoadError(message("refusal.no_config", path=listing.name))
    if on_progress is not None:
        on_progress(total, total)
    return folder


def list_or_find(
    name: str, revision: str, is_complete: Callable[[Path], bool]
) -> HubListing | Path:
    """List the files of a model; without the hub, give the folder of what was downloaded before,
    if that is complete.

    Raises:
        ModelLoadError: Says what is wrong and what to do.
    """
    try:
        return list_model(name, revision)
    except ModelLoadError as error:
        config = try_to_load_from_cache(name, CONFIG_FILE, revision=revision)
        is_out_of_reach = isinstance(error.text, dict) and error.text["id"] in OUT_OF_REACH
        if not is_out_of_reach or not isinstance(config, str):
            raise
        folder = Path(config).parent
        if not is_complete(folder):
            raise
        return folder


def fetch_model(
    name: str,
    revision: str = "main",
    on_progress: OnProgress | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    key: HubKey | None = None,
) -> Path:
    """Bring all that loading a hub model needs here and return its folder.

    The small files come first, so that a config that is refused costs no weights. Without the hub,
    what was downloaded before serves if it is complete.

    Raises:
        ModelLoadError: Says what is wrong and what to do.
    """
    listing = list_or_find(name, revision, _has_all_weights)
    if isinstance(listing, Path):
        return listing
    if not any(file.endswith(".safetensors") for file in listing.weight_files):
        raise ModelLoadError(message("refusal.hub_no_safetensors", model=name))
    small = fetch_files(listing, listing.small_files, should_stop=should_stop, key=key)
    check_config(name, small)
    wanted = (*listing.small_files, *listing.weight_files)
    return fetch_files(listing, wanted, on_progress, should_stop, key)


def _fetch(
    listing: HubListing, file_name: str, add: Callable[[int], None], key: HubKey | None
) -> Path:
    # The config is asked for by the revision's name, so that the cache notes which commit that is
    # and the model is found there when the hub is out of reach.
    is_config = file_name == CONFIG_FILE
    try:
        path = hf_hub_download(
            listing.name,
            file_name,
            revision=listing.revision if is_config else listing.commit,
            etag_timeout=ANSWER_SECONDS,
            tqdm_class=_silent_bar(add),
            token=token_of(key),
        )
    except ModelLoadError:
        raise
    except Exception as error:
        raise ModelLoadError(hub_problem(listing.name, error, listing.commit)) from error
    return Path(path).parent


def _silent_bar(add: Callable[[int], None]) -> type[tqdm]:
    """A progress bar that shows nothing and passes on what it is told."""

    class SilentBar(tqdm):
        def __init__(self, *args: object, **kwargs: object) -> None:
            super().__init__(*args, **kwargs | {"disable": True})  # type: ignore[no-untyped-call]

        def update(self, n: float | None = 1) -> None:
            add(int(n or 0))

        def update_transfer(self, n: float | None = 1) -> None:
            """Bytes on the wire, which are not those of the file where parts are compressed."""

    return SilentBar


def _check_small(listing: HubListing, names: Iterable[str]) -> None:
    """Refuse files that describe a model and are larger than any description is."""
    for name in names:
        size = listing.file_bytes[name]
        problem = size_problem(size) if name == CONFIG_FILE else None
        if name in listing.small_files and size > MAX_SMALL_BYTES:
            problem = message("refusal.file_too_big", file=name, allowed=MAX_SMALL_BYTES // 10**6)
        if problem is not None:
            raise ModelLoadError(message("refusal.not_loaded", model=listing.name, reason=problem))


def _check_disk(listing: HubListing, missing: Iterable[str]) -> None:
    folder = Path(constants.HF_HUB_CACHE)
    needed, free = sum(listing.file_bytes[name] for name in missing), free_disk(folder)
    if needed > free:
        raise ModelLoadError(
            message(
                "refusal.hub_disk_full",
                model=listing.name,
                needed=gigabytes(needed),
                free=gigabytes(free),
                folder=str(folder),
            )
        )


def _has_all_weights(folder: Path) -> bool:
    index = folder / INDEX_FILE
    try:
        shards = (
            set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())
            if index.is_file()
            else {"model.safetensors"}
        )
    except (OSError, ValueError, KeyError, AttributeError):
        return False
    return all((folder / shard).is_file() for shard in shards)
