"""What races need of wherever their models come from."""

from typing import Protocol

import torch

from specviz.models.loading import LoadedModel


class ModelSource(Protocol):
    """Lends models by name, all on one device and of one dtype."""

    @property
    def device(self) -> torch.device:
        """Where they are."""

    @property
    def dtype(self) -> str:
        """What their weights are."""

    def get(self, name: str) -> LoadedModel:
        """Return a model, loaded if it was not.

        Raises:
            ModelLoadError: It cannot be loaded.
        """

    def has(self, name: str) -> bool:
        """Whether it is loaded."""
