"""Where lanes begin and end: end tokens, lengths, contexts, vocabularies."""

from collections.abc import Sequence

import pytest
import torch
from fakes import (
    MarkovRunner,
    ScriptedProposer,
    make_decoder,
    one_hot_table,
    random_table,
    run_to_end,
)
from tiny_models import CONTEXT, VOCAB, random_model, tiny_model
from transformers import GPT2Config

from specviz.decoding.decoder import Decoder
from specviz.decoding.model_runner import ModelRunner
from specviz.decoding.proposal import Proposal, Proposer
from specviz.decoding.proposers.draft_model import DraftModel
from specviz.decoding.proposers.early_exit import EarlyExit
from specviz.decoding.proposers.no_draft import NoDraft
from specviz.decoding.proposers.prompt_lookup import PromptLookup
from specviz.decoding.sampling import Chance
from specviz.decoding.split_runner import SplitRunner
from specviz.trace.values import Outcome, Round, Sampling, Source, StopReason

NO_EOS: frozenset[int] = frozenset()
GREEDY = Sampling()


def counting_table(vocab_size: int = 12) -> torch.Tensor:
    """The token after n is n + 1, for certain: texts are easy to foresee."""
    table = torch.full((vocab_size,) * 3, -torch.inf, dtype=torch.float64)
    for token in range(vocab_size):
        table[:, token, (token + 1) % vocab_size] = 0.0
    return table


def counting(script: list[int], *, gamma: int = 4, **kwargs: object) -> Decoder:
    """A lane that counts up from 0; `script` is drafted."""
    return make_decoder(
        MarkovRunner(counting_table()),
        ScriptedProposer(1, script),
        gamma=gamma,
        **kwargs,  # type: ignore[arg-type]
    )


def rounds_of(decoder: Decoder, prompt: tuple[int, ...] = (0,)) -> list[Round]:
    decoder.prefill(prompt)
    rounds = []
    while decoder.stop_reason is None:
        rounds.append(decoder.step())
    return rounds


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("eos", [1, 2, 3, 4, 5])
def test_an_end_token_anywhere_in_a_block_ends_the_text_there(eos: int, temperature: float) -> None:
    """γ 4 drafts 1 2 3 4, the bonus is 5: the end as first, middle, last draft, and as bonus."""
    decoder = counting(
        [1, 2, 3, 4, 5, 6, 7, 8],
        sampling=Sampling(temperature=temperature),
        eos_ids=frozenset({eos}),
        max_new_tokens=8,
    )
    (only,) = rounds_of(decoder)
    assert decoder.output_ids == tuple(range(1, eos + 1))
    assert decoder.stop_reason is StopReason.EOS
    assert [token.id for token in only.emitted] == list(range(1, eos + 1))
    fates = [token.outcome for token in only.drafted]
    assert fates == [Outcome.ACCEPTED] * min(eos, 4) + [Outcome.DISCARDED] * max(0, 4 - eos)
    assert only.emitted[-1].source is (Source.BONUS if eos == 5 else Source.DRAFT)
    assert decoder._target._ids == [0, *range(1, min(eos, 4) + 1)]


def test_an_end_token_as_the_correction() -> None:
    decoder = counting([1, 9, 9, 9], eos_ids=frozenset({2}))
    (only,) = rounds_of(decoder)
    assert decoder.output_ids == (1, 2)
    assert [t.outcome for t in only.drafted] == [
        Outcome.ACCEPTED,
        Outcome.REJECTED,
        Outcome.DISCARDED,
        Outcome.DISCARDED,
    ]
    assert only.emitted[-1].source is Source.CORRECTION
    assert decoder.stop_reason is StopReason.EOS


def test_an_end_token_that_was_drafted_but_rejected_ends_nothing() -> None:
    decoder = counting([1, 9, 9, 9], eos_ids=frozenset({9}), max_new_tokens=4)
    decoder.prefill((0,))
    decoder.step()
    assert decoder.stop_reason is None
    assert decoder.output_ids == (1, 2)


def test_drafts_rejected_behind_an_end_token_count_as_discarded() -> None:
    decoder = counting([1, 2, 9, 9], eos_ids=frozenset({2}))
    (only,) = rounds_of(decoder)
    assert [t.outcome for t in only.drafted] == [Outcome.ACCEPTED] * 2 + [Outcome.DISCARDED] * 2
    assert all(t.target_prob is None and t.draw is None for t in only.drafted[2:])


