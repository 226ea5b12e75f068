"""Trains a draft on the target's own distributions, mostly over text that the target wrote."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from tokenizers import Tokenizer

from specviz.distill.agreement import Agreement
from specviz.distill.distillation_loss import distillation_loss
from specviz.distill.new_draft import begin_from_target
from specviz.distill.optimizers import build_optimizers
from specviz.distill.training_run import TrainingRun, default_device
from specviz.training.agreement import (
    HeldOutText,
    cut_windows,
    held_out_texts,
    measure_agreement,
)
from specviz.training.architecture import TARGET, build_model, load_trained
from specviz.training.corpus import TokenStream, cached_streams, pick_sources
from specviz.training.sampling import load_samples
from specviz.training.settings import DraftSettings, FamilySettings, find_draft

REAL_ROWS = 4


def draw_mixed_batch(
    samples: TokenStream,
    streams: dict[str, TokenStream],
    settings: DraftSettings,
    rng: np.random.Generator,
) -> torch.Tensor:
    """Draw windows `[rows, seq_len + 1]` int64, some of the target's text and some of real text."""
    length = settings.seq_len + 1
    windows = []
    for source in pick_sources(settings.mix, settings.rows, rng):
        is_sampled = rng.random() < settings.sampled_share
        windows.append((samples if is_sampled else streams[source]).window(length, rng))
    return torch.from_numpy(np.stack(windows).astype(np.int64))


def draft_loss(
    draft: Any, target: Any, batch: torch.Tensor, settings: DraftSettings, *, hybrid: bool
) -> torch.Tensor:
    """Distillation loss of a batch `[rows, seq_len + 1]`, the target judging it on the way."""
    inputs, labels = batch[:, :-1], batch[:, 1:]
    with torch.no_grad():
        wanted = target.model(input_ids=inputs, use_cache=False).last_hidden_state
    hidden = draft.model(input_ids=inputs, use_cache=False).last_hidden_state
    loss, _ = distillation_loss(
        hidden.flatten(0, 1),
        draft.lm_head.weight,
        wanted.flatten(0, 1),
        target.lm_head.weight,
        labels.flatten(),
        settings.kl_weight,
        hybrid=hybrid,
    )
    return loss


class Distillation:
    """One resumable run that fits one draft to the target of the same build folder."""

    def __init__(
        self, settings: FamilySettings, name: str, corpus: Path, build: Path, tokenizer: Tokenizer
    ) -> None:
        self.settings, self.draft = settings, find_draft(settings, name)
        self.corpus, self.build, self.tokenizer = corpus, build, tokenizer
        device = default_device()
        self.target = load_trained(settings, TARGET, build, tokenizer, device)
        torch.manual_seed(settings.seed)
        model = build_model(settings, name, tokenizer).to(device)
        draft = self.draft
        if draft.begin_from_target:
            begin_from_target(model, self.target)
        optimizers = build_optimizers(model, draft.matrix_lr, draft.other_lr, draft.weight_decay)
        self.run = TrainingRun(build / name, model, optimizers, device)
        self.run.resume()
        self.num_steps = max(1, round(draft.tokens / (draft.rows * draft.seq_len)))

    def train(self, max_steps: int | None = None) -> None:
        """Train what is left, then report how well the draft agrees; `max_steps` stops early."""
        samples = load_samples(self.build).stream
        streams = cached_streams(
            self.build,
            self.corpus,
            self.draft.mix,
            self.tokenizer,
            self.settings.held_out_below,
        )
        held_out = self._held_out_text()
        self._report("begin", held_out)
        self.run.advance(
            self.draft.name,
            self.num_steps,
            lambda: self._step(samples, streams),
            tokens_per_step=self.draft.rows * self.draft.seq_len,
            max_steps=max_steps,
        )
        self.run.save()
        self._report("end", held_out)

    def _step(self, samples: TokenStream, streams: dict[str, TokenStream]) -> float:
        state, draft = self.run.state, self.draft
        rng = np.random.default_rng([self.settings.seed, state.steps])
        batch = draw_mixed_batch(samples, streams, draft, rng).to(self.run.device)
        left = 1.0 - state.step_in_stage / self.num_steps
        loss = draft_loss(
            self.run.model, self.target, batch, draft, hybrid=left <= draft.hybrid_share
        )
        self.run.update(loss, min(1.0, left / draft.decay_share), draft.warmup_steps, draft.clip)
        return float(loss.detach())

    def _held_out_text(self) -> dict[str, list[HeldOutText]]:
        """Held-out text as people wrote it, and as the target writes it after held-out prompts."""
        streams = cached_streams(
            self.build,
            self.corpus,
            self.draft.mix,
            self.tokenizer,
            self.settings.held_out_below,
            held_out=True,
        )
        length = self.draft.seq_len + 1
        written = held_out_texts(
            self.target, self.settings, self.corpus, self.build, self.tokenizer
        )
        return {
            "real": [cut_windows(stream, REAL_ROWS, length, 0) for stream in streams.values()],
            "sampled": list(written.values()),
        }

    def _report(self, when: str, held_out: dict[str, list[HeldOutText]]) -> None:
        path = self.run.folder / "agreement.json"
        self.run.folder.mkdir(parents=True, exist_ok=True)
        known = json.loads(path.read_text()) if path.exists() else {}
        if when == "begin" and self.run.state.steps > 0:
            return
        known[when] = {kind: asdict(self._measure(texts)) for kind, texts in held_out.items()}
        path.write_text(json.dumps(known, indent=1))
        for kind, values in known[when].items():
            Console().print(
                f"{when}: {kind} held-out text, alpha {values['alpha']:.3f}, "
                f"same first choice {values['greedy']:.3f} ({values['num_tokens']} tokens)"
            )

    def _measure(self, texts: list[HeldOutText]) -> Agreement:
        device = self.run.device
        parts = [
            measure_agreement(
                self.target, self.run.model, text.ids.to(device), text.wanted.to(device)
            )
            for text in texts
        ]
        total = sum(part.num_tokens for part in parts)
        return Agreement(
            sum(part.alpha * part.num_tokens for part in parts) / total,
            sum(part.greedy * part.num_tokens for part in parts) / total,
            total,
        )
