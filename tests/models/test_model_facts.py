"""Config, tokenizer and sizes of a folder, read without its weights."""

from collections.abc import Callable
from pathlib import Path

import pytest
from test_pair_report import DRAFT, SMALL, llama
from tiny_models import byte_tokenizer

from specviz.errors import ModelLoadError
from specviz.models.config_limits import MAX_COUNT
from specviz.models.model_facts import NamedSource, read_folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    SMALL.save_pretrained(tmp_path)
    byte_tokenizer().save_pretrained(tmp_path)
    return tmp_path


def test_a_folder_without_weights_is_read_and_reported(folder: Path) -> None:
    about = NamedSource(allow_hub=False).read(str(folder))
    assert about.num_parameters == DRAFT.num_parameters
    assert all(parameter.is_meta for parameter in about.shapes.parameters())
    assert (about.has_safetensors, about.missing_bytes, about.is_gated) == (False, 0, False)


BREAKS: dict[str, tuple[Callable[[Path], object], str]] = {
    "too deep": (
        lambda folder: llama(num_hidden_layers=10**6).save_pretrained(folder),
        f"asks for 1,000,000 as num_hidden_layers and at most {MAX_COUNT:,} are built",
    ),
    "no tokenizer": (
        lambda folder: [file.unlink() for file in folder.glob("*token*")],
        "cannot be loaded",
    ),
    "code": (
        lambda folder: (folder / "config.json").write_text('{"auto_map": {}}'),
        "asks for code of its own",
    ),
}


@pytest.mark.parametrize("fault", BREAKS)
def test_a_folder_that_cannot_be_read_is_one_sentence(fault: str, folder: Path) -> None:
    damage, sentence = BREAKS[fault]
    damage(folder)
    with pytest.raises(ModelLoadError, match=sentence) as caught:
        read_folder("broken", folder, has_safetensors=False)
    assert "\n" not in str(caught.value)
