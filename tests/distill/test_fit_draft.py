"""A whole fit: it raises alpha, survives interruptions, and leaves a folder that is a model."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from tiny_models import CONFIGS, byte_tokenizer, random_model
from transformers import LlamaForCausalLM, PretrainedConfig

from specviz.distill import draft_training, learning, writing
from specviz.distill import fit_draft as fit_steps
from specviz.distill.fit_draft import Fitting, fit_draft
from specviz.distill.fit_news import (
    FitBegun,
    FitMeasured,
    FitNews,
    FitOutcome,
    FitPhase,
    FitProgress,
    LearningEnd,
    LearningEnded,
)
from specviz.distill.new_draft import build_new_draft
from specviz.distill.optimizers import optimizers_for_draft
from specviz.distill.prompts import read_prompts, split_prompts
from specviz.distill.request import FitRequest
from specviz.distill.training_run import TrainingRun
from specviz.errors import IncompatibleModelError, RequestError
from specviz.models.loading import LoadedModel, ModelPool
from specviz.trace.fits import Fit, read_fit

WORDS = ("the fox", "a river", "Once upon", "def add", "two spaces", "there was", "return a")
PROMPTS = [f"{first} {second[:5]}" for first in WORDS for second in WORDS[:3]][:20]
TOKENIZER = byte_tokenizer()


def save(folder: Path, config: PretrainedConfig, dtype: torch.dtype, seed: int) -> Path:
    """Write a random model whose law hardly depends on the text, so that there is something in it
    that can be learned from a few texts."""
    model = random_model(config, seed, dtype=torch.float32)
    with torch.no_grad():
        embeddings = model.get_input_embeddings().weight
        towards = torch.randn(
            embeddings.shape[1], generator=torch.Generator().manual_seed(100 + seed)
        )
        embeddings += 2.0 * towards
    model.to(dtype).save_pretrained(folder)
    TOKENIZER.save_pretrained(folder)
    return folder


def a_config(shape: str = "llama", rows: int = 300, **changes: object) -> PretrainedConfig:
    config = CONFIGS[shape]()
    config.vocab_size = rows
    for name, value in changes.items():
        setattr(config, name, value)
    return config


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a target, drafts and prompts."""
    place = tmp_path_factory.mktemp("fit")
    save(place / "target", a_config(num_hidden_layers=2), torch.float32, 0)
    one_layer = a_config(num_hidden_layers=1, rows=320)
    save(place / "draft", one_layer, torch.bfloat16, 1)
    (place / "prompts.txt").write_text("\n".join(PROMPTS) + "\n")
    return place


def a_request(place: Path, out: Path, **changes: object) -> FitRequest:
    request = FitRequest(
        target=str(place / "target"),
        draft=str(place / "draft"),
        new_size=None,
        prompts_file=place / "prompts.txt",
        held_out_file=None,
        folder=out,
        new_tokens=12,
        num_texts=3,
        num_steps=30,
    )
    return replace(request, **changes)  # type: ignore[arg-type]


def fit(request: FitRequest) -> tuple[Fit, list[FitNews]]:
    told: list[FitNews] = []
    return fit_draft(request, told.append).fit, told


def drive(fitting: Fitting, told: list[FitNews]) -> FitOutcome | None:
    """Do a fit to its end, with its news in `told` as they come."""
    found: list[FitOutcome | None] = []

    def run() -> Iterator[FitNews]:
        found.append((yield from fitting.run()))

    for news in run():
        told.append(news)
    return found[0]


def measured(told: list[FitNews]) -> list[FitMeasured]:
    return [news for news in told if isinstance(news, FitMeasured)]


@pytest.fixture(scope="module")
def whole(place: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Fit, list[FitNews], Path]:
    """A fit without interruption, of a draft with more rows than the target."""
    out = tmp_path_factory.mktemp("whole") / "out"
    return (*fit(a_request(place, out)), out)


def test_fitting_raises_alpha_on_held_out_prompts(whole: tuple[Fit, list[FitNews], Path]) -> None:
    found, told, out = whole
    assert found.after.alpha > 2 * found.before.alpha
    assert all(row.alpha_after > row.alpha_before for row in found.held_out)
    assert found == read_fit(out / "fit.json")
    assert (found.num_prompts, found.num_held_out) == (20, 4)
    assert 16 * 3 * 10 < found.num_tokens_written <= 16 * 3 * 12
    assert found.num_tokens_trained > found.num_tokens_written
    num_judged = sum(row.num_tokens for row in found.held_out)
    assert found.before.num_tokens == found.after.num_tokens == num_judged
    mean = sum(row.alpha_after * row.num_tokens for row in found.held_out) / num_judged
    assert found.after.alpha == pytest.approx(mean, abs=1e-6)
    assert told[0] == FitBegun(16, 4, is_resumed=False)
    assert found.made_by == (
        "python -m specviz distill --target target --draft draft --prompts prompts.txt "
        "--texts 3 --steps 30 --new-tokens 12"
    )


