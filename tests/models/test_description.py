"""What a model folder says about itself, read without loading it."""

import json
from pathlib import Path

import pytest
import torch
from tiny_models import CONFIGS, random_model

from specviz.errors import ModelLoadError
from specviz.models.description import MEASURES_FILE, describe_model


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    model = random_model(CONFIGS["llama"](), dtype=torch.float32)
    model.config.exit_layers = [1, 2]
    model.save_pretrained(tmp_path)
    return tmp_path


def test_shape_and_size_are_those_of_the_model(folder: Path) -> None:
    config = CONFIGS["llama"]()
    about = describe_model("mine", "target", folder)
    assert (about.name, about.role) == ("mine", "target")
    assert (about.num_layers, about.hidden_size) == (config.num_hidden_layers, config.hidden_size)
    assert about.context == config.max_position_embeddings
    assert about.exit_layers == (1, 2)
    assert about.num_parameters == random_model(config, dtype=torch.float32).num_parameters()
    assert about.folder_bytes == sum(path.stat().st_size for path in folder.iterdir())
    assert about.measures.held_out_loss == {}


def test_stored_measures_are_read(folder: Path) -> None:
    stored = {"held_out_loss": {"tales": 2.5}, "exit_loss": {"1": {"tales": 3.5}}, "alpha": {}}
    (folder / MEASURES_FILE).write_text(json.dumps(stored))
    measures = describe_model("mine", "target", folder).measures
    assert measures.held_out_loss == {"tales": 2.5}
    assert measures.exit_loss == {"1": {"tales": 3.5}}


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        (MEASURES_FILE, '{"colour": "red"}', "holds what is no measure"),
        (MEASURES_FILE, "[1]", "holds no JSON object"),
        ("config.json", "{", "config.json cannot be read"),
        ("model.safetensors", "no weights", "model.safetensors cannot be read"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(
    folder: Path, name: str, content: str, sentence: str
) -> None:
    (folder / name).write_text(content)
    with pytest.raises(ModelLoadError, match=sentence):
        describe_model("mine", "target", folder)
