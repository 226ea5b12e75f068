"""States between the layers of a target, for whoever drafts with them.

A tap is a boundary: b stands for the states after the first b layers, before any norm; `FINAL` for
those after the last norm.
"""

from collections.abc import Sequence
from typing import Any

import torch
from transformers import PreTrainedModel

from specviz.errors import IncompatibleModelError
from specviz.models.eagle_form import FINAL
from specviz.texts import message

LAST_NORMS = ("norm", "ln_f", "final_layer_norm", "final_layernorm", "norm_f")
"""What classes of transformers call the norm behind their last layer."""
Tapped = tuple[torch.Tensor, ...]
"""States `[num_rows, hidden]` of each tap."""


def check_taps(name: str, num_layers: int, taps: Sequence[int]) -> None:
    """Refuse boundaries that a target called `name` does not have.

    Raises:
        IncompatibleModelError: Names the first of them.
    """
    for tap in taps:
        if tap != FINAL and not 0 <= tap <= num_layers:
            raise IncompatibleModelError(
                message("refusal.head_taps", target=name, layers=num_layers, found=str(tap))
            )


def num_layers_of(model: PreTrainedModel) -> int:
    """How many layers a target has."""
    num_layers: int = model.config.get_text_config().num_hidden_layers
    return num_layers


def call_tapped(
    model: PreTrainedModel, taps: Sequence[int], **inputs: Any
) -> tuple[torch.Tensor, Tapped]:
    """Call a model of transformers at batch size 1.

    Returns:
        Logits `[num_logits, vocab]`, and the states of all rows that were read at each tap. What
        transformers calls its last hidden states is behind the last norm, so those before it are
        taken where that norm is given them.

    Raises:
        IncompatibleModelError: The states before the last norm are wanted of a model without one.
    """
    last = num_layers_of(model)
    wanted = sorted({last if tap == FINAL else tap for tap in taps if tap != last})
    if wanted:
        inputs["output_hidden_states"] = wanted
    before_norm: list[torch.Tensor] = []
    hook = None
    if last in taps:
        base = model.base_model
        norm = next((getattr(base, name) for name in LAST_NORMS if hasattr(base, name)), None)
        if norm is None:
            raise IncompatibleModelError(
                message("refusal.head_last_tap", target=type(model).__name__)
            )
        hook = norm.register_forward_pre_hook(lambda _, args: before_norm.append(args[0]))
    try:
        output = model(**inputs)
    finally:
        if hook is not None:
            hook.remove()

    def states(tap: int) -> torch.Tensor:
        found = before_norm[0] if tap == last else output.hidden_states[last if tap < 0 else tap]
        return found[0]

    logits: torch.Tensor = output.logits[0]
    return logits, tuple(states(tap) for tap in taps)
