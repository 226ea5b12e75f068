"""From names to models; every failure is one sentence."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from tiny_models import byte_tokenizer, random_model
from transformers import LlamaConfig

from specviz.errors import FullMemoryError, ModelLoadError
from specviz.models import catalogue
from specviz.models.loading import LoadedModel, ModelPool


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model and tokenizer in working order."""
    folder = tmp_path_factory.mktemp("models") / "whole"
    config = LlamaConfig(
        vocab_size=320,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=64,
        eos_token_id=[0, 7],
    )
    random_model(config, dtype=torch.float32).save_pretrained(folder)
    byte_tokenizer().save_pretrained(folder)
    return folder


@pytest.fixture
def broken(whole: Path, tmp_path: Path) -> Path:
    """A copy of it, to break."""
    folder = tmp_path / "broken"
    folder.mkdir()
    for file in whole.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    return folder


def load(name: object, **kwargs: object) -> LoadedModel:
    return ModelPool(**kwargs).get(str(name))  # type: ignore[arg-type]


def test_a_folder_is_loaded_once_and_only_to_be_read(whole: Path) -> None:
    pool = ModelPool(dtype="float64")
    loaded = pool.get(str(whole))
    assert pool.get(str(whole)) is loaded
    assert loaded.model.dtype == torch.float64
    assert not loaded.model.training
    assert not any(parameter.requires_grad for parameter in loaded.model.parameters())
    assert loaded.eos_ids == {0, 7}
    assert loaded.tokenizer.encode("fox")


def change_config(folder: Path, **changes: object) -> None:
    file = folder / "config.json"
    config = json.loads(file.read_text())
    file.write_text(json.dumps(config | changes))


def drop_config(folder: Path) -> None:
    (folder / "config.json").unlink()


def break_config(folder: Path) -> None:
    (folder / "config.json").write_text('{"model_type": "llama",')


def list_config(folder: Path) -> None:
    (folder / "config.json").write_text("[]")


def test_keys_that_name_no_code_are_let_through(broken: Path) -> None:
    change_config(broken, _attn_implementation_autoset=True, experts_implementation=None)
    assert load(broken).eos_ids == {0, 7}


def truncate_weights(folder: Path) -> None:
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:2000])


def garbage_weights(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"\xff" * 4096)


def drop_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()


