"""Greedy ids equal those of transformers' `generate()` in float64, for every proposer and γ."""

from collections.abc import Sequence
from functools import cache

import pytest
import torch
from fakes import make_decoder
from static_fakes import FakeGraphs, recorded_lane
from tiny_models import CONTEXT, SHAPES, VOCAB, prompts, random_model, tiny_model
from transformers import PreTrainedModel

from specviz.decoding.decoder import Decoder
from specviz.decoding.model_runner import ModelRunner
from specviz.decoding.proposal import Proposal, Proposer, chain
from specviz.decoding.proposers.draft_model import DraftModel
from specviz.decoding.proposers.early_exit import EarlyExit
from specviz.decoding.proposers.no_draft import NoDraft
from specviz.decoding.proposers.prompt_lookup import PromptLookup
from specviz.decoding.sampling import Chance
from specviz.decoding.split_runner import SplitRunner
from specviz.decoding.static_runner import StaticRunner
from specviz.trace.values import Outcome, Sampling

GREEDY = Sampling()
NO_EOS: frozenset[int] = frozenset()
NUM_TOKENS = 20
GAMMAS = [1, 2, 4, 8]
PROMPTS = tuple(tuple(prompt) for prompt in prompts(3))
SPLITTABLE = ("llama", "qwen3", "mistral")


@cache
def generated(
    shape: str, prompt: tuple[int, ...], num_tokens: int = NUM_TOKENS, assistant: str = "none"
) -> tuple[int, ...]:
    """What transformers makes of it: plain, with an assistant model, or with prompt lookup."""
    model, ids = tiny_model(shape), torch.tensor([prompt])
    extra: dict[str, object] = {}
    if assistant == "model":
        extra = {"assistant_model": tiny_model(shape, noise=0.02)}
    elif assistant == "lookup":
        extra = {"prompt_lookup_num_tokens": 4}
    output = model.generate(
        ids,
        attention_mask=torch.ones_like(ids),
        do_sample=False,
        max_new_tokens=num_tokens,
        **extra,
    )
    return tuple(output[0, len(prompt) :].tolist())


def decode(decoder: Decoder, prompt: Sequence[int]) -> tuple[tuple[int, ...], int, int, int]:
    """Output, and how many drafts were accepted, judged and made."""
    decoder.prefill(prompt)
    fates: list[Outcome] = []
    while decoder.stop_reason is None:
        fates += [token.outcome for token in decoder.step().drafted]
    num_accepted = fates.count(Outcome.ACCEPTED)
    return (
        decoder.output_ids,
        num_accepted,
        num_accepted + fates.count(Outcome.REJECTED),
        len(fates),
    )


def lane(
    target: ModelRunner, proposer: Proposer, gamma: int, num_tokens: int = NUM_TOKENS
) -> Decoder:
    return make_decoder(
        target, proposer, gamma=gamma, max_new_tokens=num_tokens, context=target.context
    )


def draft_of(model: PreTrainedModel) -> DraftModel:
    return DraftModel(ModelRunner(model), GREEDY, VOCAB, NO_EOS)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_baseline_equals_generate(shape: str) -> None:
    decoder = lane(ModelRunner(tiny_model(shape)), NoDraft(), 0)
    for prompt in PROMPTS:
        assert decode(decoder, prompt)[0] == generated(shape, prompt)


@pytest.mark.parametrize("assistant", ["model", "lookup"])
@pytest.mark.parametrize("shape", ["llama", "gpt2", "gpt_neox", "qwen3"])
def test_generate_agrees_with_itself_when_assisted(shape: str, assistant: str) -> None:
    prompt = PROMPTS[2]
    assert generated(shape, prompt, assistant=assistant) == generated(shape, prompt)


@pytest.mark.parametrize("gamma", [*range(1, 9), 16])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_draft_that_is_the_target_is_always_accepted(shape: str, gamma: int) -> None:
    decoder = lane(ModelRunner(tiny_model(shape)), draft_of(tiny_model(shape)), gamma)
    prompt = PROMPTS[gamma % len(PROMPTS)]
    output, num_accepted, _, num_drafted = decode(decoder, prompt)
    assert output == generated(shape, prompt)
    assert num_accepted == num_drafted > 0


