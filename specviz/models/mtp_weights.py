"""Loads the layers of a target that draft (multi-token prediction), which lie in its own files.

transformers leaves them out of a model, and builds them beside it for the families whose configs
count them. Here all families of `mtp_form` are built so, from a view of the target whose config
says what its files hold: what is shared (embedding, output layer, rotation) is the target's own.
"""

import copy
from pathlib import Path
from typing import Any

from transformers import PreTrainedModel
from transformers.modeling_layers import MtpModel

from specviz.errors import IncompatibleModelError, ModelLoadError
from specviz.models.full_memory import is_full_memory
from specviz.models.loading import LoadedModel
from specviz.models.location import one_line
from specviz.models.mtp_form import mtp_problem, stored_layers, tensor_names
from specviz.texts import message


def read_mtp(loaded: LoadedModel) -> MtpModel:
    """Return the drafting layers of a target, read at the first call.

    They are of the target's dtype and on its device, and come from the folder that it was read
    from: of a hub model from the same revision.

    Raises:
        IncompatibleModelError: It has none, or none that can draft here.
        ModelLoadError: Their tensors do not fit.
    """
    if "mtp" not in loaded.built:
        loaded.built["mtp"] = _load(loaded)
    layers: MtpModel = loaded.built["mtp"]
    return layers


def _load(loaded: LoadedModel) -> MtpModel:
    model, source = loaded.model, str(loaded.model.config.name_or_path)
    # A model that came from no folder has no files that could hold more than it.
    tensors = (tensor_names(Path(source)) if source else None) or ()
    config = model.config.to_dict()
    problem = mtp_problem(loaded.name, config, tensors)
    if problem is None and getattr(model, "is_quantized", False):
        problem = message("refusal.mtp_quantised", target=loaded.name)
    if problem is None and len({weight.device for weight in model.parameters()}) > 1:
        problem = message("refusal.mtp_spread", target=loaded.name)
    if problem is not None:
        raise IncompatibleModelError(problem)
    view = counting_view(model, stored_layers(config, tensors))
    try:
        layers = MtpModel.from_pretrained(view, device_map={"": model.device})
    # What a file of unknown origin makes two libraries raise has no end.
    except Exception as error:
        if is_full_memory(error):
            raise
        raise ModelLoadError(
            message("refusal.mtp_tensors", target=loaded.name, reason=one_line(error))
        ) from error
    return layers.eval().requires_grad_(False)


def counting_view(model: PreTrainedModel, num_layers: int) -> Any:
    """A view of a target whose config counts its drafting layers and says of what kind they are."""
    view: Any = copy.copy(model)
    config: Any = copy.deepcopy(model.config.get_text_config(decoder=True))
    config.num_mtp_layers, config.dtype = num_layers, model.dtype
    config.name_or_path = model.config.name_or_path
    for kinds, usual in (("layer_types", "full_attention"), ("mlp_layer_types", "sparse")):
        if getattr(config, kinds, None) is not None and not getattr(config, f"mtp_{kinds}", None):
            setattr(config, f"mtp_{kinds}", [usual] * num_layers)
    view.config = config
    num_hidden = config.num_hidden_layers
    own = [rf"(^|\.)layers\.{num_hidden + number}\." for number in range(num_layers)]
    view._keys_to_ignore_on_load_unexpected = [r"^mtp\.", *own]
    return view
