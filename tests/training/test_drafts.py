"""The target writes, the draft learns to agree, and both end as folders that read back."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer
from transformers import AutoModelForCausalLM

from specviz.distill.training_run import STATE_FILE
from specviz.errors import ModelLoadError
from specviz.models.description import MEASURES_FILE, describe_model
from specviz.training.architecture import TARGET, load_trained
from specviz.training.card import write_card
from specviz.training.corpus import special_ids
from specviz.training.drafts import FamilyDraft
from specviz.training.evaluate import EVALUATION_FILE, Evaluation
from specviz.training.export import check_export, export_model
from specviz.training.pretrain import Pretraining
from specviz.training.samples import load_samples, pack_texts, write_samples
from specviz.training.settings import FamilySettings, find_draft
from specviz.training.windows import MixedWindows

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def build(
    settings: FamilySettings,
    corpus: Path,
    tokenizer: Tokenizer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """A build folder with a trained target and its samples."""
    folder = tmp_path_factory.mktemp("build")
    tokenizer.save(str(folder / "tokenizer.json"))
    Pretraining(settings, corpus, folder, tokenizer).train()
    write_samples(settings, corpus, folder, tokenizer)
    return folder


@pytest.fixture(scope="module")
def distilled(settings: FamilySettings, corpus: Path, build: Path, tokenizer: Tokenizer) -> Path:
    """The build folder with a draft whose training was interrupted once."""
    FamilyDraft(settings, "draft", corpus, build, tokenizer).train(max_steps=8)
    FamilyDraft(settings, "draft", corpus, build, tokenizer).train()
    return build


def test_samples_are_whole_groups_and_go_on_where_they_stopped(
    settings: FamilySettings, corpus: Path, build: Path, tokenizer: Tokenizer
) -> None:
    begin, end = special_ids(tokenizer)
    samples = load_samples(build)
    num_written = sum(text.num_written for text in samples)
    assert settings.sample.tokens <= num_written < settings.sample.tokens + 8 * 24
    assert len(samples) % settings.sample.rows == 0
    for text in samples:
        assert text.ids[0] == begin
        assert text.num_prompt <= settings.sample.longest_prompt
        assert (text.ids[-1] == end) is (text.num_written < settings.sample.new_tokens)
    files = sorted((build / "samples").rglob("*.json"))
    files[1].unlink()
    kept = files[0].stat().st_mtime_ns
    assert write_samples(settings, corpus, build, tokenizer) == samples
    assert files[0].stat().st_mtime_ns == kept


def test_windows_are_of_samples_and_of_training_text(settings: FamilySettings, build: Path) -> None:
    samples = pack_texts(load_samples(build))
    assert len(samples.starts) == len(load_samples(build))
    real = replace(samples, ids=np.full_like(samples.ids, 9))
    windows = MixedWindows(
        None,  # type: ignore[arg-type]  # nothing is read
        samples,
        {"tales": real, "tasks": real},
        find_draft(settings, "draft"),
        seed=1,
    )
    drawn = [text for step in range(100) for text in windows.draw(step)]
    assert {(len(text.ids), text.num_prompt) for text in drawn} == {(33, 1)}
    num_real = sum(set(text.ids) == {9} for text in drawn)
    # 400 fair draws: five standard deviations are 50.
    assert 150 < num_real < 250
    assert windows.draw(3) == drawn[12:16]


def test_distilling_raises_alpha(distilled: Path) -> None:
    report = json.loads((distilled / "draft" / "agreement.json").read_text())
    for kind, margin in (("real", 0.15), ("sampled", 0.05)):
        assert report["end"][kind]["alpha"] > report["begin"][kind]["alpha"] + margin
        assert report["end"][kind]["greedy"] > report["begin"][kind]["greedy"] + margin


def test_an_interrupted_distillation_ends_with_the_same_draft(
    settings: FamilySettings,
    corpus: Path,
    build: Path,
    distilled: Path,
    tokenizer: Tokenizer,
    tmp_path: Path,
) -> None:
    shutil.copytree(build / "target", tmp_path / "target")
    shutil.copytree(build / "samples", tmp_path / "samples")
    whole = FamilyDraft(settings, "draft", corpus, tmp_path, tokenizer)
    whole.train()
    ours, theirs = (
        torch.load(folder / "draft" / "checkpoint.pt", weights_only=True)["model"]
        for folder in (tmp_path, distilled)
    )
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)


def test_export_evaluation_and_card(
    settings: FamilySettings, corpus: Path, distilled: Path, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    for name in ("target", "draft"):
        folder = export_model(settings, name, distilled, tmp_path, tokenizer)
        reloaded = AutoModelForCausalLM.from_pretrained(folder)
        assert reloaded.dtype is torch.bfloat16
        assert reloaded.generation_config.do_sample is False
    result = Evaluation(settings, corpus, distilled, tokenizer).run()
    losses = result["losses"]["tales"]
    assert losses["last"] < losses["exit 1"]
    assert 0 < losses["a byte"] < losses["last"]
    assert result["agreement"]["draft"]["tales"]["num_tokens"] > 0
    card = write_card(settings, corpus, distilled, tmp_path).read_text(encoding="utf-8")
    assert "$" not in card
    for fact in ("CDLA-Sharing-1.0", f"{losses['last']:.3f}", "--draft draft", "not truth"):
        assert fact in card


def test_an_export_keeps_what_was_measured_of_these_very_weights(
    settings: FamilySettings, corpus: Path, distilled: Path, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    result = Evaluation(settings, corpus, distilled, tokenizer).run()
    for name in ("target", "draft"):
        export_model(settings, name, distilled, tmp_path, tokenizer)
    target = describe_model("target", "target", tmp_path / "target").measures
    draft = describe_model("draft", "draft", tmp_path / "draft").measures
    assert target.held_out_loss["tales"] == round(result["losses"]["tales"]["last"], 4)
    assert target.exit_loss["2"]["tales"] == round(result["losses"]["tales"]["exit 2"], 4)
    assert draft.held_out_loss["tales"] == round(
        result["draft_losses"]["draft"]["tales"]["last"], 4
    )
    assert draft.alpha["tasks"] == round(result["agreement"]["draft"]["tasks"]["alpha"], 4)
    assert not target.alpha
    assert not draft.exit_loss

    evaluation = distilled / EVALUATION_FILE
    result["tokens"]["draft"] -= 1
    evaluation.write_text(json.dumps(result))
    for name, is_kept in (("target", True), ("draft", False)):
        folder = export_model(settings, name, distilled, tmp_path, tokenizer)
        assert (folder / MEASURES_FILE).exists() is is_kept
    evaluation.unlink()


def test_a_wrong_export_is_found(
    settings: FamilySettings, build: Path, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    folder = export_model(settings, "target", build, tmp_path, tokenizer)
    other = load_trained(settings, TARGET, build, tokenizer, CPU)
    with torch.no_grad():
        other.model.norm.weight[0] += 0.5
    with pytest.raises(ModelLoadError, match="other logits"):
        check_export(folder, other, tokenizer)


def test_missing_work_is_named(
    settings: FamilySettings, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    with pytest.raises(FileNotFoundError, match="train 'target' first"):
        load_trained(settings, TARGET, tmp_path, tokenizer, CPU)
    (tmp_path / TARGET).mkdir()
    (tmp_path / TARGET / STATE_FILE).write_text("{}")
    with pytest.raises(FileNotFoundError, match="`sample` first"):
        load_samples(tmp_path)
