"""The weights of a model's layers as the lean pass reads them: joined, so that one product replaces
three.

Query, key and value read the same states, as do gate and up: each group is one matrix here. The
modules' own weights become views of it, so nothing is held twice and the model runs by itself.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import nn
from torch.nn.functional import silu
from transformers import (
    GemmaForCausalLM,
    LlamaForCausalLM,
    MistralForCausalLM,
    PreTrainedModel,
    Qwen2ForCausalLM,
    Qwen3ForCausalLM,
)

LEAN_CLASSES = (
    LlamaForCausalLM,
    Qwen2ForCausalLM,
    Qwen3ForCausalLM,
    MistralForCausalLM,
    GemmaForCausalLM,
)
ROPE_TYPES = ("default", "llama3", "linear")
"""Rotations that depend on the position alone."""


@dataclass(frozen=True, slots=True)
class Projection:
    """A matrix `[out, in]` and its bias `[out]`, if it has one."""

    weight: torch.Tensor
    bias: torch.Tensor | None
    turned: torch.Tensor = field(init=False)
    """The matrix as `[in, out]`, a view that is made once."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "turned", self.weight.t())

    def __call__(self, states: torch.Tensor) -> torch.Tensor:
        """Project `[length, in]` to `[length, out]`."""
        return nn.functional.linear(states, self.weight, self.bias)

    def added_to(self, residual: torch.Tensor, states: torch.Tensor) -> torch.Tensor:
        """Project states and add them to `residual` `[length, out]`."""
        if self.bias is None:
            return torch.addmm(residual, states, self.turned)
        return residual + self(states)


@dataclass(frozen=True, slots=True)
class Norm:
    """A root-mean-square norm over the last dimension, rounded as transformers' classes round it.

    They normalise in float32. Where states and weights are of one narrow dtype, one fused operation
    does the same on devices that have it. On a processor that operation is made of ten, where
    x w / √(‖x‖² / n + ε) takes four, and of one token two and a number.
    """

    weight: torch.Tensor
    eps: float
    rounds_last: bool = False
    """Whether the float32 weights come before the rounding to the states' dtype (Gemma)."""
    least: torch.Tensor = field(init=False)
    """√(n ε) `[]`, what a norm ‖x‖ never falls below."""
    zero: torch.Tensor = field(init=False)
    """0 `[]`, to which a fused product is added."""

    def __post_init__(self) -> None:
        least = math.sqrt(self.eps * self.weight.shape[-1])
        object.__setattr__(self, "least", self.weight.new_tensor(least))
        object.__setattr__(self, "zero", self.weight.new_zeros(()))

    def __call__(self, states: torch.Tensor) -> torch.Tensor:
        """Normalise `[…, width]`."""
        shape, dtype = self.weight.shape[-1:], states.dtype
        if self._is_plain(states):
            norms = torch.linalg.vector_norm(states, dim=-1, keepdim=True).hypot_(self.least)
            return torch.addcdiv(self.zero, states * self.weight, norms, value=shape[0] ** 0.5)
        is_narrow = dtype != torch.float64 and self.weight.dtype == dtype
        if is_narrow and self.weight.dim() == 1:
            return nn.functional.rms_norm(states, shape, self.weight, self.eps)
        normal = nn.functional.rms_norm(states.float(), shape, None, self.eps)
        if self.rounds_last:
            return (normal * self.weight).to(dtype)
        return normal.to(dtype) * self.weight

    def of_one(self, state: torch.Tensor) -> torch.Tensor:
        """Normalise one token's `[1, width]`; on a processor its norm passes through Python."""
        if not self._is_plain(state):
            return self(state)
        mean_square = torch.linalg.vector_norm(state).item() ** 2 / state.shape[-1]
        return torch.addcmul(self.zero, state, self.weight, value=(mean_square + self.eps) ** -0.5)

    def _is_plain(self, states: torch.Tensor) -> bool:
        """Whether all is float32 on a processor: then no rounding comes in between."""
        is_single = states.dtype == torch.float32 == self.weight.dtype
        return is_single and states.device.type == "cpu"


@dataclass(frozen=True, slots=True)
class LeanLayer:
    """What one layer multiplies by."""

    before_attention: Norm
    query_key_value: Projection
    head_norm: Norm | None
    """Qwen3 normalises each head of queries and keys: `[num_heads + num_kv_heads, head_dim]`."""
    output: Projection
    before_mlp: Norm
    gate_up: Projection
    activation: Callable[[torch.Tensor], torch.Tensor]
    down: Projection
    window: int | None
    """Tokens that the layer sees at most; None: all."""
    scale: float
    """What scores are multiplied by."""


