"""A model as shapes: built from its config on torch's meta device, which holds no numbers.

So its parameters are counted before anything takes memory, whatever its config asks for.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import torch
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel

from specviz.errors import ModelLoadError
from specviz.models.config_limits import check_config
from specviz.models.location import one_line
from specviz.texts import message

T = TypeVar("T")
SAFE: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
"""A model is data, never a program."""


def read_shapes(name: str, folder: Path) -> PreTrainedModel:
    """Build the model of a folder without its weights.

    Raises:
        ModelLoadError: Its config cannot be read, or asks for what cannot be built.
    """
    check_config(name, folder)
    config = in_one_sentence(name, lambda: AutoConfig.from_pretrained(folder, **SAFE))
    return in_one_sentence(name, lambda: _build(config))


def in_one_sentence(name: str, reading: Callable[[], T]) -> T:
    """Read something of a model called `name`.

    Raises:
        ModelLoadError: It cannot be read.
    """
    try:
        return reading()
    # What a file of unknown origin makes two libraries raise has no end: ZeroDivisionError for a
    # config without heads, an error class of its own for a number that is a text, …
    except Exception as error:
        raise ModelLoadError(
            message("refusal.not_loaded", model=name, reason=one_line(error))
        ) from error


def _build(config: Any) -> PreTrainedModel:
    with torch.device("meta"):
        return AutoModelForCausalLM.from_config(config, trust_remote_code=False)
