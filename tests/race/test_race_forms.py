"""In which form a race runs: proved first, the same for all lanes, nothing recorded in mid-race."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from tiny_models import byte_tokenizer, random_model
from transformers import LlamaConfig, PreTrainedModel

from specviz.decoding import chain_proof, static_proof
from specviz.decoding.capture import Compute
from specviz.decoding.chain_proof import prove_chain
from specviz.decoding.forms import MAX_IDLE, Compile, Forms, RaceForm
from specviz.decoding.model_runner import ModelRunner
from specviz.decoding.play import Play
from specviz.decoding.recorded_rounds import RecordedRounds
from specviz.decoding.static_chain import ChainKind, StaticChain
from specviz.decoding.static_proof import prove_static
from specviz.decoding.static_runner import StaticRunner, StaticStep
from specviz.models.loading import LoadedModel
from specviz.race.lanes import build_decoder, encode_prompt
from specviz.trace.values import Form, LaneSpec, Method, RaceRequest, Sampling, Tree

CPU = torch.device("cpu")
BASELINE = LaneSpec(None, Method.BASELINE, "target")
DRAFTING = LaneSpec(None, Method.DRAFT_MODEL, "target", "draft", gamma=4)
LOOKUP = LaneSpec(None, Method.PROMPT_LOOKUP, "target", gamma=8)
EXIT = LaneSpec(None, Method.EARLY_EXIT, "target", gamma=4, exit_layer=1)
Spoil = Callable[[torch.Tensor], torch.Tensor]
LANES = (BASELINE, DRAFTING, LOOKUP)
TREES = (
    BASELINE,
    replace(DRAFTING, tree=Tree.STATIC, branches=3, budget=12),
    replace(DRAFTING, tree=Tree.DYNAMIC, branches=2, budget=8),
)


class FakeDevice:
    """Records computations, counts them, and refuses to once a race goes on."""

    def __init__(
        self, spoil: Callable[[torch.Tensor], torch.Tensor] = lambda logits: logits
    ) -> None:
        self.num_captures = 0
        self.num_replays = 0
        self.is_racing = False
        self._spoil = spoil

    def make_capture(self) -> Callable[[Compute], Compute]:
        return self._capture

    def _capture(self, compute: Compute) -> Compute:
        assert not self.is_racing, "recorded in mid-race"
        self.num_captures += 1
        output = compute()

        def replay() -> torch.Tensor:
            self.num_replays += 1
            output.copy_(self._spoil(compute()))
            return output

        return replay


class Pool:
    def __init__(self) -> None:
        config = LlamaConfig(
            vocab_size=300,
            hidden_size=32,
            intermediate_size=48,
            num_hidden_layers=3,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=256,
        )
        self._models = {
            name: LoadedModel(
                name,
                random_model(config, noise=noise),
                byte_tokenizer(),
                frozenset(),
            )
            for name, noise in (("target", 0.0), ("draft", 0.05))
        }

    def get(self, name: str) -> LoadedModel:
        return self._models[name]

    @property
    def models(self) -> list[PreTrainedModel]:
        return [loaded.model for loaded in self._models.values()]


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Pool:
    # Times on a shared processor say nothing here.
    monkeypatch.setattr(static_proof, "_time_ratio", lambda *runners: 0.5)
    monkeypatch.setattr(chain_proof, "_time_ratio", lambda *runners: 0.5)
    return Pool()


def race(
    pool: Pool, forms: Forms, device: FakeDevice, request: RaceRequest
) -> list[tuple[int, ...]]:
    """Race all lanes to their ends; no recording is allowed once the first prompt is read."""
    return race_in_form(pool, forms, device, request)[0]


def race_in_form(
    pool: Pool, forms: Forms, device: FakeDevice, request: RaceRequest
) -> tuple[list[tuple[int, ...]], RaceForm]:
    """The same, with the form that the race had."""
    prompt = encode_prompt(request, pool.get("target"))
    form = forms.of_race(pool.models, request.lanes)
    decoders = [
        build_decoder(spec, pool, request, form, len(prompt))  # type: ignore[arg-type]
        for spec in request.lanes
    ]
    device.is_racing = True
    for decoder in decoders:
        decoder.prefill(prompt)
        while decoder.stop_reason is None:
            decoder.step()
    device.is_racing = False
    form.give_back()
    return [decoder.output_ids for decoder in decoders], form


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_recorded_race_writes_what_a_plain_one_writes(pool: Pool, temperature: float) -> None:
    device = FakeDevice()
    request = RaceRequest("a fox", LANES, Sampling(temperature, seed=5), 60)
    forms = Forms(CPU, Compile.AUTO, device.make_capture)
    plain = race(pool, Forms(CPU, Compile.OFF), device, request)
    assert race(pool, forms, device, request) == plain
    assert device.num_replays > 60


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_trees_write_in_recorded_steps_what_they_write_in_plain_ones(
    pool: Pool, temperature: float
) -> None:
    device = FakeDevice()
    request = RaceRequest("a fox", TREES, Sampling(temperature, seed=5), 40)
    forms = Forms(CPU, Compile.AUTO, device.make_capture)
    plain = race(pool, Forms(CPU, Compile.OFF), device, request)
    found, form = race_in_form(pool, forms, device, request)
    assert (form.form, form.reason) == (Form.CAPTURED, "proved")
    assert found == plain
    if temperature == 0:
        assert len(set(plain)) == 1


def test_a_device_that_cannot_tell_branches_apart_grows_its_trees_plainly(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill = StaticStep.fill

    def blind(step: StaticStep, ids: Any, positions: Any, start: int, *rest: object) -> None:
        fill(step, ids, positions, start, start, None)

    monkeypatch.setattr(StaticStep, "fill", blind)
    forms = Forms(CPU, Compile.AUTO, FakeDevice().make_capture)
    assert forms.of_race(pool.models, LANES).form is Form.CAPTURED
    assert forms.of_race(pool.models, TREES).reason == "differs"


def test_a_tree_needs_no_more_room_than_was_made_for_it(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(StaticRunner, "_make_room", lambda self, n: _assert(n <= self.capacity))
    forms = Forms(CPU, Compile.ON)
    for max_new_tokens in (1, 20, 59, 61):
        race(pool, forms, FakeDevice(), RaceRequest("a fox", TREES, Sampling(), max_new_tokens))


def _assert(claim: bool) -> None:
    assert claim


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Lengths of the texts behind which a round was played from recordings."""
    lengths: list[int] = []
    play = RecordedRounds.play

    def noted(self: RecordedRounds, committed_ids: list[int], gamma: int) -> Play:
        lengths.append(len(committed_ids))
        return play(self, committed_ids, gamma)

    monkeypatch.setattr(RecordedRounds, "play", noted)
    return lengths


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_chains_of_all_lanes_are_recorded_once(
    pool: Pool, temperature: float, played: list[int]
) -> None:
    device, lanes = FakeDevice(), (BASELINE, DRAFTING, replace(DRAFTING, gamma=6))
    forms = Forms(CPU, Compile.AUTO, device.make_capture)
    request = RaceRequest("a fox", lanes, Sampling(temperature, seed=5), 60)
    plain = race(pool, Forms(CPU, Compile.OFF), device, request)
    assert played == []
    for _ in range(2):
        found, form = race_in_form(pool, forms, device, request)
        assert (found, form.reason) == (plain, "proved")
    assert len(played) > 20
    recorded, num_played = device.num_captures, len(played)
    race(pool, forms, device, request)
    assert device.num_captures == recorded
    assert len(played) == num_played * 3 / 2
    # Two lanes draft, each with a chain and a judgement of this new kind.
    race(pool, forms, device, replace(request, sampling=Sampling(0.5, seed=5)))
    assert device.num_captures == recorded + 4


