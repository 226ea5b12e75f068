"""How well a draft agrees with its target on each of many texts that the target wrote."""

from collections.abc import Iterator, Sequence

import torch

from specviz.distill.model_reader import ModelReader, TargetReader, pad_texts
from specviz.trace.fits import FitScore

BLOCK_ROWS = 256


def measure_texts(draft: ModelReader, target: TargetReader) -> list[FitScore]:
    """Compare the two models where the target wrote, text by text, at temperature 1."""
    return [score for found in measuring(draft, target) for score in found]


def measuring(draft: ModelReader, target: TargetReader) -> Iterator[list[FitScore]]:
    """Compare as `measure_texts` does, in short pieces: some of the texts, in order, at a time."""
    for rows in target.batches(range(len(target.texts))):
        yield _measure(draft, target, rows)


@torch.no_grad()
def _measure(draft: ModelReader, target: TargetReader, rows: Sequence[int]) -> list[FitScore]:
    texts = [target.texts[row] for row in rows]
    ids, wanted, _ = pad_texts(texts, draft.model.device)
    ours, theirs = draft.features(ids, wanted), target.features(rows)
    overlaps, same = [], []
    for start in range(0, len(ours), BLOCK_ROWS):
        block = slice(start, start + BLOCK_ROWS)
        mine, wished = draft.logits(ours[block]), target.reader.logits(theirs[block])
        overlaps.append(torch.minimum(mine.softmax(-1), wished.softmax(-1)).sum(-1).clamp(max=1.0))
        same.append((mine.argmax(-1) == wished.argmax(-1)).float())
    lengths = [text.num_written for text in texts]
    return [
        FitScore(float(overlap.mean()), float(equal.mean()), len(overlap))
        for overlap, equal in zip(
            torch.split(torch.cat(overlaps), lengths),
            torch.split(torch.cat(same), lengths),
            strict=True,
        )
    ]


def pool(found: Sequence[FitScore]) -> FitScore:
    """Mean over all tokens of several texts."""
    total = sum(part.num_tokens for part in found)
    return FitScore(
        sum(part.alpha * part.num_tokens for part in found) / total,
        sum(part.greedy * part.num_tokens for part in found) / total,
        total,
    )
