"""The law of whole decodes whose draft has another tokenizer, over every random choice."""

from typing import Any

import pytest
import torch
from fakes import (
    GREEDY,
    Law,
    MarkovRunner,
    distance,
    enumerate_law,
    make_decoder,
    one_hot_table,
    random_table,
    run_to_end,
    text_law,
)
from tokenizers import Tokenizer, decoders, models
from transformers import PreTrainedTokenizerFast

from specviz.decoding.proposal import Proposal, Proposer, chain
from specviz.decoding.proposers.no_draft import NoDraft
from specviz.decoding.proposers.retokenised_draft import RetokenisedDraft
from specviz.decoding.proposers.shared_draft import SharedDraft
from specviz.decoding.sampling import Chance, SeededChance
from specviz.models.shared_tokens import shared_tokens
from specviz.models.text_bridge import TextBridge
from specviz.trace.values import Sampling

EXACT = 1e-12
PROMPT = (1, 0)
ONE = Sampling(temperature=1.0)
SAMPLINGS = [ONE, Sampling(temperature=0.7, top_k=2), Sampling(temperature=1.5, top_p=0.8)]


def tokenizer(*pieces: str, merged: tuple[str, str]) -> PreTrainedTokenizerFast:
    """Byte pairs of which one is merged; ids in the order of the pieces."""
    vocab = {piece: number for number, piece in enumerate(pieces)}
    made = Tokenizer(models.BPE(vocab=vocab, merges=[merged]))
    made.decoder = decoders.Metaspace()
    return PreTrainedTokenizerFast(tokenizer_object=made)


TARGET = tokenizer("a", "b", "ab", merged=("a", "b"))
DRAFT = tokenizer("ba", "b", "a", merged=("b", "a"))
SHARED = shared_tokens(TARGET, DRAFT)
DRAFTS = {
    "unrelated": random_table(3, 7),
    "half zero": random_table(3, 8, num_zeros=1),
    "one-hot": one_hot_table(3, 9),
}


def bridge() -> TextBridge:
    return TextBridge(TARGET, DRAFT, frozenset(), frozenset())


def by_text(table: torch.Tensor) -> RetokenisedDraft:
    runner: Any = MarkovRunner(table)
    return RetokenisedDraft(runner, bridge())


def by_shared(table: torch.Tensor, sampling: Sampling) -> SharedDraft:
    runner: Any = MarkovRunner(table)
    return SharedDraft(runner, bridge(), SHARED, sampling, 3, frozenset())


def decoded_law(
    target: torch.Tensor, proposer: Proposer, gamma: int, sampling: Sampling, num_tokens: int
) -> Law:
    def run(chance: Chance) -> tuple[int, ...]:
        decoder = make_decoder(
            MarkovRunner(target),
            proposer,
            gamma=gamma,
            sampling=sampling,
            max_new_tokens=num_tokens,
            chance=chance,
        )
        return run_to_end(decoder, PROMPT)

    return enumerate_law(run)


def test_the_two_share_single_letters() -> None:
    assert SHARED == {2: 0, 1: 1}


@pytest.mark.parametrize("gamma", [1, 2, 3])
@pytest.mark.parametrize("draft", DRAFTS)
def test_text_leaves_the_law_alone(draft: str, gamma: int) -> None:
    target = random_table(3, 1)
    law = decoded_law(target, by_text(DRAFTS[draft]), gamma, ONE, 4)
    assert distance(law, text_law(target, ONE, PROMPT, 4)) < EXACT


@pytest.mark.parametrize("gamma", [1, 2])
@pytest.mark.parametrize("draft", DRAFTS)
def test_shared_tokens_leave_the_law_alone(draft: str, gamma: int) -> None:
    target = random_table(3, 1)
    law = decoded_law(target, by_shared(DRAFTS[draft], ONE), gamma, ONE, 3)
    assert distance(law, text_law(target, ONE, PROMPT, 3)) < EXACT


@pytest.mark.parametrize("sampling", SAMPLINGS, ids=str)
def test_every_sampling_setting_does(sampling: Sampling) -> None:
    target = random_table(3, 1)
    expected = text_law(target, sampling, PROMPT, 3)
    for proposer in (by_text(DRAFTS["unrelated"]), by_shared(DRAFTS["unrelated"], sampling)):
        assert distance(decoded_law(target, proposer, 2, sampling, 3), expected) < EXACT