def test_a_second_race_records_nothing(pool: Pool) -> None:
    device = FakeDevice()
    forms = Forms(CPU, Compile.AUTO, device.make_capture)
    request = RaceRequest("a fox", LANES, max_new_tokens=40)
    race(pool, forms, device, request)
    recorded = device.num_captures
    race(pool, forms, device, replace(request, prompt="the fox", max_new_tokens=30))
    assert device.num_captures == recorded
    race(pool, forms, device, replace(request, max_new_tokens=200))
    assert device.num_captures > recorded, "a longer text needs larger buffers"


def test_what_is_kept_is_bounded(pool: Pool) -> None:
    device = FakeDevice()
    forms = Forms(CPU, Compile.AUTO, device.make_capture)
    for gamma in range(3, 12):
        lanes = (BASELINE, replace(LOOKUP, gamma=gamma), replace(LOOKUP, gamma=gamma))
        race(pool, forms, device, RaceRequest("a", lanes, max_new_tokens=8))
    assert all(len(idle) <= MAX_IDLE for idle in forms._idle.values())


def test_runners_of_other_models_are_let_go(pool: Pool) -> None:
    device = FakeDevice()
    forms = Forms(CPU, Compile.AUTO, device.make_capture)
    race(pool, forms, device, RaceRequest("a", LANES, max_new_tokens=8))
    other = Pool()
    race(other, forms, device, RaceRequest("a", LANES, max_new_tokens=8))
    assert set(forms._idle) == set(other.models)


