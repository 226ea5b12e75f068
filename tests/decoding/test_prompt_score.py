"""A prompt's log-probability: the same as one plain forward pass says, in whatever chunks."""

import pytest
import torch
from tiny_models import tiny_model

from specviz.decoding import prompt_score
from specviz.decoding.prompt_score import mean_log_prob, token_log_probs

IDS = [(7 * index + 3) % 40 for index in range(23)]


def expected(shape: str, ids: list[int]) -> torch.Tensor:
    with torch.inference_mode():
        logits = tiny_model(shape)(input_ids=torch.tensor([ids]), use_cache=False).logits[0]
    law = logits.float().softmax(dim=-1)
    return torch.stack([law[i, ids[i + 1]].log() for i in range(len(ids) - 1)])


@pytest.mark.parametrize("shape", ["llama", "gpt2", "mistral"])
@pytest.mark.parametrize("chunk", [1, 5, 22, 23, 64])
def test_every_token_after_the_first_is_scored(
    shape: str, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prompt_score, "CHUNK", chunk)
    found = token_log_probs(tiny_model(shape), IDS)
    assert torch.allclose(found, expected(shape, IDS), atol=1e-5)
    assert mean_log_prob(tiny_model(shape), IDS) == pytest.approx(float(found.mean()))


def test_an_order_of_tokens_that_is_another_has_another_number() -> None:
    turned = mean_log_prob(tiny_model("llama"), IDS[::-1])
    assert turned != pytest.approx(mean_log_prob(tiny_model("llama"), IDS), abs=1e-4)


def test_a_single_token_has_no_number() -> None:
    assert mean_log_prob(tiny_model("llama"), [3]) is None
    assert mean_log_prob(tiny_model("llama"), [3, 4]) is not None


def test_logits_that_are_no_numbers_give_no_number() -> None:
    model = tiny_model("llama")
    broken = type(model)(model.config)
    torch.nn.init.constant_(broken.get_output_embeddings().weight, float("nan"))
    assert mean_log_prob(broken.to(model.dtype), IDS) is None
