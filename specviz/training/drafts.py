"""Trains a draft of the family on the target's distributions, mostly over text that it wrote."""

import json
from dataclasses import asdict
from pathlib import Path

import torch
from rich.console import Console
from tokenizers import Tokenizer

from specviz.distill.draft_training import DraftTraining, Schedule
from specviz.distill.model_reader import ModelReader
from specviz.distill.new_draft import begin_from_target
from specviz.distill.optimizers import build_optimizers
from specviz.distill.training_run import default_device
from specviz.training.architecture import TARGET, build_model, load_trained
from specviz.training.corpus import TokenStream, cached_streams
from specviz.training.held_out import HeldOut, held_out_texts
from specviz.training.samples import load_samples, pack_texts
from specviz.training.settings import FamilySettings, find_draft
from specviz.training.windows import MixedWindows, cut_windows

REAL_ROWS = 4


class FamilyDraft:
    """One resumable run that fits one draft to the target of the same build folder."""

    def __init__(
        self, settings: FamilySettings, name: str, corpus: Path, build: Path, tokenizer: Tokenizer
    ) -> None:
        self.settings, self.draft = settings, find_draft(settings, name)
        self.corpus, self.build, self.tokenizer = corpus, build, tokenizer
        device = default_device()
        self.target = load_trained(settings, TARGET, build, tokenizer, device)
        torch.manual_seed(settings.seed)
        self.model = build_model(settings, name, tokenizer).to(device)
        if self.draft.begin_from_target:
            begin_from_target(self.model, self.target)
        self._target = ModelReader(self.target, tokenizer.get_vocab_size())
        self._draft = ModelReader(self.model, tokenizer.get_vocab_size())

    def train(self, max_steps: int | None = None) -> None:
        """Train what is left, then report how well the draft agrees; `max_steps` stops early."""
        draft, samples = self.draft, pack_texts(load_samples(self.build))
        windows = MixedWindows(
            self._target, samples, self._streams(held_out=False), draft, self.settings.seed
        )
        training = DraftTraining(
            self._draft,
            windows,
            build_optimizers(self.model, draft.matrix_lr, draft.other_lr, draft.weight_decay),
            self.build / draft.name,
            Schedule(
                divergence_weight=draft.kl_weight,
                hybrid_share=draft.hybrid_share,
                decay_share=draft.decay_share,
                warmup_steps=draft.warmup_steps,
                clip=draft.clip,
            ),
        )
        held_out = self._held_out()
        if training.run.state.steps == 0:
            self._report("begin", held_out)
        num_steps = max(1, round(draft.tokens / (draft.rows * draft.seq_len)))
        training.train(num_steps, max_steps, draft.name)
        self._report("end", held_out)

    def _streams(self, *, held_out: bool) -> dict[str, TokenStream]:
        below = self.settings.held_out_below
        return cached_streams(
            self.build, self.corpus, self.draft.mix, self.tokenizer, below, held_out=held_out
        )

    def _held_out(self) -> HeldOut:
        """Held-out text as people wrote it, and as the target writes it after held-out prompts."""
        length = self.draft.seq_len + 1
        streams = self._streams(held_out=True).values()
        real = [text for each in streams for text in cut_windows(each, REAL_ROWS, length, 0)]
        written = held_out_texts(
            self.target, self.settings, self.corpus, self.build, self.tokenizer
        )
        sampled = [text for part in written.values() for text in part]
        return HeldOut(self._target, {"real": real, "sampled": sampled})

    def _report(self, when: str, held_out: HeldOut) -> None:
        path = self.build / self.draft.name / "agreement.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        known = json.loads(path.read_text()) if path.exists() else {}
        found = held_out.agreement(self._draft)
        known[when] = {kind: asdict(score) for kind, score in found.items()}
        path.write_text(json.dumps(known, indent=1))
        for kind, score in found.items():
            Console().print(
                f"{when}: {kind} held-out text, alpha {score.alpha:.3f}, "
                f"same first choice {score.greedy:.3f} ({score.num_tokens} tokens)"
            )
