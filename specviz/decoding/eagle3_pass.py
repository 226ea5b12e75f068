"""Runs an EAGLE-3 head over one text at batch size 1, with its own KV cache."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn.functional import linear, silu

from specviz.decoding.attention import GrowingSight, attend
from specviz.decoding.eagle3_head import Eagle3Head, turned
from specviz.decoding.lean_cache import LeanCache
from specviz.decoding.lean_weights import Norm, Projection, joined
from specviz.decoding.masks import CausalMasks, additive

FIRST_TABLE_LENGTH = 512


@dataclass(frozen=True, slots=True)
class _Layer:
    query_key_value: Projection
    head_norm: Norm | None
    output: Projection
    before_mlp: Norm
    gate_up: Projection
    down: Projection


class Eagle3Pass:
    """A trained head, its matrices joined; many texts may use one, each with a cache."""

    def __init__(self, head: Eagle3Head) -> None:
        """Join the weights of a head that is trained no more."""
        self.head, self.form = head, head.form
        self._layers = [_lean(layer, head) for layer in head.layers]
        weight = head.embedding_weight
        self._device = weight.device
        self._output = head.output_weight
        self._masks = CausalMasks(weight.dtype, weight.device)
        self._cos, self._sin = head.rotations(FIRST_TABLE_LENGTH)

    def new_cache(self, room: int) -> LeanCache:
        """Make a cache for a text that `room` tokens may follow."""
        return LeanCache(room, self.form.num_layers)

    def read(self, states: torch.Tensor, ids: list[int], cache: LeanCache) -> torch.Tensor:
        """Read states `[num_new, hidden]` with the token that follows each.

        Positions are those of the states: they go on where the cache ends.

        Returns:
            The last layer's states `[num_new, hidden]`, before any norm.
        """
        return self._read(states, ids, cache, range(len(cache), len(cache) + len(ids)), None)

    def read_branches(
        self,
        states: torch.Tensor,
        ids: list[int],
        cache: LeanCache,
        position_ids: Sequence[int],
        visible: torch.Tensor,
    ) -> torch.Tensor:
        """Read nodes of a tree, each with the state that its parent came to.

        Args:
            position_ids: Of the states.
            visible: `[num_new, num_past + num_new]` bool, true where a slot may look.

        Returns:
            As `read`.
        """
        mask = additive(visible, states.dtype, self._device)
        return self._read(states, ids, cache, position_ids, mask)

    def _read(
        self,
        states: torch.Tensor,
        ids: list[int],
        cache: LeanCache,
        position_ids: Sequence[int],
        mask: torch.Tensor | None,
    ) -> torch.Tensor:
        num_new = len(ids)
        cos, sin = self._rotation(position_ids)
        sight = GrowingSight(num_new, len(cache), self._masks, mask)
        form = self.form
        views = cache.make_room(num_new, (form.num_kv_heads, form.head_dim), states)
        tokens = torch.tensor(ids, device=self._device)
        inner, states = self.head.first_input(states, tokens)
        for number, layer in enumerate(self._layers):
            if number > 0:
                block: Any = self.head.layers[number]
                inner = block.input_layernorm(states)
            query, fresh = self._project(layer, inner, cos, sin)
            keys, values = views.write(number, fresh)
            seen = attend(query, sight.of(None, keys, values), form.head_dim**-0.5)
            states = layer.output.added_to(states, seen)
            gate, up = layer.gate_up(layer.before_mlp(states)).chunk(2, -1)
            states = layer.down.added_to(states, silu(gate).mul_(up))
        cache.extend(num_new)
        return states

    def predict(self, states: torch.Tensor) -> torch.Tensor:
        """Logits `[num_rows, draft_vocab]` after the last layer's states."""
        return linear(self.head.ready(states), self._output)

    def _project(
        self, layer: _Layer, inner: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Queries `[num_new, num_heads, head_dim]`, and keys and values `[num_new, 2 *
        num_kv_heads, head_dim]`; queries and keys are turned by their positions."""
        num_turned = self.form.num_heads + self.form.num_kv_heads
        heads = layer.query_key_value(inner)
        heads = heads.view(len(inner), num_turned + self.form.num_kv_heads, -1)
        own = both = heads[:, :num_turned]
        if layer.head_norm is not None:
            both = layer.head_norm(both)
        own.copy_(turned(both, cos, sin))
        return heads[:, : self.form.num_heads], heads[:, self.form.num_heads :]

    def _rotation(self, position_ids: Sequence[int]) -> tuple[torch.Tensor, torch.Tensor]:
        """Cosines and sines `[num_new, 1, head_dim]` of the positions."""
        end = max(position_ids) + 1
        if end > len(self._cos):
            self._cos, self._sin = self.head.rotations(2 * end)
        where: Any = (
            slice(position_ids.start, position_ids.stop)
            if isinstance(position_ids, range)
            else torch.tensor(position_ids, device=self._device)
        )
        return self._cos[where, None], self._sin[where, None]


def _lean(layer: Any, head: Eagle3Head) -> _Layer:
    attention, mlp, form = layer.self_attn, layer.mlp, head.form
    head_norm = None
    if form.has_head_norms:
        weights = [attention.q_norm.weight] * form.num_heads
        weights += [attention.k_norm.weight] * form.num_kv_heads
        head_norm = Norm(torch.stack(weights), form.rms_eps)
    return _Layer(
        joined((attention.q_proj, attention.k_proj, attention.v_proj)),
        head_norm,
        joined((attention.o_proj,)),
        layer.post_attention_layernorm.lean,
        joined((mlp.gate_proj, mlp.up_proj)),
        joined((mlp.down_proj,)),
    )
