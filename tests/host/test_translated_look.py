"""A pair of two tokenizers is offered, and the look says what that means."""

from pathlib import Path

import pytest
from hub_stand_in import HubStandIn
from other_tokenizers import OTHER
from test_pair_look import look, texts

from specviz.ui.settings_data import pair_data


@pytest.fixture
def draft(hub: HubStandIn, repository: Path, tmp_path: Path) -> HubStandIn:
    """The same model, with another tokenizer."""
    folder = tmp_path / "other"
    folder.mkdir()
    for path in repository.iterdir():
        if path.is_file():
            (folder / path.name).write_bytes(path.read_bytes())
    OTHER.save_pretrained(folder)
    hub.add("tiny/draft", folder)
    return hub


def test_a_draft_of_another_tokenizer_is_offered_and_marked(draft: HubStandIn) -> None:
    found = look()
    assert found.option is not None
    assert found.option.drafts == found.option.translated == ("tiny/draft",)
    assert pair_data(found.option)["translated"] == ("tiny/draft",)
    assert any("draft has another tokenizer than model" in text for text in texts(found))
