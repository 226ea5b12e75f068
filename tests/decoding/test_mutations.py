"""The exact-law test has teeth: each well-known bug, put into the real code, is caught by it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from unittest.mock import patch

import pytest
import torch
from fakes import (
    Law,
    MarkovRunner,
    MarkovTree,
    distance,
    enumerate_law,
    make_decoder,
    random_table,
    run_to_end,
    text_law,
)

from specviz.decoding import decoder as decoder_module
from specviz.decoding import verify as verify_module
from specviz.decoding.proposal import Proposal, Proposer
from specviz.decoding.proposers.draft_model import DraftModel
from specviz.decoding.sampling import Chance, Flip, to_probs
from specviz.decoding.verify import Verification, verify
from specviz.trace.values import Sampling, Source

EXACT, VISIBLE = 1e-12, 1e-4
PROMPT = (1, 0)
GAMMA = 2
NUM_TOKENS = GAMMA + 2
SAMPLING = Sampling(temperature=1.0)
TARGET, DRAFT = random_table(2, 1), random_table(2, 2)
TARGET_3, DRAFT_3 = random_table(3, 1), random_table(3, 2)

Wrap = Callable[[Chance], Chance]


class BentChance:
    """Bends the probability of every coin."""

    def __init__(self, inner: Chance, bend: Callable[[float], float]) -> None:
        self._inner = inner
        self._bend = bend

    def reset(self) -> None:
        self._inner.reset()

    def flip(self, prob: float) -> Flip:
        return self._inner.flip(self._bend(prob))

    def choose(self, probs: torch.Tensor) -> int:
        return self._inner.choose(probs)


class ChangedProposals:
    """Passes on another proposer's proposals, changed."""

    def __init__(self, inner: Proposer, change: Callable[[Proposal], Proposal]) -> None:
        self._inner = inner
        self._change = change
        self.reset = inner.reset

    def propose(self, committed_ids: Sequence[int], gamma: int, chance: Chance) -> Proposal:
        return self._change(self._inner.propose(committed_ids, gamma, chance))


def law_of_decoder(
    proposer: Proposer,
    *,
    wrap: Wrap = lambda chance: chance,
    target: torch.Tensor = TARGET,
    num_tokens: int = NUM_TOKENS,
) -> Law:
    runner = MarkovRunner(target)

    def run(chance: Chance) -> tuple[int, ...]:
        decoder = make_decoder(
            runner,
            proposer,
            gamma=GAMMA,
            sampling=SAMPLING,
            max_new_tokens=num_tokens,
            chance=wrap(chance),
        )
        return run_to_end(decoder, PROMPT)

    return enumerate_law(run)


def chain_proposer(target: torch.Tensor = TARGET, draft: torch.Tensor = DRAFT) -> DraftModel:
    return DraftModel(MarkovRunner(draft), SAMPLING, len(target), frozenset())  # type: ignore[arg-type]


def replaced_residual(
    residual: Callable[[torch.Tensor, torch.Tensor | None, int], torch.Tensor],
) -> AbstractContextManager[object]:
    return patch.object(verify_module, "residual_probs", residual)


def resample_from_target(
    target_probs: torch.Tensor, draft_probs: torch.Tensor | None, token: int
) -> torch.Tensor:
    return target_probs


def zero_the_drafted_token(
    target_probs: torch.Tensor, draft_probs: torch.Tensor | None, token: int
) -> torch.Tensor:
    left = target_probs.clone()
    left[token] = 0.0
    return left / left.sum()


def absolute_residual(
    target_probs: torch.Tensor, draft_probs: torch.Tensor | None, token: int
) -> torch.Tensor:
    left = (target_probs - draft_probs).abs()
    return left / left.sum()


@contextmanager
def replaced_verify(
    walk: Callable[[Proposal, torch.Tensor, Chance], Verification],
) -> Iterator[None]:
    with patch.object(decoder_module, "verify", walk):
        yield


def rows_off_by_one(proposal: Proposal, target_probs: torch.Tensor, chance: Chance) -> Verification:
    return verify(proposal, target_probs.roll(1, dims=0), chance)


def bonus_from_draft(
    proposal: Proposal, target_probs: torch.Tensor, chance: Chance
) -> Verification:
    result = verify(proposal, target_probs, chance)
    if result.source is not Source.BONUS:
        return result
    assert proposal.draft_probs is not None
    return replace(result, next_token=chance.choose(proposal.draft_probs[-1]))


def argmax_bonus(proposal: Proposal, target_probs: torch.Tensor, chance: Chance) -> Verification:
    result = verify(proposal, target_probs, chance)
    if result.source is not Source.BONUS:
        return result
    return replace(result, next_token=int(target_probs[-1].argmax()))


def wrong_draft_temperature(proposal: Proposal) -> Proposal:
    if proposal.draft_probs is None:
        return proposal
    bent = proposal.draft_probs ** (1 / 0.9)
    return replace(proposal, draft_probs=bent / bent.sum(dim=-1, keepdim=True))


def first_draft_never_judged(
    proposal: Proposal, target_probs: torch.Tensor, chance: Chance
) -> Verification:
    """Row 0 says yes to the first draft whatever the target thinks (lattice issue 243)."""
    if len(proposal) and proposal.draft_probs is not None:
        target_probs = torch.cat([proposal.draft_probs[:1], target_probs[1:]])
    return verify(proposal, target_probs, chance)


def accept_only_when_target_is_larger(prob: float) -> float:
    return float(prob >= 1.0)