_layers: WeakKeyDictionary[PreTrainedModel, tuple[LeanLayer, ...]] = WeakKeyDictionary()


def has_lean_layers(model: PreTrainedModel) -> bool:
    """Whether the lean pass is proved for this model: class, attention, rotation, plain weights."""
    if type(model) not in LEAN_CLASSES or model.config._attn_implementation != "sdpa":
        return False
    if (model.config.rope_parameters or {}).get("rope_type") not in ROPE_TYPES:
        return False
    return all(_is_plain(module) for module in model.modules())


def lean_layers(model: PreTrainedModel) -> tuple[LeanLayer, ...]:
    """Return the layers of a model that `has_lean_layers`, joined once for all who run it."""
    known = _layers.get(model)
    first = model.model.layers[0].self_attn.q_proj.weight
    if known is None or known[0].query_key_value.weight.data_ptr() != first.data_ptr():
        known = _layers[model] = tuple(_lean_layer(model, layer) for layer in model.model.layers)
    return known


def lean_norm(model: PreTrainedModel, module: Any) -> Norm:
    """Return the norm of a module of `model`."""
    if isinstance(model, GemmaForCausalLM):
        return Norm(1.0 + module.weight.float(), module.eps, rounds_last=True)
    return Norm(module.weight, module.variance_epsilon)


def _is_plain(module: nn.Module) -> bool:
    """No hook of another library, no quantised product, nothing that is being trained."""
    if hasattr(module, "_hf_hook") or any(each.requires_grad for each in module.parameters(False)):
        return False
    return not isinstance(module, nn.Linear) or type(module) is nn.Linear


def _lean_layer(model: Any, layer: Any) -> LeanLayer:
    attention, mlp = layer.self_attn, layer.mlp
    is_silu = isinstance(mlp.act_fn, nn.SiLU)
    window = getattr(attention, "sliding_window", None)
    if isinstance(model, MistralForCausalLM):
        window = model.config.sliding_window
    return LeanLayer(
        before_attention=lean_norm(model, layer.input_layernorm),
        query_key_value=joined((attention.q_proj, attention.k_proj, attention.v_proj)),
        head_norm=_head_norm(model, attention),
        output=joined((attention.o_proj,)),
        before_mlp=lean_norm(model, layer.post_attention_layernorm),
        gate_up=joined((mlp.gate_proj, mlp.up_proj)),
        activation=silu if is_silu else mlp.act_fn,
        down=joined((mlp.down_proj,)),
        window=window,
        scale=attention.scaling,
    )


def _head_norm(model: Any, attention: Any) -> Norm | None:
    if not hasattr(attention, "q_norm"):
        return None
    query, key = lean_norm(model, attention.q_norm), lean_norm(model, attention.k_norm)
    num_heads, num_kv_heads = model.config.num_attention_heads, model.config.num_key_value_heads
    weights = [query.weight] * num_heads + [key.weight] * num_kv_heads
    return Norm(torch.stack(weights), query.eps)


def joined(modules: Sequence[nn.Linear]) -> Projection:
    """Join the rows of modules that read the same states, and make their weights views of that."""
    if len(modules) == 1:
        return Projection(modules[0].weight, modules[0].bias)
    weight = _join(modules, "weight")
    bias = None if modules[0].bias is None else _join(modules, "bias")
    return Projection(weight, bias)


def _is_joined(parts: Sequence[torch.Tensor]) -> bool:
    """Whether the parts lie one behind the other already, for another model of the same layers."""
    first, place = parts[0], parts[0].storage_offset()
    for part in parts:
        is_next = part.storage_offset() == place and part.is_contiguous()
        if not is_next or part.untyped_storage().data_ptr() != first.untyped_storage().data_ptr():
            return False
        place += part.numel()
    return True


def _join(modules: Sequence[nn.Linear], name: str) -> torch.Tensor:
    parts = [getattr(module, name).data for module in modules]
    if _is_joined(parts):
        size = (sum(len(part) for part in parts), *parts[0].shape[1:])
        return torch.as_strided(parts[0], size, parts[0].stride())
    whole = torch.cat(parts)
    rows_of_each = torch.split(whole, [len(part) for part in parts])
    for module, rows in zip(modules, rows_of_each, strict=True):
        setattr(module, name, nn.Parameter(rows, requires_grad=False))
    return whole