def test_several_end_tokens_and_none() -> None:
    several = counting([1, 2, 3, 4, 5], eos_ids=frozenset({7, 3, 5}))
    run_to_end(several, (0,))
    assert several.output_ids == (1, 2, 3)
    none = counting(list(range(1, 12)), max_new_tokens=9)
    assert run_to_end(none, (0,)) == tuple(range(1, 10))
    assert none.stop_reason is StopReason.LENGTH


def test_an_end_token_in_the_prompt_ends_nothing() -> None:
    decoder = make_decoder(
        MarkovRunner(counting_table()),
        ScriptedProposer(3, [4, 5, 6, 7, 8]),
        gamma=2,
        eos_ids=frozenset({2, 3}),
        max_new_tokens=4,
    )
    assert run_to_end(decoder, (2, 2, 3)) == (4, 5, 6, 7)


@pytest.mark.parametrize("gamma", [1, 3, 8])
@pytest.mark.parametrize("extra", [None, 0, 1, 2, 5])
def test_never_more_than_max_new_tokens(gamma: int, extra: int | None) -> None:
    """1, 2, γ, γ + 1, γ + 2, γ + 5 tokens: all emitted, none too many."""
    for max_new_tokens in {1, 2} if extra is None else {gamma + extra}:
        decoder = counting(
            [(n + 1) % 12 for n in range(40)], gamma=gamma, max_new_tokens=max_new_tokens
        )
        rounds = rounds_of(decoder)
        assert len(decoder.output_ids) == max_new_tokens
        assert decoder.stop_reason is StopReason.LENGTH
        assert sum(len(r.emitted) for r in rounds) == max_new_tokens
        for finished in rounds:
            assert len(finished.drafted) == finished.gamma
            assert finished.gamma == min(gamma, max_new_tokens - finished.position - 1)
            accepted = [t for t in finished.drafted if t.outcome is Outcome.ACCEPTED]
            assert len(finished.emitted) == len(accepted) + 1


def test_the_last_token_of_all_is_a_plain_one() -> None:
    decoder = counting([1], gamma=4, max_new_tokens=1)
    (only,) = rounds_of(decoder)
    assert only.drafted == ()
    assert only.emitted[0].source is Source.TARGET


def test_an_ended_lane_refuses_another_round_and_an_empty_prompt_is_refused() -> None:
    decoder = counting([1], max_new_tokens=1)
    with pytest.raises(ValueError, match="at least one token"):
        decoder.prefill(())
    run_to_end(decoder, (0,))
    with pytest.raises(ValueError, match="has ended"):
        decoder.step()


def test_a_lane_can_be_started_again() -> None:
    decoder = counting([1, 2, 3, 4, 5, 6], max_new_tokens=4)
    first = rounds_of(decoder)
    assert rounds_of(decoder) == first


@pytest.mark.parametrize("method", ["baseline", "draft", "lookup", "exit"])
@pytest.mark.parametrize("gamma", [1, 8])
def test_the_context_is_filled_and_never_passed(method: str, gamma: int) -> None:
    """Positions past the limit raise no error in transformers: the decoder has to stop itself."""
    model = tiny_model("llama")
    runner = SplitRunner(model, 1) if method == "exit" else ModelRunner(model)
    largest = 0
    # Early exit runs its layers in part; every other lane goes through one call.
    owner, name = (runner._lean, "run_layers") if method == "exit" else (runner, "_call")
    call = getattr(owner, name)
    where = 3 if method == "exit" else 1

    def watched(*args: object, **kwargs: object) -> torch.Tensor:
        nonlocal largest
        largest = max(largest, *args[where])  # type: ignore[misc]
        result: torch.Tensor = call(*args, **kwargs)
        return result

    setattr(owner, name, watched)
    proposers: dict[str, Proposer] = {
        "baseline": NoDraft(),
        "draft": DraftModel(ModelRunner(model), GREEDY, VOCAB, NO_EOS),
        "lookup": PromptLookup(4, NO_EOS),
    }
    proposer = EarlyExit(runner, GREEDY, NO_EOS) if method == "exit" else proposers[method]  # type: ignore[arg-type]
    decoder = make_decoder(
        runner, proposer, gamma=gamma, max_new_tokens=1000, context=runner.context
    )
    prompt = [3, 4, 5] * 36
    output = run_to_end(decoder, prompt)
    assert len(prompt) + len(output) == CONTEXT
    assert decoder.stop_reason is StopReason.CONTEXT
    assert largest == CONTEXT - 2


