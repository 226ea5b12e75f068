"""The one callable that views are given: whole races on tiny models."""

import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import torch
from test_lanes import BASELINE, POOL, REQUEST, SPECS, FakePool, llama
from tiny_models import byte_tokenizer

from specviz.decoding.model_runner import ModelRunner
from specviz.decoding.noise import LogitNoise
from specviz.errors import IncompatibleModelError, ModelLoadError, PromptError, RequestError
from specviz.models import threads
from specviz.models.loading import ModelPool
from specviz.race.eagle_heads import read_head
from specviz.race.lanes import encode_prompt
from specviz.race.wiring import make_check_request, make_start_race
from specviz.trace.values import (
    Event,
    LaneSpec,
    LaneTrace,
    Method,
    ModelLoading,
    RaceFinished,
    RaceRequest,
    RaceStarted,
    Round,
    RoundFinished,
    Sampling,
    StopReason,
    Trace,
)


def finish(events: list[Event]) -> Trace:
    begun = [event for event in events if not isinstance(event, ModelLoading)]
    assert isinstance(begun[0], RaceStarted)
    assert isinstance(events[-1], RaceFinished)
    return events[-1].trace


def race(request: RaceRequest = REQUEST, pool: FakePool = POOL) -> Trace:
    return finish(list(make_start_race(pool)(request)))  # type: ignore[arg-type]


def timeless(lane: LaneTrace) -> LaneTrace:
    def still(finished: Round) -> Round:
        return replace(finished, draft_ms=0.0, verify_ms=0.0, other_ms=0.0)

    return replace(lane, prefill_ms=0.0, rounds=tuple(still(r) for r in lane.rounds))


def test_a_greedy_race_of_all_methods_ends_in_one_text() -> None:
    trace = race()
    outputs = {tuple(token.id for token in lane.emitted) for lane in trace.lanes}
    assert len(outputs) == 1
    assert [lane.spec for lane in trace.lanes] == list(REQUEST.lanes)
    assert {lane.stop_reason for lane in trace.lanes} == {StopReason.LENGTH}
    assert trace.environment.dtype == "float64"
    assert trace.environment.device == "cpu"
    assert 0.0 <= trace.environment.logit_noise < 1e-10
    texts = "".join(token.text for token in trace.lanes[0].emitted)
    ids = [token.id for token in trace.lanes[0].emitted]
    decoded = byte_tokenizer().decode(ids, skip_special_tokens=True)
    assert texts == decoded.rstrip("\N{REPLACEMENT CHARACTER}") or texts == decoded


@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_the_same_request_gives_the_same_trace_but_for_times(temperature: float) -> None:
    request = replace(REQUEST, sampling=Sampling(temperature=temperature, top_p=0.9, seed=4))
    start = make_start_race(POOL)  # type: ignore[arg-type]
    first, second = (finish(list(start(request))) for _ in range(2))
    fresh = race(request)
    for other in (second, fresh):
        assert [timeless(lane) for lane in other.lanes] == [timeless(lane) for lane in first.lanes]
        still = replace(other.environment, recorded_at=first.environment.recorded_at)
        assert still == first.environment


def test_two_races_at_once_give_what_they_give_alone() -> None:
    start = make_start_race(POOL)  # type: ignore[arg-type]
    requests = [
        replace(REQUEST, sampling=Sampling(temperature=1.0, seed=1)),
        replace(REQUEST, sampling=Sampling(temperature=0.7, seed=2), prompt="a fox"),
    ]
    alone = [race(request) for request in requests]
    running = [start(request) for request in requests]
    seen: list[list[Event]] = [[], []]
    open_races = {0, 1}
    while open_races:
        for number in sorted(open_races):
            event = next(running[number], None)
            if event is None:
                open_races.discard(number)
            else:
                seen[number].append(event)
    for events, expected in zip(seen, alone, strict=True):
        lanes = finish(events).lanes
        assert [timeless(lane) for lane in lanes] == [timeless(lane) for lane in expected.lanes]


def test_the_prompt_is_scored_once_by_the_target_for_every_method() -> None:
    target = POOL.get("target")
    ids = encode_prompt(REQUEST, target)
    with torch.inference_mode():
        law = target.model(input_ids=torch.tensor([ids])).logits[0].log_softmax(dim=-1)
    expected = [float(law[index, ids[index + 1]]) for index in range(len(ids) - 1)]
    for method in (Method.EARLY_EXIT, Method.DRAFT_MODEL):
        found = race(replace(REQUEST, lanes=(BASELINE, SPECS[method]))).request.prompt_log_prob
        assert found == pytest.approx(sum(expected) / len(expected), abs=1e-5)