@pytest.mark.parametrize(
    "target", [one_hot_table(3, 4), random_table(3, 5, num_zeros=2)], ids=["one-hot", "zeros"]
)
def test_targets_with_impossible_tokens(target: torch.Tensor) -> None:
    expected = text_law(target, ONE, PROMPT, 4)
    for proposer in (by_text(DRAFTS["unrelated"]), by_shared(DRAFTS["unrelated"], ONE)):
        law = decoded_law(target, proposer, 2, ONE, 4)
        assert law.keys() == expected.keys()
        assert distance(law, expected) < EXACT


class DrawnText:
    """Draws the draft's text with the lane's own chance, and proposes it as point masses."""

    def __init__(self, table: torch.Tensor) -> None:
        self._table = table
        self._bridge = bridge()

    def reset(self, prompt_ids: object) -> None:
        self._bridge.reset()

    def propose(self, committed_ids: Any, gamma: int, chance: Chance) -> Proposal:
        runner = MarkovRunner(self._table)
        ids = self._bridge.read(committed_ids)
        text = list(ids)
        for _ in range(gamma):
            text.append(chance.choose(runner.logits_after(text).softmax(-1)))
        return chain(self._bridge.write(text[len(ids) :], is_ended=False)[:gamma])


def test_a_draft_that_draws_its_text_would_be_as_exact() -> None:
    """Its draws are not the target's coins: each chain of point masses leaves the law alone."""
    target = random_table(3, 1)
    law = decoded_law(target, DrawnText(DRAFTS["unrelated"]), 2, ONE, 3)
    assert distance(law, text_law(target, ONE, PROMPT, 3)) < EXACT


class Unmade(SharedDraft):
    """Draws from shared tokens, but hands over the draft's law before it was made one again."""

    def propose(self, committed_ids: Any, gamma: int, chance: Chance) -> Proposal:
        proposal = super().propose(committed_ids, gamma, chance)
        rows = proposal.draft_probs
        return chain(proposal.token_ids, None if rows is None else 0.6 * rows)


def test_the_checker_sees_a_law_that_is_none() -> None:
    target = random_table(3, 1)
    runner: Any = MarkovRunner(DRAFTS["unrelated"])
    wrong = Unmade(runner, bridge(), SHARED, ONE, 3, frozenset())
    law = decoded_law(target, wrong, 2, ONE, 3)
    assert distance(law, text_law(target, ONE, PROMPT, 3)) > 1e-3


@pytest.mark.parametrize("gamma", [1, 2, 3, 5])
def test_greedy_text_is_the_target_s(gamma: int) -> None:
    for seed in range(6):
        target = random_table(3, seed)
        plain = run_to_end(
            make_decoder(MarkovRunner(target), NoDraft(), gamma=0, max_new_tokens=20), PROMPT
        )
        for proposer in (by_text(random_table(3, 7)), by_shared(random_table(3, 7), GREEDY)):
            decoder = make_decoder(MarkovRunner(target), proposer, gamma=gamma, max_new_tokens=20)
            assert run_to_end(decoder, PROMPT) == plain


def test_the_same_text_is_drafted_in_the_target_s_tokens() -> None:
    """The draft writes "ba" over and over behind "a", which the target reads as "ab", "ab", …"""
    always = torch.full((3, 3, 3), -9.0, dtype=torch.float64)
    always[..., 0] = 9.0
    proposal = by_text(always).propose((0,), 3, SeededChance(0))
    assert proposal.token_ids == (1, 2, 2)
    assert proposal.draft_probs is proposal.shown_logits is None


def test_a_draft_of_shared_tokens_hands_over_the_law_it_was_drawn_from() -> None:
    table = random_table(3, 7)
    proposal = by_shared(table, ONE).propose((0, 1), 1, SeededChance(0))
    believed = table[2, 1].softmax(-1)
    kept = torch.tensor([float(believed[2]), float(believed[1]), 0.0], dtype=torch.float64)
    assert proposal.draft_probs is not None
    assert torch.allclose(proposal.draft_probs[0], kept / kept.sum(), atol=1e-12)
