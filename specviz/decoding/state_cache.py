"""A cache for hybrid models: attention keeps every token, recurrent layers keep a state and a copy.

A recurrent or convolution state holds all that was read and cannot be cut back to fewer tokens. So
it is copied before tokens are read that may be taken back; a rollback brings the copy back, and
what lay between is read again. Example: 10 tokens are read and the states copied, 5 drafts are read
and 2 of them accepted: `return_point(12)` is 10, and tokens 11 and 12 are read once more together
with whatever comes next.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from transformers.cache_utils import (
    CacheLayerMixin,
    DynamicCache,
    LinearAttentionCacheLayerMixin,
    LinearAttentionLayer,
)

from specviz.decoding.rollback_cache import PartCache, RollbackLayer

MAX_READ_AGAIN = 8
"""Most tokens that are read again with new drafts; more are read once more on their own.

Where every round rejects something, what is read again grows by the c tokens of each round. With a
pass of f + t n milliseconds for n tokens, reading L of them on their own costs f c / L a round and
carrying them along t L / 2: least at L = sqrt(2 f c / t), which is 8 for c = 2 and f = 16 t.
"""

LayerMaker = Callable[[int], Any]
"""From the room of a `RollbackLayer` to an empty layer."""


class StateLayer(LinearAttentionLayer):  # type: ignore[misc]
    """The states of one recurrent layer and one copy of them.

    `conv_states` holds the last inputs of the convolution, `[1, num_channels, kernel]`,
    `recurrent_states` what the layer remembers, `[1, num_heads, …]`; some layers have one kind.
    """

    def __init__(self, number_of_states: int = 1) -> None:
        LinearAttentionLayer.__init__(self, number_of_states=number_of_states)
        self._saved_conv: dict[int, torch.Tensor] = {}
        self._saved_recurrent: dict[int, torch.Tensor] = {}

    def save(self) -> None:
        """Copy the states over the copy of before."""
        for states, saved in self._kinds():
            for index, state in states.items():
                if state is None:
                    continue
                if index not in saved:
                    saved[index] = state.clone()
                else:
                    saved[index].copy_(state)

    def bring_back(self) -> None:
        """Let the copy be the states; there is none afterwards."""
        for states, saved in self._kinds():
            for index in saved:
                states[index], saved[index] = saved[index], states[index]

    def forget(self) -> None:
        """Begin as a layer that has read nothing."""
        for index in self.has_previous_state:
            self.has_previous_state[index] = False

    def _kinds(self) -> tuple[tuple[dict[int, Any], dict[int, torch.Tensor]], ...]:
        return (
            (self.conv_states, self._saved_conv),
            (self.recurrent_states, self._saved_recurrent),
        )


class HybridLayer(StateLayer, RollbackLayer):
    """A layer that attends and remembers side by side, as those of Falcon-H1 do."""

    def __init__(self, room: int, number_of_states: int = 1) -> None:
        RollbackLayer.__init__(self, room)
        StateLayer.__init__(self, number_of_states)

    def lazy_initialization(self, *keys_and_values: torch.Tensor, **states: Any) -> None:
        """Allocate what is asked for: transformers names states and does not name keys."""
        if keys_and_values:
            RollbackLayer.lazy_initialization(self, *keys_and_values)
        else:
            StateLayer.lazy_initialization(self, **states)


class StateCache(PartCache):
    """The cache of a whole hybrid model."""

    def __init__(self, room: int, makers: Sequence[LayerMaker]) -> None:
        super().__init__(room, 0)
        self.layers = [make(room) for make in makers]
        self._num_saved = 0

    @torch.inference_mode()
    def save(self, num_tokens: int) -> None:
        """Copy the states of all layers, which have read `num_tokens`; of nothing there is none."""
        if num_tokens == self._num_saved:
            return
        for layer in self.layers:
            if isinstance(layer, StateLayer):
                layer.save()
        self._num_saved = num_tokens

    def return_point(self, num_tokens: int) -> int:
        """Return how many of the first `num_tokens` are left when the later ones are taken back."""
        return self._num_saved if self._num_saved <= num_tokens else 0

    def truncate(self, num_tokens: int) -> None:
        """Forget all but the first tokens; their number is a return point."""
        if num_tokens not in (0, self._num_saved):
            raise ValueError(f"states of {num_tokens} tokens were never copied")
        for layer in self.layers:
            if isinstance(layer, RollbackLayer):
                layer.truncate(num_tokens)
            if isinstance(layer, StateLayer):
                if num_tokens > 0:
                    layer.bring_back()
                else:
                    layer.forget()
        self._num_saved = 0


def layer_makers(config: Any) -> tuple[LayerMaker, ...] | None:
    """Return what makes the cache's layers for a text config; None where no layer keeps a state.

    A sliding window stays with the mask, as in a `RollbackLayer`.
    """
    if not getattr(config, "layer_types", None):
        return None
    try:
        layers = DynamicCache(config=config).layers
    except KeyError:  # a kind of layer that transformers has no cache for: not ours to keep
        return None
    if not any(isinstance(layer, LinearAttentionCacheLayerMixin) for layer in layers):
        return None
    return tuple(_maker(layer) for layer in layers)


def _maker(layer: Any) -> LayerMaker:
    """Choose what stands for one of transformers' layers; one that holds nothing stays."""
    has_keys = isinstance(layer, CacheLayerMixin)
    if not isinstance(layer, LinearAttentionCacheLayerMixin):
        return RollbackLayer if has_keys else lambda room: layer
    number_of_states = layer.number_of_states
    if has_keys:
        return partial(HybridLayer, number_of_states=number_of_states)
    return lambda room: StateLayer(number_of_states)