def test_a_prompt_too_long_is_refused_by_models_that_are_loaded() -> None:
    check = make_check_request(POOL)  # type: ignore[arg-type]
    check(REQUEST)
    with pytest.raises(PromptError, match="reads at most"):
        check(replace(REQUEST, prompt="a fox " * 60))


def test_a_page_may_take_shorter_prompts_than_the_target_reads() -> None:
    num_tokens = len(encode_prompt(REQUEST, POOL.get("target")))
    make_check_request(POOL, num_tokens)(REQUEST)  # type: ignore[arg-type]
    told = f"the prompt has {num_tokens} tokens and this page takes at most {num_tokens - 1}"
    with pytest.raises(PromptError, match=told):
        make_check_request(POOL, num_tokens - 1)(REQUEST)  # type: ignore[arg-type]
    start = make_start_race(POOL, max_prompt_tokens=num_tokens - 1)  # type: ignore[arg-type]
    with pytest.raises(PromptError, match=told):
        list(start(REQUEST))


def test_recording_changes_no_token() -> None:
    request = replace(REQUEST, sampling=Sampling(temperature=1.0, seed=3))
    with_tops, without = race(request), race(replace(request, record_top=False))
    for left, right in zip(with_tops.lanes, without.lanes, strict=True):
        assert [token.id for token in left.emitted] == [token.id for token in right.emitted]
    assert any(token.top_target for token in with_tops.lanes[0].emitted)
    assert not any(token.top_target for token in without.lanes[0].emitted)


def test_cancelling_delivers_the_trace_so_far() -> None:
    events: list[Event] = []
    start = make_start_race(POOL)  # type: ignore[arg-type]
    rounds: list[Event] = []
    for event in start(REQUEST, lambda: len(rounds) >= 5):
        events.append(event)
        if isinstance(event, RoundFinished):
            rounds.append(event)
    trace = finish(events)
    assert sum(len(lane.rounds) for lane in trace.lanes) == 5
    assert StopReason.CANCELLED in {lane.stop_reason for lane in trace.lanes}


def test_a_lane_of_numbers_that_are_none_ends_alone() -> None:
    pool = FakePool(target=llama(), draft=llama(num_hidden_layers=1))
    with torch.no_grad():
        pool.get("draft").model.get_output_embeddings().weight.fill_(torch.nan)
    trace = race(replace(REQUEST, lanes=(BASELINE, SPECS[Method.DRAFT_MODEL])), pool)
    plain, broken = trace.lanes
    assert plain.stop_reason is StopReason.LENGTH
    assert len(plain.emitted) == 12
    assert broken.stop_reason is StopReason.ERROR
    assert broken.error is not None
    assert "not numbers" in broken.error


def test_a_target_of_numbers_that_are_none_ends_every_lane_with_a_trace() -> None:
    pool = FakePool(target=llama(), draft=llama(num_hidden_layers=1))
    with torch.no_grad():
        pool.get("target").model.get_output_embeddings().weight.fill_(torch.nan)
    lanes = (BASELINE, SPECS[Method.DRAFT_MODEL], SPECS[Method.PROMPT_LOOKUP])
    trace = race(replace(REQUEST, lanes=lanes), pool)
    assert trace.environment.logit_noise == 0.0, "a page is told numbers only"
    for lane in trace.lanes:
        assert lane.stop_reason is StopReason.ERROR
        assert lane.error is not None


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (replace(REQUEST, prompt=" "), RequestError),
        (replace(REQUEST, prompt="x" * 100), RequestError),
        (replace(REQUEST, lanes=(BASELINE,)), RequestError),
        (
            replace(REQUEST, lanes=(BASELINE, replace(SPECS[Method.DRAFT_MODEL], draft="nowhere"))),
            ModelLoadError,
        ),
        (
            replace(
                REQUEST,
                lanes=(
                    replace(BASELINE, target="gpt2"),
                    replace(SPECS[Method.EARLY_EXIT], target="gpt2"),
                ),
            ),
            IncompatibleModelError,
        ),
    ],
)
def test_a_request_that_cannot_be_raced_raises_before_the_race_begins(
    request_: RaceRequest, error: type[Exception]
) -> None:
    events = make_start_race(POOL)(request_)  # type: ignore[arg-type]
    seen: list[Event] = []
    with pytest.raises(error):
        seen.extend(events)
    assert all(isinstance(event, ModelLoading) for event in seen)