def pickle_weights(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    drop_weights(folder)
    torch.save(weights, folder / "pytorch_model.bin")


def lose_a_tensor(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    del weights["model.layers.1.mlp.up_proj.weight"]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def drop_tokenizer(folder: Path) -> None:
    for file in folder.glob("*token*"):
        file.unlink()


def break_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").write_text("{}")


BREAKS: dict[str, tuple[Callable[[Path], None], str]] = {
    "no config": (drop_config, "holds no config.json"),
    "config is no JSON": (break_config, "is not valid JSON"),
    "config is a list": (list_config, "config"),
    "remote code": (
        lambda folder: change_config(folder, auto_map={"AutoModelForCausalLM": "evil.Model"}),
        "code of its own .auto_map.; that is never run",
    ),
    "unknown architecture": (
        lambda folder: change_config(folder, model_type="no-such-model", architectures=["Nope"]),
        "names the architecture 'no-such-model', which the installed transformers does not know",
    ),
    "no architecture": (lambda folder: change_config(folder, model_type=None), "architecture None"),
    "code inside": (
        lambda folder: change_config(folder, vision_config={"auto_map": {}}),
        "code of its own .auto_map.; that is never run",
    ),
    "a kernel of the hub": (
        lambda folder: change_config(folder, _attn_implementation="stranger/kernel"),
        "is to be run with ._attn_implementation., and that is chosen here",
    ),
    "a kernel inside": (
        lambda folder: change_config(folder, text_config={"experts_implementation": "x/y"}),
        "is to be run with .experts_implementation.",
    ),
    "a config without end": (
        lambda folder: change_config(folder, id2label="x" * 64_000),
        "config.json takes 65 kB and at most 64 kB are read",
    ),
    "a config without bottom": (
        lambda folder: (folder / "config.json").write_text("[" * 60_000),
        "config.json is not valid JSON",
    ),
    "too many layers": (
        lambda folder: change_config(folder, num_hidden_layers=10**6),
        "asks for 1,000,000 as num_hidden_layers and at most 1,024 are built",
    ),
    "too many layers inside": (
        lambda folder: change_config(folder, parts=[{"depth": 2000}]),
        "asks for 2,000 as depth",
    ),
    "too many experts": (
        lambda folder: change_config(folder, num_local_experts=10**5),
        "asks for 100,000 as num_local_experts",
    ),
    "more weights than memory": (
        lambda folder: change_config(folder, vocab_size=10**12),
        "its weights take 128,000[.0-9]* GB in float32 and [.0-9]+ GB are free on cpu",
    ),
    "nonsense in the config": (
        lambda folder: change_config(folder, hidden_size="wide"),
        "cannot be loaded",
    ),
    "null in the config": (
        lambda folder: change_config(folder, num_attention_heads=None),
        "cannot be loaded",
    ),
    "zero heads": (lambda folder: change_config(folder, num_attention_heads=0), "cannot be loaded"),
    "weights of another shape": (
        lambda folder: change_config(folder, hidden_size=32),
        "cannot be loaded",
    ),
    "truncated weights": (truncate_weights, "cannot be loaded"),
    "garbage weights": (garbage_weights, "cannot be loaded"),
    "no weights": (drop_weights, "cannot be loaded"),
    "pickled weights": (pickle_weights, "cannot be loaded"),
    "a tensor is missing": (lose_a_tensor, "model.layers.1.mlp.up_proj.weight"),
    "no tokenizer": (drop_tokenizer, "cannot be loaded"),
    "broken tokenizer": (break_tokenizer, "cannot be loaded"),
}


@pytest.mark.parametrize("fault", BREAKS)
@pytest.mark.filterwarnings("ignore")
def test_a_broken_folder_is_one_sentence(fault: str, broken: Path) -> None:
    damage, sentence = BREAKS[fault]
    damage(broken)
    with pytest.raises(ModelLoadError, match=sentence) as caught:
        load(broken)
    message = str(caught.value)
    assert "broken" in message, "it names the model"
    assert len(message) < 600
    assert "\n" not in message
    assert "Traceback" not in message


def test_a_failure_leaves_loaded_models_alone(whole: Path, broken: Path) -> None:
    drop_config(broken)
    pool = ModelPool()
    first = pool.get(str(whole))
    with pytest.raises(ModelLoadError):
        pool.get(str(broken))
    assert pool.get(str(whole)) is first


@pytest.mark.parametrize(
    "name",
    [
        *("no/such/folder", "../models", "/etc", "two words", "a/b/c", "", "-x", "x" * 200),
        *("ümlaut/x", "оwner/name", "owner/name@main", "owner/name\n", "gpt2"),
        "assets/catalogue.json",
    ],
)
def test_a_name_that_can_be_nothing_is_refused_without_a_network(name: str) -> None:
    with pytest.raises(ModelLoadError) as caught:
        load(name)
    assert "\n" not in str(caught.value)


def test_hub_models_can_be_switched_off() -> None:
    with pytest.raises(ModelLoadError, match="hub models are switched off"):
        load("owner/name", allow_hub=False)


def test_a_hub_model_that_cannot_be_reached_is_one_sentence() -> None:
    """The tests run offline (conftest.py), so nothing can be reached."""
    with pytest.raises(ModelLoadError, match="owner/no-such-model cannot be loaded") as caught:
        load("owner/no-such-model")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("device", ["abacus", "cuda:99", "cpu:x", ""])
def test_a_device_that_is_not_there_is_refused(device: str) -> None:
    with pytest.raises(ModelLoadError, match="cannot be used here") as caught:
        ModelPool(device)
    assert "--device cpu" in str(caught.value)


def test_a_dtype_that_is_not_offered_is_refused() -> None:
    with pytest.raises(ModelLoadError, match="bfloat16, float16, float32, float64, got int8"):
        ModelPool(dtype="int8")


def test_running_out_of_memory_is_one_sentence(
    whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: object, **kwargs: object) -> None:
        raise torch.OutOfMemoryError("out of memory\nTried to allocate 1 GiB")

    monkeypatch.setattr(torch.nn.Module, "to", full)
    with pytest.raises(FullMemoryError, match="memory of cpu was full before its") as caught:
        load(whole)
    assert "in float32 were read" in str(caught.value)
    assert "GB are free without it; take a dtype with fewer bytes" in str(caught.value)


def test_end_tokens_from_generation_config_config_and_tokenizer(broken: Path) -> None:
    assert load(broken).eos_ids == {0, 7}
    (broken / "generation_config.json").write_text('{"eos_token_id": 5}')
    assert load(broken).eos_ids == {5}
    (broken / "generation_config.json").unlink()
    change_config(broken, eos_token_id=None)
    assert load(broken).eos_ids == {0}, "the tokenizer's own"


def test_shipped_models_by_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(catalogue, "MODELS_FOLDER", tmp_path)
    with pytest.raises(ModelLoadError, match="specviz-target is missing"):
        load("specviz-target")
    for name in ("draft", "target", "draft-wide", "notes"):
        (tmp_path / name).mkdir()
        if name != "notes":
            (tmp_path / name / "config.json").write_text("{}")
    found = [(model.name, model.role) for model in catalogue.shipped_models()]
    assert found == [
        ("specviz-target", "target"),
        ("specviz-draft", "draft"),
        ("specviz-draft-wide", "draft"),
    ]
    assert catalogue.shipped_folder("specviz-draft") == tmp_path / "draft"
    assert catalogue.shipped_folder("owner/name") is None


@pytest.fixture
def places(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """`fitted/` and the folder of SPECVIZ_MODELS, both empty, beside one shipped target."""
    shipped, fitted, other = (tmp_path / name for name in ("shipped", "fitted", "other"))
    shutil.copytree(whole, shipped / "target")
    fitted.mkdir()
    other.mkdir()
    monkeypatch.setattr(catalogue, "MODELS_FOLDER", shipped)
    monkeypatch.setattr(catalogue, "FITTED_FOLDER", fitted)
    monkeypatch.setenv("SPECVIZ_MODELS", str(other))
    return fitted, other


def test_fitted_drafts_are_listed_and_loaded_by_name(
    places: tuple[Path, Path], whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fitted, other = places
    assert catalogue.listed_models() == catalogue.shipped_models()
    for folder in (fitted / "mine", other / "mine", other / "target"):
        shutil.copytree(whole, folder)
    (fitted / "unfinished" / "work").mkdir(parents=True)
    found = [(model.name, model.folder, model.role) for model in catalogue.listed_models()]
    assert found[1:] == [
        ("fitted/mine", fitted / "mine", "draft"),
        ("fitted/target", other / "target", "draft"),
    ]
    assert load("fitted/mine").name == "fitted/mine"
    assert catalogue.listed_name(str(other / "target")) == "fitted/target"
    assert catalogue.listed_name("specviz-target") == "specviz-target"
    assert catalogue.listed_name("owner/name") is None
    monkeypatch.delenv("SPECVIZ_MODELS")
    assert [model.name for model in catalogue.fitted_models()] == ["fitted/mine"]
    with pytest.raises(ModelLoadError, match="no fitted draft fitted/target; there is fitted/mine"):
        load("fitted/target")


@pytest.mark.parametrize(
    "fault", ["config is no JSON", "config is a list", "truncated weights", "no weights"]
)
def test_a_broken_fitted_draft_is_not_listed_and_says_why_when_named(
    fault: str, places: tuple[Path, Path], whole: Path
) -> None:
    folder = places[0] / "broken"
    shutil.copytree(whole, folder)
    BREAKS[fault][0](folder)
    assert catalogue.fitted_models() == ()
    assert catalogue.listed_models() == catalogue.shipped_models()
    with pytest.raises(ModelLoadError, match="fitted/broken cannot be loaded"):
        load("fitted/broken")


def test_a_draft_of_another_vocabulary_is_not_offered_beside_the_shipped_target(
    places: tuple[Path, Path], whole: Path
) -> None:
    for name in ("other", "none"):
        shutil.copytree(whole, places[0] / name)
    byte_tokenizer(text="other words make other pairs of bytes").save_pretrained(
        places[0] / "other"
    )
    drop_tokenizer(places[0] / "none")
    assert len(catalogue.fitted_models()) == 2
    assert catalogue.listed_models() == catalogue.shipped_models()


def test_a_place_for_fitted_drafts_that_is_not_there_holds_none(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPECVIZ_MODELS", "/no/such/folder")
    places[0].rmdir()
    assert catalogue.fitted_models() == ()
    with pytest.raises(ModelLoadError, match="there is none"):
        load("fitted/x")
