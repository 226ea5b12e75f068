"""Trains a draft towards the laws of its target on what the target wrote; resumable."""

import json
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import torch
from rich import get_console

from specviz.distill.agreement import Agreement, measure_texts, pool
from specviz.distill.model_reader import ModelReader, TargetReader, draft_loss
from specviz.distill.optimizers import build_optimizers
from specviz.distill.training_run import TrainingRun
from specviz.errors import IncompatibleModelError

DIVERGENCE_WEIGHT = 0.7
HYBRID_SHARE = 1 / 3
DECAY_SHARE = 0.5
WARMUP_STEPS = 20
CLIP = 1.0
WEIGHT_DECAY = 0.01
# Learning rates of Muon, and of AdamW at a width of one.
NEW_RATES = (0.02, 0.25)
FITTING_RATES = (0.005, 0.06)
ADAM_RATE = 0.1
TIMED_STEPS = 10
NUM_REPORTS = 5
SAVE_EVERY_SECONDS = 30.0
LENGTH_JITTER = 48
STEPS_FILE = "steps.json"


def optimizers_for(model: Any, *, is_new: bool) -> list[torch.optim.Optimizer]:
    """Choose optimizers and learning rates for a new draft, or gentler ones for a trained one.

    AdamW's rates fall with the width (Yang et al. 2022, arXiv:2203.03466); Muon's steps are as
    large beside the weights at any width.
    """
    width = model.get_input_embeddings().weight.shape[1]
    if any(".layers." in name and each.ndim == 2 for name, each in model.named_parameters()):
        matrix_lr, other_lr = NEW_RATES if is_new else FITTING_RATES
        return build_optimizers(model, matrix_lr, other_lr / width, WEIGHT_DECAY)
    return [torch.optim.AdamW(model.parameters(), lr=ADAM_RATE / width, weight_decay=WEIGHT_DECAY)]


class Fitting:
    """One run of training, kept in a folder, from which it goes on after an interruption."""

    def __init__(
        self,
        draft: ModelReader,
        learned: TargetReader,
        held_out: TargetReader,
        folder: Path,
        *,
        is_new: bool,
        seed: int,
    ) -> None:
        self.draft, self.learned, self.held_out = draft, learned, held_out
        self.folder, self.seed = folder, seed
        model = draft.model.requires_grad_(True)
        self.run = TrainingRun(folder, model, optimizers_for(model, is_new=is_new), model.device)
        self.is_resumed = self.run.resume()
        self._epoch, self._first_step = 0, 0
        self._batches = self._plan_epoch(0)
        self._saved = monotonic()

    def train(self, num_steps: int | None, minutes: float, max_steps: int | None = None) -> None:
        """Take `num_steps` steps, or as many as fit into `minutes`; `max_steps` stops earlier."""
        num_steps = num_steps or self._known_steps() or self._measured_steps(minutes)
        self._advance("training", num_steps, num_steps, max_steps)
        self.run.save()

    def agreement(self) -> list[Agreement]:
        """How well the draft agrees now with what the target wrote after each held-out prompt."""
        return measure_texts(self.draft, self.held_out)

    def _known_steps(self) -> int | None:
        path = self.folder / STEPS_FILE
        return int(json.loads(path.read_text())) if path.exists() else None

    def _measured_steps(self, minutes: float) -> int:
        """Time the first steps, and keep how many will fit, so that a resumed run does as many."""
        self._advance("first steps", TIMED_STEPS, None)
        per_step = self.run.state.seconds / max(1, self.run.state.steps)
        num_steps = max(TIMED_STEPS, round(60 * minutes / per_step))
        self.run.save()
        (self.folder / STEPS_FILE).write_text(json.dumps(num_steps))
        return num_steps

    def _advance(
        self, title: str, until: int, num_steps: int | None, max_steps: int | None = None
    ) -> None:
        """Step on to step `until`; `num_steps` is the length of the whole run where it is known."""
        self.run.advance(title, until, lambda: self._step(num_steps), 0, max_steps)

    def _step(self, num_steps: int | None) -> float:
        state = self.run.state
        if monotonic() - self._saved > SAVE_EVERY_SECONDS:
            self.run.save()
            self._saved = monotonic()
        left = 1.0 - state.steps / num_steps if num_steps else 1.0
        if num_steps and state.steps and state.steps % max(1, num_steps // NUM_REPORTS) == 0:
            self._report(num_steps)
        loss, num_tokens = draft_loss(
            self.draft,
            self.learned,
            self._rows(state.steps),
            DIVERGENCE_WEIGHT,
            hybrid=left <= HYBRID_SHARE,
        )
        value = float(loss.detach())
        if not np.isfinite(value):
            raise IncompatibleModelError(
                f"training broke off at step {state.steps}: the loss is {value}; the target or the "
                "draft gives logits that are not numbers"
            )
        self.run.update(loss, min(1.0, left / DECAY_SHARE), WARMUP_STEPS, CLIP)
        state.tokens += num_tokens
        return value

    def _report(self, num_steps: int) -> None:
        found = pool(self.agreement())
        get_console().print(
            f"step {self.run.state.steps} of {num_steps}: held-out alpha {found.alpha:.3f}"
        )

    def _rows(self, step: int) -> list[int]:
        """The texts of one step; every epoch sees all texts once, in another order."""
        while step >= self._first_step + len(self._batches):
            self._first_step += len(self._batches)
            self._epoch += 1
            self._batches = self._plan_epoch(self._epoch)
        return self._batches[step - self._first_step]

    def _plan_epoch(self, epoch: int) -> list[list[int]]:
        """Put texts of about the same length into a batch, the batches in any order."""
        rng = np.random.default_rng([self.seed, epoch])
        lengths = np.array([len(text.ids) for text in self.learned.texts])
        order = np.argsort(lengths + rng.uniform(0, LENGTH_JITTER, len(lengths))).tolist()
        batches = self.learned.batches(order)
        return [batches[place] for place in rng.permutation(len(batches))]
