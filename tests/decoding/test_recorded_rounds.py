"""Rounds recorded from the first draft to the last flag are those of drafting step by step."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import pytest
import torch
from fakes import MarkovRunner, PlainDetokenizer, make_decoder, random_table
from static_fakes import FakeGraphs, StaticMarkov, recorded_lane
from tiny_models import CONTEXT, SHAPES, VOCAB, tiny_model

from specviz.decoding.decoder import Decoder
from specviz.decoding.model_runner import ModelRunner
from specviz.decoding.proposers.draft_model import DraftModel
from specviz.decoding.recorded_rounds import RecordedRounds
from specviz.decoding.recorder import Recorder
from specviz.decoding.sampling import SeededChance
from specviz.decoding.static_runner import StaticRunner
from specviz.errors import DecodingError
from specviz.trace.values import DraftToken, EmittedToken, Outcome, Round, Sampling, TopToken

SAMPLINGS = [
    Sampling(),
    Sampling(temperature=1.0, seed=3),
    Sampling(temperature=0.7, top_k=9, seed=4),
    Sampling(temperature=1.3, top_p=0.8, seed=5),
]
NUM_TOKENS = 40
NOISE = {"gemma2": 0.03, "gpt2": 0.12}
PROMPTS = ((3, 1, 4, 1, 5), (9, 2, 6, 5, 3, 5, 8, 9, 7, 9), (7,))
TARGET, DRAFT = random_table(12, 1), random_table(12, 2) + 0.6 * random_table(12, 1)


def rounds_of(decoder: Decoder, prompt: Sequence[int]) -> list[Round]:
    decoder.prefill(prompt)
    rounds = []
    while decoder.stop_reason is None:
        rounds.append(decoder.step())
    return rounds


def plain_lane(
    shape: str, gamma: int, sampling: Sampling, dtype: torch.dtype, eos_ids: Iterable[int] = ()
) -> Decoder:
    target, draft = models(shape, dtype)
    ends = frozenset(eos_ids)
    return make_decoder(
        ModelRunner(target),
        DraftModel(ModelRunner(draft), sampling, VOCAB, ends),
        gamma=gamma,
        sampling=sampling,
        max_new_tokens=NUM_TOKENS,
        eos_ids=ends,
        context=CONTEXT,
        recorder=recorder(sampling),
    )


def models(shape: str, dtype: torch.dtype) -> tuple[object, object]:
    return tiny_model(shape, dtype=dtype), tiny_model(
        shape, noise=NOISE.get(shape, 0.06), dtype=dtype
    )


def recorder(sampling: Sampling) -> Recorder:
    return Recorder(sampling, PlainDetokenizer(), record_top=True)


def static_lane(
    shape: str, gamma: int, sampling: Sampling, dtype: torch.dtype, eos_ids: Iterable[int] = ()
) -> tuple[Decoder, FakeGraphs]:
    graphs, widths = FakeGraphs(), (1, 2, 4, gamma + 1)
    target, draft = (
        StaticRunner(model, CONTEXT, widths, graphs)  # type: ignore[arg-type]
        for model in models(shape, dtype)
    )
    target.prepare()
    draft.prepare()
    lane = recorded_lane(
        target,
        draft,
        gamma=gamma,
        sampling=sampling,
        eos_ids=eos_ids,
        max_new_tokens=NUM_TOKENS,
        context=CONTEXT,
        recorder=recorder(sampling),
    )
    graphs.may_capture = False
    return lane, graphs


def assert_same(found: list[Round], expected: list[Round], tolerance: float) -> None:
    """Ids, fates and draws are the same to the last bit; probabilities but for rounding."""
    assert len(found) == len(expected)
    for left, right in zip(found, expected, strict=True):
        assert (left.index, left.position, left.gamma) == (right.index, right.position, right.gamma)
        _assert_rows_same(left.drafted, right.drafted, tolerance)
        _assert_rows_same(left.emitted, right.emitted, tolerance)


def _assert_rows_same(
    found: Sequence[DraftToken | EmittedToken],
    expected: Sequence[DraftToken | EmittedToken],
    tolerance: float,
) -> None:
    assert len(found) == len(expected)
    for left, right in zip(found, expected, strict=True):
        for name in left.__dataclass_fields__:
            ours, theirs = getattr(left, name), getattr(right, name)
            if name == "draw":
                assert ours == theirs
            elif isinstance(ours, float):
                assert ours == pytest.approx(theirs, abs=tolerance, rel=tolerance)
            elif name.startswith("top_"):
                assert _probs(ours) == pytest.approx(_probs(theirs), abs=tolerance)
            else:
                assert ours == theirs


def _probs(top: Sequence[TopToken]) -> list[float]:
    return [token.prob for token in top]


CASES = [
    *((shape, 4, torch.float64) for shape in SHAPES),
    *(("llama", gamma, torch.float64) for gamma in (1, 8)),
    *((shape, 4, torch.float32) for shape in ("llama", "gpt2")),
]


@pytest.mark.parametrize("sampling", SAMPLINGS, ids=str)
@pytest.mark.parametrize(("shape", "gamma", "dtype"), CASES, ids=str)
def test_a_seed_gives_the_run_of_the_growing_form(
    shape: str, gamma: int, dtype: torch.dtype, sampling: Sampling
) -> None:
    tolerance = 1e-9 if dtype == torch.float64 and shape != "gemma2" else 1e-3
    fates: set[Outcome] = set()
    recorded, graphs = static_lane(shape, gamma, sampling, dtype)
    plain = plain_lane(shape, gamma, sampling, dtype)
    for prompt in PROMPTS:
        expected = rounds_of(plain, prompt)
        assert_same(rounds_of(recorded, prompt), expected, tolerance)
        fates |= {token.outcome for each in expected for token in each.drafted}
    assert graphs.num_replays > 0
    assert {Outcome.ACCEPTED, Outcome.REJECTED} <= fates


@pytest.mark.parametrize("sampling", SAMPLINGS, ids=str)
def test_what_was_drafted_behind_an_end_token_was_not_drawn(sampling: Sampling) -> None:
    """End tokens in the middle of a draft, accepted and rejected; the numbers go on as ever."""
    plain = plain_lane("llama", 6, sampling, torch.float64)
    for prompt in PROMPTS[:2]:
        text = [token.id for each in rounds_of(plain, prompt) for token in each.emitted]
        for seed in range(3):
            chosen = replace(sampling, seed=seed)
            ends = {text[-1 - seed], (text[5] + 1) % VOCAB, (text[9] + 7) % VOCAB}
            recorded, _ = static_lane("llama", 6, chosen, torch.float64, ends)
            expected = rounds_of(plain_lane("llama", 6, chosen, torch.float64, ends), prompt)
            assert_same(rounds_of(recorded, prompt), expected, 1e-9)


def test_rounds_are_recorded_ones_but_for_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    played: list[int] = []
    play = RecordedRounds.play

    def noted(self: RecordedRounds, committed_ids: Sequence[int], gamma: int) -> object:
        played.append(len(committed_ids) - len(PROMPTS[0]))
        return play(self, committed_ids, gamma)

    monkeypatch.setattr(RecordedRounds, "play", noted)
    lane, _ = static_lane("llama", 4, SAMPLINGS[1], torch.float64)
    rounds = rounds_of(lane, PROMPTS[0])
    assert played == [each.position for each in rounds if each.position < NUM_TOKENS - 4]
    assert len(played) > len(rounds) / 2


@pytest.mark.parametrize("num_rows", [9, 12, 15])
@pytest.mark.parametrize("sampling", SAMPLINGS[:2], ids=str)
def test_a_draft_of_another_vocabulary_size(sampling: Sampling, num_rows: int) -> None:
    draft = random_table(num_rows, 2)
    size = min(num_rows, 12)
    draft[:size, :size, :size] += TARGET[:size, :size, :size]
    recorded = recorded_lane(
        StaticMarkov(TARGET, 4),
        StaticMarkov(draft, 4),
        gamma=4,
        sampling=sampling,
        max_new_tokens=40,
    )
    plain = make_decoder(
        MarkovRunner(TARGET),
        DraftModel(MarkovRunner(draft), sampling, 12, frozenset()),  # type: ignore[arg-type]
        gamma=4,
        sampling=sampling,
        max_new_tokens=40,
    )
    for prompt in ((1, 0), (11, 10, 3)):
        assert_same(rounds_of(recorded, prompt), rounds_of(plain, prompt), 1e-12)


def test_numbers_that_a_round_left_are_drawn_by_the_next() -> None:
    chance, again = SeededChance(5), SeededChance(5)
    expected = [again.uniform() for _ in range(12)]
    assert chance.peek(7) == expected[:7]
    assert chance.peek(3) == expected[:3]
    chance.skip(2)
    assert chance.uniform() == expected[2]
    assert chance.peek(9) == expected[3:12]
    chance.reset()
    assert chance.uniform() == expected[0]


@pytest.mark.parametrize("who", ["target", "draft"])
@pytest.mark.parametrize("sampling", SAMPLINGS[:2], ids=str)
def test_logits_that_are_not_numbers_end_the_lane(sampling: Sampling, who: str) -> None:
    tables = {"target": TARGET.clone(), "draft": DRAFT.clone()}
    tables[who][:] = torch.nan
    lane = recorded_lane(
        StaticMarkov(tables["target"], 3), StaticMarkov(tables["draft"], 3), gamma=3,
        sampling=sampling, max_new_tokens=20,
    )  # fmt: skip
    lane.prefill((1, 2))
    with pytest.raises(DecodingError, match="not numbers"):
        lane.step()


@pytest.mark.parametrize("sampling", SAMPLINGS[:2], ids=str)
def test_logits_behind_an_end_token_are_nobodys_business(sampling: Sampling) -> None:
    """The chain goes on behind it, where drafting step by step stops."""
    table = torch.full((12, 12, 12), -torch.inf, dtype=torch.float64)
    for token in range(12):
        table[:, token, (token + 1) % 12] = 0.0
    table[6, 7] = torch.nan
    lane = recorded_lane(
        StaticMarkov(table, 4), StaticMarkov(table, 4), gamma=4, sampling=sampling,
        eos_ids=(6,), max_new_tokens=20,
    )  # fmt: skip
    rounds = rounds_of(lane, (3, 4))
    assert [token.id for token in rounds[0].drafted] == [5, 6]
    assert lane.output_ids == (5, 6)
