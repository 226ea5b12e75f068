"""After which of its layers a model may guess by itself (early exit)."""

from collections.abc import Sequence
from typing import Any


def declared_exits(config: Any) -> tuple[int, ...]:
    """The layers that a config names as exits, the one to begin with first; none where it names
    none."""
    exits: Sequence[int] | None = getattr(config, "exit_layers", None)
    return tuple(exits or ())


def default_exit(config: Any) -> int:
    """The first exit that a config names, else a quarter of the layers."""
    declared = declared_exits(config)
    if declared:
        return declared[0]
    return max(1, int(config.get_text_config().num_hidden_layers) // 4)
