"""Rounds as they are written down: fates, numbers, texts and times; seeds and interleaving."""

from collections.abc import Callable
from dataclasses import replace
from itertools import zip_longest

import pytest
import torch
from fakes import (
    FakeClock,
    MarkovRunner,
    MarkovTree,
    PlainDetokenizer,
    make_decoder,
    random_table,
)
from static_fakes import FakeGraphs, StaticMarkov, recorded_lane
from tiny_models import byte_tokenizer, random_model
from transformers import LlamaConfig

from specviz.decoding.decoder import Decoder
from specviz.decoding.model_runner import ModelRunner
from specviz.decoding.proposal import Proposal, Proposer
from specviz.decoding.proposers.draft_model import DraftModel
from specviz.decoding.proposers.prompt_lookup import PromptLookup
from specviz.decoding.recorder import Recorder
from specviz.decoding.sampling import Chance, to_probs
from specviz.decoding.trees import TreeSize
from specviz.models.detokenizer import IncrementalDetokenizer
from specviz.trace.values import Outcome, Round, Sampling, Source, Tree

NO_EOS: frozenset[int] = frozenset()
PROMPT = (1, 0)
SAMPLED = Sampling(temperature=1.0, top_p=0.95, seed=11)
TARGET, DRAFT = random_table(12, 1), random_table(12, 2) + 0.6 * random_table(12, 1)


def timeless(finished: Round) -> Round:
    return replace(finished, draft_ms=0.0, verify_ms=0.0, other_ms=0.0)


def markov_lane(
    sampling: Sampling = SAMPLED,
    *,
    record_top: bool = True,
    num_tokens: int = 40,
    gamma: int = 4,
    is_recorded: bool = False,
) -> Decoder:
    if is_recorded:
        return recorded_lane(
            StaticMarkov(TARGET, gamma, capture=FakeGraphs()),
            StaticMarkov(DRAFT, gamma, capture=FakeGraphs()),
            gamma=gamma,
            sampling=sampling,
            max_new_tokens=num_tokens,
            recorder=Recorder(sampling, PlainDetokenizer(), record_top=record_top),
        )
    return make_decoder(
        MarkovRunner(TARGET),
        DraftModel(MarkovRunner(DRAFT), sampling, 12, NO_EOS),  # type: ignore[arg-type]
        gamma=gamma,
        sampling=sampling,
        max_new_tokens=num_tokens,
        recorder=Recorder(sampling, PlainDetokenizer(), record_top=record_top),
    )


def rounds_of(decoder: Decoder, prompt: tuple[int, ...] = PROMPT) -> list[Round]:
    decoder.prefill(prompt)
    rounds = []
    while decoder.stop_reason is None:
        rounds.append(timeless(decoder.step()))
    return rounds


either_way = pytest.mark.parametrize("is_recorded", [False, True], ids=["by steps", "recorded"])


@either_way
@pytest.mark.parametrize("sampling", [Sampling(), SAMPLED], ids=["greedy", "sampled"])
def test_fates_of_a_chain_tell_one_story(sampling: Sampling, is_recorded: bool) -> None:
    fates: set[Outcome] = set()
    position = 0
    for index, finished in enumerate(rounds_of(markov_lane(sampling, is_recorded=is_recorded))):
        outcomes = [token.outcome for token in finished.drafted]
        fates |= set(outcomes)
        num_accepted = outcomes.count(Outcome.ACCEPTED)
        rest = outcomes[num_accepted:]
        assert outcomes[:num_accepted] == [Outcome.ACCEPTED] * num_accepted
        assert rest == [] or rest == [Outcome.REJECTED] + [Outcome.DISCARDED] * (len(rest) - 1)
        assert finished.index == index
        assert finished.position == position
        position += len(finished.emitted)
        assert len(finished.emitted) == num_accepted + 1
        assert [t.id for t in finished.emitted[:-1]] == [
            t.id for t in finished.drafted[:num_accepted]
        ]
        assert [t.parent for t in finished.drafted] == list(range(-1, len(outcomes) - 1))
        last = Source.CORRECTION if rest else Source.BONUS if outcomes else Source.TARGET
        assert [t.source for t in finished.emitted] == [Source.DRAFT] * num_accepted + [last]
    assert fates == set(Outcome), "the lane must show every fate, or this test shows nothing"