def drafting_lane(
    target: PreTrainedModel, draft: PreTrainedModel, gamma: int, *, is_recorded: bool
) -> Decoder:
    if not is_recorded:
        return lane(ModelRunner(target), draft_of(draft), gamma)
    graphs = FakeGraphs()
    target_runner, draft_runner = (
        StaticRunner(model, CONTEXT, (1, 2, gamma + 1), graphs) for model in (target, draft)
    )
    return recorded_lane(
        target_runner,
        draft_runner,
        gamma=gamma,
        sampling=GREEDY,
        max_new_tokens=NUM_TOKENS,
        context=CONTEXT,
    )


@pytest.mark.parametrize("is_recorded", [False, True], ids=["by steps", "recorded"])
@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("shape", SHAPES)
def test_half_right_drafts(shape: str, gamma: int, is_recorded: bool) -> None:
    noise = {"gemma2": 0.03, "gpt2": 0.12}.get(shape, 0.06)
    target, draft = tiny_model(shape), tiny_model(shape, noise=noise)
    decoder = drafting_lane(target, draft, gamma, is_recorded=is_recorded)
    num_accepted = num_judged = 0
    for prompt in PROMPTS:
        output, accepted, judged, _ = decode(decoder, prompt)
        assert output == generated(shape, prompt)
        num_accepted, num_judged = num_accepted + accepted, num_judged + judged
    assert 0 < num_accepted < num_judged


@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("shape", SHAPES)
def test_unrelated_drafts(shape: str, gamma: int) -> None:
    other = "gpt2" if shape != "gpt2" else "llama"
    decoder = lane(ModelRunner(tiny_model(shape)), draft_of(tiny_model(other, 99)), gamma)
    prompt = PROMPTS[1]
    output, num_accepted, num_judged, _ = decode(decoder, prompt)
    assert output == generated(shape, prompt)
    assert num_accepted < num_judged / 2


@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("shape", SHAPES)
def test_prompt_lookup(shape: str, gamma: int) -> None:
    decoder = lane(ModelRunner(tiny_model(shape)), PromptLookup(3, NO_EOS), gamma)
    for prompt in PROMPTS:
        assert decode(decoder, prompt)[0] == generated(shape, prompt)


def test_prompt_lookup_is_sometimes_right() -> None:
    """A target that repeats itself: with the count of accepted drafts above none, below all."""
    model = tiny_model("gpt2")
    decoder = lane(ModelRunner(model), PromptLookup(3, NO_EOS), 3, 80)
    output, num_accepted, num_judged, _ = decode(decoder, PROMPTS[2])
    assert output == generated("gpt2", PROMPTS[2], 80)
    assert 0 < num_accepted < num_judged


@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("shape", SPLITTABLE)
def test_early_exit(shape: str, gamma: int) -> None:
    runner = SplitRunner(tiny_model(shape), 1 + gamma % 3)
    decoder = lane(runner, EarlyExit(runner, GREEDY, NO_EOS), gamma)
    for prompt in PROMPTS:
        assert decode(decoder, prompt)[0] == generated(shape, prompt)


@pytest.mark.parametrize("gamma", [1, 4])
def test_an_early_exit_that_is_half_right(gamma: int) -> None:
    """Later layers that add little: their output is scaled down, not away."""
    model = random_model(tiny_model("llama").config, 5)
    with torch.no_grad():
        for layer in model.model.layers[2:]:
            layer.self_attn.o_proj.weight *= 0.15
            layer.mlp.down_proj.weight *= 0.15
    runner = SplitRunner(model, 2)
    num_accepted = num_judged = 0
    for prompt in PROMPTS:
        plain = decode(lane(ModelRunner(model), NoDraft(), 0), prompt)[0]
        output, accepted, judged, _ = decode(
            lane(runner, EarlyExit(runner, GREEDY, NO_EOS), gamma), prompt
        )
        assert output == plain
        num_accepted, num_judged = num_accepted + accepted, num_judged + judged
    assert 0 < num_accepted < num_judged


