"""A head is trained, written in two dialects, read back, and found to be read as it was trained."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from fakes import make_decoder, run_to_end
from safetensors.torch import load_file
from tiny_models import byte_tokenizer, random_model
from transformers import LlamaConfig

from specviz.cli import main
from specviz.decoding.eagle3_head import Eagle3Head
from specviz.decoding.eagle3_pass import Eagle3Pass
from specviz.decoding.model_runner import ModelRunner
from specviz.decoding.proposers.no_draft import NoDraft
from specviz.distill.fit_head import fit_head
from specviz.distill.fit_news import FitBegun, FitNews, FitPhase, FitProgress
from specviz.distill.head_loss import Rounds, score_head
from specviz.distill.head_report import read_head_fit
from specviz.distill.head_texts import HeadTexts, choose_draft_ids
from specviz.distill.request import FitRequest
from specviz.distill.texts import Text
from specviz.errors import IncompatibleModelError
from specviz.models.head_folders import target_of_head
from specviz.models.loading import LoadedModel, ModelPool
from specviz.race.eagle_heads import build_head

PROMPTS = [f"{word} {other}" for word in ("the", "a", "fox", "def") for other in "abcdefgh"]
LAYERS = 6
STEPS = 70


def make_target(folder: Path, num_layers: int = LAYERS) -> str:
    """A random target whose next token depends mostly on the last one, so that a head can learn."""
    config = LlamaConfig(
        vocab_size=len(byte_tokenizer()),
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=num_layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=128,
        eos_token_id=None,
        pad_token_id=None,
        tie_word_embeddings=False,
    )
    model = random_model(config, 3, dtype=torch.float32)
    with torch.no_grad():
        for layer in model.model.layers:
            layer.self_attn.o_proj.weight *= 0.005
            layer.mlp.down_proj.weight *= 0.005
        model.lm_head.weight *= 4
        model.lm_head.weight[10:] = 0
    model.save_pretrained(folder)
    byte_tokenizer().save_pretrained(folder)
    return str(folder)


def request(target: str, folder: Path, **changes: object) -> FitRequest:
    prompts = folder.parent / "prompts.txt"
    prompts.write_text("\n".join(PROMPTS))
    settings = {
        "target": target,
        "draft": None,
        "new_size": None,
        "prompts_file": prompts,
        "held_out_file": None,
        "folder": folder,
        "new_tokens": 16,
        "num_texts": 2,
        "num_steps": STEPS,
        "head": "eagle3",
    }
    return FitRequest(**settings | changes)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> tuple[LoadedModel, Path, tuple[float, ...]]:
    root = tmp_path_factory.mktemp("heads")
    target = make_target(root / "target")
    fit = fit_head(request(target, root / "head"), lambda news: None)
    assert fit.num_steps == STEPS
    assert fit.num_tokens > 30
    return ModelPool().get(target), root / "head", fit.agreement


def test_a_head_learns_to_go_on_from_its_own_states(
    fitted: tuple[LoadedModel, Path, tuple[float, ...]],
) -> None:
    _, _, agreement = fitted
    assert len(agreement) == 5
    assert min(agreement[:3]) > 0.5, agreement


def test_a_draft_vocabulary_holds_what_is_written_most() -> None:
    texts = [Text(0, (1, 1, 1, 9, 9, 4, 7), 3)]
    assert choose_draft_ids(texts, 10, frozenset({2, 99})).tolist() == [2, 4, 7, 9]
    assert len(choose_draft_ids([Text(0, tuple(range(10)), 0)], 10, frozenset())) == 5


def test_both_dialects_hold_one_head(fitted: tuple[LoadedModel, Path, tuple[float, ...]]) -> None:
    target, folder, _ = fitted
    pool = ModelPool()
    ids = [5, 9, 17, 4, 30, 8]
    runner = ModelRunner(target.model)
    found = []
    for name in (folder, folder / "speculators"):
        drafting = Eagle3Pass(build_head(pool.get_head(str(name)), target))
        runner.tap(drafting.form.taps)
        with torch.inference_mode():
            states = drafting.head.fuse(runner.features(ids[:-1], 0))
            found.append(drafting.predict(drafting.read(states, ids[1:], drafting.new_cache(0))))
    assert torch.allclose(found[0], found[1], atol=1e-5)


def test_steps_of_training_are_those_of_drafting(
    fitted: tuple[LoadedModel, Path, tuple[float, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Logits of step k at slot s are those of the draft k + 1 behind s, of the same tokens."""
    target, folder, _ = fitted
    head = build_head(ModelPool().get_head(str(folder)), target)
    ids, steps = [5, 9, 17, 4, 30, 8, 11, 2], 3
    rows: list[torch.Tensor] = []
    predict = Eagle3Head.predict

    def noted(self: Eagle3Head, states: torch.Tensor) -> torch.Tensor:
        rows.append(predict(self, states))
        return rows[-1]

    monkeypatch.setattr(Eagle3Head, "predict", noted)
    texts = HeadTexts(target.model, [Text(0, tuple(ids), 1)], head.draft_ids, 64)
    with torch.no_grad():
        score_head(head, texts.batch(0), steps)
    runner, drafting = ModelRunner(target.model), Eagle3Pass(head)
    runner.tap(head.form.taps)
    for slot in range(3):
        cache = drafting.new_cache(16)
        with torch.inference_mode():
            states = head.fuse(runner.features(ids[: slot + 1], 0))
            state = drafting.read(states, ids[1 : slot + 2], cache)[-1:]
            for step in range(steps):
                own = drafting.predict(state)
                # Row i of a step is the i-th wanted place; the first slot's law is wanted too.
                assert torch.allclose(own[0], rows[step][slot], atol=1e-4)
                state = drafting.read(state, [ids[slot + 2 + step]], cache)