def gpt2(context: int, vocab_size: int = VOCAB) -> ModelRunner:
    config = GPT2Config(
        vocab_size=vocab_size,
        n_embd=16,
        n_layer=1,
        n_head=2,
        n_positions=context,
        eos_token_id=None,
    )
    return ModelRunner(random_model(config, 3))


@pytest.mark.parametrize("num_prompt", [4, 11, 12, 30])
def test_a_draft_with_a_smaller_context_stops_drafting_in_time(num_prompt: int) -> None:
    """Learned positions would raise an IndexError past the end."""
    target = ModelRunner(tiny_model("llama"))
    plain = make_decoder(target, NoDraft(), gamma=0, max_new_tokens=14)
    prompt = list(range(2, 2 + num_prompt))
    expected = run_to_end(plain, prompt)
    draft = DraftModel(gpt2(12), GREEDY, VOCAB, NO_EOS)
    decoder = make_decoder(target, draft, gamma=4, max_new_tokens=14)
    rounds = rounds_of(decoder, tuple(prompt))
    assert decoder.output_ids == expected
    assert all(bool(r.drafted) == (num_prompt + r.position < 12) for r in rounds if r.gamma > 0)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("vocab_size", [VOCAB - 20, VOCAB + 16])
def test_a_draft_with_more_or_fewer_rows(vocab_size: int, temperature: float) -> None:
    """Its extra ids are never drafted, and it reads the target's as best it can."""
    sampling = Sampling(temperature=temperature, seed=3)
    target = ModelRunner(tiny_model("llama"))
    draft = DraftModel(gpt2(CONTEXT, vocab_size), sampling, VOCAB, NO_EOS)
    decoder = make_decoder(target, draft, gamma=4, sampling=sampling, max_new_tokens=40)
    rounds = rounds_of(decoder, (47, 46, 3))
    assert len(decoder.output_ids) == 40
    assert max(decoder.output_ids) >= VOCAB - 20
    drafted = [token.id for finished in rounds for token in finished.drafted]
    assert drafted
    assert max(drafted) < VOCAB


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_one_token_prompt(temperature: float) -> None:
    model, sampling = tiny_model("llama"), Sampling(temperature=temperature)
    for proposer in (NoDraft(), DraftModel(ModelRunner(model), sampling, VOCAB, NO_EOS)):
        decoder = make_decoder(
            ModelRunner(model), proposer, gamma=3, sampling=sampling, max_new_tokens=5
        )
        assert len(run_to_end(decoder, (3,))) == 5


def test_no_match_means_a_plain_step_with_the_target_as_source() -> None:
    decoder = make_decoder(
        MarkovRunner(counting_table()), PromptLookup(4, NO_EOS), gamma=4, max_new_tokens=3
    )
    for finished in rounds_of(decoder):
        assert finished.drafted == ()
        assert [token.source for token in finished.emitted] == [Source.TARGET]


def test_a_certain_target_is_followed_at_any_temperature() -> None:
    table = one_hot_table(6, 3)
    outputs = set()
    for temperature in (0.0, 1.0):
        sampling = Sampling(temperature=temperature)
        draft = DraftModel(MarkovRunner(random_table(6, 2)), sampling, 6, NO_EOS)  # type: ignore[arg-type]
        decoder = make_decoder(
            MarkovRunner(table), draft, gamma=3, sampling=sampling, max_new_tokens=20
        )
        outputs.add(run_to_end(decoder, (1, 2)))
    assert len(outputs) == 1


class WatchedProposer(ScriptedProposer):
    """Notes in which of its calls torch would have recorded gradients."""

    def __init__(self, script: list[int]) -> None:
        super().__init__(1, script)
        self.recorded: set[str] = set()

    def _note(self, call: str) -> None:
        if not torch.is_inference_mode_enabled():
            self.recorded.add(call)

    def reset(self, prompt_ids: Sequence[int]) -> None:
        self._note("reset")

    def propose(self, committed_ids: Sequence[int], gamma: int, chance: Chance) -> Proposal:
        self._note("propose")
        return super().propose(committed_ids, gamma, chance)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_drafting_runs_in_inference_mode_as_verifying_does(temperature: float) -> None:
    proposer = WatchedProposer([1, 9])
    decoder = make_decoder(
        MarkovRunner(counting_table()),
        proposer,
        gamma=2,
        sampling=Sampling(temperature=temperature),
        max_new_tokens=3,
    )
    rounds_of(decoder)
    assert proposer.recorded == set()
    assert not torch.is_inference_mode_enabled()
