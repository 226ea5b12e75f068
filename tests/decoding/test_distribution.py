"""What comes out of seeded runs follows the law: chi-square with a stated false-alarm rate."""

from collections import Counter
from collections.abc import Callable, Hashable

import pytest
import torch
from fakes import (
    MarkovRunner,
    make_decoder,
    random_table,
    run_to_end,
    text_law,
)
from tiny_models import random_model
from transformers import LlamaConfig

from specviz.decoding import verify as verify_module
from specviz.decoding.model_runner import ModelRunner
from specviz.decoding.proposers.draft_model import DraftModel
from specviz.decoding.sampling import SeededChance, to_probs
from specviz.decoding.trees import TreeSize
from specviz.trace.values import Sampling, Tree

FALSE_ALARM = 1e-6
"""Probability that a correct program fails one of these tests; the seeds are fixed, so it either
always passes or never does."""
PROMPT = (1, 0)


Residual = Callable[[torch.Tensor, torch.Tensor | None, int], torch.Tensor]


def chi_square_p(counts: Counter[Hashable], law: dict[Hashable, float]) -> float:
    """Probability of counts at least this far from `law`; cells expected below 5 are pooled."""
    total = sum(counts.values())
    cells, pool = [], [0.0, 0.0]
    for key, prob in law.items():
        if total * prob >= 5:
            cells.append((counts[key], total * prob))
        else:
            pool = [pool[0] + counts[key], pool[1] + total * prob]
    if any(key not in law for key in counts):
        return 0.0
    if pool[1] > 0:
        cells.append((pool[0], max(pool[1], 1e-9)))
    if len(cells) < 2:
        return 1.0
    statistic = sum((seen - expected) ** 2 / expected for seen, expected in cells)
    half = torch.tensor([(len(cells) - 1) / 2, statistic / 2], dtype=torch.float64)
    return float(torch.special.gammaincc(half[0], half[1]))


