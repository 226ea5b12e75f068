"""Models whose weights lie on several devices: accelerate's hooks carry states between them.

A recording would replay copies from and to memory that is gone by then, and buffers of one device
do not serve layers of another, so such a model runs in the growing form alone.
"""

from typing import Any

import torch
from transformers import PreTrainedModel


def is_spread(model: PreTrainedModel) -> bool:
    """Whether accelerate has put parts of the model on different devices."""
    return len(set((getattr(model, "hf_device_map", None) or {}).values())) > 1


def device_of(model: PreTrainedModel) -> torch.device:
    """Where the model takes its ids and gives its logits.

    Weights that wait elsewhere seem to be on the meta device; their hook says where they compute.
    """
    hook: Any = getattr(model.get_input_embeddings(), "_hf_hook", None)
    if hook is None or hook.execution_device is None:
        device: torch.device = model.device
        return device
    where = hook.execution_device
    return torch.device("cuda", where) if isinstance(where, int) else torch.device(where)
