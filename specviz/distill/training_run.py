"""What every training run needs: progress that outlives an interruption, and a report."""

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)

from specviz.distill.optimizers import set_lr_scale

SAVE_EVERY_SECONDS = 180.0
REPORT_EVERY_STEPS = 50
STATE_FILE = "state.json"


@dataclass(slots=True)
class TrainingState:
    """Where training stands; written beside the weights so that it can go on."""

    stage: int = 0
    stage_of_weights: int = 0
    """The stage that the weights were last trained in, which says how deep they are."""
    step_in_stage: int = 0
    steps: int = 0
    tokens: int = 0
    seconds: float = 0.0
    warm_from: int = 0
    """The step at which the optimizers began, later than 0 where only weights were taken over."""


def read_state(folder: Path) -> TrainingState:
    """Read the progress stored in a folder of a run, or of exported weights.

    Raises:
        FileNotFoundError: The folder holds none.
    """
    return TrainingState(**json.loads((folder / STATE_FILE).read_text(encoding="utf-8")))


def default_device() -> torch.device:
    """The accelerator if there is one, else the processor."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def progress_bar() -> Progress:
    """The one look of progress in this package."""
    return Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    )


class TrainingRun:
    """A model, its optimizers and its progress, kept in one folder."""

    def __init__(
        self,
        folder: Path,
        model: Any,
        optimizers: list[torch.optim.Optimizer],
        device: torch.device,
    ) -> None:
        self.folder, self.model, self.optimizers = folder, model.to(device), optimizers
        self.device = device
        self.state = TrainingState()
        self.kept: dict[str, Any] = {}
        """What else outlives an interruption: tensors, numbers, texts, and lists and dicts of
        them."""

    def resume(self) -> bool:
        """Take up the run that the folder holds, if it holds one."""
        if not (self.folder / STATE_FILE).exists():
            return False
        self.state = read_state(self.folder)
        stored = torch.load(
            self.folder / "checkpoint.pt", weights_only=True, map_location=self.device
        )
        self.model.load_state_dict(stored["model"])
        self.kept = stored.get("kept", {})
        for optimizer, state in zip(self.optimizers, stored["optimizers"], strict=True):
            wanted = [group["lr"] for group in optimizer.param_groups]
            optimizer.load_state_dict(state)
            for group, lr in zip(optimizer.param_groups, wanted, strict=True):
                group["first_lr"] = lr  # the settings rule, also where they were changed meanwhile
        return True

    def save(self) -> None:
        """Write weights, optimizer states and progress, the old staying until the new are whole."""
        self.folder.mkdir(parents=True, exist_ok=True)
        fresh = self.folder / "checkpoint.new"
        torch.save(
            {
                "model": self.model.state_dict(),
                "optimizers": [optimizer.state_dict() for optimizer in self.optimizers],
                "kept": self.kept,
            },
            fresh,
        )
        fresh.replace(self.folder / "checkpoint.pt")
        (self.folder / STATE_FILE).write_text(json.dumps(asdict(self.state)))

    def advance(
        self,
        title: str,
        num_steps: int,
        step: Callable[[], float],
        tokens_per_step: int,
        max_steps: int | None = None,
    ) -> None:
        """Step up to `num_steps` of this stage (at most `max_steps` now), saving and reporting.

        Args:
            step: Takes one optimizer step and returns the loss in nats.
        """
        last = num_steps if max_steps is None else self.state.step_in_stage + max_steps
        saved = time.monotonic()
        first_tokens, first_seconds = self.state.tokens, self.state.seconds
        losses: list[float] = []
        with progress_bar() as progress:
            bar = progress.add_task(title, total=num_steps)
            while self.state.step_in_stage < min(num_steps, last):
                losses.append(self.take(step, tokens_per_step))
                if self.state.steps % REPORT_EVERY_STEPS == 0:
                    speed = (self.state.tokens - first_tokens) / (
                        self.state.seconds - first_seconds
                    )
                    progress.console.print(
                        f"step {self.state.steps}  {self.state.tokens / 1e6:.2f}M tokens  "
                        f"loss {np.mean(losses):.3f}  {speed:.0f} tokens/s"
                    )
                    losses.clear()
                progress.update(bar, completed=self.state.step_in_stage)
                if time.monotonic() - saved > SAVE_EVERY_SECONDS:
                    self.save()
                    saved = time.monotonic()

    def take(self, step: Callable[[], float], num_tokens: int) -> float:
        """Take one step over `num_tokens` tokens, count it and its time, and return its loss."""
        begun = time.monotonic()
        loss = step()
        self.state.steps += 1
        self.state.step_in_stage += 1
        self.state.tokens += num_tokens
        self.state.seconds += time.monotonic() - begun
        return loss

    def update(self, loss: torch.Tensor, lr_scale: float, warmup_steps: int, clip: float) -> None:
        """Take one optimizer step against `loss`, the learning rate warming up at first."""
        warm = (self.state.steps - self.state.warm_from + 1) / warmup_steps
        set_lr_scale(self.optimizers, min(1.0, warm) * lr_scale)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), clip)
        for optimizer in self.optimizers:
            optimizer.step()
            optimizer.zero_grad()
