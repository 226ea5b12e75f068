"""Runs the layers of a Llama-like model one after the other with few, large operations.

For a small model what transformers wraps around its modules (config look-ups, mask making, output
classes, hooks) takes as long as a layer or two in every step, and on any device each operation that
is launched costs time of its own. Here one product gives query, key and value, one gate and up, one
rotation turns queries and keys. The weights are the model's own, the numbers its own but for
rounding; every lane of such a target runs this way, the baseline included.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from transformers import PreTrainedModel

from specviz.decoding.attention import GrowingSight, Sight, attend
from specviz.decoding.lean_cache import BlockViews, LayerCache, LeanCache
from specviz.decoding.lean_token import LeanToken
from specviz.decoding.lean_weights import (
    LeanLayer,
    Projection,
    has_lean_layers,
    lean_layers,
    lean_norm,
)
from specviz.decoding.masks import CausalMasks, additive
from specviz.decoding.taps import Tapped
from specviz.models.eagle_form import FINAL

FIRST_TABLE_LENGTH = 512
Rotation = tuple[torch.Tensor, torch.Tensor]
RunLayers = Callable[[torch.Tensor, int, int | None], torch.Tensor]
"""From states `[num_new, hidden]` before a first layer to those before an end one (None: behind
the last)."""


class LeanForward:
    """A forward pass over one text at batch size 1."""

    def __init__(self, model: PreTrainedModel) -> None:
        """Run a model that `fits`."""
        base: Any = model.base_model
        config = model.config
        self._layers = lean_layers(model)
        self._embed = base.embed_tokens
        self._rotary = base.rotary_emb
        self._norm = lean_norm(model, base.norm)
        head: Any = model.get_output_embeddings()
        self._head = Projection(head.weight, head.bias)
        self._num_heads: int = config.num_attention_heads
        self._num_kv_heads: int = config.num_key_value_heads
        self._device = model.device
        rows = len(self._layers[0].query_key_value.weight)
        head_dim = rows // (self._num_heads + 2 * self._num_kv_heads)
        self.head_shape = (self._num_kv_heads, head_dim)
        """Of the keys of one token."""
        self.masks = CausalMasks(head.weight.dtype, model.device)
        self._token = LeanToken(self._num_heads, self._num_kv_heads, head_dim, head.weight)
        self._cos, self._sin = self._rotations(FIRST_TABLE_LENGTH)

    @staticmethod
    def fits(model: PreTrainedModel) -> bool:
        """Whether the model is of a class that this pass is proved on."""
        return has_lean_layers(model)

    @property
    def num_layers(self) -> int:
        """Layers of the model."""
        return len(self._layers)

    def __call__(
        self,
        token_ids: Sequence[int],
        position_ids: Sequence[int],
        cache: LeanCache,
        num_logits: int,
        visible: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Read `token_ids` at `position_ids`; return the last ones' logits `[num_logits, vocab]`.

        Args:
            visible: `[num_new, num_past + num_new]` bool, true where a token may look; None: each
                token sees the cache and what stands before it.
        """
        hidden = self.run_layers(self.embed(token_ids), 0, None, position_ids, cache, visible)
        return self.predict(hidden[-num_logits:])

    def call_tapped(
        self,
        token_ids: Sequence[int],
        position_ids: Sequence[int],
        cache: LeanCache,
        num_logits: int,
        visible: torch.Tensor | None,
        taps: Sequence[int],
    ) -> tuple[torch.Tensor, Tapped]:
        """Do the same, and return the states `[num_new, hidden]` at each tap too."""
        hidden = self.embed(token_ids)
        run = partial(
            self.run_block,
            rotation=self._rotation(position_ids),
            views=cache.make_room(len(hidden), self.head_shape, hidden),
            num_past=len(cache),
            mask=None if visible is None else additive(visible, hidden.dtype, self._device),
        )
        hidden, tapped = self.run_tapped(hidden, taps, run)
        cache.extend(len(hidden))
        return self.predict(hidden[-num_logits:]), tapped

    def embed(self, token_ids: Sequence[int]) -> torch.Tensor:
        """The embeddings `[num_new, hidden]` of the tokens."""
        return self.embed_ids(torch.tensor(token_ids, device=self._device))

    def embed_ids(self, ids: torch.Tensor) -> torch.Tensor:
        """The embeddings `[num_new, hidden]` of ids `[num_new]` on the device."""
        embeddings: torch.Tensor = self._embed(ids)
        return embeddings

    def predict(self, hidden: torch.Tensor) -> torch.Tensor:
        """Logits `[length, vocab]` of the tokens after last states `[length, hidden]`."""
        return self._head(self._norm(hidden))

    def run_layers(
        self,
        hidden: torch.Tensor,
        first: int,
        end: int | None,
        position_ids: Sequence[int],
        cache: LeanCache,
        visible: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Run the layers `first` to `end` (None: to the last) on `hidden` `[num_new, hidden]`.

        Args:
            visible: As in a call of the whole.
        """
        num_new = len(hidden)
        views = cache.make_room(num_new, self.head_shape, hidden)
        rotation = self._rotation(position_ids)
        mask = None if visible is None else additive(visible, hidden.dtype, self._device)
        hidden = self.run_block(hidden, first, end, rotation, views, len(cache), mask)
        cache.extend(num_new)
        return hidden

    def run_block(
        self,
        hidden: torch.Tensor,
        first: int,
        end: int | None,
        rotation: Rotation,
        views: BlockViews,
        num_past: int,
        mask: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Run layers on `hidden` `[num_new, hidden]` behind `num_past` tokens that are read.

        Args:
            mask: Numbers to add, `[num_new, num_past + num_new]`; None: each token sees the cache
                and what stands before it.
        """
        if len(hidden) == 1 and mask is None and self._device.type == "cpu":
            layers = enumerate(self._layers[first:end], first)
            return self._token.run(hidden, layers, rotation, views)
        sight = GrowingSight(len(hidden), num_past, self.masks, mask)
        return self.run(hidden, first, end, rotation, views, sight)

    def run_tapped(
        self, hidden: torch.Tensor, taps: Sequence[int], run: RunLayers
    ) -> tuple[torch.Tensor, Tapped]:
        """Run all layers by `run`, in parts that end where states are tapped: a pass that nobody
        taps has nothing to ask after each layer.

        Returns:
            The last states `[num_new, hidden]`, and those at each tap.
        """
        states, done = {}, 0
        for boundary in sorted({*taps, self.num_layers} - {FINAL}):
            hidden = run(hidden, done, boundary)
            states[boundary] = hidden
            done = boundary
        if FINAL in taps:
            states[FINAL] = self._norm(hidden)
        return hidden, tuple(states[tap] for tap in taps)

    def run(
        self,
        hidden: torch.Tensor,
        first: int,
        end: int | None,
        rotation: Rotation,
        cache: LayerCache,
        sight: Sight,
    ) -> torch.Tensor:
        """Run layers on `hidden` `[num_new, hidden]` with whatever cache and sight are given."""
        for number, layer in enumerate(self._layers[first:end], first):
            query, fresh = self._project(layer, hidden, rotation)
            keys, values = cache.write(number, fresh)
            seen = attend(query, sight.of(layer.window, keys, values), layer.scale)
            hidden = layer.output.added_to(hidden, seen)
            gate, up = layer.gate_up(layer.before_mlp(hidden)).chunk(2, -1)
            hidden = layer.down.added_to(hidden, layer.activation(gate).mul_(up))
        return hidden

    def _project(
        self, layer: LeanLayer, hidden: torch.Tensor, rotation: Rotation
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Queries `[num_new, num_heads, head_dim]`, and keys and values `[num_new, 2 *
        num_kv_heads, head_dim]`; queries and keys are turned by their positions."""
        joined = layer.query_key_value(layer.before_attention(hidden))
        num_turned = self._num_heads + self._num_kv_heads
        heads = joined.view(len(hidden), num_turned + self._num_kv_heads, -1)
        own = turned = heads[:, :num_turned]
        if layer.head_norm is not None:
            turned = layer.head_norm(turned)
        cos, sin = rotation
        # x cos + (-x2, x1) sin, the sign of the first half being in the table.
        torch.addcmul(turned * cos, turned.roll(turned.shape[-1] // 2, -1), sin, out=own)
        return heads[:, : self._num_heads], heads[:, self._num_heads :]

    def rotations_for(self, length: int) -> Rotation:
        """Cosines and signed sines `[length or more, head_dim]` of all positions below `length`."""
        if length > len(self._cos):
            self._cos, self._sin = self._rotations(2 * length)
        return self._cos, self._sin

    def _rotation(self, position_ids: Sequence[int]) -> Rotation:
        """Cosines and sines `[num_new, 1, head_dim]` of the positions."""
        cos, sin = self.rotations_for(max(position_ids) + 1)
        if isinstance(position_ids, range):
            where: Any = slice(position_ids.start, position_ids.stop)
        else:
            where = torch.tensor(position_ids, device=self._device)
        return cos[where, None], sin[where, None]

    @torch.inference_mode()
    def _rotations(self, length: int) -> Rotation:
        """Cosines and signed sines `[length, head_dim]`, from the model's own rotary embedding."""
        states = self._embed.weight[:1, None]
        cos, sin = self._rotary(states, torch.arange(length, device=self._device)[None])
        half = sin.shape[-1] // 2
        return cos[0], torch.cat((-sin[0, :, :half], sin[0, :, half:]), -1)
