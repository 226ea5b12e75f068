"""Trees of drafts: their shapes, what is read of them, and that every one leaves the law alone."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
import torch
from fakes import (
    GREEDY,
    MarkovRunner,
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

from specviz.decoding.flipped_coins import FlippedCoins
from specviz.decoding.proposal import ROOT, Proposal, depths
from specviz.decoding.proposers.draft_model import DraftModel
from specviz.decoding.sampling import Chance, SeededChance, to_probs
from specviz.decoding.trees import FIRST_RANK, TreeSize, static_shape
from specviz.trace.values import Sampling, Tree

EXACT, VISIBLE = 1e-12, 1e-4
PROMPT = (1, 0)
NO_EOS: frozenset[int] = frozenset()
KINDS = [Tree.STATIC, Tree.DYNAMIC]
SAMPLED = Sampling(temperature=1.0)


def planted(
    table: torch.Tensor,
    sampling: Sampling,
    size: TreeSize,
    vocab_size: int | None = None,
    eos_ids: frozenset[int] = NO_EOS,
) -> DraftModel:
    runner: Any = MarkovRunner(table)
    return DraftModel(runner, sampling, vocab_size or len(table), eos_ids, tree=size)


def proposed(size: TreeSize, gamma: int, sampling: Sampling = GREEDY, vocab_size: int = 6) -> Any:
    draft = planted(random_table(vocab_size, 2), sampling, size)
    return draft.propose(PROMPT, gamma, SeededChance(3))


def law_of(
    target: torch.Tensor, draft: DraftModel, gamma: int, sampling: Sampling, num_tokens: int
) -> Any:
    runner = MarkovRunner(target)

    def run(chance: Chance) -> tuple[int, ...]:
        decoder = make_decoder(
            runner,
            draft,
            gamma=gamma,
            sampling=sampling,
            max_new_tokens=num_tokens,
            chance=chance,
        )
        return run_to_end(decoder, PROMPT)

    return enumerate_law(run)


# Shapes.


def log_chance(ranks: Sequence[int]) -> float:
    """Counted by hand: a·(1 - a)^r for each rank."""
    chance = 1.0
    for rank in ranks:
        chance *= FIRST_RANK * (1 - FIRST_RANK) ** rank
    return chance


def all_ranks(depth: int, branches: int) -> list[tuple[int, ...]]:
    return [
        ranks for length in range(1, depth + 1) for ranks in product(range(branches), repeat=length)
    ]


@pytest.mark.parametrize(("depth", "branches", "budget"), [(3, 3, 7), (5, 2, 24), (4, 4, 12)])
def test_a_static_shape_has_the_nodes_of_the_largest_chances(
    depth: int, branches: int, budget: int
) -> None:
    shape = static_shape(depth, branches, budget)
    found: list[tuple[int, ...]] = []
    for node, parent in enumerate(shape.parents):
        rank = sum(other == parent for other in shape.parents[:node])
        found.append((*(found[parent] if parent >= 0 else ()), rank))
    chances = sorted((log_chance(ranks) for ranks in all_ranks(depth, branches)), reverse=True)
    assert sorted(map(log_chance, found), reverse=True) == pytest.approx(chances[: len(found)])
    assert len(found) == min(budget, len(chances))
    assert shape.depths == tuple(depths(shape.parents)) == tuple(sorted(shape.depths))


def test_a_shape_by_hand() -> None:
    assert static_shape(2, 2, 4).parents == (-1, -1, 0, 0)
    assert static_shape(2, 2, 99).parents == (-1, -1, 0, 0, 1, 1)
    assert static_shape(5, 4, 1).parents == (-1,)
    assert static_shape(3, 1, 99).parents == (-1, 0, 1)
    assert TreeSize(Tree.STATIC, 2, 6).level_widths(2) == (2,)
    assert TreeSize(Tree.STATIC, 2, 4).level_widths(2) == (1,)
    assert TreeSize(Tree.DYNAMIC, 3, 6).level_widths(4) == (3, 3, 3)
    assert TreeSize(Tree.DYNAMIC, 3, 6).num_read(4) == 9


# What is proposed.


@pytest.mark.parametrize("gamma", [1, 2, 4])
@pytest.mark.parametrize("sampling", [GREEDY, SAMPLED], ids=["greedy", "sampled"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("branches", "budget"), [(2, 5), (3, 24), (4, 3), (6, 64)])
def test_a_tree_keeps_to_its_size(
    kind: Tree, branches: int, budget: int, gamma: int, sampling: Sampling
) -> None:
    proposal = proposed(TreeSize(kind, branches, budget), gamma, sampling)
    levels = depths(proposal.parents)
    assert 1 <= len(proposal) <= budget
    assert max(levels) < gamma
    siblings: Counter[int] = Counter(proposal.parents)
    assert max(siblings.values()) <= branches
    pairs = list(zip(proposal.parents, proposal.token_ids, strict=True))
    assert len(set(pairs)) == len(pairs), "a place holds a token once"
    # The coins of a round are counted in the order of the nodes.
    assert levels == sorted(levels)
    is_drawn = kind is Tree.STATIC and sampling.temperature > 0
    assert (proposal.draft_probs is not None) == is_drawn
    assert (proposal.shown_logits is None) == is_drawn


def node_rows(proposal: Proposal, table: torch.Tensor) -> torch.Tensor:
    """The draft's logits at each node's parent, read apart from any tree."""
    runner, branches = MarkovRunner(table), [list(PROMPT)]
    for token, parent in zip(proposal.token_ids, proposal.parents, strict=True):
        branches.append([*branches[parent + 1], token])
    return torch.stack([runner.logits_after(branches[parent + 1]) for parent in proposal.parents])


@pytest.mark.parametrize("sampling", [GREEDY, replace(SAMPLED, top_k=3)], ids=["greedy", "sampled"])
@pytest.mark.parametrize("kind", KINDS)
def test_each_node_hands_over_what_it_was_chosen_from(kind: Tree, sampling: Sampling) -> None:
    proposal = proposed(TreeSize(kind, 3, 20), 4, sampling)
    rows = node_rows(proposal, random_table(6, 2))
    if proposal.draft_probs is None:
        assert torch.equal(proposal.shown_logits, rows)
    else:
        assert torch.equal(proposal.draft_probs, to_probs(rows, sampling))


def best_of_all(gamma: int, branches: int, budget: int, table: torch.Tensor) -> set[Any]:
    """EAGLE-2's tree by its definition, with every candidate and no short cut."""
    runner = MarkovRunner(table)
    candidates: list[tuple[float, tuple[int, ...]]] = []
    level: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    for _ in range(gamma):
        below = []
        for score, branch in level:
            logs = runner.logits_after([*PROMPT, *branch]).log_softmax(-1)
            values, tokens = logs.topk(branches)
            below += [
                (score + value, (*branch, token))
                for value, token in zip(values.tolist(), tokens.tolist(), strict=True)
            ]
        candidates += below
        level = sorted(below, reverse=True)[:branches]
    return {branch for _, branch in sorted(candidates, reverse=True)[:budget]}