def test_the_reason_is_told() -> None:
    pool, record = Pool(), FakeDevice().make_capture
    cases = {
        "off": (Forms(CPU, Compile.OFF, record), LANES),
        "no_recording": (Forms(CPU, Compile.AUTO), LANES),
        "early_exit": (Forms(CPU, Compile.ON), (BASELINE, EXIT)),
    }
    for reason, (forms, lanes) in cases.items():
        chosen = forms.of_race(pool.models, lanes)
        assert (chosen.form, chosen.reason) == (Form.GROWING, reason)
        assert type(chosen.make_runner(pool.models[0], 8)) is ModelRunner


def test_on_without_recording_runs_the_static_form(pool: Pool) -> None:
    chosen = Forms.on(CPU, Compile.ON).of_race(pool.models, LANES)
    assert (chosen.form, chosen.reason) == (Form.STATIC, "proved")
    assert isinstance(chosen.make_runner(pool.models[0], 8), StaticRunner)


def rows_spoiled(spoil: Spoil, width: int) -> Spoil:
    """Spoil what has so many rows, as a chain has and no step of these races."""
    return lambda rows: spoil(rows) if rows.shape[0] == width else rows


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize(
    "spoil",
    [
        lambda laws: laws + 0.1 * torch.rand_like(laws),
        lambda laws: laws.flip(0),
        lambda laws: torch.full_like(laws, float("nan")),
        lambda laws: torch.zeros_like(laws),
    ],
    ids=["off by a little", "rows mixed up", "not a number", "nothing computed"],
)
def test_a_chain_that_lies_is_not_used(
    pool: Pool, spoil: Spoil, temperature: float, played: list[int]
) -> None:
    device, lanes = FakeDevice(rows_spoiled(spoil, 6)), (BASELINE, replace(DRAFTING, gamma=6))
    request = RaceRequest("a fox", lanes, Sampling(temperature, seed=5), 40)
    forms = Forms(CPU, Compile.AUTO, device.make_capture)
    plain = race(pool, Forms(CPU, Compile.OFF), device, request)
    found, form = race_in_form(pool, forms, device, request)
    assert (found, form.form, form.reason) == (plain, Form.CAPTURED, "chain_differs")
    assert played == []


@pytest.mark.parametrize("part", ["accepted", "next token"])
def test_a_judgement_that_lies_is_not_used(pool: Pool, part: str, played: list[int]) -> None:
    """The packed outcome: length, accepted, next token and soundness come first."""
    index = {"accepted": 1, "next token": 2}[part]

    def spoil(packed: torch.Tensor) -> torch.Tensor:
        if packed.dim() == 1:
            packed = packed.clone()
            packed[index] = 0
        return packed

    device = FakeDevice(spoil)
    request = RaceRequest("a fox", (BASELINE, DRAFTING), max_new_tokens=40)
    forms = Forms(CPU, Compile.AUTO, device.make_capture)
    assert race_in_form(pool, forms, device, request)[1].reason == "chain_differs"
    assert played == []