def test_what_is_left_is_a_model_and_nothing_else(
    place: Path, whole: tuple[Fit, list[FitNews], Path]
) -> None:
    _, _, out = whole
    assert sorted(file.name for file in out.iterdir()) == [
        "config.json",
        "fit.json",
        "generation_config.json",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
    ]
    weights = load_file(out / "model.safetensors")
    assert {weight.dtype for weight in weights.values()} == {torch.bfloat16}, "as its source"
    before = load_file(place / "draft" / "model.safetensors")
    assert {name: weight.shape for name, weight in weights.items()} == {
        name: weight.shape for name, weight in before.items()
    }
    assert not any(torch.equal(weights[name], before[name]) for name in before if "proj" in name)
    assert ModelPool().get(str(out)).tokenizer.get_vocab() == TOKENIZER.get_vocab()
    assert "local_files_only" not in (out / "tokenizer_config.json").read_text()


def test_held_out_prompts_are_never_written_after_for_training(
    place: Path, tmp_path: Path, whole: tuple[Fit, list[FitNews], Path]
) -> None:
    learned, held_out = split_prompts(read_prompts(place / "prompts.txt"))
    assert {row.prompt for row in whole[0].held_out} == set(held_out)
    fit(a_request(place, tmp_path, num_steps=1, keeps_work=True))
    written = {"texts-0": held_out, "texts-1": held_out, "texts-2": learned, "texts-3": learned}
    for name, prompts in written.items():
        files = sorted((tmp_path / "work" / name).glob("*.json"))
        rows = sum(len(json.loads(file.read_text())["texts"]) for file in files)
        per_prompt = 2 if name == "texts-2" else 1
        assert rows == per_prompt * len(prompts)


def interrupt_at(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, call: int) -> None:
    real: Callable[..., Any] = getattr(owner, name)
    calls: list[int] = []

    def interrupted(*args: object, **kwargs: object) -> Any:
        calls.append(1)
        if len(calls) == call:
            raise KeyboardInterrupt
        return real(*args, **kwargs)

    monkeypatch.setattr(owner, name, interrupted)


def test_an_interrupted_fit_ends_with_the_same_draft(
    place: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    whole: tuple[Fit, list[FitNews], Path],
) -> None:
    monkeypatch.setattr(draft_training, "SAVE_EVERY_SECONDS", 0.0)
    request = a_request(place, tmp_path / "out")
    for owner, name, call in (
        (writing.WritingTogether, "step", 15),
        (TrainingRun, "update", 14),
        (fit_steps, "write_model", 1),
        (fit_steps, "publish", 1),
    ):
        with monkeypatch.context() as patch:
            interrupt_at(patch, owner, name, call)
            with pytest.raises(KeyboardInterrupt):
                fit(request)
        assert not (tmp_path / "out" / "config.json").exists()
    with monkeypatch.context() as patch:
        interrupt_at(patch, writing.WritingTogether, "step", 1)
        found, told = fit(request)
    assert told[0] == FitBegun(16, 4, is_resumed=True)
    expected, _, out = whole
    assert replace(found, seconds=0.0) == replace(expected, seconds=0.0)
    ours, theirs = (load_file(f / "model.safetensors") for f in (tmp_path / "out", out))
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)


