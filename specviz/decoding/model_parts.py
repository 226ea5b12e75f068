"""Cuts a model into parts: shallow views that share every weight with it and own a config each."""

import copy
from typing import Any

from torch import nn
from transformers import PreTrainedModel

from specviz.errors import IncompatibleModelError
from specviz.texts import message

SUPPORTED_LAYER_TYPES = {"full_attention", "sliding_attention"}


def layers_of(model: PreTrainedModel) -> nn.ModuleList:
    """Return the layers of a model that can be run in part.

    Raises:
        IncompatibleModelError: The model is built otherwise, or does more than its layers, its norm
            and its output layer say.
    """
    name = type(model).__name__
    config = model.config.get_text_config()
    if getattr(config, "final_logit_softcapping", None) is not None:
        raise IncompatibleModelError(message("refusal.exit_caps_logits", model=name))
    foreign = set(getattr(config, "layer_types", None) or ()) - SUPPORTED_LAYER_TYPES
    if foreign:
        raise IncompatibleModelError(
            message("refusal.exit_layer_types", model=name, types=", ".join(sorted(foreign)))
        )
    layers = getattr(model.base_model, "layers", None)
    has_norm = isinstance(getattr(model.base_model, "norm", None), nn.Module)
    if not isinstance(layers, nn.ModuleList) or not has_norm:
        raise IncompatibleModelError(message("refusal.exit_needs_layers", model=name))
    return layers


def view_of_layers(base: Any, start: int, end: int | None, norm: nn.Module) -> Any:
    """A shallow copy of the inner model that runs the layers `start` to `end` (None: to the last)
    only."""
    view = copy.copy(base)
    view._modules = dict(base._modules)
    view.layers = base.layers[start:end]
    view.norm = norm
    config = copy.deepcopy(base.config)
    config.num_hidden_layers = len(view.layers)
    types = getattr(base.config, "layer_types", None)
    if types is not None:
        config.layer_types = list(types)[start:end]
    view.config = config
    return view