@either_way
def test_numbers_of_judged_tokens_agree_with_the_laws(is_recorded: bool) -> None:
    decoder, text = markov_lane(is_recorded=is_recorded), list(PROMPT)
    target, draft = MarkovRunner(TARGET), MarkovRunner(DRAFT)
    for finished in rounds_of(decoder):
        ids = list(text)
        for token in finished.drafted:
            p = to_probs(target.logits_after(ids)[None], SAMPLED)[0]
            q = to_probs(draft.logits_after(ids)[None], SAMPLED)[0]
            assert token.draft_prob == pytest.approx(float(q[token.id]))
            assert [t.prob for t in token.top_draft] == sorted(q[q > 0].tolist(), reverse=True)[:10]
            if token.outcome is Outcome.DISCARDED:
                assert token.target_prob is token.accept_prob is token.draw is token.overlap is None
                assert token.top_target == token.top_residual == ()
            else:
                assert token.target_prob == pytest.approx(float(p[token.id]))
                assert token.overlap == pytest.approx(float(torch.minimum(p, q).sum()))
                assert token.accept_prob == pytest.approx(
                    min(1.0, token.target_prob / token.draft_prob)
                )
                assert (token.draw < token.accept_prob) == (token.outcome is Outcome.ACCEPTED)
                assert token.top_target[0].id == int(p.argmax())
                residual = (p - q).clamp_min(0)
                if token.outcome is Outcome.REJECTED:
                    residual = residual / residual.sum()
                    assert token.top_residual[0].id == int(residual.argmax())
                    assert token.top_residual[0].prob == pytest.approx(float(residual.max()))
                    assert finished.emitted[-1].id in {t.id for t in token.top_residual}
                else:
                    assert token.top_residual == ()
            ids.append(token.id)
        for token in finished.emitted:
            p = to_probs(target.logits_after(text)[None], SAMPLED)[0]
            assert token.target_prob == pytest.approx(float(p[token.id]))
            assert token.margin is None
            assert token.runner_up is None
            is_own = token.source in (Source.BONUS, Source.TARGET)
            assert bool(token.top_target) == is_own
            text.append(token.id)


@either_way
def test_greedy_rounds_record_margins_and_softmax_beside_the_argmax(is_recorded: bool) -> None:
    text, plain = list(PROMPT), Sampling(temperature=1.0)
    target, draft = MarkovRunner(TARGET), MarkovRunner(DRAFT)
    for finished in rounds_of(markov_lane(Sampling(), is_recorded=is_recorded)):
        drafts: list[int] = []
        for token in finished.drafted:
            assert token.draw is None
            assert token.overlap is None
            expected = {Outcome.ACCEPTED: 1.0, Outcome.REJECTED: 0.0}.get(token.outcome)
            assert token.accept_prob == expected
            q = to_probs(draft.logits_after([*text, *drafts])[None], plain)[0]
            assert token.draft_prob == pytest.approx(float(q[token.id]))
            assert token.id == int(q.argmax()) == token.top_draft[0].id
            drafts.append(token.id)
        for emitted in finished.emitted:
            logits = target.logits_after(text)
            best = logits.topk(2).values
            assert emitted.id == int(logits.argmax())
            assert emitted.margin == pytest.approx(float(best[0] - best[1]))
            assert emitted.runner_up == int(logits.topk(2).indices[1])
            assert emitted.target_prob == pytest.approx(
                float(to_probs(logits[None], plain)[0, emitted.id])
            )
            text.append(emitted.id)


def test_of_two_equal_logits_the_runner_up_is_the_one_that_was_not_chosen() -> None:
    """Argmax and topk need not agree on which of them comes first."""
    for size in (2, 5, 40, 500):
        logits = torch.zeros(1, size, dtype=torch.bfloat16)
        logits[0, [0, size - 1]] = 3.0
        for chosen, other in ((0, size - 1), (size - 1, 0)):
            recorder = Recorder(Sampling(), PlainDetokenizer(), record_top=False)
            assert recorder._gaps(logits, [chosen]) == [(0.0, other)]


def test_prompt_lookup_records_no_draft_law() -> None:
    decoder = make_decoder(
        MarkovRunner(random_table(3, 4)),
        PromptLookup(3, NO_EOS),
        gamma=3,
        sampling=SAMPLED,
        max_new_tokens=40,
        recorder=Recorder(SAMPLED, PlainDetokenizer(), record_top=True),
    )
    judged = 0
    for finished in rounds_of(decoder):
        for token in finished.drafted:
            assert token.draft_prob is None
            assert token.top_draft == ()
            if token.outcome is not Outcome.DISCARDED:
                judged += 1
                assert token.accept_prob == token.target_prob == token.overlap
    assert judged > 5


