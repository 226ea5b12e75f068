"""Lanes that draft by layers of the target's own: exact law, greedy text, true rows in every round.

Their logits are held against plain layers, since a misreading only lowers what is kept.
"""

import atexit
import random
import shutil
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
import torch
from fakes import (
    MarkovRunner,
    distance,
    enumerate_law,
    make_decoder,
    random_table,
    run_to_end,
    text_law,
)
from mtp_fixtures import (
    BEHIND,
    FAMILIES,
    NUM_LAYERS,
    Family,
    Reference,
    load,
    random_layers,
    write_family,
)
from tiny_models import VOCAB, prompts, random_model
from transformers import LlamaConfig
from transformers.cache_utils import MtpCache
from transformers.modeling_layers import MtpModel

from specviz.decoding.model_runner import ModelRunner
from specviz.decoding.mtp_pass import MtpPass, RowCache
from specviz.decoding.proposal import Proposal
from specviz.decoding.proposers.mtp import Mtp
from specviz.decoding.proposers.no_draft import NoDraft
from specviz.decoding.sampling import Chance, SeededChance
from specviz.models.eagle_form import FINAL
from specviz.models.loading import LoadedModel
from specviz.models.mtp_weights import read_mtp
from specviz.trace.values import Outcome, Sampling

EXACT = 1e-12
CLOSE = 1e-5
CARRIED = 1e-3
"""Hybrids compute their states in float32, in blocks of other lengths than at once."""
FAR = 1e-2
GREEDY = Sampling()
NO_EOS: frozenset[int] = frozenset()
IDS = [3, 1, 4, 1, 5, 9, 2, 6]
DEEP = [(kind, number) for kind in BEHIND for number in (2, 3)]
LINEAR = ("qwen3_5", "qwen3_5_moe", "qwen3_next")


