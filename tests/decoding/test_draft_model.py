"""A draft model whose vocabulary or context is smaller than the target's, at the very borders."""

from collections.abc import Sequence

import pytest
import torch
from fakes import GREEDY, MarkovRunner, random_table

from specviz.decoding.proposers.autoregressive import draft_chain
from specviz.decoding.proposers.draft_model import DraftModel
from specviz.decoding.sampling import SeededChance, to_probs
from specviz.trace.values import Sampling

NUM_ROWS = 5


class WatchedRunner(MarkovRunner):
    """Remembers every text it was asked to read."""

    def __init__(self, context: int | None = None) -> None:
        super().__init__(random_table(NUM_ROWS, 1), context)
        self.texts: list[tuple[int, ...]] = []

    def forward(self, ids: Sequence[int], num_logits: int) -> torch.Tensor:
        self.texts.append(tuple(ids))
        return super().forward(ids, num_logits)


def draft_model(
    runner: MarkovRunner, vocab_size: int = NUM_ROWS, sampling: Sampling = GREEDY
) -> DraftModel:
    return DraftModel(runner, sampling, vocab_size, frozenset())  # type: ignore[arg-type]


@pytest.mark.parametrize("vocab_size", [NUM_ROWS - 1, NUM_ROWS, NUM_ROWS + 1, NUM_ROWS + 3])
def test_ids_without_a_row_are_read_as_the_last_row_and_no_others(vocab_size: int) -> None:
    runner = WatchedRunner()
    draft, text = draft_model(runner, vocab_size), tuple(range(min(vocab_size, NUM_ROWS + 2)))
    draft.reset(text)
    draft.propose(text, 1, SeededChance(0))
    readable = tuple(min(token, NUM_ROWS - 1) for token in text)
    assert runner.texts == [readable[:-1], readable]


@pytest.mark.parametrize("vocab_size", [NUM_ROWS - 1, NUM_ROWS, NUM_ROWS + 1])
def test_the_law_of_a_draft_has_a_place_for_each_id_of_the_target(vocab_size: int) -> None:
    sampling = Sampling(temperature=1.0)
    draft = draft_model(WatchedRunner(), vocab_size, sampling)
    law = draft.propose((1, 2), 3, SeededChance(0)).draft_probs
    assert law is not None
    assert law.shape == (3, vocab_size)
    assert bool((law[:, NUM_ROWS:] == 0).all())
    assert torch.allclose(law.sum(-1), torch.ones(3, dtype=law.dtype))


@pytest.mark.parametrize(("num_prompt", "num_drafted"), [(3, 4), (4, 4), (5, 3), (7, 1), (8, 0)])
def test_the_context_of_the_draft_is_filled_and_never_passed(
    num_prompt: int, num_drafted: int
) -> None:
    draft, text = draft_model(WatchedRunner(context=8)), [1] * num_prompt
    draft.reset(text)
    assert len(draft.propose(text, 4, SeededChance(0))) == num_drafted


def test_a_prompt_longer_than_the_context_is_not_read() -> None:
    runner = WatchedRunner(context=8)
    draft = draft_model(runner)
    draft.reset([1] * 9)
    assert len(draft.propose([1] * 9, 4, SeededChance(0))) == 0
    assert runner.texts == []


def test_a_greedy_draft_is_a_point_mass_that_shows_what_it_believed() -> None:
    runner, text = MarkovRunner(random_table(NUM_ROWS, 1)), [1, 2]
    proposal = draft_model(runner).propose(text, 3, SeededChance(0))
    assert proposal.draft_probs is None
    assert proposal.shown_logits is not None
    for token, shown in zip(proposal.token_ids, proposal.shown_logits, strict=True):
        assert torch.equal(shown, runner.logits_after(text))
        assert token == int(shown.argmax())
        text.append(token)


def test_a_sampled_draft_hands_over_the_very_law_it_was_drawn_from() -> None:
    runner, text = MarkovRunner(random_table(NUM_ROWS, 1)), [1, 2]
    sampling = Sampling(temperature=0.7, top_k=3)
    proposal = draft_model(runner, sampling=sampling).propose(text, 3, SeededChance(0))
    assert proposal.shown_logits is None
    assert proposal.draft_probs is not None
    for token, law in zip(proposal.token_ids, proposal.draft_probs, strict=True):
        assert torch.equal(law, to_probs(runner.logits_after(text)[None], sampling)[0])
        text.append(token)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_draft_of_no_token_is_empty(temperature: float) -> None:
    sampling = Sampling(temperature=temperature)
    logits = torch.zeros(1, NUM_ROWS)
    for gamma in (0, -1):
        proposal = draft_chain(
            lambda ids: logits, [1, 2], gamma, sampling, frozenset(), SeededChance(0)
        )
        assert len(proposal) == 0
        assert proposal.draft_probs is proposal.shown_logits is None