def test_models_are_announced_before_they_are_loaded_and_only_once() -> None:
    pool = FakePool(target=llama(), draft=llama(num_hidden_layers=1))
    request = replace(REQUEST, lanes=(BASELINE, SPECS[Method.DRAFT_MODEL]))
    start = make_start_race(pool)  # type: ignore[arg-type]
    first, second = (
        [event for event in start(request) if isinstance(event, ModelLoading)] for _ in range(2)
    )
    assert first == [ModelLoading("target", 1, 2), ModelLoading("draft", 2, 2)]
    assert second == []


def test_the_recorded_number_of_threads_is_the_one_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Events are asked for by this thread and by others in turn, as a web framework may."""
    monkeypatch.setattr(threads, "SMALL_MODEL_PARAMETERS", 1)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    own = torch.get_num_threads()
    used: set[int] = set()
    forward = ModelRunner.forward

    def watched(runner: ModelRunner, ids: list[int], num_logits: int) -> torch.Tensor:
        used.add(torch.get_num_threads())
        return forward(runner, ids, num_logits)

    monkeypatch.setattr(ModelRunner, "forward", watched)
    asked_on: set[int] = set()

    def should_stop() -> bool:
        asked_on.add(threading.get_ident())
        return False

    events, running = [], make_start_race(POOL)(REQUEST, should_stop)  # type: ignore[arg-type]
    with ThreadPoolExecutor(1) as worker:
        while not events or not isinstance(events[-1], RaceFinished):
            is_here = len(events) % 2
            events.append(next(running) if is_here else worker.submit(next, running).result())
    assert finish(events).environment.num_threads == 3
    assert used == {3}
    assert len(asked_on) == 1
    assert torch.get_num_threads() == own, "who asks for a race keeps its own number"


def test_the_noise_is_that_of_every_block_that_is_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LogitNoise, "of_blocks", lambda self, length, make_runner: length / 100)
    start = make_start_race(POOL)  # type: ignore[arg-type]

    def noise_of(*gammas: int) -> float:
        lookup = SPECS[Method.PROMPT_LOOKUP]
        lanes = [replace(lookup, name=f"lane {gamma}", gamma=gamma) for gamma in gammas]
        request = replace(REQUEST, lanes=(BASELINE, *lanes), max_new_tokens=2)
        return finish(list(start(request))).environment.logit_noise

    assert noise_of(3, 8) == 0.09
    assert noise_of(3) == 0.04
    assert noise_of(16, 8) == 0.17


def test_a_target_that_was_not_raced_for_long_is_let_go(tiny_pair: tuple[str, str]) -> None:
    pool = ModelPool()
    start_race = make_start_race(pool)
    # A folder by another name is another model to the pool.
    names = [*tiny_pair, f"{tiny_pair[0]}/"]
    alive = []
    for name in names:
        lanes = (
            LaneSpec("baseline", Method.BASELINE, name),
            LaneSpec("lookup", Method.PROMPT_LOOKUP, name, gamma=2),
        )
        finish(list(start_race(RaceRequest("the fox", lanes, Sampling(0.0), max_new_tokens=4))))
        alive.append(weakref.ref(pool.get(name).model))
    assert [model() is None for model in alive] == [True, False, False]


def test_a_head_is_announced_and_its_reading_noted() -> None:
    head = SPECS[Method.EAGLE3]
    pool = FakePool(**POOL._configs)
    events = list(make_start_race(pool)(replace(REQUEST, lanes=(BASELINE, head))))  # type: ignore[arg-type]
    loading = [event.model for event in events if isinstance(event, ModelLoading)]
    assert loading[-1] == "head"
    trace = finish(events)
    outputs = {tuple(token.id for token in lane.emitted) for lane in trace.lanes}
    assert len(outputs) == 1
    assert trace.lanes[1].spec.head == "head"
    diagnosis = read_head(pool.get_head("head"), pool.get("target")).diagnosis
    assert diagnosis is not None
    noted = None if diagnosis.is_as_stated else diagnosis.used.text
    assert trace.lanes[1].spec.head_reading == noted
