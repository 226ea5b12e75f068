"""Makes a trained model deeper without changing what it computes, so that training can go on.

A shallow model learns faster, a deep one is the better target: its drafts cost less beside it. So
the target is trained shallow first. Then copies are put among its later layers, with zero in the
two matrices that write to the residual stream: at first a copy adds nothing (a function-preserving
growth, Chen et al. 2016, arXiv:1511.05641; by copies of layers, Gong et al. 2019).
"""

import copy
from typing import Any

import torch


def layer_origins(num_layers: int, num_wanted: int, first: int) -> list[int]:
    """For each layer of the deeper model, the layer of the present one that it is made from.

    The layers before `first` stay alone; the copies spread evenly over the others. Example: from 4
    layers to 7, `first` 1, gives 0, 1, 1, 2, 2, 3, 3.

    Raises:
        ValueError: There are no layers to copy, or fewer are wanted than there are.
    """
    num_copied = num_layers - first
    if num_wanted < num_layers or num_copied < 1:
        raise ValueError(
            f"a model of {num_layers} layers cannot grow to {num_wanted} behind layer {first}"
        )
    later = [
        first + place * num_copied // (num_wanted - first) for place in range(num_wanted - first)
    ]
    return [*range(first), *later]


@torch.no_grad()
def grow(model: Any, deeper: Any, first: int) -> None:
    """Fill the weights of `deeper` so that it computes exactly what `model` does.

    Args:
        model: A `LlamaForCausalLM`.
        deeper: The same in all but the number of layers.
        first: Layers before this one are not copied (early exits sit there).
    """
    stored = model.model.layers
    origins = layer_origins(len(stored), len(deeper.model.layers), first)
    for place, origin in enumerate(origins):
        layer = deeper.model.layers[place]
        layer.load_state_dict(copy.deepcopy(stored[origin].state_dict()))
        if place > 0 and origins[place - 1] == origin:
            layer.self_attn.o_proj.weight.zero_()
            layer.mlp.down_proj.weight.zero_()
    deeper.model.embed_tokens.load_state_dict(model.model.embed_tokens.state_dict())
    deeper.model.norm.load_state_dict(model.model.norm.state_dict())
