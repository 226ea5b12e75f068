"""Lanes whose draft model has another tokenizer than the target, from the request to the trace."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch
from fakes import make_decoder, run_to_end
from other_tokenizers import GIVE_BACK, HOSTILE, LARGE, OTHER, PAIRS, SENTENCE, WORDS, bridge
from test_lanes import BASELINE, REQUEST, FakePool, build, llama, run
from test_wiring import race
from tiny_models import byte_tokenizer
from transformers import Lfm2Config, PreTrainedTokenizerFast

from specviz.decoding.model_runner import ModelRunner
from specviz.decoding.proposers.no_draft import NoDraft
from specviz.decoding.proposers.retokenised_draft import RetokenisedDraft
from specviz.decoding.proposers.shared_draft import SharedDraft
from specviz.errors import IncompatibleModelError, RequestError
from specviz.models.compatibility import translation_for
from specviz.models.cut_text import TextCutter
from specviz.models.loading import LoadedModel
from specviz.models.shared_tokens import ORDINARY, shared_tokens
from specviz.race.lanes import encode_prompt
from specviz.race.translations import shared_ids
from specviz.race.validation import check_request
from specviz.trace.files import dumps, loads
from specviz.trace.names import lane_names
from specviz.trace.values import LaneSpec, Method, Outcome, Rule, Sampling, Schedule, Translation

DRAFTED = LaneSpec("drafted", Method.DRAFT_MODEL, "target", draft="draft", gamma=3)
TEXT = replace(DRAFTED, translation=Translation.TEXT)
WARM = replace(REQUEST, sampling=Sampling(temperature=0.8, seed=3))


def pool_of(draft: PreTrainedTokenizerFast, **changes: Any) -> FakePool:
    context = {"max_position_embeddings": 400}
    pool = FakePool(
        target=llama(**context),
        draft=llama(**{"num_hidden_layers": 1, "vocab_size": 352, **context, **changes}),
        hybrid=lambda: Lfm2Config(
            vocab_size=320,
            hidden_size=16,
            intermediate_size=16,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=2,
            layer_types=["conv", "full_attention"],
            eos_token_id=None,
        ),
    )
    return pool.with_tokenizer("draft", draft).with_tokenizer("hybrid", draft)


class Checked(ModelRunner):
    """Holds the logits of every `forward` against a pass over the whole text."""

    num_checked = 0

    def forward(self, ids: Sequence[int], num_logits: int) -> torch.Tensor:
        logits = super().forward(ids, num_logits)
        whole = self.model(torch.tensor([list(ids)])).logits[0, -num_logits:]
        assert torch.allclose(logits, whole, atol=1e-9)
        Checked.num_checked += 1
        return logits


@pytest.mark.parametrize("translation", list(Translation))
@pytest.mark.parametrize("draft", [OTHER, SENTENCE], ids=["other", "sentence"])
def test_greedy_text_is_the_baseline_s_and_caches_are_right(
    draft: PreTrainedTokenizerFast, translation: Translation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Checked, "num_checked", 0)
    pool = pool_of(draft)
    for text in ("the fox and the fox", HOSTILE["emoji"]):
        request = replace(REQUEST, prompt=text, max_new_tokens=16)
        prompt = encode_prompt(request, pool.get("target"))
        plain = run(build(BASELINE, request, pool), prompt)
        for gamma in (1, 4):
            spec = replace(DRAFTED, gamma=gamma, translation=translation)
            decoder = build(spec, request, pool)
            proposer: Any = decoder._proposer
            proposer.runner = Checked(pool.get("draft").model)
            assert run(decoder, prompt) == plain
    assert Checked.num_checked > 60


def test_a_hybrid_draft_of_another_tokenizer_keeps_its_states() -> None:
    pool = pool_of(OTHER)
    request = replace(REQUEST, max_new_tokens=24)
    prompt = encode_prompt(request, pool.get("target"))
    decoder = build(replace(TEXT, draft="hybrid"), request, pool)
    proposer: Any = decoder._proposer
    proposer.runner = Checked(pool.get("hybrid").model)
    assert run(decoder, prompt) == run(build(BASELINE, request, pool), prompt)


def test_a_word_tokenizer_drafts_too() -> None:
    pool = pool_of(WORDS)
    prompt = encode_prompt(REQUEST, pool.get("target"))
    assert run(build(DRAFTED, REQUEST, pool), prompt) == run(build(BASELINE, REQUEST, pool), prompt)


class Reciter:
    """A model that goes on with a known text, and at some of its own tokens with another one."""

    context = None
    device = torch.device("cpu")

    def __init__(self, tokenizer: PreTrainedTokenizerFast, text: str, wrong_every: int = 0) -> None:
        self.vocab_size = len(tokenizer)
        self._cutter, self._eos = TextCutter(tokenizer), tokenizer.eos_token_id
        self._text, self._wrong_every = text, wrong_every
        self._ids = self._cutter.begin(text)

    def reset(self) -> None:
        """Nothing is kept."""

    def keep(self, num_committed: int, path: Sequence[int]) -> None:
        """Nothing is kept."""

    def expect_return_to(self, num_tokens: int) -> None:
        """Nothing is kept."""

    def forward(self, ids: Sequence[int], num_logits: int) -> torch.Tensor:
        ends = range(len(ids) - num_logits + 1, len(ids) + 1)
        wanted = torch.tensor([self._next(list(ids[:end])) for end in ends])
        return torch.nn.functional.one_hot(wanted, self.vocab_size).double()

    def _next(self, ids: list[int]) -> int:
        if self._wrong_every and len(ids) % self._wrong_every == 0:
            return self._cutter.go_on("x")[0]
        if ids == self._ids[: len(ids)]:
            return [*self._ids, self._eos][len(ids)]
        rest = self._text[len(self._cutter.text(ids)) :]
        return self._cutter.go_on(rest)[0] if rest else self._eos


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("names", PAIRS[1::2], ids="-".join)
def test_half_right_drafts_of_a_hostile_text(names: tuple[str, str], text: str) -> None:
    target, draft = (GIVE_BACK[name] for name in names)
    whole = "the fox said: " + HOSTILE[text] * 2
    ids = TextCutter(target).begin(whole)
    prompt, eos = ids[:5], frozenset({target.eos_token_id})
    settings: dict[str, Any] = {"max_new_tokens": len(ids), "eos_ids": eos}
    plain = run_to_end(make_decoder(Reciter(target, whole), NoDraft(), gamma=0, **settings), prompt)
    assert plain == (*ids[5:], target.eos_token_id)
    between, shared = bridge(target, draft), shared_tokens(target, draft)
    for wrong_every in (0, 7):
        runner: Any = Reciter(draft, whole, wrong_every)
        kept = {}
        for proposer in (
            RetokenisedDraft(runner, between),
            SharedDraft(runner, between, shared, Sampling(), len(target), eos),
        ):
            decoder = make_decoder(Reciter(target, whole), proposer, gamma=4, **settings)
            decoder.prefill(prompt)
            rounds = []
            while decoder.stop_reason is None:
                rounds.append(decoder.step())
            assert decoder.output_ids == plain
            judged = [x.outcome for each in rounds for x in each.drafted]
            kept[type(proposer)] = judged.count(Outcome.ACCEPTED)
            assert wrong_every == 0 or Outcome.REJECTED in judged
        num_kept = kept[RetokenisedDraft]
        if wrong_every == 0:
            # All but what stands at the end of a round, and nothing inside a character.
            assert num_kept >= 0.5 * len(plain)
        else:
            assert 0.2 * len(plain) < num_kept < len(plain)


def test_how_a_draft_is_translated_follows_from_tokenizers_and_temperature() -> None:
    def loaded(tokenizer: PreTrainedTokenizerFast) -> LoadedModel:
        model: Any = None
        return LoadedModel("model", model, tokenizer, frozenset())

    old = LARGE._tokenizer
    twin = PreTrainedTokenizerFast(tokenizer_object=type(old).from_str(old.to_str()))
    twin.add_tokens([f"<{number}>" for number in range(20)])
    for temperature in (0.0, 1.0):
        assert translation_for(loaded(LARGE), loaded(LARGE), temperature) is None
        for target, far in ((LARGE, WORDS), (byte_tokenizer(400, ORDINARY), OTHER)):
            assert translation_for(loaded(target), loaded(far), temperature) is Translation.TEXT
    for near in (twin, OTHER):
        assert translation_for(loaded(LARGE), loaded(near), 0.0) is Translation.TEXT
        assert translation_for(loaded(LARGE), loaded(near), 1.0) is Translation.SHARED


def test_a_race_notes_how_its_draft_was_translated() -> None:
    lanes = (BASELINE, DRAFTED, replace(DRAFTED, name="same", draft="target"))
    for request, noted in ((REQUEST, Translation.TEXT), (WARM, Translation.SHARED)):
        trace = race(replace(request, lanes=lanes), pool_of(OTHER))
        assert [lane.spec.translation for lane in trace.lanes] == [None, noted, None]
        tokens = [x for each in trace.lanes[1].rounds for x in each.drafted]
        assert all((x.draft_prob is None) == (noted is Translation.TEXT) for x in tokens)
        assert loads(dumps(trace)) == trace
    trace = race(replace(WARM, lanes=(BASELINE, TEXT)), pool_of(OTHER))
    assert trace.lanes[1].spec.translation is Translation.TEXT
    assert all(x.draft_prob is None for each in trace.lanes[1].rounds for x in each.drafted)


@pytest.mark.parametrize("schedule", list(Schedule))
def test_every_schedule_takes_such_a_draft(schedule: Schedule) -> None:
    pool = pool_of(OTHER)
    prompt = encode_prompt(REQUEST, pool.get("target"))
    plain = run(build(BASELINE, REQUEST, pool), prompt)
    for translation in Translation:
        spec = replace(DRAFTED, schedule=schedule, translation=translation)
        assert run(build(spec, REQUEST, pool), prompt) == plain


def test_the_context_of_the_draft_is_not_passed() -> None:
    """It reads more tokens of its own than the target does."""
    pool = pool_of(OTHER, max_position_embeddings=24)
    request = replace(REQUEST, max_new_tokens=40)
    prompt = encode_prompt(request, pool.get("target"))
    for translation in Translation:
        decoder = build(replace(DRAFTED, translation=translation), request, pool)
        assert run(decoder, prompt) == run(build(BASELINE, request, pool), prompt)


def test_what_cannot_be_translated_is_refused() -> None:
    with pytest.raises(IncompatibleModelError, match="share no tokens"):
        build(replace(DRAFTED, translation=Translation.SHARED), WARM, pool_of(WORDS))
    wrong = replace(TEXT, rule=Rule.ARGMAX_SOFTMAX)
    with pytest.raises(IncompatibleModelError, match="are over other tokens than target's"):
        build(wrong, WARM, pool_of(OTHER))
    copied = LaneSpec(None, Method.PROMPT_LOOKUP, "target", gamma=2, translation=Translation.TEXT)
    with pytest.raises(RequestError, match="leave translation out"):
        check_request(replace(REQUEST, lanes=(BASELINE, copied)))


def test_ends_of_both_models_are_shared_and_rows_that_are_not_there_are_not() -> None:
    pool = pool_of(OTHER)
    target = replace(pool.get("target"), eos_ids=frozenset({LARGE.eos_token_id}))
    draft = replace(pool.get("draft"), eos_ids=frozenset({OTHER.eos_token_id}))
    shared = shared_ids(target, draft, 320)
    assert shared[OTHER.eos_token_id] == LARGE.eos_token_id
    assert max(shared_ids(target, draft, 100).values()) < 100


def test_names_of_translated_lanes() -> None:
    lanes = [replace(DRAFTED, name=None, translation=each) for each in (None, *Translation)]
    assert lane_names([BASELINE, *lanes])[1:] == (
        "target + draft model",
        "target + draft model (through its text)",
        "target + draft model (shared tokens)",
    )