def test_trees_record_rejected_siblings_and_the_accepted_path() -> None:
    sampling = Sampling(temperature=1.0, seed=2)
    decoder = make_decoder(
        MarkovRunner(TARGET),
        MarkovTree(DRAFT, sampling, (3, 2), is_sampled=True),
        gamma=2,
        sampling=sampling,
        max_new_tokens=60,
    )
    num_late = 0
    for finished in rounds_of(decoder):
        drafted = finished.drafted
        path = [node for node, token in enumerate(drafted) if token.outcome is Outcome.ACCEPTED]
        assert [drafted[node].parent for node in path] == [-1, *path[:-1]][: len(path)]
        assert [drafted[node].id for node in path] == [t.id for t in finished.emitted[:-1]]
        for node, token in enumerate(drafted):
            if token.outcome is Outcome.REJECTED:
                assert token.parent in (-1, *path)
                later = [n for n in path if drafted[n].parent == token.parent]
                assert all(n > node for n in later)
                num_late += len(later)
    assert num_late > 0, "a later sibling must have been accepted somewhere"


def test_above_temperature_0_a_dynamic_tree_is_written_down_as_point_masses() -> None:
    """And its top lists show what the draft believed, the siblings among it."""
    sampling = Sampling(temperature=1.0, seed=2)
    size = TreeSize(Tree.DYNAMIC, 3, 9)
    decoder = make_decoder(
        MarkovRunner(TARGET),
        DraftModel(MarkovRunner(DRAFT), sampling, 12, NO_EOS, tree=size),  # type: ignore[arg-type]
        gamma=3,
        sampling=sampling,
        max_new_tokens=40,
        recorder=Recorder(sampling, PlainDetokenizer(), record_top=True),
    )
    tokens = [token for finished in rounds_of(decoder) for token in finished.drafted]
    judged = [token for token in tokens if token.outcome is not Outcome.DISCARDED]
    assert len(judged) < len(tokens)
    assert {token.draft_prob for token in tokens} == {None}
    assert all(token.overlap == pytest.approx(token.accept_prob) for token in judged)
    assert all(token.id in {entry.id for entry in token.top_draft} for token in tokens)


class Slow:
    """Adds known times to a fake clock: 3 ms a draft, 50 ms a target pass, 1000 ms a text."""

    def __init__(self) -> None:
        self.clock = FakeClock()

    def after(self, ms: float, call: Callable[..., object]) -> Callable[..., object]:
        def slow(*args: object, **kwargs: object) -> object:
            self.clock.ms += ms
            return call(*args, **kwargs)

        return slow


def test_times_add_up_and_nothing_is_recorded_inside_the_clock() -> None:
    slow, detokenizer = Slow(), PlainDetokenizer()
    target, draft = MarkovRunner(TARGET), MarkovRunner(DRAFT)
    for thing, name, ms in (
        (target, "forward", 50.0),
        (target, "keep", 2.0),
        (draft, "forward", 3.0),
        (detokenizer, "token_text", 1000.0),
        (detokenizer, "append", 1000.0),
    ):
        setattr(thing, name, slow.after(ms, getattr(thing, name)))
    decoder = make_decoder(
        target,
        DraftModel(draft, SAMPLED, 12, NO_EOS),  # type: ignore[arg-type]
        gamma=4,
        sampling=SAMPLED,
        max_new_tokens=30,
        clock=slow.clock,
        recorder=Recorder(SAMPLED, detokenizer, record_top=True),
    )
    assert decoder.prefill(PROMPT) == 53.0
    while decoder.stop_reason is None:
        finished = decoder.step()
        assert finished.draft_ms == 3.0 * len(finished.drafted)
        assert finished.verify_ms == 50.0
        assert finished.other_ms == 2.0
        assert finished.ms == finished.draft_ms + 52.0
    assert slow.clock.ms > 10_000


