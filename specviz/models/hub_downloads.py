"""Downloads of hub models that several visitors may wait for, each one running only once.

A download runs on a thread of its own, so that whoever waits for it can leave at any moment, also
while the hub does not answer. It is given up once nobody waits for it any more.
"""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

from specviz.errors import ModelLoadError
from specviz.hub_key import HubKey
from specviz.models.hub_files import OnProgress, fetch_model

LOOK_SECONDS = 0.1
"""How often somebody who waits asks whether to go on waiting."""


class Progress(NamedTuple):
    """How far a download is."""

    done_bytes: int
    total_bytes: int
    """0 as long as the hub has not said."""


class Fetch(Protocol):
    """Brings a model's files here, as `hub_files.fetch_model` does."""

    def __call__(
        self,
        name: str,
        revision: str,
        on_progress: OnProgress | None,
        should_stop: Callable[[], bool],
        key: HubKey | None,
    ) -> Path: ...


class HubDownloads:
    """Follows downloads by the names of models; safe for many threads at once."""

    def __init__(self, fetch: Fetch = fetch_model) -> None:
        self._fetch = fetch
        self._under_way: dict[str, _Download] = {}
        self._lock = threading.Lock()

    def follow(
        self,
        name: str,
        revision: str,
        should_stop: Callable[[], bool] = bool,
        key: HubKey | None = None,
    ) -> Iterator[Progress]:
        """Download a model, or join who does, and yield how far that is whenever it has changed.

        Who begins it lends it their key, if they have one; it is let go of when the download ends.
        The iterator ends when all files are here, or once `should_stop` answers True.

        Raises:
            ModelLoadError: The model cannot be had.
        """
        download = self._join(name, revision, key)
        told = None
        try:
            while not download.wait(LOOK_SECONDS):
                if should_stop():
                    return
                if download.progress != told:
                    told = download.progress
                    yield told
        finally:
            self._leave(download)
        if download.error is not None:
            raise download.error

    def _join(self, name: str, revision: str, key: HubKey | None) -> "_Download":
        with self._lock:
            download = self._under_way.get(name)
            if download is None or not download.admit():
                download = _Download(self._fetch, name, revision, key, after=download)
                self._under_way[name] = download
            return download

    def _leave(self, download: "_Download") -> None:
        with self._lock:
            download.dismiss()
            if download.is_over and self._under_way.get(download.name) is download:
                del self._under_way[download.name]


class _Download:
    """One download and how many wait for it; it begins at once, behind `after` if that is given."""

    def __init__(
        self,
        fetch: Fetch,
        name: str,
        revision: str,
        key: HubKey | None,
        after: "_Download | None" = None,
    ) -> None:
        self.name = name
        self.progress = Progress(0, 0)
        self.error: BaseException | None = None
        self._fetch = fetch
        self._revision = revision
        self._key = key
        self._num_waiting = 1
        self._is_given_up = False
        self._lock = threading.Lock()
        self._after = after
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def is_over(self) -> bool:
        """Whether nothing is downloaded any more."""
        return not self._thread.is_alive()

    def admit(self) -> bool:
        """Let one more wait for it; False where it is over or is being given up."""
        with self._lock:
            if self._is_given_up or self.is_over:
                return False
            self._num_waiting += 1
            return True

    def dismiss(self) -> None:
        """Let one less wait for it."""
        with self._lock:
            self._num_waiting -= 1

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until it is over; False where that took longer than `seconds`, if there are any."""
        self._thread.join(seconds)
        return self.is_over

    def _run(self) -> None:
        if self._after is not None:
            # Two that write the same files would be in each other's way.
            self._after.wait()
            self._after = None
        try:
            self._fetch(self.name, self._revision, self._note, self._should_stop, self._key)
        except ModelLoadError as error:
            self.error = error
        # It is raised again where somebody waits for it.
        except Exception as error:  # noqa: BLE001
            self.error = error
        finally:
            self._key = None

    def _note(self, done: int, total: int) -> None:
        self.progress = Progress(done, total)

    def _should_stop(self) -> bool:
        with self._lock:
            self._is_given_up = self._num_waiting == 0
            return self._is_given_up
