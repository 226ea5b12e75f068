"""Runs the drafting layers of a target over one text at batch size 1, with their own KV cache.

Layer 0 pairs the target's last state of position p, behind the last norm, with the token at p + 1;
layer k pairs what layer k - 1 gave for p with the token at p + k + 1, and stands at that token's
position. The embedding and the output layer are the target's own (DeepSeek-V3, arXiv:2412.19437,
section 2.2).
"""

from functools import partial

import torch
from transformers.cache_utils import MtpCache
from transformers.modeling_layers import MtpModel

from specviz.decoding.rollback_cache import RollbackLayer


class RowCache(MtpCache):  # type: ignore[misc]
    """Keys and values of each layer, which forget their newest rows at no cost."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self.layer_class_to_replicate = partial(RollbackLayer, room)

    def num_rows(self, layer: int) -> int:
        """How many rows a layer has read."""
        return int(self.layers[layer].get_seq_length()) if layer < len(self.layers) else 0

    def truncate(self, layer: int, num_rows: int) -> None:
        """Forget all but the first rows of a layer."""
        if layer < len(self.layers):
            self.layers[layer].truncate(num_rows)


class MtpPass:
    """The drafting layers of one target; many texts may use them, each with a cache."""

    def __init__(self, model: MtpModel) -> None:
        self._model = model
        self.num_layers = len(model.layers)

    def new_cache(self, room: int) -> RowCache:
        """Make a cache for a text that `room` tokens may follow."""
        return RowCache(room)

    def read(
        self, layer: int, states: torch.Tensor, ids: list[int], cache: RowCache
    ) -> torch.Tensor:
        """Read states `[num_new, hidden]` with a token each, behind what the layer has read.

        Returns:
            The layer's states `[num_new, hidden]`, behind its norm: what the output layer and the
            next step read.
        """
        first = cache.num_rows(layer) + layer + 1
        index = torch.arange(first, first + len(ids), device=states.device)
        tokens = torch.tensor([ids], device=states.device)
        found: torch.Tensor = self._model.forward_layer(
            layer, states[None], index[None], cache, input_ids=tokens
        )
        return found[0]

    def predict(self, states: torch.Tensor) -> torch.Tensor:
        """Logits `[num_rows, vocab]` after the states of a layer."""
        logits: torch.Tensor = self._model.shared_head(states)
        return logits
