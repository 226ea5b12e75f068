"""Trees grown with real models: what is read level by level is what a fresh pass gives, texts stay
the target's, and a tree keeps more than the chain of its depth."""

import random
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from eagle_fixtures import make_head, write_speculators
from fakes import GREEDY, make_decoder, run_to_end
from static_fakes import FakeGraphs
from tiny_models import CONTEXT, VOCAB, byte_tokenizer, prompts, tiny_model
from transformers import PreTrainedModel

from specviz.decoding.eagle3_pass import Eagle3Pass
from specviz.decoding.lean_forward import LeanForward
from specviz.decoding.model_runner import ModelRunner
from specviz.decoding.proposal import ROOT, Proposal
from specviz.decoding.proposers.draft_model import DraftModel
from specviz.decoding.proposers.eagle3 import Eagle3
from specviz.decoding.proposers.no_draft import NoDraft
from specviz.decoding.sampling import SeededChance
from specviz.decoding.static_runner import StaticRunner
from specviz.decoding.trees import TreeSize
from specviz.errors import IncompatibleModelError
from specviz.models.eagle_files import read_head_files
from specviz.models.eagle_head import LoadedHead
from specviz.models.loading import LoadedModel
from specviz.race.eagle_heads import build_head
from specviz.trace.counts import RunningCounts
from specviz.trace.values import Sampling, Tree

EXACT = 1e-10
NUM_ROUNDS = 24
NUM_GROWN = 12
NO_EOS: frozenset[int] = frozenset()
PROMPTS = tuple(tuple(prompt) for prompt in prompts(2))
SIZES = [
    TreeSize(Tree.STATIC, 3, 10),
    TreeSize(Tree.DYNAMIC, 3, 10),
    TreeSize(Tree.DYNAMIC, 2, 2),
]


def fresh(model: PreTrainedModel, ids: list[int]) -> torch.Tensor:
    """Logits `[vocab]` of what follows a text, read without any cache."""
    with torch.inference_mode():
        return model(input_ids=torch.tensor([ids]), use_cache=False).logits[0, -1]


def random_ids(rng: random.Random, count: int) -> list[int]:
    return [rng.randrange(VOCAB) for _ in range(count)]