MUTANTS: dict[str, Callable[[ExitStack], Law]] = {
    "resample from the target": lambda stack: (
        stack.enter_context(replaced_residual(resample_from_target)),
        law_of_decoder(chain_proposer()),
    )[1],
    "residual is the target without the drafted token": lambda stack: (
        stack.enter_context(replaced_residual(zero_the_drafted_token)),
        law_of_decoder(chain_proposer(TARGET_3, DRAFT_3), target=TARGET_3, num_tokens=2),
    )[1],
    "residual of absolute differences": lambda stack: (
        stack.enter_context(replaced_residual(absolute_residual)),
        law_of_decoder(chain_proposer()),
    )[1],
    "accept only where p >= q": lambda stack: law_of_decoder(
        chain_proposer(),
        wrap=lambda chance: BentChance(chance, accept_only_when_target_is_larger),
    ),
    "acceptance square-rooted": lambda stack: law_of_decoder(
        chain_proposer(), wrap=lambda chance: BentChance(chance, lambda prob: prob**0.5)
    ),
    "rows off by one": lambda stack: (
        stack.enter_context(replaced_verify(rows_off_by_one)),
        law_of_decoder(chain_proposer()),
    )[1],
    "bonus from the draft": lambda stack: (
        stack.enter_context(replaced_verify(bonus_from_draft)),
        law_of_decoder(chain_proposer()),
    )[1],
    "bonus is the argmax": lambda stack: (
        stack.enter_context(replaced_verify(argmax_bonus)),
        law_of_decoder(chain_proposer()),
    )[1],
    "draft probabilities at the wrong temperature": lambda stack: law_of_decoder(
        ChangedProposals(chain_proposer(), wrong_draft_temperature)
    ),
    "first draft never judged": lambda stack: (
        stack.enter_context(replaced_verify(first_draft_never_judged)),
        law_of_decoder(chain_proposer()),
    )[1],
}


@pytest.mark.parametrize("bug", MUTANTS)
def test_the_bug_is_caught(bug: str) -> None:
    is_wide = "without the drafted" in bug
    target, num_tokens = (TARGET_3, 2) if is_wide else (TARGET, NUM_TOKENS)
    expected = text_law(target, SAMPLING, PROMPT, num_tokens)
    with ExitStack() as stack:
        broken = MUTANTS[bug](stack)
    assert distance(broken, expected) > VISIBLE


@pytest.mark.parametrize(
    ("target", "draft", "num_tokens"), [(TARGET, DRAFT, NUM_TOKENS), (TARGET_3, DRAFT_3, 2)]
)
def test_the_correct_code_passes(
    target: torch.Tensor, draft: torch.Tensor, num_tokens: int
) -> None:
    """The same tables and lengths as the mutants', and wrappers that bend nothing."""
    law = law_of_decoder(
        ChangedProposals(chain_proposer(target, draft), lambda proposal: proposal),
        wrap=lambda chance: BentChance(chance, lambda prob: prob),
        target=target,
        num_tokens=num_tokens,
    )
    assert distance(law, text_law(target, SAMPLING, PROMPT, num_tokens)) < EXACT


def test_a_bonus_bug_hides_from_a_test_of_the_first_token_alone() -> None:
    """Why the law spans γ + 2 tokens."""
    with replaced_verify(argmax_bonus):
        law = law_of_decoder(chain_proposer(), num_tokens=1)
    assert distance(law, text_law(TARGET, SAMPLING, PROMPT, 1)) < EXACT


def softmax_top_k(width: int) -> ChangedProposals:
    """The most probable tokens of the draft, tested as if they had been sampled from it."""
    tree = MarkovTree(DRAFT_3, SAMPLING, (width,), is_sampled=False)
    runner = MarkovRunner(DRAFT_3)

    class Softened(ChangedProposals):
        def propose(self, committed_ids: Sequence[int], gamma: int, chance: Chance) -> Proposal:
            proposal = tree.propose(committed_ids, gamma, chance)
            law = to_probs(runner.logits_after(list(committed_ids))[None], SAMPLING)
            return replace(proposal, draft_probs=law.expand(len(proposal), -1))

    return Softened(tree, lambda proposal: proposal)


@pytest.mark.parametrize("width", [2, 1], ids=["top-k children over q", "greedy draft over q"])
def test_a_deterministic_draft_tested_against_its_softmax_is_caught(width: int) -> None:
    expected = text_law(TARGET_3, SAMPLING, PROMPT, 2)
    law = law_of_decoder(softmax_top_k(width), target=TARGET_3, num_tokens=2)
    assert distance(law, expected) > VISIBLE
    honest = MarkovTree(DRAFT_3, SAMPLING, (width,), is_sampled=False)
    law = law_of_decoder(honest, target=TARGET_3, num_tokens=2)
    assert distance(law, expected) < EXACT


def test_siblings_judged_by_a_draft_law_that_was_not_renormalised_are_caught() -> None:
    """The residual needs two possible tokens for the second sibling's coin to matter, so four
    tokens in all."""
    target, draft = random_table(4, 5), random_table(4, 6)
    tree = MarkovTree(draft, SAMPLING, (2,), is_sampled=True)
    expected = text_law(target, SAMPLING, PROMPT, 2)
    assert distance(law_of_decoder(tree, target=target, num_tokens=2), expected) < EXACT
    with patch.object(verify_module, "_without", lambda probs, token: probs):
        law = law_of_decoder(tree, target=target, num_tokens=2)
    assert distance(law, expected) > VISIBLE
