"""EAGLE-3 lanes: the exact law, the greedy text, true keys and values in every round."""

import random
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from eagle_fixtures import Reference, make_head, write_speculators
from fakes import (
    MarkovRunner,
    distance,
    enumerate_law,
    make_decoder,
    random_table,
    run_to_end,
    text_law,
)
from static_fakes import FakeGraphs
from tiny_models import CONTEXT, VOCAB, byte_tokenizer, prompts, tiny_model
from transformers import PreTrainedModel

from specviz.decoding.eagle3_head import Eagle3Head
from specviz.decoding.eagle3_pass import Eagle3Pass
from specviz.decoding.lean_cache import LeanCache
from specviz.decoding.model_runner import ModelRunner
from specviz.decoding.proposal import Proposal
from specviz.decoding.proposers.eagle3 import Eagle3
from specviz.decoding.proposers.no_draft import NoDraft
from specviz.decoding.sampling import Chance, SeededChance
from specviz.decoding.static_runner import StaticRunner
from specviz.decoding.trees import TreeSize
from specviz.models.eagle_files import read_head_files
from specviz.models.eagle_form import PLAIN_ROPE, HeadForm
from specviz.models.eagle_head import LoadedHead
from specviz.models.loading import LoadedModel
from specviz.race.eagle_heads import build_head
from specviz.trace.values import Outcome, Sampling, Tree

EXACT = 1e-12
GREEDY = Sampling()
NO_EOS: frozenset[int] = frozenset()
PROMPTS = prompts(3)


class TappedMarkov(MarkovRunner):
    """A table whose states are a row of numbers for each pair of tokens."""

    def __init__(self, table: torch.Tensor) -> None:
        super().__init__(table)
        generator = torch.Generator().manual_seed(3)
        self._states = torch.randn((*table.shape[:2], 12), generator=generator).double()

    def tap(self, taps: Sequence[int]) -> None:
        assert len(taps) == 3

    def features(self, ids: Sequence[int], first: int) -> torch.Tensor:
        before = [0, *ids]
        return torch.stack([self._states[before[i], ids[i]] for i in range(first, len(ids))])


def small_head(vocab_size: int, draft_ids: Sequence[int]) -> Eagle3Pass:
    """A random head of width 4 beside a target that is an embedding alone."""
    form = HeadForm(4, 4, 1, 1, 4, 6, 1, vocab_size, len(draft_ids), (1, 2, 3), PLAIN_ROPE)
    with torch.random.fork_rng():
        torch.manual_seed(5)
        table = torch.nn.Embedding(vocab_size, 4).double()
        target: Any = SimpleNamespace(get_input_embeddings=lambda: table)
        head = Eagle3Head(form, target).double().requires_grad_(False)
        for weight in head.parameters():
            weight.normal_()
    head.draft_ids = torch.tensor(draft_ids)
    return Eagle3Pass(head)


STATIC, DYNAMIC = (TreeSize(kind, 2, 3) for kind in (Tree.STATIC, Tree.DYNAMIC))


@pytest.mark.parametrize(
    ("vocab_size", "draft_ids", "gamma", "num_tokens", "sampling", "least_confidence", "tree"),
    [
        (2, (0, 1), 1, 3, Sampling(temperature=1.0), 0.0, None),
        (2, (0, 1), 2, 4, Sampling(temperature=1.0), 0.0, None),
        (2, (0, 1), 2, 4, Sampling(temperature=1.0), 0.6, None),
        (3, (0, 2), 1, 3, Sampling(temperature=0.7, top_k=2), 0.0, None),
        (3, (1,), 2, 4, Sampling(temperature=1.5, top_p=0.8), 0.0, None),
        (3, (0, 2), 1, 3, Sampling(temperature=1.0), 0.0, STATIC),
        (2, (0, 1), 2, 4, Sampling(temperature=1.0), 0.0, STATIC),
        (3, (0, 1, 2), 3, 3, Sampling(temperature=1.5, top_p=0.8), 0.0, STATIC),
        (3, (0, 2), 1, 3, Sampling(temperature=1.0), 0.0, DYNAMIC),
        (3, (0, 1, 2), 2, 4, Sampling(temperature=0.7, top_k=2), 0.0, DYNAMIC),
        (3, (0, 2), 3, 4, Sampling(temperature=1.0), 0.0, DYNAMIC),
    ],
)
def test_a_head_leaves_the_law_alone(
    vocab_size: int,
    draft_ids: tuple[int, ...],
    gamma: int,
    num_tokens: int,
    sampling: Sampling,
    least_confidence: float,
    tree: TreeSize | None,
) -> None:
    table, prompt = random_table(vocab_size, 1), (1, 0)
    head, runner = small_head(vocab_size, draft_ids), TappedMarkov(table)

    def run(chance: Chance) -> tuple[int, ...]:
        proposer = Eagle3(head, runner, sampling, NO_EOS, 8, least_confidence, tree)
        return run_to_end(
            make_decoder(
                runner,
                proposer,
                gamma=gamma,
                sampling=sampling,
                max_new_tokens=num_tokens,
                chance=chance,
            ),
            prompt,
        )

    law = enumerate_law(run)
    assert distance(law, text_law(table, sampling, prompt, num_tokens)) < EXACT


