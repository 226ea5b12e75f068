"""The law of whole decodes, over every random choice, equals the target's own law."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
import torch
from fakes import (
    Law,
    MarkovRunner,
    MarkovTree,
    distance,
    enumerate_law,
    make_decoder,
    one_hot_table,
    random_table,
    run_to_end,
    text_law,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from specviz.decoding.draft_lengths import CostAware, DraftLengths, Heuristic
from specviz.decoding.proposal import Proposal, Proposer
from specviz.decoding.proposers.draft_model import DraftModel
from specviz.decoding.proposers.no_draft import NoDraft
from specviz.decoding.proposers.prompt_lookup import PromptLookup
from specviz.decoding.sampling import Chance, SeededChance, to_probs
from specviz.decoding.verify import verify
from specviz.trace.values import Sampling

EXACT = 1e-12
PROMPT = (1, 0)


def decoded_law(
    target: torch.Tensor,
    proposer: Proposer,
    gamma: int,
    sampling: Sampling,
    num_tokens: int,
    lengths: DraftLengths | None = None,
) -> Law:
    """Law of the first `num_tokens` tokens of the real decoder."""
    runner = MarkovRunner(target)

    def run(chance: Chance) -> tuple[int, ...]:
        decoder = make_decoder(
            runner,
            proposer,
            gamma=gamma,
            sampling=sampling,
            max_new_tokens=num_tokens,
            chance=chance,
            lengths=lengths,
        )
        return run_to_end(decoder, PROMPT)

    return enumerate_law(run)


def draft_model(table: torch.Tensor, sampling: Sampling, vocab_size: int) -> DraftModel:
    return DraftModel(MarkovRunner(table), sampling, vocab_size, frozenset())  # type: ignore[arg-type]


@pytest.mark.parametrize("lengths", [Heuristic(3), CostAware(3)], ids=["heuristic", "auto"])
def test_lengths_that_follow_the_rounds_leave_the_law_alone(lengths: DraftLengths) -> None:
    target, sampling = random_table(2, 1), Sampling(temperature=1.0)
    proposer = draft_model(random_table(2, 7), sampling, 2)
    law = decoded_law(target, proposer, 3, sampling, 6, lengths)
    assert distance(law, text_law(target, sampling, PROMPT, 6)) < EXACT


@pytest.mark.parametrize("least", [0.3, 0.55])
def test_a_draft_that_ends_where_it_is_unsure_leaves_the_law_alone(least: float) -> None:
    target, sampling = random_table(3, 1), Sampling(temperature=1.0)
    runner: Any = MarkovRunner(random_table(3, 2))
    proposer = DraftModel(runner, sampling, 3, frozenset(), least)
    law = decoded_law(target, proposer, 2, sampling, 4)
    assert distance(law, text_law(target, sampling, PROMPT, 4)) < EXACT


def test_a_draft_ends_behind_its_first_unsure_token() -> None:
    table = random_table(3, 2)
    runner: Any = MarkovRunner(table)
    for least in (0.2, 0.4, 0.6):
        for sampling in (Sampling(), Sampling(temperature=1.0)):
            whole = DraftModel(runner, sampling, 3, frozenset()).propose(PROMPT, 6, SeededChance(3))
            cut = DraftModel(runner, sampling, 3, frozenset(), least).propose(
                PROMPT, 6, SeededChance(3)
            )
            ids = [*PROMPT, *whole.token_ids]
            sure = [
                float(runner.forward(ids[:at], 1)[0].softmax(-1)[ids[at]]) >= least
                for at in range(len(PROMPT), len(ids))
            ]
            num_kept = sure.index(False) + 1 if False in sure else len(sure)
            assert cut.token_ids == whole.token_ids[:num_kept]


SAMPLINGS = [
    Sampling(temperature=1.0),
    Sampling(temperature=0.7, top_k=2),
    Sampling(temperature=1.5, top_p=0.8),
]
DRAFTS = {
    "unrelated": random_table(2, 7),
    "same": random_table(2, 1),
    "half zero": random_table(2, 8, num_zeros=1),
    "one-hot": one_hot_table(2, 9),
}


@pytest.mark.parametrize("gamma", [1, 2, 3])
@pytest.mark.parametrize("draft", DRAFTS)
def test_a_chain_of_drafts_leaves_the_law_alone(draft: str, gamma: int) -> None:
    target, sampling = random_table(2, 1), Sampling(temperature=1.0)
    proposer = draft_model(DRAFTS[draft], sampling, 2)
    num_tokens = min(gamma + 2, 4) if gamma < 3 else 5
    law = decoded_law(target, proposer, gamma, sampling, num_tokens)
    assert distance(law, text_law(target, sampling, PROMPT, num_tokens)) < EXACT


@pytest.mark.parametrize("sampling", SAMPLINGS, ids=str)
def test_every_sampling_setting_applies_to_both_laws_alike(sampling: Sampling) -> None:
    target, draft = random_table(3, 1), random_table(3, 2)
    law = decoded_law(target, draft_model(draft, sampling, 3), 1, sampling, 3)
    assert distance(law, text_law(target, sampling, PROMPT, 3)) < EXACT


@pytest.mark.slow
@pytest.mark.parametrize("sampling", SAMPLINGS, ids=str)
def test_vocabulary_of_three_two_drafts_four_tokens(sampling: Sampling) -> None:
    target, draft = random_table(3, 1), random_table(3, 2)
    law = decoded_law(target, draft_model(draft, sampling, 3), 2, sampling, 4)
    assert distance(law, text_law(target, sampling, PROMPT, 4)) < EXACT


@pytest.mark.parametrize(
    "target", [one_hot_table(3, 4), random_table(3, 5, num_zeros=2)], ids=["one-hot", "zeros"]
)
def test_targets_with_impossible_tokens(target: torch.Tensor) -> None:
    sampling = Sampling(temperature=1.0)
    law = decoded_law(target, draft_model(random_table(3, 2), sampling, 3), 2, sampling, 4)
    expected = text_law(target, sampling, PROMPT, 4)
    assert law.keys() == expected.keys()
    assert distance(law, expected) < EXACT


@pytest.mark.parametrize("num_rows", [2, 4])
def test_a_draft_of_another_vocabulary_size(num_rows: int) -> None:
    target, sampling = random_table(3, 1), Sampling(temperature=1.0)
    law = decoded_law(target, draft_model(random_table(num_rows, 2), sampling, 3), 1, sampling, 3)
    assert distance(law, text_law(target, sampling, PROMPT, 3)) < EXACT


@pytest.mark.parametrize("sampling", SAMPLINGS, ids=str)
def test_prompt_lookup_proposes_point_masses(sampling: Sampling) -> None:
    target = random_table(2, 3)
    law = decoded_law(target, PromptLookup(2, frozenset()), 2, sampling, 6)
    assert distance(law, text_law(target, sampling, PROMPT, 6)) < EXACT


def test_the_baseline_draws_from_the_target() -> None:
    target, sampling = random_table(3, 3), Sampling(temperature=0.7, top_p=0.9)
    law = decoded_law(target, NoDraft(), 0, sampling, 4)
    assert distance(law, text_law(target, sampling, PROMPT, 4)) < EXACT


@pytest.mark.parametrize("is_sampled", [True, False], ids=["sampled", "point masses"])
@pytest.mark.parametrize(
    ("widths", "num_tokens"), [((2,), 3), ((3,), 2), ((2, 2), 3), ((2, 1), 4)], ids=str
)
def test_trees_leave_the_law_alone(
    widths: Sequence[int], num_tokens: int, is_sampled: bool
) -> None:
    vocab_size = 3 if len(widths) == 1 else 2
    sampling = Sampling(temperature=1.0)
    target, draft = random_table(vocab_size, 1), random_table(vocab_size, 2)
    proposer = MarkovTree(draft, sampling, widths, is_sampled=is_sampled)
    law = decoded_law(target, proposer, len(widths), sampling, num_tokens)
    assert distance(law, text_law(target, sampling, PROMPT, num_tokens)) < EXACT


@pytest.mark.slow
def test_a_sampled_tree_of_a_larger_vocabulary() -> None:
    sampling = Sampling(temperature=1.0)
    target, draft = random_table(4, 1), random_table(4, 2, num_zeros=1)
    proposer = MarkovTree(draft, sampling, (3, 1), is_sampled=True)
    law = decoded_law(target, proposer, 2, sampling, 2)
    assert distance(law, text_law(target, sampling, PROMPT, 2)) < EXACT


def first_token_law(target_row: torch.Tensor, proposal_of: object) -> Law:
    """Law of the first token that one verification emits."""

    def run(chance: Chance) -> int:
        proposal: Proposal = proposal_of(chance)  # type: ignore[operator]
        target_probs = target_row.expand(len(proposal) + 1, -1)
        verification = verify(proposal, target_probs, chance)
        if verification.path:
            return proposal.token_ids[verification.path[0]]
        return verification.next_token

    return enumerate_law(run)


weights = st.lists(st.integers(0, 20), min_size=2, max_size=5)


@settings(max_examples=150, deadline=None)
@given(weights, weights, st.booleans())
def test_any_two_laws_with_integer_weights(
    target: list[int], draft: list[int], is_deterministic: bool
) -> None:
    size = min(len(target), len(draft))
    target, draft = target[:size], draft[:size]
    if sum(target) == 0 or sum(draft) == 0:
        return
    p = torch.tensor([float(Fraction(w, sum(target))) for w in target], dtype=torch.float64)
    q = torch.tensor([float(Fraction(w, sum(draft))) for w in draft], dtype=torch.float64)

    def propose(chance: Chance) -> Proposal:
        token = chance.choose(q)
        return Proposal((token,), (-1,), None if is_deterministic else q[None])

    law = first_token_law(p, propose)
    assert all(abs(law.get(token, 0.0) - float(p[token])) < EXACT for token in range(size))


@settings(max_examples=60, deadline=None)
@given(weights, weights, st.integers(2, 4))
def test_siblings_without_replacement_for_any_two_laws(
    target: list[int], draft: list[int], width: int
) -> None:
    size = min(len(target), len(draft), 4)
    target, draft = target[:size], draft[:size]
    if sum(target) == 0 or sum(draft) == 0:
        return
    p = torch.tensor(target, dtype=torch.float64) / sum(target)
    q = torch.tensor(draft, dtype=torch.float64) / sum(draft)

    def propose(chance: Chance) -> Proposal:
        left, tokens = q.clone(), []
        for _ in range(min(width, int((q > 0).sum()))):
            tokens.append(chance.choose(left))
            left[tokens[-1]] = 0.0
        return Proposal(tuple(tokens), (-1,) * len(tokens), q.expand(len(tokens), -1))

    law = first_token_law(p, propose)
    assert all(abs(law.get(token, 0.0) - float(p[token])) < EXACT for token in range(size))


def test_the_formula_in_fractions() -> None:
    """Σ q(x)·min(1, p(x)/q(x)) and the residual add up to p: the theorem the walk stands on,
    computed beside it without floats."""
    for p_weights, q_weights in product(
        [(1, 2, 3), (0, 1, 5), (1, 0, 0), (2, 2, 2)], [(3, 2, 1), (5, 0, 1), (0, 0, 4), (2, 2, 2)]
    ):
        p = [Fraction(w, sum(p_weights)) for w in p_weights]
        q = [Fraction(w, sum(q_weights)) for w in q_weights]
        kept = [min(a, b) for a, b in zip(p, q, strict=True)]
        left = [max(a - b, Fraction(0)) for a, b in zip(p, q, strict=True)]
        rejected = 1 - sum(kept)
        total = sum(left)
        exact = [
            k + (rejected * r / total if total else 0) for k, r in zip(kept, left, strict=True)
        ]
        assert exact == p
        target, draft = (torch.tensor([float(x) for x in law]).double() for law in (p, q))
        law = first_token_law(
            torch.tensor([float(x) for x in p], dtype=torch.float64),
            lambda chance, q=draft: Proposal((chance.choose(q),), (-1,), q[None]),
        )
        assert len(target) == 3
        assert all(abs(law.get(x, 0.0) - float(p[x])) < 1e-7 for x in range(3))


def test_the_checker_sees_a_biased_decoder() -> None:
    """Tables that differ by a little give laws that differ: the comparison is not empty."""
    sampling = Sampling(temperature=1.0)
    target = random_table(2, 1)
    law = decoded_law(target + torch.tensor([1e-6, 0.0]), NoDraft(), 0, sampling, 3)
    assert distance(law, text_law(target, sampling, PROMPT, 3)) > 1e-9
    assert to_probs(target[0], sampling).sum() == pytest.approx(2.0)