def test_the_chi_square_itself() -> None:
    """Quantiles from a printed table: 95 % at 3.841 (1 degree) and 16.919 (9 degrees)."""
    even = {0: 0.5, 1: 0.5}
    shift = (3.841 * 1000) ** 0.5 / 2
    counts: Counter[Hashable] = Counter({0: 500 + shift, 1: 500 - shift})  # type: ignore[dict-item]
    assert chi_square_p(counts, even) == pytest.approx(0.05, abs=1e-4)
    nine = torch.special.gammaincc(torch.tensor(4.5), torch.tensor(16.919 / 2))
    assert float(nine) == pytest.approx(0.05, abs=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_choose_follows_the_law(seed: int) -> None:
    law = to_probs(random_table(5, seed, num_zeros=1)[0, :1], Sampling(temperature=1.0))[0]
    chance = SeededChance(seed)
    counts: Counter[Hashable] = Counter(chance.choose(law * 3.0) for _ in range(20_000))
    exact = {token: prob for token, prob in enumerate(law.tolist()) if prob > 0}
    assert chi_square_p(counts, exact) > FALSE_ALARM
    tilted = torch.softmax(law.log() / 0.8, dim=-1)
    wrong = {token: prob for token, prob in enumerate(tilted.tolist()) if prob > 0}
    assert chi_square_p(counts, wrong) < FALSE_ALARM


def test_flip_follows_its_probability() -> None:
    chance = SeededChance(5)
    counts: Counter[Hashable] = Counter(chance.flip(0.3).is_heads for _ in range(20_000))
    assert chi_square_p(counts, {True: 0.3, False: 0.7}) > FALSE_ALARM
    assert chi_square_p(counts, {True: 0.33, False: 0.67}) < FALSE_ALARM


def test_flips_and_choices_of_one_generator_are_independent() -> None:
    chance, half = SeededChance(6), torch.tensor([0.5, 0.5])
    counts: Counter[Hashable] = Counter(
        (chance.flip(0.5).is_heads, chance.choose(half)) for _ in range(10_000)
    )
    even = {(heads, token): 0.25 for heads in (True, False) for token in (0, 1)}
    assert chi_square_p(counts, even) > FALSE_ALARM


def decoded(
    num_runs: int, gamma: int, sampling: Sampling, tree: TreeSize | None = None
) -> Counter[Hashable]:
    """Outputs of the whole decoder over Markov tables of five tokens."""
    target, draft = random_table(5, 1), random_table(5, 2)
    chance = SeededChance(sampling.seed)
    chance.reset = lambda: None  # type: ignore[method-assign]  # one stream over all runs
    decoder = make_decoder(
        MarkovRunner(target),
        DraftModel(MarkovRunner(draft), sampling, 5, frozenset(), tree=tree),  # type: ignore[arg-type]
        gamma=gamma,
        sampling=sampling,
        max_new_tokens=gamma + 2,
        chance=chance,
    )
    return Counter(run_to_end(decoder, PROMPT) for _ in range(num_runs))


def expected_law(gamma: int, sampling: Sampling) -> dict[Hashable, float]:
    return text_law(random_table(5, 1), sampling, PROMPT, gamma + 2)


SAMPLINGS = [
    Sampling(temperature=0.7, seed=1),
    Sampling(temperature=1.0, top_k=3, seed=2),
    Sampling(temperature=1.5, top_p=0.8, seed=3),
]


@pytest.mark.parametrize("gamma", [1, 2])
@pytest.mark.parametrize("sampling", SAMPLINGS, ids=str)
def test_seeded_decodes_follow_the_target(sampling: Sampling, gamma: int) -> None:
    counts = decoded(1_000, gamma, sampling)
    assert chi_square_p(counts, expected_law(gamma, sampling)) > FALSE_ALARM


@pytest.mark.parametrize("kind", [Tree.STATIC, Tree.DYNAMIC])
def test_seeded_trees_follow_the_target(kind: Tree) -> None:
    sampling = Sampling(temperature=0.7, seed=6)
    counts = decoded(1_000, 2, sampling, TreeSize(kind, 2, 5))
    assert chi_square_p(counts, expected_law(2, sampling)) > FALSE_ALARM


@pytest.mark.parametrize("kind", [Tree.STATIC, Tree.DYNAMIC])
def test_trees_with_a_wrong_residual_fail_this_test(
    kind: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The negative control of trees."""
    wrong: Residual = lambda target_probs, draft_probs, token: target_probs  # noqa: E731
    monkeypatch.setattr(verify_module, "residual_probs", wrong)
    sampling = Sampling(temperature=0.7, seed=6)
    counts = decoded(1_000, 2, sampling, TreeSize(kind, 2, 5))
    assert chi_square_p(counts, expected_law(2, sampling)) < FALSE_ALARM


@pytest.mark.slow
@pytest.mark.parametrize("gamma", [1, 2])
def test_many_seeded_decodes_follow_the_target(gamma: int) -> None:
    sampling = Sampling(temperature=1.0, seed=4)
    counts = decoded(5_000, gamma, sampling)
    assert chi_square_p(counts, expected_law(gamma, sampling)) > FALSE_ALARM


def test_a_wrong_residual_fails_this_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control: resampling from the target instead of the residual."""
    wrong: Residual = lambda target_probs, draft_probs, token: target_probs  # noqa: E731
    monkeypatch.setattr(verify_module, "residual_probs", wrong)
    sampling = Sampling(temperature=1.0, seed=4)
    assert chi_square_p(decoded(1_000, 2, sampling), expected_law(2, sampling)) < FALSE_ALARM


@pytest.mark.slow
def test_a_real_model_with_a_real_cache_follows_its_own_law() -> None:
    """Two layers, five tokens, γ 2, four tokens: all 625 texts against the chain rule."""
    sampling = Sampling(temperature=1.0, seed=7)
    config = LlamaConfig(
        vocab_size=5,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=32,
        eos_token_id=None,
    )
    target, draft = random_model(config, 1), random_model(config, 2)
    runner = ModelRunner(target)
    chance = SeededChance(7)
    chance.reset = lambda: None  # type: ignore[method-assign]
    decoder = make_decoder(
        runner,
        DraftModel(ModelRunner(draft), sampling, 5, frozenset()),
        gamma=2,
        sampling=sampling,
        max_new_tokens=4,
        chance=chance,
    )
    counts: Counter[Hashable] = Counter(run_to_end(decoder, PROMPT) for _ in range(1_200))
    law: dict[Hashable, float] = {(): 1.0}
    fresh = ModelRunner(target)
    for _ in range(4):
        longer: dict[Hashable, float] = {}
        for text, weight in law.items():
            assert isinstance(text, tuple)
            row = to_probs(fresh.forward([*PROMPT, *text], 1), sampling)[0]
            for token, prob in enumerate(row.tolist()):
                longer[(*text, token)] = weight * prob
        law = longer
    assert chi_square_p(counts, law) > FALSE_ALARM
