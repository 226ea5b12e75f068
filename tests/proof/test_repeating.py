"""A decoder that writes from one prompt again and again is the one that reads it anew."""

import pytest
from tiny_models import HYBRIDS, tiny_model

from specviz.decoding.model_runner import ModelRunner
from specviz.decoding.sampling import SeededChance
from specviz.proof.repeating import OneStream, RewindingRunner


@pytest.mark.parametrize("shape", ["llama", "gpt2", *HYBRIDS])
def test_going_back_to_a_prompt_is_reading_it_again(shape: str) -> None:
    rewinding, plain = (kind(tiny_model(shape)) for kind in (RewindingRunner, ModelRunner))
    # States of some hybrids are summed in float32, in another order by single steps.
    tolerance = 1e-4 if shape in HYBRIDS else 1e-9
    prompt = [5, 6, 7, 8]
    for following in ([9, 10], [11], [12, 13, 14], [9]):
        for runner in (rewinding, plain):
            runner.reset()
        last = rewinding.forward(prompt, 1)
        assert (last - plain.forward(prompt, 1)).abs().max() < tolerance
        ids = [*prompt, *following]
        assert (rewinding.forward(ids, 1) - plain.forward(ids, 1)).abs().max() < tolerance


def test_another_prompt_is_read() -> None:
    rewinding, plain = RewindingRunner(tiny_model("llama")), ModelRunner(tiny_model("llama"))
    for prompt in ([1, 2, 3], [1, 2], [4, 2, 3], [1, 2, 3]):
        rewinding.reset()
        plain.reset()
        difference = rewinding.forward(prompt, 1) - plain.forward(prompt, 1)
        assert difference.abs().max() < 1e-9


def test_one_stream_goes_on_behind_a_reset() -> None:
    stream, seeded = OneStream(3), SeededChance(3)
    drawn = []
    for _ in range(4):
        drawn.append(stream.uniform())
        stream.reset()
    assert drawn == [seeded.uniform() for _ in range(4)]
