"""Trains a draft towards the distributions of its target, batch by batch; resumable."""

from dataclasses import dataclass
from pathlib import Path
from time import monotonic

import numpy as np
import torch

from specviz.distill.batches import Batch, BatchSource
from specviz.distill.distillation_loss import distillation_loss
from specviz.distill.logit_distillation import logit_distillation_loss
from specviz.distill.model_reader import ModelReader
from specviz.distill.training_run import TrainingRun
from specviz.errors import IncompatibleModelError

SAVE_EVERY_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Schedule:
    """What is minimised, and how learning rates rise and fall."""

    divergence_weight: float = 0.7
    """Of the loss; cross-entropy has what is left to 1."""
    hybrid_share: float = 1 / 3
    """Share of the steps, the last ones, that minimise the hybrid of KL and total variation."""
    decay_share: float = 0.5
    """Share of the steps, the last ones, over which the learning rates fall to zero."""
    warmup_steps: int = 20
    clip: float = 1.0
    """Largest norm of the gradient."""


def draft_loss(
    draft: ModelReader,
    target: ModelReader,
    batch: Batch,
    divergence_weight: float,
    *,
    hybrid: bool,
) -> torch.Tensor:
    """Mean distillation loss over the wanted positions of a batch, in nats."""
    ours, theirs = draft.features(batch.ids, batch.wanted), batch.target_features
    if draft.is_plain and target.is_plain:
        loss, _ = distillation_loss(
            ours,
            draft.weight,
            theirs,
            target.weight,
            batch.labels,
            divergence_weight,
            hybrid=hybrid,
        )
        return loss
    return logit_distillation_loss(
        draft.logits(ours), target.logits(theirs), batch.labels, divergence_weight, hybrid=hybrid
    )


class DraftTraining:
    """One run of training, kept in a folder, from which it goes on after an interruption."""

    def __init__(
        self,
        draft: ModelReader,
        batches: BatchSource,
        optimizers: list[torch.optim.Optimizer],
        folder: Path,
        schedule: Schedule,
    ) -> None:
        self.draft, self.batches, self.schedule = draft, batches, schedule
        self.run = TrainingRun(folder, draft.model, optimizers, draft.model.device)
        self.run.resume()
        self._saved = monotonic()

    def train(self, num_steps: int, max_steps: int | None = None, title: str = "training") -> None:
        """Train up to step `num_steps`; `max_steps` stops earlier."""
        self.run.advance(title, num_steps, lambda: self._step(num_steps), 0, max_steps)
        self.run.save()

    def step(self, num_steps: int | None) -> float:
        """Take one step and return its loss in nats.

        Args:
            num_steps: How many the whole run has, by which learning rates fall; None where that is
                not known yet.

        Raises:
            IncompatibleModelError: The loss is not a number.
        """
        return self.run.take(lambda: self._step(num_steps), 0)

    def _step(self, num_steps: int | None) -> float:
        state, schedule = self.run.state, self.schedule
        if monotonic() - self._saved > SAVE_EVERY_SECONDS:
            self.run.save()
            self._saved = monotonic()
        left = 1.0 - state.steps / num_steps if num_steps else 1.0
        batch = self.batches.batch(state.steps)
        loss = draft_loss(
            self.draft,
            self.batches.target,
            batch,
            schedule.divergence_weight,
            hybrid=left <= schedule.hybrid_share,
        )
        value = float(loss.detach())
        if not np.isfinite(value):
            raise IncompatibleModelError(
                f"training broke off at step {state.steps}: the loss is {value}; the target or the "
                "draft gives logits that are not numbers"
            )
        decay = min(1.0, left / schedule.decay_share)
        self.run.update(loss, decay, schedule.warmup_steps, schedule.clip)
        state.tokens += len(batch.labels)
        return value
