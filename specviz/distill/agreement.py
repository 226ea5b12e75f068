"""How well a draft agrees with its target on each of many texts that the target wrote."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from specviz.distill.model_reader import ModelReader, TargetReader, pad_texts

BLOCK_ROWS = 256


@dataclass(frozen=True, slots=True)
class Agreement:
    """Means over `num_tokens` positions."""

    alpha: float
    """Mean of sum min(p, q) at temperature 1: the chance that a sampled draft token is accepted."""
    greedy: float
    """Share of positions where draft and target have the same first choice."""
    num_tokens: int


@torch.no_grad()
def measure_texts(draft: ModelReader, target: TargetReader) -> list[Agreement]:
    """Compare the two models where the target wrote, text by text, at temperature 1."""
    found: list[Agreement] = []
    for rows in target.batches(range(len(target.texts))):
        texts = [target.texts[row] for row in rows]
        ids, wanted, _ = pad_texts(texts, draft.model.device)
        ours, theirs = draft.features(ids, wanted), target.features(rows)
        overlaps, same = [], []
        for start in range(0, len(ours), BLOCK_ROWS):
            block = slice(start, start + BLOCK_ROWS)
            mine, wished = draft.logits(ours[block]), target.reader.logits(theirs[block])
            overlaps.append(
                torch.minimum(mine.softmax(-1), wished.softmax(-1)).sum(-1).clamp(max=1.0)
            )
            same.append((mine.argmax(-1) == wished.argmax(-1)).float())
        lengths = [text.num_written for text in texts]
        found += [
            Agreement(float(overlap.mean()), float(equal.mean()), len(overlap))
            for overlap, equal in zip(
                torch.split(torch.cat(overlaps), lengths),
                torch.split(torch.cat(same), lengths),
                strict=True,
            )
        ]
    return found


def pool(found: Sequence[Agreement]) -> Agreement:
    """Mean over all tokens of several texts."""
    total = sum(part.num_tokens for part in found)
    return Agreement(
        sum(part.alpha * part.num_tokens for part in found) / total,
        sum(part.greedy * part.num_tokens for part in found) / total,
        total,
    )