def test_commands_know_heads(
    fitted: tuple[LoadedModel, Path, tuple[float, ...]], capsys: pytest.CaptureFixture[str]
) -> None:
    target, folder, _ = fitted
    argv = ["models", "--doctor", str(folder), "--target", target.name, "--json"]
    assert main(argv) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["used"], found["is_as_stated"], found["taps"]) == ("stated", True, [2, 3, 3])
    lane = f"method=eagle3,head={folder},gamma=4"
    argv = ["race", "--target", target.name, "--lane", lane, "--prompt", "the fox"]
    assert main([*argv, "--max-new-tokens", "24", "--json"]) == 0
    lanes = json.loads(capsys.readouterr().out)["lanes"]
    assert lanes[1]["tau"] > 1.0
    plain = make_decoder(ModelRunner(target.model), NoDraft(), gamma=0, max_new_tokens=24)
    assert len(run_to_end(plain, [5, 6])) == 24
    assert main([*argv[:3], "--lane", "method=eagle3", "--prompt", "a"]) == 2
    assert "needs an EAGLE-3 head" in capsys.readouterr().err


def test_a_target_without_three_places_is_refused(tmp_path: Path) -> None:
    shallow = make_target(tmp_path / "shallow", 4)
    with pytest.raises(IncompatibleModelError, match="has 4 layers"):
        fit_head(request(shallow, tmp_path / "head"), lambda news: None)


def test_the_weights_that_did_best_are_kept_and_said(
    fitted: tuple[LoadedModel, Path, tuple[float, ...]],
) -> None:
    _, folder, agreement = fitted
    fit = read_head_fit(folder)
    assert fit.agreement == agreement
    assert 1.0 < fit.tau <= 6.0
    assert 0 < fit.best_step <= fit.num_steps
    assert fit.made_by.startswith("python -m specviz distill --target target --head eagle3 ")
    assert target_of_head(folder) == target_of_head(folder / "speculators") == fit.target
    assert not (folder / "work").exists()


def test_tau_counts_guesses_up_to_the_first_wrong_one() -> None:
    """Five tokens are written, at which four rounds of two guesses can begin. They keep two, one,
    none (though the second is right) and one."""
    wanted = torch.tensor([[False, True, True, True, True, True, False]])
    rounds = Rounds(wanted, 2)
    rounds.note(wanted, torch.tensor([True, True, False, True, True]))
    rounds.note(wanted[:, 1:], torch.tensor([False, True, False, True, False]))
    assert (int(rounds.num_kept), int(rounds.num)) == (2 + 1 + 0 + 1, 4)
    assert int(Rounds(wanted[:, :2], 3).num) == 0


class Interrupted(Exception):
    """Stands for a signal."""


def test_an_interrupted_training_comes_to_the_same_head(tmp_path: Path) -> None:
    target = make_target(tmp_path / "target")
    seen: list[FitNews] = []

    def ending_at(step: int) -> Callable[[FitNews], None]:
        def note(news: FitNews) -> None:
            seen.append(news)
            is_step = isinstance(news, FitProgress) and news.phase is FitPhase.LEARNING
            if is_step and news.done == step:
                raise Interrupted

        return note

    def asked(name: str) -> FitRequest:
        return request(target, tmp_path / name, num_steps=6, num_texts=1)

    whole = fit_head(asked("whole"), seen.append)
    for step in (2, 4):
        with pytest.raises(Interrupted):
            fit_head(asked("pieces"), ending_at(step))
    pieces = fit_head(asked("pieces"), seen.append)
    assert replace(pieces, seconds=0.0) == replace(whole, seconds=0.0)
    assert [news.is_resumed for news in seen if isinstance(news, FitBegun)] == [
        False,
        False,
        True,
        True,
    ]
    stored = [load_file(tmp_path / name / "model.safetensors") for name in ("whole", "pieces")]
    assert all(torch.equal(stored[0][key], stored[1][key]) for key in stored[0])