@pytest.mark.parametrize("sampling", [Sampling(), SAMPLED], ids=["greedy", "sampled"])
def test_recording_changes_no_token(sampling: Sampling) -> None:
    with_tops, without = (
        rounds_of(markov_lane(sampling, record_top=record_top)) for record_top in (True, False)
    )
    assert [[t.id for t in r.emitted] for r in with_tops] == [
        [t.id for t in r.emitted] for r in without
    ]
    assert any(token.top_target for r in with_tops for token in r.drafted)
    for finished in without:
        for token in (*finished.drafted, *finished.emitted):
            assert token.top_target == ()
        assert all(token.top_draft == token.top_residual == () for token in finished.drafted)


def test_the_same_seed_gives_the_same_rounds_twenty_times() -> None:
    lane = markov_lane()
    first = rounds_of(lane)
    assert all(rounds_of(lane) == first for _ in range(10))
    assert all(rounds_of(markov_lane()) == first for _ in range(10))
    other = rounds_of(markov_lane(replace(SAMPLED, seed=12)))
    assert [r.emitted for r in other] != [r.emitted for r in first]


@either_way
def test_interleaved_lanes_give_what_they_give_alone(is_recorded: bool) -> None:
    settings = [(SAMPLED, 4), (replace(SAMPLED, seed=5), 2), (Sampling(), 3)]
    alone = [rounds_of(markov_lane(sampling, gamma=gamma)) for sampling, gamma in settings]
    lanes = [
        markov_lane(sampling, gamma=gamma, is_recorded=is_recorded) for sampling, gamma in settings
    ]
    for lane in lanes:
        lane.prefill(PROMPT)
    together: list[list[Round]] = [[] for _ in lanes]
    for _ in zip_longest(*alone):
        for number, lane in enumerate(lanes):
            if lane.stop_reason is None:
                together[number].append(timeless(lane.step()))
    assert together == alone


def test_lanes_of_one_model_share_weights_and_nothing_else() -> None:
    config = LlamaConfig(
        vocab_size=30,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=128,
        eos_token_id=None,
    )
    model, sampling = random_model(config, 1), Sampling(temperature=1.0, seed=3)

    def lane() -> Decoder:
        draft: Proposer = DraftModel(ModelRunner(model), sampling, 30, NO_EOS)
        return make_decoder(
            ModelRunner(model), draft, gamma=3, sampling=sampling, max_new_tokens=20
        )

    alone = rounds_of(lane(), (3, 4, 5))
    first, second = lane(), lane()
    first.prefill((3, 4, 5))
    second.prefill((9, 8))
    rounds = []
    while first.stop_reason is None:
        rounds.append(timeless(first.step()))
        if second.stop_reason is None:
            second.step()
    assert rounds == alone


@pytest.mark.parametrize("sampling", [Sampling(temperature=1.3, seed=seed) for seed in range(4)])
def test_texts_joined_are_the_decoded_output(sampling: Sampling) -> None:
    """Bytes of random characters: tokens hold parts of characters all the time."""
    tokenizer = byte_tokenizer()
    wide = "Übermut 東京 🦊 naïve " * 6
    ids = tokenizer.encode(wide)

    class Wish:
        """A target that writes `ids`, whatever is drafted."""

        def forward(self, all_ids: list[int], num_logits: int) -> torch.Tensor:
            logits = torch.zeros(num_logits, len(tokenizer))
            for row in range(num_logits):
                place = len(all_ids) - num_logits + row
                logits[row, ids[min(place, len(ids) - 1)]] = 12.0
            return logits

        def reset(self) -> None: ...

        def keep(self, num_committed: int, path: tuple[int, ...]) -> None: ...

    class Guess:
        def reset(self, prompt_ids: object) -> None: ...

        def propose(self, committed_ids: list[int], gamma: int, chance: Chance) -> Proposal:
            start = len(committed_ids) - 1
            tokens = ids[start : start + gamma]
            return Proposal(tuple(tokens), tuple(range(-1, len(tokens) - 1)))

    decoder = make_decoder(
        Wish(),
        Guess(),
        gamma=3,
        sampling=sampling,
        max_new_tokens=len(ids),
        recorder=Recorder(sampling, IncrementalDetokenizer(tokenizer), record_top=False),
    )
    joined = "".join(t.text for r in rounds_of(decoder, (5,)) for t in r.emitted)
    expected = tokenizer.decode(decoder.output_ids, skip_special_tokens=True)
    assert joined == expected.rstrip("\N{REPLACEMENT CHARACTER}") or joined == expected
    if sampling.seed == 0:
        assert "🦊" in joined
