"""What races need of wherever their models come from."""

from collections.abc import Callable, Iterable
from typing import Protocol

import torch

from specviz.models.eagle_head import LoadedHead
from specviz.models.hub_files import OnProgress
from specviz.models.loading import LoadedModel


class ModelSource(Protocol):
    """Lends models by name, all on one device and of one dtype."""

    @property
    def device(self) -> torch.device:
        """Where they are."""

    @property
    def dtype(self) -> str:
        """What their weights are held in and computed in: a dtype, or how they are quantised."""

    def get(
        self,
        name: str,
        on_progress: OnProgress | None = None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> LoadedModel:
        """Return a model, loaded if it was not; `on_progress` hears of bytes, `should_stop` ends a
        download.

        Raises:
            ModelLoadError: It cannot be loaded.
            FullMemoryError: It does not fit the memory here.
        """

    def hold(self, target: str, drafts: Iterable[str] = ()) -> None:
        """Note what a race is about to use; others may be let go."""

    def let_go(self, names: Iterable[str]) -> None:
        """Give up models that a race has loaded and cannot use, since others did not fit."""

    def has(self, name: str) -> bool:
        """Whether it is loaded."""

    def get_head(self, name: str, should_stop: Callable[[], bool] = lambda: False) -> LoadedHead:
        """Return an EAGLE-3 head, its files read if they were not.

        Raises:
            ModelLoadError: They cannot be read.
        """

    def has_head(self, name: str) -> bool:
        """Whether they are read."""