def test_a_draft_outside_the_draft_vocabulary_has_no_probability() -> None:
    runner, sampling = TappedMarkov(random_table(5, 1)), Sampling(temperature=1.0)
    proposer = Eagle3(small_head(5, (1, 4)), runner, sampling, NO_EOS, 8)
    proposer.reset((1, 2, 3))
    proposal = proposer.propose((1, 2, 3), 3, SeededChance(1))
    assert proposal.draft_probs is not None
    assert set(proposal.token_ids) <= {1, 4}
    assert torch.equal(proposal.draft_probs[:, [0, 2, 3]], torch.zeros(3, 3).double())
    assert proposal.draft_probs.sum(dim=-1).tolist() == pytest.approx([1.0] * 3)


def read(model: PreTrainedModel, folder: Path, seed: int = 0) -> tuple[Eagle3Pass, Reference]:
    last = model.config.num_hidden_layers
    head = make_head(seed, taps=(1, 2, last))
    target = LoadedModel("target", model, byte_tokenizer(), frozenset())
    built = build_head(LoadedHead(read_head_files(str(write_speculators(head, folder)))), target)
    return Eagle3Pass(built), Reference(head, model)


class HalfRight(Eagle3Pass):
    """A head that knows the text, but for some of its places."""

    def know(self, text: Sequence[int]) -> None:
        self._text = text

    def read(self, states: torch.Tensor, ids: list[int], cache: LeanCache) -> torch.Tensor:
        found = super().read(states, ids, cache)
        self._next = len(cache) + 1
        return found

    def predict(self, states: torch.Tensor) -> torch.Tensor:
        logits = super().predict(states)
        if self._next < len(self._text) and self._next % 4:
            row = (self.head.draft_ids == self._text[self._next]).nonzero()
            logits[0, row] = 100.0
        return logits


def growing(model: PreTrainedModel) -> ModelRunner:
    return ModelRunner(model)


def static(model: PreTrainedModel) -> ModelRunner:
    runner = StaticRunner(model, CONTEXT, (1, 2, 5), FakeGraphs())
    runner.prepare()
    return runner


@pytest.mark.parametrize("make_runner", [growing, static])
@pytest.mark.parametrize("shape", ["llama", "qwen3", "mistral", "gemma2"])
def test_the_text_is_the_targets(shape: str, make_runner: Any, tmp_path: Path) -> None:
    model = tiny_model(shape)
    drafting, _ = read(model, tmp_path)
    knowing = HalfRight(drafting.head)
    runner = make_runner(model)
    fates: list[Outcome] = []
    for prompt in (*PROMPTS, [7], [7, 3]):
        plain = make_decoder(ModelRunner(model), NoDraft(), gamma=0, max_new_tokens=20)
        text = run_to_end(plain, prompt)
        knowing.know([*prompt, *text])
        for gamma in (1, 4):
            proposer = Eagle3(knowing, runner, GREEDY, NO_EOS, 32)
            decoder = make_decoder(runner, proposer, gamma=gamma, max_new_tokens=20)
            decoder.prefill(prompt)
            while decoder.stop_reason is None:
                fates += [token.outcome for token in decoder.step().drafted]
            assert decoder.output_ids == text
    assert 0 < fates.count(Outcome.ACCEPTED) < len(fates) - fates.count(Outcome.DISCARDED)


class KeepsGuesses(Eagle3):
    """The planted bug: what was guessed and accepted is never read from true states."""

    def propose(self, committed_ids: Sequence[int], gamma: int, chance: Chance) -> Proposal:
        self._num_true = max(self._num_true, min(len(self._cache), len(committed_ids) - 2))
        return super().propose(committed_ids, gamma, chance)


