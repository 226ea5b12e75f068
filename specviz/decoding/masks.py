"""Masks of attention, as numbers to add to its scores."""

import torch

LONGEST_KEPT = 64
"""Blocks of more positions are rare (a prompt that goes on), and their tables large."""
FIRST_LENGTH = 512


def additive(visible: torch.Tensor, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """Numbers to add, of the shape of `visible`: 0 where a token may look, else minus infinity.

    Attention takes a bool mask too, but turns it into numbers anew in every layer.
    """
    mask = torch.zeros(visible.shape, dtype=dtype).masked_fill_(~visible, -torch.inf)
    return mask.to(device)


class CausalMasks:
    """Masks of blocks that see the cache and what stands before them, cut from kept tables.

    A block of n positions behind `num_past` tokens needs row i to end at column num_past + i. One
    table for each n has that edge at column `reach` + i; every mask is a window onto it.
    """

    def __init__(self, dtype: torch.dtype, device: torch.device) -> None:
        self._dtype = dtype
        self._device = device
        self._tables: dict[tuple[int, int | None], tuple[int, torch.Tensor]] = {}

    def of(self, num_new: int, num_past: int, window: int | None = None) -> torch.Tensor:
        """Return the mask `[num_new, num_past + num_new]`.

        Args:
            window: Tokens that each position sees at most, itself included; None: all.
        """
        key = (num_new, window)
        reach, table = self._tables.get(key, (-1, None))
        if table is None or num_past > reach:
            reach = num_past if num_new > LONGEST_KEPT else max(FIRST_LENGTH, 2 * num_past)
            table = self._table(num_new, reach, window)
            if num_new <= LONGEST_KEPT:
                self._tables[key] = (reach, table)
        return table[:, reach - num_past :]

    def _table(self, num_new: int, reach: int, window: int | None) -> torch.Tensor:
        edge = torch.arange(num_new)[:, None] + reach
        column = torch.arange(reach + num_new)[None]
        visible = column <= edge
        if window is not None:
            visible &= column > edge - window
        return additive(visible, self._dtype, self._device)
