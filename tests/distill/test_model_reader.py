"""Laws of many texts at once: padding, other output layers, batches, agreement."""

from itertools import chain

import pytest
import torch
from tiny_models import CONFIGS, SHAPES, random_model

from specviz.distill import model_reader
from specviz.distill.agreement import measure_texts, pool
from specviz.distill.batches import TextBatches, read_batch
from specviz.distill.draft_training import draft_loss
from specviz.distill.model_reader import ModelReader, TargetReader, pad_texts
from specviz.distill.texts import Text
from specviz.trace.fits import FitScore

VOCAB = 44
PLAIN = set(SHAPES) - {"gemma2"}
TEXTS = [
    Text(0, (5, 6, 7, 8, 9), 2),
    Text(1, (9, 10), 1),
    Text(2, tuple(range(3, 40)), 30),
    Text(0, (5, 6, 20, 21), 2),
]


def reader(shape: str = "llama", seed: int = 0, rows: int = 48) -> ModelReader:
    config = CONFIGS[shape]()
    config.vocab_size = rows
    return ModelReader(random_model(config, seed, dtype=torch.float32), VOCAB)


def test_padding_keeps_rows_and_what_counts() -> None:
    ids, wanted, labels = pad_texts(TEXTS, torch.device("cpu"))
    assert ids.shape == wanted.shape == (4, 36)
    assert wanted.sum(1).tolist() == [3, 1, 7, 2]
    assert labels.tolist() == list(chain.from_iterable(t.ids[t.num_prompt :] for t in TEXTS))
    assert ids[0, :5].tolist() == [5, 6, 7, 8, 9]


@pytest.mark.parametrize("shape", SHAPES)
def test_features_give_the_logits_of_each_text_alone(shape: str) -> None:
    one = reader(shape)
    assert one.is_plain == (shape in PLAIN), "Gemma 2 caps its logits"
    ids, wanted, _ = pad_texts(TEXTS, torch.device("cpu"))
    found = torch.split(one.logits(one.features(ids, wanted)), [text.num_written for text in TEXTS])
    for text, logits in zip(TEXTS, found, strict=True):
        alone = one.model(input_ids=torch.tensor([text.ids])).logits[0]
        expected = alone[text.num_prompt - 1 : -1, :VOCAB]
        assert torch.allclose(logits, expected, atol=2e-4)


def test_a_scaled_or_shifted_output_layer_is_not_plain() -> None:
    model = random_model(CONFIGS["llama"](), dtype=torch.float32)
    assert ModelReader(model, VOCAB).is_plain
    model.lm_head.register_forward_hook(lambda layer, inputs, output: output * 0.999)
    assert not ModelReader(model, VOCAB).is_plain
    biased = random_model(CONFIGS["llama"](), dtype=torch.float32)
    biased.lm_head.bias = torch.nn.Parameter(torch.ones(48))
    assert not ModelReader(biased, VOCAB).is_plain


def test_kept_features_are_those_read_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = TargetReader(reader(), TEXTS).keep()
    monkeypatch.setattr(model_reader, "MAX_KEPT_BYTES", 0)
    fresh = TargetReader(reader(), TEXTS)
    assert torch.allclose(kept.features([2, 0]), fresh.features([2, 0]), atol=1e-5)
    assert len(kept.features([2, 0])) == 10


def test_batches_hold_every_text_once_and_stay_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_reader, "BATCH_TOKENS", 40)
    target = TargetReader(reader(), TEXTS)
    assert target.batches([0, 1, 3, 2]) == [[0, 1, 3], [2]]
    assert target.batches([2, 1, 0, 3]) == [[2], [1, 0, 3]]
    monkeypatch.setattr(model_reader, "BATCH_LOGITS", 10 * VOCAB)
    capped = TargetReader(reader("gemma2"), TEXTS)
    assert capped.batches([0, 1, 3, 2]) == [[0, 1], [3], [2]]


@pytest.mark.parametrize("draft_shape", ["llama", "gpt2", "gemma2"])
@pytest.mark.parametrize("target_shape", ["llama", "gemma2"])
def test_a_step_against_the_loss_raises_alpha(draft_shape: str, target_shape: str) -> None:
    draft, target = reader(draft_shape, seed=3, rows=50), TargetReader(reader(target_shape), TEXTS)
    model = draft.model.requires_grad_(True)
    before = pool(measure_texts(draft, target))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    for _ in range(8):
        optimizer.zero_grad()
        batch = read_batch(target.reader, TEXTS)
        loss = draft_loss(draft, target.reader, batch, 0.7, hybrid=True)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    model.requires_grad_(False)
    assert len(batch.labels) == before.num_tokens == 13
    assert pool(measure_texts(draft, target)).alpha > before.alpha + 0.1


def test_agreement_is_that_of_each_text_read_alone() -> None:
    target, draft = reader(), reader(seed=5)
    found = measure_texts(draft, TargetReader(target, TEXTS))
    for text, score in zip(TEXTS, found, strict=True):
        ids = torch.tensor([text.ids])
        ours, theirs = (
            one.model(input_ids=ids).logits[0, text.num_prompt - 1 : -1, :VOCAB]
            for one in (draft, target)
        )
        overlap = torch.minimum(ours.softmax(-1), theirs.softmax(-1)).sum(-1).mean()
        assert score.num_tokens == text.num_written
        assert score.alpha == pytest.approx(float(overlap), abs=1e-5)
        assert score.greedy == float((ours.argmax(-1) == theirs.argmax(-1)).float().mean())
    assert len({score.alpha for score in found}) == 4
    same = measure_texts(target, TargetReader(target, TEXTS))
    assert all(part.alpha == pytest.approx(1.0) and part.alpha <= 1.0 for part in same)


def test_pooled_agreement_is_the_mean_over_tokens() -> None:
    pooled = pool([FitScore(0.5, 1.0, 1), FitScore(0.9, 0.0, 3)])
    assert (pooled.alpha, pooled.greedy, pooled.num_tokens) == (pytest.approx(0.8), 0.25, 4)


def test_an_epoch_has_every_text_once_and_steps_fix_the_batch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(model_reader, "BATCH_TOKENS", 40)
    target = TargetReader(reader(), TEXTS)
    batches = TextBatches(target, seed=3)
    epochs = [[batches.batch(2 * epoch + step).labels for step in (0, 1)] for epoch in range(3)]
    every = sorted(chain.from_iterable(text.ids[text.num_prompt :] for text in TEXTS))
    assert all(sorted(torch.cat(epoch).tolist()) == every for epoch in epochs)
    later = TextBatches(target, seed=3).batch(5)
    assert torch.equal(later.labels, epochs[2][1])
    anew = target.reader.features(later.ids, later.wanted)
    assert torch.allclose(later.target_features, anew, atol=1e-5)