def worst_difference(kind: type[Eagle3], folder: Path) -> float:
    """Of the logits of drafts, over rounds of random fate, from those of the reference."""
    model = tiny_model("llama")
    drafting, reference = read(model, folder)
    runner, rng = ModelRunner(model), random.Random(2)
    proposer = kind(drafting, runner, GREEDY, NO_EOS, 64)
    ids, worst = [3, 1, 4, 1, 5], 0.0
    runner.forward(ids[:-1], 1)
    proposer.reset(ids)
    for _ in range(7):
        proposal = proposer.propose(ids, 3, SeededChance(0))
        assert proposal.shown_logits is not None
        own = proposal.shown_logits[:, drafting.head.draft_ids]
        expected = reference.drafts(ids, 3)[1]
        worst = max(worst, float((own - expected).abs().max()))
        runner.forward([*ids, *proposal.token_ids], 4)
        num_kept = rng.randint(0, 3)
        runner.keep(len(ids), range(num_kept))
        ids += [*proposal.token_ids[:num_kept], rng.randrange(VOCAB)]
        # The true slots alone count as read, and guesses stand behind them.
        assert proposer._num_true <= len(ids) - 2
    return worst


def test_every_round_drafts_from_true_states(tmp_path: Path) -> None:
    assert worst_difference(Eagle3, tmp_path) < 1e-5


def test_guesses_that_are_kept_are_caught(tmp_path: Path) -> None:
    assert worst_difference(KeepsGuesses, tmp_path) > 1e-3


def test_two_lanes_at_once_do_as_each_alone(tmp_path: Path) -> None:
    model = tiny_model("llama")
    drafting, _ = read(model, tmp_path)

    def lane(seed: int) -> Any:
        runner, sampling = ModelRunner(model), Sampling(temperature=1.0, seed=seed)
        proposer = Eagle3(drafting, runner, sampling, NO_EOS, 32)
        return make_decoder(runner, proposer, gamma=3, sampling=sampling, max_new_tokens=16)

    alone = [run_to_end(lane(seed), PROMPTS[seed]) for seed in (0, 1)]
    lanes = [lane(0), lane(1)]
    for seed, each in enumerate(lanes):
        each.prefill(PROMPTS[seed])
    while any(each.stop_reason is None for each in lanes):
        for each in lanes:
            if each.stop_reason is None:
                each.step()
    assert [each.output_ids for each in lanes] == alone


def test_an_end_token_ends_a_draft(tmp_path: Path) -> None:
    model = tiny_model("llama")
    drafting, _ = read(model, tmp_path)
    runner, ids = ModelRunner(model), [3, 1, 4, 1, 5]
    drafts = Eagle3(drafting, runner, GREEDY, NO_EOS, 8).propose(ids, 6, SeededChance(0)).token_ids
    last = next(token for token in drafts[1:] if token != drafts[0])
    proposer = Eagle3(drafting, runner, GREEDY, frozenset({last}), 8)
    cut = proposer.propose(ids, 6, SeededChance(0)).token_ids
    assert cut == drafts[: drafts.index(last) + 1]
    assert len(proposer.propose(ids[:1], 6, SeededChance(0))) == 0
    assert len(proposer.propose(ids, 0, SeededChance(0))) == 0


@pytest.mark.parametrize("sampling", [GREEDY, Sampling(temperature=1.0)])
def test_a_head_that_is_unsure_ends_its_draft(sampling: Sampling, tmp_path: Path) -> None:
    model, ids = tiny_model("llama"), [3, 1, 4, 1, 5]
    drafting, _ = read(model, tmp_path)
    runner = ModelRunner(model)

    def drafts(least_confidence: float) -> Proposal:
        proposer = Eagle3(drafting, runner, sampling, NO_EOS, 8, least_confidence)
        return proposer.propose(ids, 6, SeededChance(0))

    whole = drafts(0.0)
    if whole.draft_probs is not None:
        laws = whole.draft_probs
    else:
        assert whole.shown_logits is not None
        laws = whole.shown_logits.softmax(dim=-1)
    chances = laws[range(6), whole.token_ids].tolist()
    least = min(chances[:3]) * (1 + 1e-6)
    first = next(node for node, chance in enumerate(chances) if chance < least)
    assert drafts(least).token_ids == whole.token_ids[: first + 1]
    assert drafts(min(chances) / 2).token_ids == whole.token_ids
