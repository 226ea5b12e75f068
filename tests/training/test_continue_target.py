"""The last training is the plain one, only faster, and goes on exactly where it stopped."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer

from specviz.training.architecture import build_model
from specviz.training.continue_target import (
    FastTarget,
    LastTraining,
    Phase,
    Schedule,
    TargetContinuation,
    load_last_training,
)
from specviz.training.forms import Form
from specviz.training.pretrain import Pretraining, target_loss
from specviz.training.settings import FamilySettings

MIX = {"tales": 2.0, "tasks": 1.0}
LAST = LastTraining(5, 0.5, 10, 1000, Phase(4, 32, MIX), Phase(2, 64, MIX))
FORM = {"bf16": False, "compiled": False, "threads": 1}


@pytest.fixture
def start(settings: FamilySettings, tokenizer: Tokenizer, tmp_path: Path) -> Path:
    torch.manual_seed(1)
    weights = build_model(settings, "target", tokenizer).state_dict()
    del weights["lm_head.weight"]
    save_file(weights, tmp_path / "start.safetensors")
    return tmp_path / "start.safetensors"


def _begin(
    settings: FamilySettings, corpus: Path, tokenizer: Tokenizer, start: Path, run: Path
) -> TargetContinuation:
    run.mkdir(exist_ok=True)
    tokenizer.save(str(run / "tokenizer.json"))
    (run / "form.json").write_text(json.dumps({"chosen": FORM}))
    return TargetContinuation(settings, LAST, corpus, start, run, threads=1)


def _weights(run: TargetContinuation) -> torch.Tensor:
    return torch.cat([value.flatten() for value in run.model.state_dict().values()])


def test_the_fast_loss_is_the_plain_one_in_value_and_gradient(
    settings: FamilySettings, corpus: Path, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    model = Pretraining(settings, corpus, tmp_path, tokenizer).run.model
    batch = torch.randint(320, (4, 30), generator=torch.Generator().manual_seed(0))
    for bf16, tolerance in ((False, 1e-5), (True, 0.05)):
        fast = FastTarget(model, settings.target, Form(bf16, compiled=False, threads=1))
        for step in range(2):
            found, wanted = [], []
            for gradients, (last, total) in (
                (wanted, target_loss(model, batch, settings.target, step)),
                (found, fast.loss(batch, step)),
            ):
                model.zero_grad()
                total.backward()
                gradients += [last, *(param.grad.flatten() for param in model.parameters())]
            assert torch.isclose(found[0], wanted[0], rtol=tolerance)
            difference = torch.cat(found[1:]) - torch.cat(wanted[1:])
            assert difference.norm() < tolerance * torch.cat(wanted[1:]).norm()


def test_a_resumed_run_ends_with_the_weights_of_an_unbroken_one(
    settings: FamilySettings, corpus: Path, tokenizer: Tokenizer, tmp_path: Path, start: Path
) -> None:
    schedule = Schedule(decay_from=6, decay_steps=4)
    whole = _begin(settings, corpus, tokenizer, start, tmp_path / "whole")
    whole.train(schedule)
    assert (whole.state.step_in_stage, whole.state.steps) == (10, 20)
    assert whole.state.tokens == 1000 + 10 * 128
    for _ in range(2):
        broken = _begin(settings, corpus, tokenizer, start, tmp_path / "broken")
        broken.train(schedule, max_steps=4)
    (tmp_path / "broken" / "target" / "checkpoint.pt").write_bytes(b"cut short")
    broken = _begin(settings, corpus, tokenizer, start, tmp_path / "broken")
    assert broken.state.step_in_stage == 4
    broken.train(schedule)
    assert torch.equal(_weights(whole), _weights(broken))


def test_a_stop_ends_it_with_a_checkpoint(
    settings: FamilySettings, corpus: Path, tokenizer: Tokenizer, tmp_path: Path, start: Path
) -> None:
    run = _begin(settings, corpus, tokenizer, start, tmp_path / "run")
    run.stop()
    run.train(Schedule())
    assert (tmp_path / "run" / "target" / "checkpoint.pt").exists()
    log = (tmp_path / "run" / "log.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in log.splitlines()]
    assert set(rows[1]["held_out"]) == {"tales", "tasks"}
    assert rows[-1]["ends"] == "stopped"


def test_the_settings_give_people_at_least_half_of_the_mix() -> None:
    last = load_last_training()
    for mix in (last.constant.mix, last.decay.mix):
        prose = sum(weight for source, weight in mix.items() if source.startswith("stories_"))
        assert prose >= 0.5 * sum(mix.values())
        assert {"stories_short_pd", "stories_novels_pd"} <= set(mix)


def test_the_rate_falls_from_the_given_step_to_zero() -> None:
    assert [Schedule(2, 4).rate(step) for step in range(7)] == [1, 1, 1, 0.75, 0.5, 0.25, 0]
    assert Schedule().rate(10**9) == 1
