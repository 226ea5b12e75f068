"""The most probable tokens of a round's distributions, with their texts."""

from collections.abc import Callable

import torch

from specviz.trace.values import NUM_TOP, TopToken


class TopTokens:
    """Lists of the most probable tokens, found for all rows of a round at once."""

    def __init__(
        self,
        text_of: Callable[[int], str],
        target_probs: torch.Tensor,
        draft_probs: torch.Tensor | None,
    ) -> None:
        self._text_of = text_of
        self._target = _top_rows(target_probs)
        self._draft = None if draft_probs is None else _top_rows(draft_probs)

    def target(self, row: int) -> tuple[TopToken, ...]:
        """Those of the target in one row."""
        return self._with_texts(self._target, row)

    def draft(self, row: int) -> tuple[TopToken, ...]:
        """Those of the draft in one row; none where it has no distribution."""
        return () if self._draft is None else self._with_texts(self._draft, row)

    def of(self, probs: torch.Tensor) -> tuple[TopToken, ...]:
        """Those of another distribution `[vocab]`."""
        return self._with_texts(_top_rows(probs[None]), 0)

    def _with_texts(
        self, rows: tuple[list[list[float]], list[list[int]]], row: int
    ) -> tuple[TopToken, ...]:
        probs, ids = rows
        return tuple(
            TopToken(token_id, self._text_of(token_id), prob)
            for prob, token_id in zip(probs[row], ids[row], strict=True)
            if prob > 0
        )


def _top_rows(probs: torch.Tensor) -> tuple[list[list[float]], list[list[int]]]:
    top = probs.topk(min(NUM_TOP, probs.shape[-1]), dim=-1)
    return _shortest(top.values), top.indices.tolist()


def _shortest(probs: torch.Tensor) -> list[list[float]]:
    """Give `[rows, top]` as numbers that are written with no more digits than their dtype has.

    0.2f as a Python number is 0.20000000298023224; as 0.2 it is the same float32, and traces and
    packets of it are half as long.
    """
    if probs.dtype == torch.float64:
        return probs.tolist()
    return [[float(str(prob)) for prob in row] for row in probs.float().cpu().numpy()]