def test_unfinished_work_is_only_taken_up_by_the_same_fit(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt_at(monkeypatch, TrainingRun, "update", 1)
    with pytest.raises(KeyboardInterrupt):
        fit(a_request(place, tmp_path))
    with pytest.raises(RequestError, match="unfinished fit with other --texts, --seed; finish"):
        fit(a_request(place, tmp_path, seed=1, num_texts=2))
    with pytest.raises(RequestError, match="unfinished fit with other draft; finish"):
        fit(a_request(place, tmp_path, draft=str(place / "target")))
    monkeypatch.setattr(fit_steps, "TEXTS_FORM", 1)
    with pytest.raises(RequestError, match="unfinished fit with other form of texts on disk"):
        fit(a_request(place, tmp_path))


@pytest.mark.parametrize(
    ("shape", "size", "sizes"),
    [
        ("llama", "tiny", {"hidden_size": 128}),
        ("gpt2", "small", {}),
        ("gemma2", "small", {}),
    ],
)
def test_a_new_draft_learns_from_nothing(
    shape: str, size: str, sizes: dict[str, object], tmp_path: Path, place: Path
) -> None:
    save(tmp_path / "target", a_config(shape, rows=304, **sizes), torch.float32, 0)
    request = a_request(
        place, tmp_path / "out", target=str(tmp_path / "target"), draft=None, new_size=size
    )
    found, _ = fit(request)
    assert found.draft_before is None
    assert found.after.alpha > found.before.alpha + 0.1
    draft = ModelPool().get(str(tmp_path / "out")).model
    assert isinstance(draft, LlamaForCausalLM)
    assert draft.dtype == torch.float32
    assert draft.config.num_hidden_layers == 1


def test_time_decides_where_no_numbers_are_given(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = a_request(place, tmp_path, num_texts=None, num_steps=None, minutes=0.1)
    with monkeypatch.context() as patch:
        interrupt_at(patch, TrainingRun, "update", learning.TIMED_STEPS + 1)
        with pytest.raises(KeyboardInterrupt):
            fit(request)
    kept = tmp_path / "work" / "training" / "steps.json"
    assert json.loads(kept.read_text()) >= learning.TIMED_STEPS
    kept.write_text("12")
    words = fit(request)[0].made_by.split()
    assert words[words.index("--steps") + 1] == "12", "a resumed fit keeps the number it found"
    assert int(words[words.index("--texts") + 1]) >= 2


def test_a_pair_of_two_tokenizers_is_refused(place: Path, tmp_path: Path) -> None:
    draft = tmp_path / "draft"
    random_model(a_config(rows=320), dtype=torch.float32).save_pretrained(draft)
    byte_tokenizer(text="other words make other pairs of bytes").save_pretrained(draft)
    with pytest.raises(IncompatibleModelError, match="their vocabularies differ"):
        fit(a_request(place, tmp_path / "out", draft=str(draft)))
    assert not (tmp_path / "out").exists()


def test_a_draft_whose_files_do_not_belong_together_is_refused(place: Path, tmp_path: Path) -> None:
    save(tmp_path / "draft", a_config(rows=48), torch.float32, 0)
    with pytest.raises(IncompatibleModelError, match="an output layer of 48 rows"):
        fit(a_request(place, tmp_path / "out", draft=str(tmp_path / "draft")))


def test_numbers_that_are_none_end_in_a_sentence(place: Path, tmp_path: Path) -> None:
    folder = save(tmp_path / "draft", a_config(num_hidden_layers=1), torch.float32, 0)
    model = ModelPool().get(str(folder)).model
    with torch.no_grad():
        model.model.layers[0].mlp.up_proj.weight[0, 0] = torch.nan
    model.save_pretrained(folder)
    with pytest.raises(IncompatibleModelError, match="at step 0: the loss is nan"):
        fit(a_request(place, tmp_path / "out", draft=str(folder)))


def test_the_weights_with_the_best_held_out_alpha_are_kept(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[dict[str, torch.Tensor]] = []
    real = learning._copy

    def copied(model: Any) -> dict[str, torch.Tensor]:
        seen.append(real(model))
        return seen[-1]

    monkeypatch.setattr(learning, "_copy", copied)
    monkeypatch.setattr(learning, "PATIENCE", 3)
    # Steps this long soon do harm.
    monkeypatch.setattr(fit_steps, "optimizers_for_draft", _too_fast)
    _, told = fit(a_request(place, tmp_path / "out", num_steps=200))
    alphas = {news.step: news.score.alpha for news in measured(told)}
    (end,) = [news for news in told if isinstance(news, LearningEnded)]
    assert end.end is LearningEnd.PLATEAU
    assert end.best_step == max(alphas, key=lambda step: alphas[step])
    assert 0 < end.best_step < end.step < 200
    assert [news.step for news in measured(told) if news.is_best][-1] == end.best_step
    weights = load_file(tmp_path / "out" / "model.safetensors")
    assert all(torch.equal(weights[name], seen[-1][name].bfloat16()) for name in weights)


def _too_fast(model: Any, **_: bool) -> list[torch.optim.Optimizer]:
    return [torch.optim.SGD(model.parameters(), lr=20.0)]


def test_a_fit_that_does_not_help_writes_nothing(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(model: Any, **_: bool) -> list[torch.optim.Optimizer]:
        return [torch.optim.SGD(model.parameters(), lr=5.0, maximize=True)]

    monkeypatch.setattr(fit_steps, "optimizers_for_draft", away)
    outcome = fit_draft(a_request(place, tmp_path / "out", num_steps=4), lambda news: None)
    assert not outcome.has_helped
    assert outcome.fit.after == outcome.fit.before
    assert not (tmp_path / "out").exists()


def test_a_stopped_fit_keeps_the_best_so_far(place: Path, tmp_path: Path) -> None:
    told: list[FitNews] = []
    request = a_request(place, tmp_path / "out")
    outcome = drive(Fitting(request, lambda: len(measured(told)) > 5), told)
    assert outcome is not None
    assert outcome.has_helped
    (end,) = [news for news in told if isinstance(news, LearningEnded)]
    assert (end.end, end.step) == (LearningEnd.STOPPED, 5)
    assert read_fit(tmp_path / "out" / "fit.json").after.alpha > outcome.fit.before.alpha


def test_a_fit_that_is_stopped_before_it_learns_leaves_nothing(place: Path, tmp_path: Path) -> None:
    told: list[FitNews] = []
    assert drive(Fitting(a_request(place, tmp_path / "out"), lambda: True), told) is None
    assert not (tmp_path / "out").exists()
    assert {news.phase for news in told if isinstance(news, FitProgress)} == {FitPhase.WRITING}


def test_few_prompts_are_told_as_few() -> None:
    assert FitBegun(39, 10, is_resumed=False).is_few
    assert not FitBegun(40, 10, is_resumed=False).is_few


def test_a_draft_that_agrees_already_learns_more_slowly(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen: list[bool] = []

    def noted(model: Any, *, is_new: bool, is_fitted: bool) -> list[torch.optim.Optimizer]:
        chosen.append(is_fitted)
        return optimizers_for_draft(model, is_new=is_new, is_fitted=is_fitted)

    monkeypatch.setattr(fit_steps, "optimizers_for_draft", noted)
    for name in ("draft", "target"):
        draft = str(place / name)
        fit(a_request(place, tmp_path / name, draft=draft, num_texts=1, num_steps=1))
    assert chosen == [False, True]
    llama = random_model(CONFIGS["llama"](), dtype=torch.float32)
    rates = [
        [each.param_groups[0]["lr"] for each in optimizers_for_draft(llama, is_new=False, **more)]
        for more in ({"is_fitted": False}, {"is_fitted": True})
    ]
    assert [rate / 5 for rate in rates[0]] == pytest.approx(rates[1])


def a_target(**changes: object) -> LoadedModel:
    sizes = {"hidden_size": 128, "num_hidden_layers": 16, "num_attention_heads": 2} | changes
    config = a_config(**sizes, exit_layers=[4], num_key_value_heads=2)
    return LoadedModel("t", random_model(config, dtype=torch.float32), TOKENIZER, frozenset({0}))


@pytest.mark.parametrize(
    ("size", "layers", "width"), [("tiny", 1, 64), ("small", 1, 128), ("large", 4, 128)]
)
def test_sizes_of_new_drafts(size: str, layers: int, width: int) -> None:
    target = a_target()
    drafted = build_new_draft(target, size, seed=0).model
    assert drafted.config.num_hidden_layers == layers
    assert drafted.config.hidden_size == width
    assert drafted.config.max_position_embeddings == target.model.config.max_position_embeddings
    assert not hasattr(drafted.config, "exit_layers")
    assert drafted.dtype == torch.float32
    begins_like = torch.equal(
        drafted.model.embed_tokens.weight[:, :64], target.model.model.embed_tokens.weight[:, :64]
    )
    assert begins_like == (width == 128)


def test_a_deep_or_wide_target_gets_a_deeper_narrower_draft() -> None:
    deep = a_target(num_hidden_layers=32, hidden_size=64)
    assert build_new_draft(deep, "small", 0).model.config.num_hidden_layers == 2
    assert build_new_draft(deep, "large", 0).model.config.num_hidden_layers == 6
    wide = a_target(num_hidden_layers=1, hidden_size=1536)
    assert build_new_draft(wide, "small", 0).model.config.hidden_size == 1024
    assert build_new_draft(wide, "tiny", 0).model.config.hidden_size == 512


def test_a_new_draft_depends_on_its_seed_alone() -> None:
    target = a_target(num_hidden_layers=2)
    first, again, other = (
        build_new_draft(target, "tiny", seed).model.lm_head.weight for seed in (1, 1, 2)
    )
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_models_without_named_layers_are_trained_by_adamw_alone() -> None:
    gpt2 = random_model(CONFIGS["gpt2"](), dtype=torch.float32)
    assert [type(each).__name__ for each in optimizers_for_draft(gpt2, is_new=False)] == ["AdamW"]
    llama = random_model(CONFIGS["llama"](), dtype=torch.float32)
    assert [type(each).__name__ for each in optimizers_for_draft(llama, is_new=True)] == [
        "Muon",
        "AdamW",
    ]
