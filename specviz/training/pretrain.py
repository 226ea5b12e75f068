"""Trains the target from scratch, stage by stage, with a loss at its early exits."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer

from specviz.distill.optimizers import build_optimizers
from specviz.distill.training_run import (
    STATE_FILE,
    TrainingRun,
    TrainingState,
    default_device,
    read_state,
)
from specviz.training.architecture import TARGET, build_model
from specviz.training.corpus import TokenStream, cached_streams, draw_batch
from specviz.training.fused_loss import fused_cross_entropy
from specviz.training.growth import grow
from specviz.training.settings import FamilySettings, Stage, TargetSettings


def target_loss(
    model: Any, batch: torch.Tensor, settings: TargetSettings, step: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Next-token loss of the last layer and of one early exit.

    The exit takes turns over `exit_layers`, judged on the first share `exit_rows` of the rows.

    Args:
        batch: `[rows, seq_len + 1]` int64.

    Returns:
        The last layer's loss in nats (what a report shows), and the sum that is minimised.
    """
    inputs, labels = batch[:, :-1], batch[:, 1:]
    outputs = model.model(input_ids=inputs, use_cache=False, output_hidden_states=True)
    weight = model.lm_head.weight
    hidden = outputs.last_hidden_state
    loss = fused_cross_entropy(hidden.flatten(0, 1), weight, labels.flatten())
    exit_layer = settings.exit_layers[step % len(settings.exit_layers)]
    num_rows = max(1, int(settings.exit_rows * len(batch)))
    early = model.model.norm(outputs.hidden_states[exit_layer][:num_rows])
    exit_loss = fused_cross_entropy(early.flatten(0, 1), weight, labels[:num_rows].flatten())
    return loss.detach(), loss + settings.exit_weight * exit_loss


class Pretraining:
    """One resumable run over the stages of the settings.

    It goes on from the build folder's checkpoint. Where there is none it begins from scratch, or,
    with `from_weights`, from an exported folder: weights and progress are taken over, and the
    optimizers begin anew.
    """

    def __init__(
        self,
        settings: FamilySettings,
        corpus: Path,
        build: Path,
        tokenizer: Tokenizer,
        from_weights: Path | None = None,
    ) -> None:
        self.settings, self.corpus, self.build = settings, corpus, build
        self.tokenizer = tokenizer
        torch.manual_seed(settings.seed)
        folder = build / TARGET
        state = TrainingState()
        if (folder / STATE_FILE).exists():
            state = read_state(folder)
        elif from_weights is not None:
            state = read_state(from_weights)
        self.run = self._begin(self._layers_of(state.stage_of_weights))
        if not self.run.resume() and from_weights is not None:
            self._take_over(from_weights)

    def _layers_of(self, stage: int) -> int:
        return self.settings.target.stages[stage].num_layers or self.settings.target.num_layers

    def _begin(self, num_layers: int) -> TrainingRun:
        device = default_device()
        model = build_model(self.settings, TARGET, self.tokenizer, num_layers).to(device)
        target = self.settings.target
        optimizers = build_optimizers(model, target.matrix_lr, target.other_lr, target.weight_decay)
        return TrainingRun(self.build / TARGET, model, optimizers, device)

    def _take_over(self, folder: Path) -> None:
        stored = {
            key: value.float() for key, value in load_file(folder / "model.safetensors").items()
        }
        stored["lm_head.weight"] = stored["model.embed_tokens.weight"]
        self.run.model.load_state_dict(stored)
        self.run.state = read_state(folder)
        self.run.state.warm_from = self.run.state.steps

    def _deepen(self, num_layers: int) -> None:
        """Go on with a deeper model and fresh optimizers, if the present stage wants one."""
        shallow, state = self.run.model, self.run.state
        if len(shallow.model.layers) < num_layers:
            self.run = self._begin(num_layers)
            grow(shallow, self.run.model, max(self.settings.target.exit_layers))
            self.run.state = state
            state.warm_from = state.steps

    def streams(self, stage: Stage) -> dict[str, TokenStream]:
        """Token streams of the sources that a stage draws from."""
        return cached_streams(
            self.build, self.corpus, stage.mix, self.tokenizer, self.settings.held_out_below
        )

    def train(self, max_steps: int | None = None) -> None:
        """Train what is left of the stages; `max_steps` stops early inside the present one."""
        stages = self.settings.target.stages
        state = self.run.state
        while state.stage < len(stages):
            stage = stages[state.stage]
            self._deepen(self._layers_of(state.stage))
            state.stage_of_weights = state.stage
            num_steps = max(1, round(stage.tokens / (stage.rows * stage.seq_len)))
            streams = self.streams(stage)
            self.run.advance(
                stage.name,
                num_steps,
                lambda: self._step(stage, streams, num_steps),  # noqa: B023
                tokens_per_step=stage.rows * stage.seq_len,
                max_steps=max_steps,
            )
            if state.step_in_stage < num_steps:
                break
            state.stage += 1
            state.step_in_stage = 0
            self.run.save()
        self.run.save()

    def _step(self, stage: Stage, streams: dict[str, TokenStream], num_steps: int) -> float:
        state, target = self.run.state, self.settings.target
        rng = np.random.default_rng([self.settings.seed, state.steps])
        batch = draw_batch(streams, stage.mix, stage.rows, stage.seq_len + 1, rng)
        loss, total = target_loss(
            self.run.model, torch.from_numpy(batch).to(self.run.device), target, state.steps
        )
        left = 1.0 - state.step_in_stage / num_steps if stage.decay else 1.0
        self.run.update(total, stage.lr_scale * left, target.warmup_steps, target.clip)
        return float(loss)