@pytest.fixture(params=["lean", "wrapped"])
def either_pass(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run models lean where they fit, and once more through transformers' own modules."""
    if request.param == "wrapped":
        monkeypatch.setattr(LeanForward, "fits", staticmethod(lambda model: False))


def growing(model: PreTrainedModel) -> ModelRunner:
    return ModelRunner(model)


def static(model: PreTrainedModel) -> ModelRunner:
    """Its steps are recorded before a text is read, and none after."""
    graphs = FakeGraphs()
    runner = StaticRunner(model, CONTEXT, (1, 2, 4, 12), graphs, NUM_GROWN)
    runner.prepare()
    assert graphs.num_captures == 4
    graphs.may_capture = False
    return runner


def static_for_heads(model: PreTrainedModel) -> ModelRunner:
    """A head that taps has the steps recorded anew."""
    return StaticRunner(model, CONTEXT, (1, 2, 4, 12), FakeGraphs())


either_form = pytest.mark.parametrize("make_runner", [growing, static])
either_form_for_heads = pytest.mark.parametrize("make_runner", [growing, static_for_heads])


# The cache contract.


@pytest.mark.usefixtures("either_pass")
@either_form
@pytest.mark.parametrize("shape", ["llama", "gpt2"])
def test_trees_grown_level_by_level(
    shape: str, make_runner: Callable[[PreTrainedModel], ModelRunner]
) -> None:
    """Levels of random width below random nodes; then a text that follows some branch of it, or
    none, and now and then another tree read at once."""
    model, rng = tiny_model(shape), random.Random(2)
    runner, ids = make_runner(model), random_ids(rng, 3)
    for round_ in range(NUM_ROUNDS):
        single = runner.forward(ids, 1)
        assert float((single[0] - fresh(model, ids)).abs().max()) < EXACT
        branches = [list(ids)]
        for _ in range(rng.randint(0, 3)):
            width = rng.randint(1, 4)
            parents = [rng.randrange(-1, len(branches) - 1) for _ in range(width)]
            tokens = rng.sample(range(VOCAB), width)
            logits = runner.grow_tree(tokens, parents)
            grown = [
                [*branches[parent + 1], token]
                for token, parent in zip(tokens, parents, strict=True)
            ]
            branches += grown
            if round_ % 4 == 0:
                expected = torch.stack([fresh(model, branch) for branch in grown])
                assert float((logits - expected).abs().max()) < EXACT
        ids = rng.choice(branches)[: len(ids) + rng.randint(0, 3)] + random_ids(rng, 1)
        if round_ % 5 == 0:
            tokens, parents = random_ids(rng, 3), [ROOT, 0, ROOT]
            rows = runner.forward_tree(ids, tokens, parents)
            assert float((rows[3] - fresh(model, [*ids, tokens[2]])).abs().max()) < EXACT
            runner.keep(len(ids), [2])
            ids += [tokens[2], *random_ids(rng, 1)]
        if len(ids) > CONTEXT - 20:
            ids = ids[:3]


def test_the_branch_that_a_text_follows_is_not_read_again() -> None:
    runner = ModelRunner(tiny_model("llama"))
    runner.forward([1, 2, 3], 1)
    runner.grow_tree([4, 5], [-1, -1])
    runner.grow_tree([6, 7], [1, 0])
    read: list[int] = []
    call = runner._call

    def watched(token_ids: Sequence[int], *args: Any) -> torch.Tensor:
        read.extend(token_ids)
        return call(token_ids, *args)

    runner._call = watched  # type: ignore[method-assign]
    found = runner.forward([1, 2, 3, 5, 6, 9], 1)
    assert read == [9]
    assert float((found[0] - fresh(tiny_model("llama"), [1, 2, 3, 5, 6, 9])).abs().max()) < EXACT


@either_form
def test_siblings_in_the_cache_are_no_text(make_runner: Any) -> None:
    """The second stands behind the first there, but was not read behind it."""
    model = tiny_model("llama")
    runner = make_runner(model)
    runner.forward([1, 2, 3], 1)
    runner.grow_tree([4, 5], [-1, -1])
    found = runner.forward([1, 2, 3, 4, 5, 6], 1)
    assert float((found[0] - fresh(model, [1, 2, 3, 4, 5, 6])).abs().max()) < EXACT


def test_a_tree_of_more_nodes_than_were_said_is_read_too() -> None:
    model = tiny_model("llama")
    runner = StaticRunner(model, CONTEXT, (1, 4), FakeGraphs(), num_grown=2)
    runner.forward([1, 2, 3], 1)
    runner.grow_tree([4, 5, 6], [-1, -1, -1])
    logits = runner.grow_tree([7, 8], [2, 0])
    expected = [fresh(model, [1, 2, 3, 6, 7]), fresh(model, [1, 2, 3, 4, 8])]
    assert float((logits - torch.stack(expected)).abs().max()) < EXACT


@pytest.mark.parametrize("shape", ["qwen3_5", "mistral"])
def test_a_model_that_reads_no_trees_so_far_is_refused_before_a_race(shape: str) -> None:
    with pytest.raises(IncompatibleModelError, match="token trees"):
        ModelRunner(tiny_model(shape)).check_reads_trees(64)


# The text.


@cache
def plain_text(shape: str, prompt: tuple[int, ...]) -> tuple[int, ...]:
    runner = ModelRunner(tiny_model(shape))
    return run_to_end(make_decoder(runner, NoDraft(), gamma=0, max_new_tokens=20), prompt)


def counts_of(decoder: Any, prompt: Sequence[int], text: tuple[int, ...]) -> RunningCounts:
    decoder.prefill(prompt)
    counts = RunningCounts()
    while decoder.stop_reason is None:
        counts.add(decoder.step())
    assert decoder.output_ids == text
    return counts


@either_form
@pytest.mark.parametrize("gamma", [1, 2, 4])
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("shape", ["llama"])
def test_the_text_of_a_tree_is_the_targets(
    shape: str, size: TreeSize, gamma: int, make_runner: Any
) -> None:
    model, noisy = tiny_model(shape), tiny_model(shape, noise=0.06)
    num_accepted = num_judged = 0
    target, draft = make_runner(model), make_runner(noisy)
    for prompt in PROMPTS:
        text = plain_text(shape, prompt)
        proposer = DraftModel(draft, GREEDY, VOCAB, NO_EOS, tree=size)
        decoder = make_decoder(
            target, proposer, gamma=gamma, max_new_tokens=20, context=target.context
        )
        counts = counts_of(decoder, prompt, text)
        num_accepted += counts.num_accepted
        num_judged += counts.num_judged
    assert 0 < num_accepted < num_judged


@pytest.mark.parametrize("sampling", [GREEDY, Sampling(temperature=0.8)], ids=["greedy", "drawn"])
@pytest.mark.parametrize("kind", [Tree.STATIC, Tree.DYNAMIC])
def test_a_tree_of_the_target_itself_is_followed_to_its_end(kind: Tree, sampling: Sampling) -> None:
    """At temperature 0 the first choices are kept; above it a drawn first sibling is, whose laws
    agree, and a point mass need not be."""
    model = tiny_model("llama")
    size = TreeSize(kind, 2, 12)
    proposer = DraftModel(ModelRunner(model), sampling, VOCAB, NO_EOS, tree=size)
    decoder = make_decoder(
        ModelRunner(model), proposer, gamma=3, max_new_tokens=24, sampling=sampling
    )
    decoder.prefill(PROMPTS[0])
    rounds = []
    while decoder.stop_reason is None:
        rounds.append(decoder.step())
    is_certain = kind is Tree.STATIC or sampling.temperature == 0
    full = [len(round_.emitted) == 4 for round_ in rounds[:-1]]
    assert all(full) == is_certain
    assert sum(len(round_.emitted) for round_ in rounds) == 24


def test_the_end_of_a_text_shortens_its_trees() -> None:
    model = tiny_model("llama")
    for kind in (Tree.STATIC, Tree.DYNAMIC):
        proposer = DraftModel(ModelRunner(model), GREEDY, VOCAB, NO_EOS, tree=TreeSize(kind, 3, 24))
        for num_tokens in range(1, 7):
            decoder = make_decoder(ModelRunner(model), proposer, gamma=5, max_new_tokens=num_tokens)
            counts = counts_of(decoder, PROMPTS[1], plain_text("llama", PROMPTS[1])[:num_tokens])
            depth = max((drafted for drafted, _ in counts.paths), default=0)
            assert depth == min(5, num_tokens - 1)
            assert counts.num_drafted <= sum(3**level for level in range(1, depth + 1))
        draft = tiny_model("llama", 3)
        runner = ModelRunner(model)
        runner.context = 12
        proposer = DraftModel(ModelRunner(draft), GREEDY, VOCAB, NO_EOS, tree=TreeSize(kind, 3, 24))
        decoder = make_decoder(runner, proposer, gamma=5, max_new_tokens=40, context=12)
        assert len(run_to_end(decoder, [1, 2, 3])) == 9


@pytest.mark.parametrize("size", SIZES[:2], ids=str)
def test_an_end_token_inside_a_tree_ends_the_text(size: TreeSize) -> None:
    """At every place of the text, so that it is met at each level and as what follows a tree."""
    model, noisy = tiny_model("llama"), tiny_model("llama", noise=0.06)
    target, draft = ModelRunner(model), ModelRunner(noisy)
    text = plain_text("llama", PROMPTS[0])
    for end in set(text):
        proposer = DraftModel(draft, GREEDY, VOCAB, frozenset({end}), tree=size)
        decoder = make_decoder(
            target, proposer, gamma=4, max_new_tokens=20, eos_ids=frozenset({end})
        )
        assert run_to_end(decoder, PROMPTS[0]) == text[: text.index(end) + 1]


# A head.


def head_of(model: PreTrainedModel, folder: Path) -> tuple[Eagle3Pass, Any]:
    head = make_head(0, taps=(1, 2, model.config.num_hidden_layers))
    target = LoadedModel("target", model, byte_tokenizer(), NO_EOS)
    files = read_head_files(str(write_speculators(head, folder)))
    return Eagle3Pass(build_head(LoadedHead(files), target)), target


def branch_of(proposal: Proposal, node: int) -> list[int]:
    branch: list[int] = []
    while node != ROOT:
        branch.insert(0, proposal.token_ids[node])
        node = proposal.parents[node]
    return branch


class OneBranch(Eagle3):
    """A head that drafts the tokens it is told to."""

    def follow(self, ids: list[int], branch: Sequence[int]) -> torch.Tensor:
        """Logits `[len(branch) + 1, draft_vocab]` after the text and after each token of a branch,
        as a chain of the same head reads it."""
        with torch.inference_mode():
            self._cache.truncate(self._num_true)
            state = self._read_true(ids)
            rows = [self._head.predict(state)]
            for token in branch:
                state = self._head.read(self._head.head.carried(state), [token], self._cache)
                rows.append(self._head.predict(state))
        return torch.cat(rows)


@either_form_for_heads
@pytest.mark.parametrize("size", SIZES[:2], ids=str)
def test_a_head_reads_each_branch_as_a_chain(
    size: TreeSize, make_runner: Any, tmp_path: Path
) -> None:
    """And the target's states of an accepted branch are the true ones of the next round."""
    model, rng = tiny_model("llama"), random.Random(3)
    drafting, _ = head_of(model, tmp_path)
    runner, other = make_runner(model), ModelRunner(model)
    tree = Eagle3(drafting, runner, GREEDY, NO_EOS, 64, tree=size)
    chain = OneBranch(drafting, other, GREEDY, NO_EOS, 64)
    ids, worst = [3, 1, 4, 1, 5], 0.0
    runner.forward(ids[:-1], 1)
    tree.reset(ids)
    for _ in range(5):
        other.reset()
        other.forward(ids[:-1], 1)
        chain.reset(ids)
        proposal = tree.propose(ids, 4, SeededChance(0))
        assert proposal.shown_logits is not None
        own = proposal.shown_logits[:, drafting.head.draft_ids]
        for node, parent in enumerate(proposal.parents):
            expected = chain.follow(ids, branch_of(proposal, parent))[-1]
            worst = max(worst, float((own[node] - expected).abs().max()))
        runner.forward_tree(ids, proposal.token_ids, proposal.parents)
        end = rng.randrange(-1, len(proposal))
        path: list[int] = []
        while end != ROOT:
            path.insert(0, end)
            end = proposal.parents[end]
        runner.keep(len(ids), path)
        ids += [*(proposal.token_ids[node] for node in path), rng.randrange(VOCAB)]
    assert worst < EXACT


@either_form_for_heads
@pytest.mark.parametrize("size", SIZES[:2], ids=str)
def test_the_text_of_a_heads_tree_is_the_targets(
    size: TreeSize, make_runner: Any, tmp_path: Path
) -> None:
    model = tiny_model("llama")
    drafting, _ = head_of(model, tmp_path)
    runner = make_runner(model)
    num_accepted = num_judged = 0
    for prompt in (*PROMPTS, [7], [7, 3]):
        text = plain_text("llama", tuple(prompt))
        for gamma in (1, 4):
            proposer = Eagle3(drafting, runner, GREEDY, NO_EOS, 64, tree=size)
            decoder = make_decoder(runner, proposer, gamma=gamma, max_new_tokens=20)
            counts = counts_of(decoder, prompt, text)
            num_accepted += counts.num_accepted
            num_judged += counts.num_judged
    assert num_accepted < num_judged


# What it brings.


@pytest.mark.parametrize("kind", [Tree.STATIC, Tree.DYNAMIC])
def test_a_tree_keeps_more_than_the_chain_of_its_depth(kind: Tree) -> None:
    """Greedy, so that the tree holds the chain's own tokens, and more."""
    model, noisy = tiny_model("llama"), tiny_model("llama", noise=0.06)
    taus = []
    for size in (None, TreeSize(kind, 4, 24)):
        counts = RunningCounts()
        for prompt in PROMPTS:
            proposer = DraftModel(ModelRunner(noisy), GREEDY, VOCAB, NO_EOS, tree=size)
            decoder = make_decoder(ModelRunner(model), proposer, gamma=4, max_new_tokens=32)
            decoder.prefill(prompt)
            while decoder.stop_reason is None:
                counts.add(decoder.step())
        taus.append(counts.num_emitted / counts.num_rounds)
    assert taus[1] > 1.1 * taus[0]
