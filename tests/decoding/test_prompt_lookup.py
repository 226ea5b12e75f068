"""Prompt lookup: what it costs, where it looks, and what it finds."""

import torch

from specviz.decoding.proposal import Proposal
from specviz.decoding.proposers.prompt_lookup import PromptLookup
from specviz.decoding.sampling import SeededChance


class WatchedText(list[int]):
    """Counts how often it is looked into."""

    num_looks = 0

    def __getitem__(self, index: object) -> object:  # type: ignore[override]
        self.num_looks += 1
        return super().__getitem__(index)  # type: ignore[index]


def test_the_prompt_is_indexed_before_the_first_round() -> None:
    """A long prompt must not be paid for by the round that first looks something up."""
    prompt = list(range(2000))
    lookup = PromptLookup(4, frozenset())
    lookup.reset(prompt)
    for num_emitted in range(3):
        text = WatchedText([*prompt, *range(5000, 5000 + num_emitted)])
        assert lookup.propose(text, 4, SeededChance(0)).token_ids == ()
        assert text.num_looks < 20


def drafted(text: list[int], max_ngram: int) -> tuple[int, ...]:
    lookup = PromptLookup(max_ngram, frozenset())
    lookup.reset(text)
    return lookup.propose(text, 1, SeededChance(0)).token_ids


def test_one_token_alone_is_no_match() -> None:
    """It would nearly always be found, and nearly always be followed by something else."""
    assert drafted([5, 1, 5], 4) == ()
    assert drafted([5, 1, 5], 1) == ()


def test_two_tokens_are_the_least_that_is_looked_for() -> None:
    assert drafted([5, 6, 1, 5, 6], 2) == drafted([5, 6, 1, 5, 6], 1) == (1,)


def test_a_text_that_was_read_before_is_forgotten() -> None:
    lookup = PromptLookup(3, frozenset())
    lookup.reset([5, 6, 1, 5, 6])
    lookup.reset([7, 8, 9, 5, 6])
    assert lookup.propose([7, 8, 9, 5, 6], 4, SeededChance(0)).token_ids == ()
    lookup.reset([7, 8])
    assert lookup.propose([7, 8, 3, 7, 8], 1, SeededChance(0)).token_ids == (3,)


def test_a_prompt_that_is_read_again_is_looked_up_again() -> None:
    lookup, prompt = PromptLookup(3, frozenset()), [5, 6, 1, 2, 5, 6]
    for _ in range(2):
        lookup.reset(prompt)
        assert lookup.propose(prompt, 2, SeededChance(0)).token_ids == (1, 2)
        assert lookup.propose([*prompt, 1, 2, 5, 6, 4], 2, SeededChance(0)).token_ids == ()


def test_it_finds_the_longest_and_most_recent_match() -> None:
    def lookup(ids: list[int], gamma: int, max_ngram: int = 3) -> Proposal:
        proposer = PromptLookup(max_ngram, frozenset({9}))
        proposer.reset(ids[:1])
        return proposer.propose(ids, gamma, SeededChance(0))

    assert lookup([1, 2, 3, 4, 5, 1, 2, 3], 2).token_ids == (4, 5)
    assert lookup([1, 2, 3, 4, 8, 2, 3, 5, 1, 2, 3], 1).token_ids == (4,), "longest wins"
    assert lookup([2, 3, 4, 8, 2, 3, 5, 1, 2, 3], 1).token_ids == (5,), "then the most recent"
    assert lookup([6, 7, 6, 7], 5).token_ids == (6, 7, 6, 7, 6), "copies what it drafts"
    assert lookup([1, 2, 9, 4, 1, 2], 4).token_ids == (9,), "an end token ends the draft"
    assert lookup([1, 2, 3, 4], 4).token_ids == ()
    assert lookup([5], 4).token_ids == ()
    assert lookup([1, 2, 4, 1, 2], 0).token_ids == ()
    assert lookup([1, 2, 3, 4, 7, 2, 3], 1, max_ngram=2).token_ids == (4,)


def test_it_equals_a_search_written_plainly() -> None:
    def plainly(ids: list[int], gamma: int, max_ngram: int) -> list[int]:
        for size in range(max_ngram, 1, -1):
            for start in range(len(ids) - size - 1, -1, -1):
                if len(ids) >= size and ids[start : start + size] == ids[-size:]:
                    text = list(ids)
                    for place in range(start + size, start + size + gamma):
                        text.append(text[place])
                    return text[len(ids) :]
        return []

    generator = torch.Generator().manual_seed(3)
    text = torch.randint(3, (120,), generator=generator).tolist()
    proposer = PromptLookup(4, frozenset())
    proposer.reset(text[:5])
    for end in range(5, len(text), 3):
        found = proposer.propose(text[:end], 6, SeededChance(0))
        assert list(found.token_ids) == plainly(text[:end], 6, 4)
