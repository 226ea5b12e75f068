"""What a draft learns from, step by step: padded texts and what the target makes of them.

Anything that gives a `Batch` for a step can be trained on: `TextBatches` goes through texts that
the target wrote after prompts, epoch by epoch; a family of models may mix in other text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch

from specviz.distill.model_reader import ModelReader, TargetReader, pad_texts
from specviz.distill.texts import Text

LENGTH_JITTER = 48


@dataclass(frozen=True, slots=True)
class Batch:
    """Texts of one step, and the target's features where the draft is to learn."""

    ids: torch.Tensor
    """`[rows, length]` int64, padded at the end."""
    wanted: torch.Tensor
    """`[rows, length]` bool, True where the next id is learned."""
    labels: torch.Tensor
    """`[num_wanted]` int64, those next ids, row by row."""
    target_features: torch.Tensor
    """`[num_wanted, features]` float32, from which `BatchSource.target` makes logits."""


class BatchSource(Protocol):
    """Gives the batch of any step, the same one for the same step."""

    @property
    def target(self) -> ModelReader:
        """The model whose features the batches hold."""
        ...

    def batch(self, step: int) -> Batch:
        """Return what is learned from in this step."""
        ...


@torch.no_grad()
def read_batch(target: ModelReader, texts: Sequence[Text]) -> Batch:
    """Let the target read texts, and put them into a batch."""
    ids, wanted, labels = pad_texts(texts, target.model.device)
    return Batch(ids, wanted, labels, target.features(ids, wanted))


class TextBatches:
    """Batches of texts that the target wrote; every epoch sees all texts once, in another order."""

    def __init__(self, texts: TargetReader, seed: int) -> None:
        self.target = texts.reader
        self._texts, self._seed = texts, seed
        self._epoch, self._first_step = 0, 0
        self._batches = self._plan_epoch(0)

    def batch(self, step: int) -> Batch:
        """Return the batch of a step; steps are asked for in rising order."""
        while step >= self._first_step + len(self._batches):
            self._first_step += len(self._batches)
            self._epoch += 1
            self._batches = self._plan_epoch(self._epoch)
        rows = self._batches[step - self._first_step]
        texts = [self._texts.texts[row] for row in rows]
        return Batch(*pad_texts(texts, self.target.model.device), self._texts.features(rows))

    def _plan_epoch(self, epoch: int) -> list[list[int]]:
        """Put texts of about the same length into a batch, the batches in any order."""
        rng = np.random.default_rng([self._seed, epoch])
        lengths = np.array([len(text.ids) for text in self._texts.texts])
        order = np.argsort(lengths + rng.uniform(0, LENGTH_JITTER, len(lengths))).tolist()
        batches = self._texts.batches(order)
        return [batches[index] for index in rng.permutation(len(batches))]
