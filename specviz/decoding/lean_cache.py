"""Keys and values of all layers of the lean pass in one buffer; a rollback only moves its end."""

from typing import Protocol

import torch

DEFAULT_ROOM = 256
HeadShape = tuple[int, int]
"""Number of heads of the keys, and their width."""


class LayerCache(Protocol):
    """Where layers put keys and values."""

    def write(
        self, layer: int, keys: torch.Tensor, values: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Keep `[num_new, num_kv_heads, head_dim]`; return all of the layer that may be seen,
        `[num_kv_heads, num_seen, head_dim]`."""


class LeanCache:
    """What some layers of a model have read.

    The first tokens, which are a text's prompt, bring `room` for as many more; past that the buffer
    grows by doubling, which costs whoever asks for it.
    """

    def __init__(self, room: int, num_layers: int, first_layer: int = 0) -> None:
        """Hold nothing yet, for the layers of a model from number `first_layer` on."""
        self._room = room
        self._num_layers = num_layers
        self._first_layer = first_layer
        self._buffer: torch.Tensor | None = None
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def make_room(self, num_new: int, head_shape: HeadShape, like: torch.Tensor) -> None:
        """Let `num_new` more tokens fit, of the dtype and on the device of `like`."""
        end = self._length + num_new
        if self._buffer is None:
            self._buffer = self._empty(end + self._room, head_shape, like)
        elif end > self._buffer.shape[2]:
            grown = self._empty(2 * end, head_shape, like)
            self._buffer = _grown(self._buffer, self._length, grown)

    def write(
        self, layer: int, keys: torch.Tensor, values: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Put `[num_new, num_kv_heads, head_dim]` behind what a layer has read.

        The end moves once for all layers: see `extend`.

        Returns:
            All keys and values of the layer, `[num_kv_heads, length + num_new, head_dim]`.
        """
        assert self._buffer is not None, "make room first"
        end = self._length + len(keys)
        own_keys, own_values = self._buffer[layer - self._first_layer]
        own_keys[self._length : end] = keys
        own_values[self._length : end] = values
        return own_keys[:end].transpose(0, 1), own_values[:end].transpose(0, 1)

    def extend(self, num_new: int) -> None:
        """Count tokens as read that every layer has written."""
        self._length += num_new

    def truncate(self, num_tokens: int) -> None:
        """Forget all but the first tokens."""
        self._length = min(self._length, num_tokens)

    def keep_rows(self, start: int, rows: torch.Tensor) -> None:
        """Keep the first `start` tokens and, of the later ones, those at `rows` (offsets from
        `start`)."""
        if self._buffer is not None:
            index = rows.to(self._buffer.device) + start
            self._buffer[:, :, start : start + len(rows)] = self._buffer[:, :, index]
            self._length = start + len(rows)

    def _empty(self, capacity: int, head_shape: HeadShape, like: torch.Tensor) -> torch.Tensor:
        return like.new_empty(self._num_layers, 2, capacity, *head_shape)


def _grown(buffer: torch.Tensor, length: int, grown: torch.Tensor) -> torch.Tensor:
    grown[:, :, :length] = buffer[:, :, :length]
    return grown
