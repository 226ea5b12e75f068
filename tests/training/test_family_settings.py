"""Every setting is read as what it is, and a wrong one is named by its path."""

from pathlib import Path

import pytest

from specviz.errors import FormatError
from specviz.training.settings import FamilySettings, load_settings


def test_defaults_are_for_stages_alone(settings: FamilySettings) -> None:
    words, last = settings.target.stages
    assert (words.num_layers, last.num_layers) == (3, 0)
    assert (words.lr_scale, words.decay, last.decay) == (1.0, False, True)
    assert words.mix == {"tales": 2.0, "tasks": 1.0, "unused": 0.0}
    assert settings.target.exit_layers == (1, 2)


def test_the_shipped_settings_are_whole() -> None:
    assert [draft.name for draft in load_settings().drafts] == ["tiny", "small", "large", "misfit"]


@pytest.mark.parametrize(
    ("line", "other", "sentence"),
    [
        ("num_layers = 4", "", "target.num_layers is missing"),
        ("sampled_share = 0.5", "colour = 1", "drafts[0].colour is not a key of this format"),
        ("sampled_share = 0.5", "sampled_share = 5", "drafts[0].sampled_share must be 0 to 1"),
        ("seed = 7", 'seed = "7"', "seed must be an integer, is a text"),
        ("unused = 0", 'unused = "no"', "target.stages[0].mix.unused must be a number, is a text"),
        ("seed = 7", "seed: 7", "Expected '=' after a key"),
    ],
)
def test_a_wrong_setting_is_named(
    line: str, other: str, sentence: str, settings_text: str, tmp_path: Path
) -> None:
    path = tmp_path / "family.toml"
    assert line in settings_text
    path.write_text(settings_text.replace(line, other, 1), encoding="utf-8")
    with pytest.raises(FormatError) as refusal:
        load_settings(path)
    assert str(refusal.value).startswith("family.toml: ")
    assert sentence in str(refusal.value)
