"""A KV cache that forgets its newest tokens at no cost."""

from functools import partial
from typing import Any

import torch
from transformers.cache_utils import DynamicCache, DynamicLayer

from specviz.decoding.lean_cache import DEFAULT_ROOM


class RollbackLayer(DynamicLayer):  # type: ignore[misc]
    """Keys and values of one layer in a buffer with room for more; a rollback only moves its end.

    The first tokens, which are a text's prompt, bring `room` for as many more; past that the buffer
    grows by doubling, which costs whoever asks for it.

    Every token stays, in layers with a sliding window too: the mask, not the cache, hides what lies
    outside the window, so that any rollback is exact.
    """

    def __init__(self, room: int) -> None:
        super().__init__()
        self._room = room

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        """Allocate the buffers, shaped `[1, num_kv_heads, capacity, head_dim]`."""
        self.dtype, self.device = key_states.dtype, key_states.device
        self._length = 0
        capacity = key_states.shape[-2] + self._room
        self._key_buffer = _empty_like(key_states, capacity)
        self._value_buffer = _empty_like(value_states, capacity)
        self.is_initialized = True

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Append `[1, num_kv_heads, num_new, head_dim]` and return everything that is cached."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        end = self._length + key_states.shape[-2]
        if end > self._key_buffer.shape[-2]:
            self._key_buffer = _grown(self._key_buffer, self._length, 2 * end)
            self._value_buffer = _grown(self._value_buffer, self._length, 2 * end)
        self._key_buffer[:, :, self._length : end] = key_states
        self._value_buffer[:, :, self._length : end] = value_states
        self._length = end
        self.keys = self._key_buffer[:, :, :end]
        self.values = self._value_buffer[:, :, :end]
        return self.keys, self.values

    def get_seq_length(self) -> int:
        """Return the number of cached tokens."""
        return self._length if self.is_initialized else 0

    def truncate(self, num_tokens: int) -> None:
        """Forget all but the first `num_tokens`."""
        if self.is_initialized and num_tokens < self._length:
            self._length = num_tokens
            self.keys = self._key_buffer[:, :, :num_tokens]
            self.values = self._value_buffer[:, :, :num_tokens]

    def keep_rows(self, start: int, rows: torch.Tensor) -> None:
        """Keep the first `start` tokens and, of the later ones, those at `rows` (offsets from
        `start`)."""
        if not self.is_initialized:
            return
        end = start + len(rows)
        index = rows.to(self._key_buffer.device) + start
        self._key_buffer[:, :, start:end] = self._key_buffer[:, :, index]
        self._value_buffer[:, :, start:end] = self._value_buffer[:, :, index]
        self.truncate(end)

    def crop(self, tokens_to_remove: int) -> None:
        """Forget the newest `-tokens_to_remove` tokens (the sign is transformers')."""
        self.truncate(self.get_seq_length() + tokens_to_remove)


def _empty_like(states: torch.Tensor, capacity: int) -> torch.Tensor:
    batch, num_heads, _, head_dim = states.shape
    return states.new_empty(batch, num_heads, capacity, head_dim)


def _grown(buffer: torch.Tensor, length: int, capacity: int) -> torch.Tensor:
    grown = _empty_like(buffer, capacity)
    grown[:, :, :length] = buffer[:, :, :length]
    return grown


class PartCache(DynamicCache):  # type: ignore[misc]
    """A cache for the layers of a model from one number on."""

    def __init__(self, room: int, first_layer: int) -> None:
        super().__init__()
        self._first_layer = first_layer
        self.layer_class_to_replicate = partial(RollbackLayer, room)

    def update(
        self,
        key_states: torch.Tensor,
        value_states: torch.Tensor,
        layer_idx: int,
        *args: Any,
        **kwargs: Any,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Append to the layer that the model numbers `layer_idx` and return all that it holds."""
        index = layer_idx - self._first_layer
        keys, values = super().update(key_states, value_states, index, *args, **kwargs)
        return keys, values

    def truncate(self, num_tokens: int) -> None:
        """Forget all but the first tokens."""
        for layer in self.layers:
            layer.truncate(num_tokens)

    def keep_rows(self, start: int, rows: torch.Tensor) -> None:
        """Keep the first `start` tokens and, of the later ones, those at `rows` (offsets from
        `start`)."""
        for layer in self.layers:
            layer.keep_rows(start, rows)


def rollback_cache(room: int = DEFAULT_ROOM, first_layer: int = 0) -> PartCache:
    """Make an empty cache of `RollbackLayer`s, which are made as the model asks for them.

    Args:
        room: Tokens that can follow the first ones that are read before a buffer must grow.
        first_layer: Where the part of the model begins that the cache is for. The part asks for its
            layers by their numbers in the whole, and how much was read by the first of them.
    """
    return PartCache(room, first_layer)
