"""The measured rounding noise: which blocks of which texts are compared."""

from collections.abc import Sequence

import pytest
import torch
from tiny_models import CONTEXT, random_model, tiny_model
from transformers import LlamaConfig, PreTrainedModel

from specviz.decoding import noise
from specviz.decoding.model_runner import ModelRunner
from specviz.decoding.noise import LogitNoise
from specviz.decoding.static_runner import StaticRunner


class WatchedRunner(ModelRunner):
    """Notes how long the texts were that it was given, and how many logits were asked for."""

    asked: list[tuple[int, int]]

    def forward(self, ids: Sequence[int], num_logits: int) -> torch.Tensor:
        self.asked.append((len(ids), num_logits))
        return super().forward(ids, num_logits)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    monkeypatch.setattr(WatchedRunner, "asked", [], raising=False)
    monkeypatch.setattr(noise, "ModelRunner", WatchedRunner)
    return WatchedRunner.asked


def long_llama() -> PreTrainedModel:
    settings = {**tiny_model("llama").config.to_dict(), "max_position_embeddings": 512}
    return random_model(LlamaConfig(**settings))


@pytest.mark.parametrize("block_length", [2, 6, 17])
def test_blocks_as_long_as_the_races_at_the_end_of_a_text_of_hundreds(
    block_length: int, asked: list[tuple[int, int]]
) -> None:
    LogitNoise(long_llama()).of_blocks(block_length)
    prompt, *singles = [length for length, num_logits in asked if num_logits == 1][:97]
    assert singles == list(range(prompt + 1, 257))
    ends = [length for length, num_logits in asked if num_logits == block_length]
    assert ends == list(range(prompt + block_length, 257, block_length))


def test_single_steps_are_done_once(asked: list[tuple[int, int]]) -> None:
    noise = LogitNoise(long_llama())
    noise.of_blocks(2)
    asked.clear()
    first = noise.of_blocks(9)
    assert len(asked) == 1 + 96 // 9
    assert noise.of_blocks(9) == first
    assert len(asked) == 1 + 96 // 9


def test_equal_reading_makes_no_noise_and_another_model_much() -> None:
    """The rows that are compared belong to the same places of the text."""
    noise = LogitNoise(tiny_model("llama"))
    assert noise.of_blocks(1) == 0.0
    noise._model = tiny_model("llama", noise=0.05)
    assert noise.of_blocks(5) > 1e-3


@pytest.mark.parametrize("block_length", [5, 17, 2 * CONTEXT])
def test_a_short_context_is_not_passed(block_length: int, asked: list[tuple[int, int]]) -> None:
    assert LogitNoise(tiny_model("llama")).of_blocks(block_length) < 1e-11
    assert max(length for length, _ in asked) == CONTEXT


def test_it_is_small_and_in_single_precision_not_nothing() -> None:
    double = LogitNoise(tiny_model("llama"))
    single = LogitNoise(tiny_model("llama", dtype=torch.float32))
    for block_length in (2, 5, 17):
        assert 0.0 <= double.of_blocks(block_length) < 1e-11
        assert 0.0 < single.of_blocks(block_length) < 1e-2


def test_each_form_has_a_noise_of_its_own() -> None:
    """The recorded form is measured with its own blocks, which look over whole buffers."""
    model = tiny_model("llama", dtype=torch.float32)
    made: list[StaticRunner] = []

    def make_runner(model: PreTrainedModel, room: int) -> StaticRunner:
        made.append(StaticRunner(model, room, (1, 5), capture=lambda compute: compute))
        return made[-1]

    static = LogitNoise(model).of_blocks(5, make_runner)
    assert 0.0 < static < 1e-2
    assert static != LogitNoise(model).of_blocks(5)
    assert set(made[0]._steps) == {1, 5}