@pytest.mark.parametrize(("branches", "budget"), [(2, 5), (3, 24), (4, 3), (5, 12)])
@pytest.mark.parametrize("seed", range(4))
def test_a_dynamic_tree_is_eagle_2s(seed: int, branches: int, budget: int) -> None:
    table = random_table(6, seed)
    size = TreeSize(Tree.DYNAMIC, branches, budget)
    proposal = planted(table, GREEDY, size).propose(PROMPT, 4, SeededChance(0))
    paths: list[tuple[int, ...]] = []
    for token, parent in zip(proposal.token_ids, proposal.parents, strict=True):
        paths.append((*(paths[parent] if parent >= 0 else ()), token))
    assert set(paths) == best_of_all(4, branches, budget, table)


@pytest.mark.parametrize("sampling", [GREEDY, SAMPLED], ids=["greedy", "sampled"])
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_stands_below_an_end_token(kind: Tree, sampling: Sampling) -> None:
    ends = frozenset({0, 3})
    draft = planted(random_table(6, 2), sampling, TreeSize(kind, 4, 40), eos_ids=ends)
    proposal = draft.propose(PROMPT, 4, SeededChance(1))
    parents = {proposal.token_ids[parent] for parent in proposal.parents if parent != ROOT}
    assert parents
    assert not parents & ends
    assert ends & set(proposal.token_ids)


@pytest.mark.parametrize("kind", KINDS)
def test_what_the_draft_holds_impossible_is_not_proposed(kind: Tree) -> None:
    sampling = replace(SAMPLED, top_k=2)
    proposal = proposed(TreeSize(kind, 4, 40), 3, sampling)
    assert max(Counter(proposal.parents).values()) == 2
    certain = planted(one_hot_table(6, 1), SAMPLED, TreeSize(kind, 4, 40))
    assert certain.propose(PROMPT, 3, SeededChance(1)).is_chain


@pytest.mark.parametrize("kind", KINDS)
def test_no_tree_reads_more_than_is_said(kind: Tree) -> None:
    """What a recorded step tells apart was decided beforehand."""
    size = TreeSize(kind, 3, 10)
    draft = planted(random_table(6, 2), GREEDY, size)
    runner: Any = draft.runner
    for gamma in range(1, 6):
        draft.propose(PROMPT, gamma, SeededChance(0))
        assert len(runner._grown) - 1 <= size.num_read(gamma) <= size.num_read(5)


def test_a_coin_of_a_tree_can_fall_the_other_way() -> None:
    """Coins are counted in the order of the nodes, round after round."""

    def rounds(which: int | None) -> list[Any]:
        chance: Chance = SeededChance(7)
        decoder = make_decoder(
            MarkovRunner(random_table(6, 1)),
            planted(random_table(6, 2), SAMPLED, TreeSize(Tree.STATIC, 3, 9)),
            gamma=3,
            sampling=SAMPLED,
            max_new_tokens=30,
            chance=chance if which is None else FlippedCoins(chance, [which]),
        )
        decoder.prefill(PROMPT)
        found = []
        while decoder.stop_reason is None:
            found.append(decoder.step())
        return found

    def coins(found: list[Any]) -> list[Any]:
        return [token for each in found for token in each.drafted if token.draw is not None]

    plain = coins(rounds(None))
    which = next(
        number
        for number, token in enumerate(plain)
        if number > 4 and token.parent >= 0 and 0 < token.accept_prob < 1
    )
    flipped = coins(rounds(which))
    assert flipped[:which] == plain[:which]
    assert flipped[which].id == plain[which].id
    assert flipped[which].outcome != plain[which].outcome


