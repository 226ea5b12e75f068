"""In which form a race runs: proved first, the same for all lanes, nothing recorded in mid-race."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from tiny_models import byte_tokenizer, random_model
from transformers import LlamaConfig, PreTrainedModel

from specviz.decoding import static_proof
from specviz.decoding.capture import Compute
from specviz.decoding.forms import MAX_IDLE, Compile, Forms
from specviz.decoding.model_runner import ModelRunner
from specviz.decoding.static_proof import prove_static
from specviz.decoding.static_runner import StaticRunner
from specviz.models.loading import LoadedModel
from specviz.race.lanes import build_decoder, encode_prompt
from specviz.trace.values import Form, LaneSpec, Method, RaceRequest, Sampling

CPU = torch.device("cpu")
BASELINE = LaneSpec(None, Method.BASELINE, "target")
DRAFTING = LaneSpec(None, Method.DRAFT_MODEL, "target", "draft", gamma=4)
LOOKUP = LaneSpec(None, Method.PROMPT_LOOKUP, "target", gamma=8)
EXIT = LaneSpec(None, Method.EARLY_EXIT, "target", gamma=4, exit_layer=1)
Spoil = Callable[[torch.Tensor], torch.Tensor]
LANES = (BASELINE, DRAFTING, LOOKUP)


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
    return Pool()


def race(
    pool: Pool, forms: Forms, device: FakeDevice, request: RaceRequest
) -> list[tuple[int, ...]]:
    """Race all lanes to their ends; no recording is allowed once the first prompt is read."""
    prompt = encode_prompt(request, pool.get("target"))
    form = forms.of_race(pool.models, request.lanes)
    decoders = [
        build_decoder(spec, pool, request, form.make_runner, len(prompt))  # type: ignore[arg-type]
        for spec in request.lanes
    ]
    device.is_racing = True
    for decoder in decoders:
        decoder.prefill(prompt)
        while decoder.stop_reason is None:
            decoder.step()
    device.is_racing = False
    form.give_back()
    return [decoder.output_ids for decoder in decoders]


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_recorded_race_writes_what_a_plain_one_writes(pool: Pool, temperature: float) -> None:
    device = FakeDevice()
    request = RaceRequest("a fox", LANES, Sampling(temperature, seed=5), 60)
    forms = Forms(CPU, Compile.AUTO, device.make_capture)
    plain = race(pool, Forms(CPU, Compile.OFF), device, request)
    assert race(pool, forms, device, request) == plain
    assert device.num_replays > 60


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
