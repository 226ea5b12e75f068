"""One token through the layers of a Llama-like model, on a processor.

A plain step reads one token, and so does each step of a draft. What a small operation costs there
is mostly that it is called: rotating is a product with one matrix, and the norm of a state is a
number of Python's. Products with weights are those of a check of several tokens, so that nothing
but the number of tokens parts the two.
"""

from collections.abc import Iterable

import torch
from torch.nn.functional import scaled_dot_product_attention

from specviz.decoding.lean_cache import BlockViews
from specviz.decoding.lean_weights import LeanLayer


class LeanToken:
    """The pass of one token, which sees all that stands before it."""

    def __init__(
        self, num_heads: int, num_kv_heads: int, head_dim: int, like: torch.Tensor
    ) -> None:
        """Serve layers of so many heads, of the dtype and on the device of `like`."""
        self._heads = (num_heads, num_kv_heads)
        self._split = (num_heads + num_kv_heads, num_kv_heads)
        self._split_shape = (sum(self._split), head_dim)
        self._groups = (1, num_kv_heads, num_heads // num_kv_heads, head_dim)
        self._straight = torch.eye(head_dim, dtype=like.dtype, device=like.device)
        self._crossed = self._straight.roll(head_dim // 2, 0)

    def run(
        self,
        state: torch.Tensor,
        layers: Iterable[tuple[int, LeanLayer]],
        rotation: tuple[torch.Tensor, torch.Tensor],
        views: BlockViews,
    ) -> torch.Tensor:
        """Run numbered layers on the state `[1, hidden]` of a token and return what it becomes.

        Args:
            rotation: Cosines and signed sines `[1, 1, head_dim]` of its position.
        """
        cos, sin = rotation
        # x cos + (-x2, x1) sin, the sign of the first half being in the table.
        turn = torch.addcmul(self._straight * cos[0], self._crossed, sin[0])
        for number, layer in layers:
            seen = self._attend(layer, state, turn, number, views)
            state = layer.output.added_to(state, seen)
            gate, up = layer.gate_up(layer.before_mlp.of_one(state)).chunk(2, -1)
            state = layer.down.added_to(state, layer.activation(gate).mul_(up))
        return state

    def _attend(
        self,
        layer: LeanLayer,
        state: torch.Tensor,
        turn: torch.Tensor,
        number: int,
        views: BlockViews,
    ) -> torch.Tensor:
        """Return what a layer's queries see, `[1, num_heads * head_dim]`.

        Args:
            turn: The rotation as a matrix `[head_dim, head_dim]`.
        """
        joined = layer.query_key_value(layer.before_attention.of_one(state))
        turned, value = joined.view(self._split_shape).split_with_sizes(self._split)
        if layer.head_norm is not None:
            turned = layer.head_norm(turned)
        query, key = torch.mm(turned, turn).split_with_sizes(self._heads)
        torch.cat((key, value), out=views.slots(number)[0])
        keys, values = views.seen(number)
        if layer.window is not None:
            keys, values = keys[:, :, -layer.window :], values[:, :, -layer.window :]
        query = query.view(self._groups)
        return scaled_dot_product_attention(query, keys, values, scale=layer.scale).view(1, -1)