def test_a_chain_that_cannot_be_recorded_leaves_the_steps(pool: Pool, played: list[int]) -> None:
    device = FakeDevice()

    def failing(compute: Compute) -> Compute:
        if isinstance(compute.__self__, StaticChain):  # type: ignore[attr-defined]
            raise RuntimeError("operation not permitted when stream is capturing")
        return device.make_capture()(compute)

    forms = Forms(CPU, Compile.AUTO, lambda: failing)
    request = RaceRequest("a fox", (BASELINE, DRAFTING), max_new_tokens=40)
    form = race_in_form(pool, forms, device, request)[1]
    assert (form.form, form.reason) == (Form.CAPTURED, "chain_failed")
    assert played == []


def test_a_chain_that_is_right_but_slower_is_used_only_if_asked_for(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chain_proof, "_time_ratio", lambda *runners: 1.2)
    device = FakeDevice()
    request = RaceRequest("a fox", (BASELINE, DRAFTING), max_new_tokens=20)
    for wish, reason in ((Compile.AUTO, "chain_slower"), (Compile.ON, "proved")):
        forms = Forms(CPU, wish, device.make_capture)
        assert race_in_form(pool, forms, device, request)[1].reason == reason


def test_times_of_a_chain_are_measured_in_pairs(pool: Pool) -> None:
    for temperature in (0.0, 1.0):
        runner = StaticRunner(pool.models[1], 64, (1, 2, 5))
        kind = ChainKind(4, Sampling(temperature), 300, frozenset())
        proof = prove_chain(runner, kind, torch.float64, must_be_faster=False)
        assert proof.problem is None
        assert proof.ratio is not None


@pytest.mark.parametrize(
    "spoil",
    [
        lambda logits: logits + 0.1,
        lambda logits: logits.flip(0),
        lambda logits: torch.full_like(logits, float("nan")),
        lambda logits: torch.zeros_like(logits),
    ],
    ids=["off by a little", "rows mixed up", "not a number", "nothing computed"],
)
def test_a_recording_that_lies_is_not_used(
    pool: Pool, spoil: Callable[[torch.Tensor], torch.Tensor]
) -> None:
    forms = Forms(CPU, Compile.AUTO, FakeDevice(spoil).make_capture)
    chosen = forms.of_race(pool.models, LANES)
    assert (chosen.form, chosen.reason) == (Form.GROWING, "differs")


def test_a_recording_that_never_runs_again_is_not_used(pool: Pool) -> None:
    def stale(compute: Compute) -> Compute:
        output = compute()
        return lambda: output

    forms = Forms(CPU, Compile.AUTO, lambda: stale)
    assert forms.of_race(pool.models, LANES).reason == "differs"


def test_a_device_that_fails_to_record_leaves_the_plain_form(pool: Pool) -> None:
    def failing(compute: Compute) -> Compute:
        raise RuntimeError("operation not permitted when stream is capturing")

    forms = Forms(CPU, Compile.AUTO, lambda: failing)
    assert forms.of_race(pool.models, LANES).reason == "failed"


def test_what_is_right_but_slower_is_used_only_if_asked_for(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(static_proof, "_time_ratio", lambda *runners: 1.2)
    record = FakeDevice().make_capture
    assert Forms(CPU, Compile.AUTO, record).of_race(pool.models, LANES).reason == "slower"
    assert Forms(CPU, Compile.ON, record).of_race(pool.models, LANES).form is Form.CAPTURED


def test_times_are_measured_in_pairs() -> None:
    proof = prove_static(Pool().models[0], (1, 2), FakeDevice().make_capture, must_be_faster=False)
    assert proof.problem is None
    assert proof.ratio is not None
    assert 0.1 < proof.ratio < 10
