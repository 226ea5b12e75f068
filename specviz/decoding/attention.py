"""What queries see: attention over cached keys, grouped heads left as they are.

transformers copies grouped keys and values out wherever a mask is given, which a check of several
tokens needs and a single token does not: checking then looks dearer than it is. Here the queries of
a group stand in one block, as if they were more positions of one head.
"""

from typing import Protocol

import torch
from torch.nn.functional import scaled_dot_product_attention

from specviz.decoding.masks import CausalMasks

Seen = tuple[torch.Tensor, torch.Tensor, torch.Tensor | None, bool]
"""Keys, values, the mask of numbers to add, and whether there is none since all is causal."""


class Sight(Protocol):
    """Which cached tokens a block of new ones may look at."""

    def of(self, window: int | None, keys: torch.Tensor, values: torch.Tensor) -> Seen:
        """Return what a layer looks at that sees `window` tokens (None: all)."""


class GrowingSight:
    """The sight of a block behind `num_past` tokens, over keys that end with the block."""

    def __init__(
        self, num_new: int, num_past: int, masks: CausalMasks, mask: torch.Tensor | None
    ) -> None:
        """With `mask` `[num_new, num_past + num_new]` for all layers, else what comes before."""
        self._num_new, self._num_past = num_new, num_past
        self._masks, self._mask = masks, mask
        self._found: dict[int | None, torch.Tensor] = {}

    def of(self, window: int | None, keys: torch.Tensor, values: torch.Tensor) -> Seen:
        """Return what a layer looks at."""
        if self._mask is not None:
            return keys, values, self._mask, False
        if window is not None and window >= self._num_past + self._num_new:
            window = None
        if self._num_new == 1:
            if window is not None:
                keys, values = keys[:, :, -window:], values[:, :, -window:]
            return keys, values, None, False
        if self._num_past == 0 and window is None:
            return keys, values, None, True
        if window not in self._found:
            self._found[window] = self._masks.of(self._num_new, self._num_past, window)
        return keys, values, self._found[window], False


def attend(query: torch.Tensor, seen: Seen, scale: float) -> torch.Tensor:
    """Return what queries `[num_new, num_heads, head_dim]` see, `[num_new, num_heads * head_dim]`.

    Keys and values are `[1, num_kv_heads, num_seen, head_dim]`.
    """
    keys, values, mask, is_causal = seen
    num_new, num_kv_heads = len(query), keys.shape[1]
    num_groups = query.shape[1] // num_kv_heads
    if is_causal or num_groups == 1:
        result = scaled_dot_product_attention(
            query.transpose(0, 1)[None],
            keys,
            values,
            mask,
            is_causal=is_causal,
            scale=scale,
            enable_gqa=num_groups > 1,
        )
        return result[0].transpose(0, 1).reshape(num_new, -1)
    # [kv head, place in the group, position]: the last two are one long run of positions.
    folded = query.view(num_new, num_kv_heads, num_groups, -1).permute(1, 2, 0, 3)
    folded = folded.reshape(num_kv_heads, num_groups * num_new, -1)
    if mask is not None:
        mask = mask.repeat(num_groups, 1)
    result = scaled_dot_product_attention(folded[None], keys, values, mask, scale=scale)
    result = result[0].view(num_kv_heads, num_groups, num_new, -1)
    return result.permute(2, 0, 1, 3).reshape(num_new, -1)
