"""The target's layers in a form made for training on a processor with bfloat16 units.

The weights stay the model's own float32 parameters. A step rounds each of them once, so that all
large products are bfloat16, and joins the matrices that read the same states into one. Gradients
reach the parameters in float32, as does the sum over tokens of the embedding's. Embeddings are
looked up and states are normalised in float32.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch.nn.functional import linear, silu

LayerWeights = tuple[torch.Tensor, ...]
"""Norm, joined query-key-value, output, norm, joined gate-up, down."""
Layer = Callable[..., torch.Tensor]


def normalise(states: torch.Tensor, weight: torch.Tensor, epsilon: float) -> torch.Tensor:
    """Root-mean-square norm over the last dimension, computed in float32."""
    wide = states.float()
    wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + epsilon)
    return (wide * weight).to(states.dtype)


def rotate(states: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Turn queries or keys `[rows, length, heads, width]` by their positions."""
    first, second = states.float().chunk(2, -1)
    turned = torch.cat([first * cos - second * sin, second * cos + first * sin], -1)
    return turned.to(states.dtype)


def attend(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """Causal attention, each `[rows, length, heads, width]`, with all scores written out.

    Short rows make this faster than the processor's flash kernel, whose backward pass is slow. The
    first half of the queries sees only the first half of the keys, which saves a quarter.
    """
    length, width = query.shape[1], query.shape[-1]
    query, key, value = (part.transpose(1, 2) for part in (query, key, value))
    mixed = []
    for begin, end in ((0, length // 2), (length // 2, length)):
        places = torch.arange(end, device=query.device)
        seen = places <= places[begin:end, None]
        scores = query[:, :, begin:end] @ key[:, :, :end].mT
        scores = (scores.float() * width**-0.5).masked_fill(~seen, -torch.inf)
        mixed.append(scores.softmax(-1).to(value.dtype) @ value[:, :, :end])
    return torch.cat(mixed, 2).transpose(1, 2)


def layer_weights(layer: Any, dtype: torch.dtype) -> LayerWeights:
    """Round and join the weights of a Llama layer; the norms stay float32."""
    attention, mlp = layer.self_attn, layer.mlp
    reading = [attention.q_proj.weight, attention.k_proj.weight, attention.v_proj.weight]
    return (
        layer.input_layernorm.weight,
        torch.cat(reading).to(dtype),
        attention.o_proj.weight.to(dtype),
        layer.post_attention_layernorm.weight,
        torch.cat([mlp.gate_proj.weight, mlp.up_proj.weight]).to(dtype),
        mlp.down_proj.weight.to(dtype),
    )


def run_layer(
    states: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
    weights: LayerWeights,
    num_heads: int,
    epsilon: float,
) -> torch.Tensor:
    """One layer over states `[rows, length, hidden]`, every position seeing those before it."""
    first_norm, reading, writing, second_norm, gate_up, down = weights
    rows, length, hidden = states.shape
    joined = linear(normalise(states, first_norm, epsilon), reading)
    query, key, value = joined.view(rows, length, 3, num_heads, -1).unbind(2)
    mixed = attend(rotate(query, cos, sin), rotate(key, cos, sin), value)
    states = states + linear(mixed.reshape(rows, length, hidden), writing)
    gate, up = linear(normalise(states, second_norm, epsilon), gate_up).chunk(2, -1)
    return states + linear(silu(gate) * up, down)


class FastLayers:
    """Runs a Llama model of the family (no grouped heads, no biases) layer by layer.

    Args:
        dtype: What the large products are computed in.
        compiled: Fuse what stands between the products; the first step then takes a minute.
    """

    def __init__(self, model: Any, dtype: torch.dtype, *, compiled: bool) -> None:
        self.model, self.dtype = model, dtype
        self._layer: Layer = torch.compile(run_layer, dynamic=False) if compiled else run_layer

    def states(self, ids: torch.Tensor, exit_layer: int) -> tuple[torch.Tensor, torch.Tensor]:
        """The last states and those that leave after `exit_layer` layers, both normalised.

        Args:
            ids: `[rows, length]` int64.

        Returns:
            Two of `[rows, length, hidden]`, of the dtype of the large products.
        """
        base, config = self.model.model, self.model.config
        embedded = base.embed_tokens(ids)
        places = torch.arange(ids.shape[1], device=ids.device)[None]
        cos, sin = base.rotary_emb(embedded, position_ids=places)
        half = cos.shape[-1] // 2
        cos, sin = cos[:, :, None, :half], sin[:, :, None, :half]
        states = early = embedded.to(self.dtype)
        for number, layer in enumerate(base.layers, start=1):
            weights = layer_weights(layer, self.dtype)
            states = self._layer(
                states, cos, sin, weights, config.num_attention_heads, config.rms_norm_eps
            )
            if number == exit_layer:
                early = states
        return self._norm(states), self._norm(early)

    def _norm(self, states: torch.Tensor) -> torch.Tensor:
        return normalise(states, self.model.model.norm.weight, self.model.config.rms_norm_eps)
