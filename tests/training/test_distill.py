"""The target writes, the draft learns to agree, and both end as folders that read back."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer
from transformers import AutoModelForCausalLM

from specviz.errors import ModelLoadError
from specviz.models.description import MEASURES_FILE, describe_model
from specviz.training.agreement import measure_agreement
from specviz.training.architecture import TARGET, build_model, load_trained
from specviz.training.card import write_card
from specviz.training.corpus import special_ids
from specviz.training.distill import Distillation
from specviz.training.evaluate import EVALUATION_FILE, Evaluation
from specviz.training.export import check_export, export_model
from specviz.training.pretrain import Pretraining
from specviz.training.sampling import load_samples, write, write_samples
from specviz.training.settings import FamilySettings

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
    Distillation(settings, "draft", corpus, build, tokenizer).train(max_steps=8)
    Distillation(settings, "draft", corpus, build, tokenizer).train()
    return build


def test_greedy_writing_equals_generate(
    settings: FamilySettings, build: Path, tokenizer: Tokenizer
) -> None:
    model = load_trained(settings, TARGET, build, tokenizer, CPU).double()
    begin, end = special_ids(tokenizer)
    prompts = [tokenizer.encode(text).ids for text in ("The fox went", "The", "The owl saw 12")]
    more = iter([[begin]] * 50)
    writing = write(model, prompts, more, [0.0] * 3, 20, seed=0)
    shortest = min(map(len, prompts))
    assert writing.ids.shape == writing.is_written.shape == (3, shortest + 20)
    for prompt, row, is_written in zip(prompts, writing.ids, writing.is_written, strict=True):
        expected = model.generate(
            torch.tensor([prompt]), max_new_tokens=12, do_sample=False, pad_token_id=end
        )[0].tolist()
        assert row[: len(expected)].tolist() == expected[: len(row)]
        assert not is_written[: len(prompt)].any()
        assert is_written[len(prompt)]


def test_sampling_follows_the_model_and_its_seed(
    settings: FamilySettings, build: Path, tokenizer: Tokenizer
) -> None:
    model = load_trained(settings, TARGET, build, tokenizer, CPU)
    prompt = tokenizer.encode("The fox went to the ").ids
    more = iter([[0]] * 4000)
    rows = 3000
    first, again = (
        write(model, [prompt] * rows, more, [1.0] * rows, 1, seed=5).ids[:, -1] for _ in range(2)
    )
    assert np.array_equal(first, again)
    law = model(input_ids=torch.tensor([prompt])).logits[0, -1].softmax(-1).detach().numpy()
    found = np.bincount(first, minlength=len(law)) / rows
    # Half the L1 distance of 3,000 draws from 320 outcomes is below sqrt(320 / 3000) / 2 = .16 in
    # the mean; the fixed seed is far below. A uniform sampler would be far above.
    assert np.abs(found - law).sum() / 2 < 0.16
    assert np.abs(1 / len(law) - law).sum() / 2 > 0.3


def test_samples_are_whole_chunks_and_go_on_where_they_stopped(
    settings: FamilySettings, corpus: Path, build: Path, tokenizer: Tokenizer
) -> None:
    samples = load_samples(build)
    assert samples.num_written >= settings.sample.tokens
    assert samples.num_chunks >= 2
    assert len(samples.stream.starts) == samples.num_chunks * settings.sample.rows
    assert (samples.stream.ids[samples.stream.starts] == special_ids(tokenizer)[0]).all()
    before = (build / "samples.npz").read_bytes()
    again = write_samples(settings, corpus, build, tokenizer)
    assert again.num_chunks == samples.num_chunks
    assert (build / "samples.npz").read_bytes() == before


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
    shutil.copy(build / "samples.npz", tmp_path)
    whole = Distillation(settings, "draft", corpus, tmp_path, tokenizer)
    whole.train()
    broken = Distillation(settings, "draft", corpus, distilled, tokenizer)
    for ours, theirs in zip(
        whole.run.model.parameters(), broken.run.model.parameters(), strict=True
    ):
        assert torch.equal(ours, theirs)


def test_a_model_agrees_with_itself_and_not_with_a_stranger(
    settings: FamilySettings, build: Path, tokenizer: Tokenizer
) -> None:
    target = load_trained(settings, TARGET, build, tokenizer, CPU)
    ids = torch.tensor([tokenizer.encode("The fox went to the hill. It saw 3").ids])
    wanted = torch.ones_like(ids, dtype=torch.bool)
    same = measure_agreement(target, target, ids, wanted)
    assert same.alpha == pytest.approx(1.0)
    assert same.greedy == 1.0
    assert same.num_tokens == ids.shape[1] - 1
    torch.manual_seed(0)
    stranger = build_model(settings, "draft", tokenizer)
    assert measure_agreement(target, stranger, ids, wanted).alpha < 0.5


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
    with pytest.raises(FileNotFoundError, match="`sample` first"):
        load_samples(tmp_path)