# The law.

DRAFTS = {
    "unrelated": random_table(2, 7),
    "same": random_table(2, 1),
    "half zero": random_table(2, 8, num_zeros=1),
}


@pytest.mark.parametrize("gamma", [1, 2, 3])
@pytest.mark.parametrize("draft", DRAFTS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_grown_tree_leaves_the_law_alone(kind: Tree, draft: str, gamma: int) -> None:
    target, size = random_table(2, 1), TreeSize(kind, 2, 4)
    num_tokens = min(gamma + 2, 4)
    law = law_of(target, planted(DRAFTS[draft], SAMPLED, size), gamma, SAMPLED, num_tokens)
    assert distance(law, text_law(target, SAMPLED, PROMPT, num_tokens)) < EXACT


@pytest.mark.parametrize(
    "sampling",
    [Sampling(temperature=0.7, top_k=2), Sampling(temperature=1.5, top_p=0.8), SAMPLED],
    ids=str,
)
@pytest.mark.parametrize("kind", KINDS)
def test_every_sampling_setting_with_trees(kind: Tree, sampling: Sampling) -> None:
    target, draft = random_table(3, 1), random_table(3, 2)
    law = law_of(target, planted(draft, sampling, TreeSize(kind, 3, 4)), 2, sampling, 3)
    assert distance(law, text_law(target, sampling, PROMPT, 3)) < EXACT


@pytest.mark.parametrize("num_rows", [2, 4])
@pytest.mark.parametrize("kind", KINDS)
def test_trees_of_a_draft_of_another_vocabulary_size(kind: Tree, num_rows: int) -> None:
    target, size = random_table(3, 1), TreeSize(kind, 2, 3)
    draft = planted(random_table(num_rows, 2), SAMPLED, size, vocab_size=3)
    law = law_of(target, draft, 2, SAMPLED, 3)
    assert distance(law, text_law(target, SAMPLED, PROMPT, 3)) < EXACT


class Softened:
    """The wrong scheme: point masses that are tested as if they had been drawn from their
    softmax."""

    def __init__(self, inner: DraftModel) -> None:
        self._inner = inner
        self.reset = inner.reset

    def propose(self, committed_ids: Sequence[int], gamma: int, chance: Chance) -> Proposal:
        proposal = self._inner.propose(committed_ids, gamma, chance)
        shown = proposal.shown_logits
        return (
            proposal if shown is None else replace(proposal, draft_probs=to_probs(shown, SAMPLED))
        )


@pytest.mark.parametrize(("branches", "budget"), [(2, 4), (2, 2), (1, 1)])
def test_dynamic_trees_tested_against_their_softmax_are_caught(branches: int, budget: int) -> None:
    """With one branch it is the greedy draft over q, with more the top-k children."""
    target, table = random_table(3, 1), random_table(3, 2)
    draft = planted(table, SAMPLED, TreeSize(Tree.DYNAMIC, branches, budget))
    expected = text_law(target, SAMPLED, PROMPT, 3)
    wrong: Any = Softened(draft)
    assert distance(law_of(target, wrong, 2, SAMPLED, 3), expected) > VISIBLE
    assert distance(law_of(target, draft, 2, SAMPLED, 3), expected) < EXACT


class Pretended(Softened):
    """Drawn siblings that are tested against a law that they were not drawn from."""

    def propose(self, committed_ids: Sequence[int], gamma: int, chance: Chance) -> Proposal:
        proposal = self._inner.propose(committed_ids, gamma, chance)
        law = proposal.draft_probs
        return proposal if law is None else replace(proposal, draft_probs=law.roll(1, dims=-1))


def test_drawn_siblings_tested_against_another_law_are_caught() -> None:
    target = random_table(3, 1)
    draft = planted(random_table(3, 2), SAMPLED, TreeSize(Tree.STATIC, 2, 4))
    wrong: Any = Pretended(draft)
    expected = text_law(target, SAMPLED, PROMPT, 3)
    assert distance(law_of(target, wrong, 2, SAMPLED, 3), expected) > VISIBLE


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 99), st.sampled_from(KINDS), st.integers(1, 3), st.integers(1, 6))
def test_any_tables_and_sizes(seed: int, kind: Tree, branches: int, budget: int) -> None:
    target, draft = random_table(2, seed), random_table(2, seed + 100)
    size = TreeSize(kind, branches, budget)
    law = law_of(target, planted(draft, SAMPLED, size), 2, SAMPLED, 3)
    assert distance(law, text_law(target, SAMPLED, PROMPT, 3)) < EXACT
