"""A model may have several end tokens: each ends the text, and each ends a draft."""

import pytest
import torch
from fakes import MarkovRunner, ScriptedProposer, make_decoder, run_to_end

from specviz.decoding.proposal import Proposer
from specviz.decoding.proposers.draft_model import DraftModel
from specviz.decoding.proposers.no_draft import NoDraft
from specviz.decoding.proposers.prompt_lookup import PromptLookup
from specviz.decoding.sampling import SeededChance
from specviz.trace.values import Sampling, StopReason

VOCAB = 12
PROMPT = (3,)
SEVERAL = [frozenset({5, 1}), frozenset({5, 11}), frozenset({5, 1, 11})]
"""All end a text that counts up from 3 at 5, which is the largest, the smallest, neither."""


def counting_runner() -> MarkovRunner:
    """The token after n is n + 1, for certain."""
    table = torch.full((VOCAB,) * 3, -torch.inf, dtype=torch.float64)
    for token in range(VOCAB):
        table[:, token, (token + 1) % VOCAB] = 0.0
    return MarkovRunner(table)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("eos_ids", SEVERAL, ids=sorted)
@pytest.mark.parametrize("is_drafted", [False, True])
def test_any_end_token_ends_the_text(
    is_drafted: bool, eos_ids: frozenset[int], temperature: float
) -> None:
    proposer: Proposer = ScriptedProposer(1, range(4, 12)) if is_drafted else NoDraft()
    decoder = make_decoder(
        counting_runner(),
        proposer,
        gamma=4,
        sampling=Sampling(temperature=temperature),
        eos_ids=eos_ids,
    )
    assert run_to_end(decoder, PROMPT) == (4, 5)
    assert decoder.stop_reason is StopReason.EOS


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("eos_ids", SEVERAL, ids=sorted)
def test_any_end_token_ends_the_draft_of_a_model(
    eos_ids: frozenset[int], temperature: float
) -> None:
    sampling = Sampling(temperature=temperature)
    draft = DraftModel(counting_runner(), sampling, VOCAB, eos_ids)  # type: ignore[arg-type]
    draft.reset(PROMPT)
    assert draft.propose(PROMPT, 4, SeededChance(0)).token_ids == (4, 5)


@pytest.mark.parametrize("eos_ids", SEVERAL, ids=sorted)
def test_any_end_token_ends_a_copied_draft(eos_ids: frozenset[int]) -> None:
    lookup, text = PromptLookup(2, eos_ids), (2, 3, 4, 5, 6, 2, 3)
    lookup.reset(text)
    assert lookup.propose(text, 4, SeededChance(0)).token_ids == (4, 5)


@pytest.mark.parametrize("max_new_tokens", [1, 2, 3])
def test_a_text_that_ends_at_its_longest_has_ended_by_itself(max_new_tokens: int) -> None:
    last = PROMPT[0] + max_new_tokens
    decoder = make_decoder(
        counting_runner(),
        ScriptedProposer(1, range(4, 12)),
        gamma=4,
        eos_ids=frozenset({last}),
        max_new_tokens=max_new_tokens,
    )
    assert len(run_to_end(decoder, PROMPT)) == max_new_tokens
    assert decoder.stop_reason is StopReason.EOS