class RandomTree:
    """A tree of random shape: some nodes are the true continuation, others are not."""

    def __init__(self, num_prompt: int, truth: Sequence[int], seed: int) -> None:
        self._truth = truth
        self._num_prompt = num_prompt
        self._random = torch.Generator().manual_seed(seed)

    def _below(self, end: int) -> int:
        return int(torch.randint(end, (), generator=self._random))

    def reset(self, prompt_ids: Sequence[int]) -> None:
        pass

    def propose(self, committed_ids: Sequence[int], gamma: int, chance: Chance) -> Proposal:
        if gamma == 0:
            return chain([])
        ahead = self._truth[len(committed_ids) - self._num_prompt :]
        tokens: list[int] = []
        parents: list[int] = []
        depths: list[int] = []
        for _ in range(2 * gamma):
            open_nodes = [-1, *(node for node, depth in enumerate(depths) if depth < gamma - 1)]
            parent = open_nodes[self._below(len(open_nodes))]
            depth = 0 if parent < 0 else depths[parent] + 1
            token = self._below(VOCAB) if self._below(3) == 0 else ahead[depth]
            if (parent, token) not in zip(parents, tokens, strict=True):
                tokens.append(token)
                parents.append(parent)
                depths.append(depth)
        return Proposal(tuple(tokens), tuple(parents))


@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("shape", ["llama", "qwen3", "gpt2", "gpt_neox"])
def test_trees(shape: str, gamma: int) -> None:
    num_accepted = num_drafted = 0
    for prompt in PROMPTS:
        truth = generated(shape, prompt)
        tree = RandomTree(len(prompt), truth, seed=gamma)
        output, accepted, _, drafted = decode(
            lane(ModelRunner(tiny_model(shape)), tree, gamma), prompt
        )
        assert output == truth
        num_accepted, num_drafted = num_accepted + accepted, num_drafted + drafted
    assert 0 < num_accepted < num_drafted


@pytest.mark.slow
@pytest.mark.parametrize("gamma", GAMMAS)
def test_many_prompts_and_long_outputs(gamma: int) -> None:
    """32 prompts of 64 tokens for draft model, prompt lookup and early exit."""
    model = tiny_model("llama")
    runner = SplitRunner(model, 2)
    lanes = [
        lane(ModelRunner(model), draft_of(tiny_model("llama", noise=0.03)), gamma, 64),
        lane(ModelRunner(model), PromptLookup(4, NO_EOS), gamma, 64),
        lane(runner, EarlyExit(runner, GREEDY, NO_EOS), gamma, 64),
    ]
    for number, prompt in enumerate(prompts(32, seed=1)):
        decoder = lanes[number % 3] if gamma in (2, 8) else lanes[(number + 1) % 3]
        assert decode(decoder, prompt)[0] == generated("llama", tuple(prompt), 64)


@pytest.mark.slow
def test_single_precision_differs_at_ties_only() -> None:
    """float32: where texts part, the baseline's two best logits lie within 1e-4."""
    model = tiny_model("qwen3", dtype=torch.float32)
    draft = tiny_model("qwen3", noise=0.03, dtype=torch.float32)
    for prompt in prompts(8, seed=2):
        plain = lane(ModelRunner(model), NoDraft(), 0, 48)
        plain.prefill(prompt)
        margins: list[float] = []
        while plain.stop_reason is None:
            margins += [token.margin for token in plain.step().emitted]
        output = decode(lane(ModelRunner(model), draft_of(draft), 4, 48), prompt)[0]
        parted = [
            i
            for i, pair in enumerate(zip(plain.output_ids, output, strict=True))
            if len(set(pair)) > 1
        ]
        assert not parted or margins[parted[0]] < 1e-4
