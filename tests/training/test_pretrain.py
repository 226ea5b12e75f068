"""Training goes on where it stopped, from a checkpoint exactly, from exported weights nearly."""

import json
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer

from specviz.training.export import export_model
from specviz.training.pretrain import Pretraining, target_loss
from specviz.training.settings import FamilySettings


def _weights(run: Pretraining) -> torch.Tensor:
    return torch.cat([value.flatten() for value in run.run.model.state_dict().values()])


def test_a_resumed_run_ends_with_the_weights_of_an_unbroken_one(
    settings: FamilySettings, corpus: Path, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    whole = Pretraining(settings, corpus, tmp_path / "whole", tokenizer)
    whole.train()
    for _ in range(2):
        broken = Pretraining(settings, corpus, tmp_path / "broken", tokenizer)
        broken.train(max_steps=9)
    assert broken.run.state.step_in_stage == 18
    broken = Pretraining(settings, corpus, tmp_path / "broken", tokenizer)
    broken.train()
    assert broken.run.state.tokens == whole.run.state.tokens == 8320
    assert torch.equal(_weights(whole), _weights(broken))


def test_training_lowers_the_loss_of_the_last_layer_and_of_the_exits(
    settings: FamilySettings, corpus: Path, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    run = Pretraining(settings, corpus, tmp_path, tokenizer)
    batch = torch.tensor(tokenizer.encode("The fox went to the hill. It saw 3 stones").ids)[None]

    def losses() -> tuple[float, float]:
        last, total = target_loss(run.run.model, batch, settings.target, step=0)
        return float(last), float(total.detach() - last) / settings.target.exit_weight

    before = losses()
    run.train()
    after = losses()
    assert after[0] < 0.6 * before[0]
    assert after[1] < 0.8 * before[1]


def test_training_goes_on_from_exported_weights(
    settings: FamilySettings, corpus: Path, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    first = Pretraining(settings, corpus, tmp_path / "first", tokenizer)
    first.train(max_steps=10)
    folder = export_model(settings, "target", tmp_path / "first", tmp_path / "models", tokenizer)
    second = Pretraining(settings, corpus, tmp_path / "second", tokenizer, from_weights=folder)
    assert torch.equal(_weights(second), _weights(first).bfloat16().float())
    assert second.run.state.steps == second.run.state.warm_from == 10
    second.train(max_steps=1)
    state = json.loads((tmp_path / "second" / "target" / "state.json").read_text())
    assert state["tokens"] == 11 * 4 * 32


def test_a_learning_rate_changed_in_the_settings_rules_after_a_resume(
    settings: FamilySettings,
    corpus: Path,
    tokenizer: Tokenizer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Pretraining(settings, corpus, tmp_path, tokenizer).train(max_steps=4)
    object.__setattr__(settings.target, "matrix_lr", 0.005)
    try:
        again = Pretraining(settings, corpus, tmp_path, tokenizer)
    finally:
        object.__setattr__(settings.target, "matrix_lr", 0.02)
    assert again.run.optimizers[0].param_groups[0]["first_lr"] == 0.005