@cache
def family(kind: str, num_drafting: int = 1) -> tuple[Family, LoadedModel]:
    folder = Path(mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    made = write_family(kind, folder, num_drafting)
    return made, load(made)


class TappedMarkov(MarkovRunner):
    """A table whose states are a row of numbers for each pair of tokens."""

    def __init__(self, table: torch.Tensor) -> None:
        super().__init__(table)
        generator = torch.Generator().manual_seed(3)
        self._states = torch.randn((*table.shape[:2], 8), generator=generator).double()

    def tap(self, taps: Sequence[int]) -> None:
        assert tuple(taps) == (FINAL,)

    def features(self, ids: Sequence[int], first: int) -> torch.Tensor:
        before = [0, *ids]
        return torch.stack([self._states[before[i], ids[i]] for i in range(first, len(ids))])


@cache
def small_layers(vocab_size: int, num_layers: int) -> MtpPass:
    """Random layers of width 8 over a small vocabulary."""
    size = {"hidden_size": 8, "intermediate_size": 8, "num_attention_heads": 2}
    config = LlamaConfig(vocab_size=vocab_size, num_hidden_layers=1, **size)
    return MtpPass(random_layers(random_model(config, 2), num_layers))


@pytest.mark.parametrize(
    ("vocab_size", "num_layers", "gamma", "num_tokens", "sampling", "least_confidence"),
    [
        (2, 1, 1, 3, Sampling(temperature=1.0), 0.0),
        (2, 1, 2, 4, Sampling(temperature=1.0), 0.0),
        (2, 2, 2, 4, Sampling(temperature=1.0), 0.55),
        (3, 2, 1, 3, Sampling(temperature=0.7, top_k=2), 0.0),
        (2, 1, 2, 4, Sampling(temperature=1.5, top_p=0.8), 0.0),
    ],
)
def test_own_layers_leave_the_law_alone(
    vocab_size: int,
    num_layers: int,
    gamma: int,
    num_tokens: int,
    sampling: Sampling,
    least_confidence: float,
) -> None:
    table, prompt = random_table(vocab_size, 1), (1, 0)
    layers, runner = small_layers(vocab_size, num_layers), TappedMarkov(table)

    def run(chance: Chance) -> tuple[int, ...]:
        proposer = Mtp(layers, runner, sampling, NO_EOS, 8, gamma, least_confidence)
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


def test_the_law_that_was_drawn_from_is_the_one_that_is_tested() -> None:
    sampling = Sampling(temperature=0.8, top_k=3)
    runner = TappedMarkov(random_table(5, 1))
    proposer = Mtp(small_layers(5, 1), runner, sampling, NO_EOS, 8, 4)
    proposer.reset((1, 2, 3))
    proposal = proposer.propose((1, 2, 3), 4, SeededChance(1))
    assert proposal.draft_probs is not None
    assert proposal.draft_probs.shape == (4, 5)
    assert proposal.draft_probs.sum(dim=-1).tolist() == pytest.approx([1.0] * 4)
    assert (proposal.draft_probs > 0).sum(dim=-1).tolist() == [3] * 4


def teacher_forced(
    kind: str, layers: MtpPass, change: Callable[[torch.Tensor], torch.Tensor], tap: int = FINAL
) -> float:
    """How far the first layer's logits over a whole text are from those of a plain layer."""
    made, loaded = family(kind)
    runner, reference = ModelRunner(loaded.model), Reference(made)
    runner.tap((tap,))
    states = change(runner.features(IDS[:-1], 0))
    with torch.inference_mode():
        found = layers.predict(layers.read(0, states, IDS[1:], layers.new_cache(8)))
        true = reference.layer(0, reference.target_states(IDS)[:-1], IDS[1:], 1)
        return float((found - reference.predict(true)).abs().max())


@pytest.mark.parametrize("kind", FAMILIES)
def test_the_logits_are_those_of_a_plain_layer(kind: str) -> None:
    layers = MtpPass(read_mtp(family(kind)[1]))
    assert teacher_forced(kind, layers, lambda states: states) < CLOSE


def swapped(layers: MtpModel) -> None:
    layers.config.mtp_hidden_states_first = True


def twice_shifted(layers: MtpModel) -> None:
    layers.layers[0].post_norm.weight += 1.0


def without_norm(layers: MtpModel) -> None:
    layers.layers[0].hnorm = torch.nn.Identity()


@pytest.mark.parametrize("kind", ["glm4_moe", "qwen3_5"])
@pytest.mark.parametrize("spoil", [swapped, twice_shifted, without_norm])
def test_layers_that_are_read_wrongly_are_caught(kind: str, spoil: Any) -> None:
    made, _ = family(kind)
    layers = read_mtp(load(made))
    with torch.no_grad():
        spoil(layers)
    assert teacher_forced(kind, MtpPass(layers), lambda states: states) > FAR


@pytest.mark.parametrize("kind", ["glm4_moe", "qwen3_5"])
def test_states_that_are_taken_wrongly_are_caught(kind: str) -> None:
    layers = MtpPass(read_mtp(family(kind)[1]))
    assert teacher_forced(kind, layers, lambda states: states, tap=NUM_LAYERS) > FAR
    assert teacher_forced(kind, layers, lambda states: states.roll(1, 0)) > FAR


@pytest.mark.parametrize(
    ("kind", "num_drafting"), [("glm4_moe", 1), ("glm4_moe", 3), ("mellum", 1)]
)
def test_the_logits_are_those_of_transformers(
    kind: str, num_drafting: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the families that transformers loads itself, as far as it drafts: one token a layer."""
    _, loaded = family(kind, num_drafting)
    if kind in BEHIND:
        # It knows the layers' numbers in released models alone.
        own = [rf"model\.layers\.{NUM_LAYERS + number}\." for number in range(num_drafting)]
        monkeypatch.setattr(loaded.model, "_keys_to_ignore_on_load_unexpected", own)
    theirs = MtpModel.from_pretrained(loaded.model)
    runner = ModelRunner(loaded.model)
    proposer = Mtp(MtpPass(read_mtp(loaded)), runner, GREEDY, NO_EOS, 8, num_drafting)
    proposal = proposer.propose(IDS, num_drafting, SeededChance(0))
    states = runner.features(IDS[:-1], 0)
    with torch.inference_mode():
        ids, logits, _ = theirs(
            input_ids=torch.tensor([IDS[1:]]),
            last_hidden_states=states[None],
            attention_mask=None,
            position_ids=torch.arange(1, len(IDS))[None],
            mtp_cache=MtpCache(config=loaded.model.config.get_mtp_config()),
        )
    assert ids[0].tolist() == list(proposal.token_ids)
    assert proposal.shown_logits is not None
    assert float((proposal.shown_logits - logits[0]).abs().max()) < CLOSE


class KeepsGuesses(Mtp):
    """The planted bug: rows of guesses that were kept stay as they are."""

    def propose(self, committed_ids: Sequence[int], gamma: int, chance: Chance) -> Proposal:
        num_rows = min(self._cache.num_rows(0), len(committed_ids) - 2)
        if num_rows > self._first:
            self._first, self._num_true[0], self._states = num_rows, num_rows, None
        return super().propose(committed_ids, gamma, chance)


class ForgetsPrompt(Mtp):
    """The planted bug: the layers never read the prompt."""

    def reset(self, prompt_ids: Sequence[int]) -> None:
        self._forget()
        self._offset = len(prompt_ids) - 2

    def propose(self, committed_ids: Sequence[int], gamma: int, chance: Chance) -> Proposal:
        first = max(self._first, self._offset)
        if first > self._first:
            self._first, self._num_true = first, [first] * len(self._num_true)
        return super().propose(committed_ids, gamma, chance)


def worst_difference(kind: type[Mtp], name: str, num_drafting: int = 1) -> float:
    """Of the logits of drafts, over rounds of random lengths and fates, from those of the
    reference; a round reads nothing with the target that was read before."""
    made, loaded = family(name, num_drafting)
    runner, reference, rng = ModelRunner(loaded.model), Reference(made), random.Random(2)
    proposer = kind(MtpPass(read_mtp(loaded)), runner, GREEDY, NO_EOS, 64, 5)
    ids, worst = list(IDS), 0.0
    runner.forward(ids[:-1], 1)
    proposer.reset(ids)
    for _ in range(8):
        gamma = rng.randint(1, 5)
        num_read = runner._first_tapped + len(runner._tapped[0])
        proposal = proposer.propose(ids, gamma, SeededChance(0))
        assert runner._first_tapped + len(runner._tapped[0]) == num_read == len(ids) - 1
        assert proposal.shown_logits is not None
        expected = reference.drafts(ids, gamma)[1]
        worst = max(worst, float((proposal.shown_logits - expected).abs().max()))
        runner.forward([*ids, *proposal.token_ids], gamma + 1)
        num_kept = rng.randint(0, gamma)
        runner.keep(len(ids), range(num_kept))
        ids += [*proposal.token_ids[:num_kept], rng.randrange(VOCAB)]
    return worst


@pytest.mark.parametrize(("kind", "num_drafting"), [*((kind, 1) for kind in FAMILIES), *DEEP])
def test_every_round_drafts_from_true_states(kind: str, num_drafting: int) -> None:
    most = CARRIED if kind in LINEAR else CLOSE
    assert worst_difference(Mtp, kind, num_drafting) < most


@pytest.mark.parametrize("bug", [KeepsGuesses, ForgetsPrompt])
@pytest.mark.parametrize("kind", ["glm4_moe", "qwen3_5"])
def test_rows_that_are_not_true_are_caught(bug: type[Mtp], kind: str) -> None:
    assert worst_difference(bug, kind) > FAR


class HalfRight(MtpPass):
    """Layers that know the text, but for some of its tokens."""

    def know(self, text: Sequence[int]) -> None:
        self._text = text

    def read(
        self, layer: int, states: torch.Tensor, ids: list[int], cache: RowCache
    ) -> torch.Tensor:
        found = super().read(layer, states, ids, cache)
        self._next = cache.num_rows(layer) + layer + 1
        return found

    def predict(self, states: torch.Tensor) -> torch.Tensor:
        logits = super().predict(states)
        if self._next < len(self._text) and self._next % 4:
            logits[0, self._text[self._next]] = 1000.0
        return logits


@pytest.mark.parametrize(
    ("kind", "num_drafting"), [("glm4_moe", 1), ("glm4_moe", 2), ("mellum", 1), ("qwen3_5", 1)]
)
def test_the_text_is_the_targets(kind: str, num_drafting: int) -> None:
    _, loaded = family(kind, num_drafting)
    model, knowing = loaded.model, HalfRight(read_mtp(loaded))
    runner = ModelRunner(model)
    fates: list[Outcome] = []
    for prompt in (*prompts(2), [7], [7, 3]):
        plain = make_decoder(ModelRunner(model), NoDraft(), gamma=0, max_new_tokens=16)
        text = run_to_end(plain, prompt)
        knowing.know([*prompt, *text])
        for gamma in (1, 4):
            proposer = Mtp(knowing, runner, GREEDY, NO_EOS, 32, gamma)
            decoder = make_decoder(runner, proposer, gamma=gamma, max_new_tokens=16)
            decoder.prefill(prompt)
            while decoder.stop_reason is None:
                fates += [token.outcome for token in decoder.step().drafted]
            assert decoder.output_ids == text
    assert 0 < fates.count(Outcome.ACCEPTED) < len(fates) - fates.count(Outcome.DISCARDED)


def test_an_end_token_ends_a_draft_and_so_does_doubt() -> None:
    _, loaded = family("mellum")
    layers = MtpPass(read_mtp(loaded))

    def drafts(
        eos_ids: frozenset[int] = NO_EOS, least: float = 0.0, ids: Sequence[int] = IDS
    ) -> Proposal:
        proposer = Mtp(layers, ModelRunner(loaded.model), GREEDY, eos_ids, 8, 6, least)
        return proposer.propose(ids, 6, SeededChance(0))

    whole = drafts()
    assert len(whole) == 6
    last = next(token for token in whole.token_ids[1:] if token != whole.token_ids[0])
    assert (
        drafts(frozenset({last})).token_ids == (whole.token_ids[: whole.token_ids.index(last) + 1])
    )
    assert whole.shown_logits is not None
    chances = whole.shown_logits.softmax(dim=-1)[range(6), whole.token_ids].tolist()
    least = min(chances[:3]) * (1 + 1e-6)
    first = next(node for node, chance in enumerate(chances) if chance < least)
    assert drafts(least=least).token_ids == whole.token_ids[: first + 1]
    assert len(drafts(ids=IDS[:1])) == 0


def test_the_same_text_may_be_drafted_for_twice() -> None:
    _, loaded = family("glm4_moe", 2)
    runner = ModelRunner(loaded.model)
    proposer = Mtp(MtpPass(read_mtp(loaded)), runner, GREEDY, NO_EOS, 32, 4)
    runner.forward(IDS[:-1], 1)
    proposer.reset(IDS)
    once = proposer.propose(IDS, 4, SeededChance(0))
    again = proposer.propose(IDS, 4, SeededChance(0))
    assert again.token_ids == once.token_ids
    longer = [*IDS, *once.token_ids[:2], 7]
    fresh = Mtp(MtpPass(read_mtp(loaded)), ModelRunner(loaded.model), GREEDY, NO_EOS, 32, 4)
    expected = fresh.propose(longer, 4, SeededChance(0)).token_ids
    assert proposer.propose(longer, 4, SeededChance(0)).token_ids == expected
