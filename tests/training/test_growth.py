"""A grown model computes what the shallow one did."""

import pytest
import torch
from tokenizers import Tokenizer

from specviz.training.architecture import build_model
from specviz.training.growth import grow, layer_origins
from specviz.training.settings import FamilySettings


def test_copies_spread_evenly_behind_the_exits() -> None:
    assert layer_origins(4, 7, 1) == [0, 1, 1, 2, 2, 3, 3]
    assert layer_origins(16, 24, 8) == [*range(8), *(8 + i // 2 for i in range(16))]
    assert layer_origins(5, 5, 2) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(("num_layers", "num_wanted", "first"), [(4, 3, 1), (4, 6, 4)])
def test_a_model_never_shrinks_and_needs_layers_to_copy(
    num_layers: int, num_wanted: int, first: int
) -> None:
    with pytest.raises(ValueError, match="cannot grow"):
        layer_origins(num_layers, num_wanted, first)


def test_growth_changes_no_logit(settings: FamilySettings, tokenizer: Tokenizer) -> None:
    torch.manual_seed(0)
    shallow = build_model(settings, "target", tokenizer, num_layers=3).double()
    deep = build_model(settings, "target", tokenizer, num_layers=7).double()
    grow(shallow, deep, first=1)
    ids = torch.randint(0, tokenizer.get_vocab_size(), (2, 9))
    with torch.inference_mode():
        assert torch.allclose(shallow(ids).logits, deep(ids).logits, atol=1e-12)
    assert len(deep.model.layers) == 7
