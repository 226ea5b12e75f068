"""Logits that are not numbers end a lane, whichever model gave them."""

import pytest
import torch
from fakes import MarkovRunner, make_decoder, random_table, run_to_end

from specviz.decoding.proposers.draft_model import DraftModel
from specviz.decoding.proposers.no_draft import NoDraft
from specviz.errors import DecodingError
from specviz.trace.values import Sampling


class BrokenRunner(MarkovRunner):
    """Returns NaN once it has read `num_healthy` tokens."""

    def __init__(self, table: torch.Tensor, num_healthy: int) -> None:
        super().__init__(table)
        self._num_healthy = num_healthy

    def forward(self, ids: list[int], num_logits: int) -> torch.Tensor:  # type: ignore[override]
        logits = super().forward(ids, num_logits)
        return logits * torch.nan if len(ids) > self._num_healthy else logits


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_target_whose_logits_are_not_numbers(temperature: float) -> None:
    decoder = make_decoder(
        BrokenRunner(random_table(5, 1), 4),
        NoDraft(),
        gamma=0,
        sampling=Sampling(temperature=temperature),
    )
    decoder.prefill((1, 2, 3))
    decoder.step()
    decoder.step()
    with pytest.raises(DecodingError, match="not numbers"):
        decoder.step()


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_draft_whose_logits_are_not_numbers(temperature: float) -> None:
    """NaN compares as false with everything: unchecked, such a draft was accepted for certain."""
    sampling = Sampling(temperature=temperature)
    draft = DraftModel(BrokenRunner(random_table(5, 2), 4), sampling, 5, frozenset())  # type: ignore[arg-type]
    decoder = make_decoder(
        MarkovRunner(random_table(5, 1)), draft, gamma=3, sampling=sampling, max_new_tokens=20
    )
    with pytest.raises(DecodingError, match="not numbers"):
        run_to_end(decoder, (1, 2, 3))
