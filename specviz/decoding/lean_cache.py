"""Keys and values of all layers of the lean pass in one buffer; a rollback only moves its end."""

from typing import Protocol

import torch

DEFAULT_ROOM = 256
HeadShape = tuple[int, int]
"""Number of heads of the keys, and their width."""


class LayerCache(Protocol):
    """Where layers put keys and values."""

    def write(self, layer: int, fresh: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Keep keys and values `[num_new, 2 * num_kv_heads, head_dim]`; return all of the layer
        that may be seen, `[1, num_kv_heads, num_seen, head_dim]` each."""


class BlockViews:
    """The places of one block in a buffer `[num_layers, capacity, 2 * num_kv_heads, head_dim]`, for
    all layers at once: cut out layer by layer they would cost as much as a small product."""

    def __init__(self, buffer: torch.Tensor, start: int, end: int, first_layer: int = 0) -> None:
        """Cut out the places `start` to `end` and what may be seen from there, all before `end`."""
        self._first_layer = first_layer
        self._slots = buffer[:, start:end].unbind(0)
        keys, values = buffer[:, None, :end].transpose(2, 3).chunk(2, 2)
        self._keys, self._values = keys.unbind(0), values.unbind(0)

    def slots(self, layer: int) -> torch.Tensor:
        """Where the block's keys and values go, `[num_new, 2 * num_kv_heads, head_dim]`."""
        return self._slots[layer - self._first_layer]

    def seen(self, layer: int) -> tuple[torch.Tensor, torch.Tensor]:
        """All keys and values that may be seen, `[1, num_kv_heads, end, head_dim]` each."""
        index = layer - self._first_layer
        return self._keys[index], self._values[index]

    def write(self, layer: int, fresh: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Put the block's keys and values into their places; return all that may be seen."""
        self.slots(layer).copy_(fresh)
        return self.seen(layer)


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

    def make_room(self, num_new: int, head_shape: HeadShape, like: torch.Tensor) -> BlockViews:
        """Let `num_new` more tokens fit, of the dtype and on the device of `like`, and return their
        places, behind what is read."""
        end = self._length + num_new
        if self._buffer is None:
            self._buffer = self._empty(end + self._room, head_shape, like)
        elif end > self._buffer.shape[1]:
            grown = self._empty(2 * end, head_shape, like)
            self._buffer = _grown(self._buffer, self._length, grown)
        return BlockViews(self._buffer, self._length, end, self._first_layer)

    def extend(self, num_new: int) -> None:
        """Count tokens as read that every layer has written to their places."""
        self._length += num_new

    def truncate(self, num_tokens: int) -> None:
        """Forget all but the first tokens."""
        self._length = min(self._length, num_tokens)

    def keep_rows(self, start: int, rows: torch.Tensor) -> None:
        """Keep the first `start` tokens and, of the later ones, those at `rows` (offsets from
        `start`)."""
        if self._buffer is not None:
            index = rows.to(self._buffer.device) + start
            self._buffer[:, start : start + len(rows)] = self._buffer[:, index]
            self._length = start + len(rows)

    def _empty(self, capacity: int, head_shape: HeadShape, like: torch.Tensor) -> torch.Tensor:
        num_kv_heads, head_dim = head_shape
        return like.new_empty(self._num_layers, capacity, 2 * num_kv_heads, head_dim)


def _grown(buffer: torch.Tensor, length: int, grown: torch.Tensor) -> torch.Tensor:
    grown[:, :length] = buffer[:, :length]
    return grown
