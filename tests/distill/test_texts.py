"""What the target writes after prompts, for a draft to learn from or to be judged by."""

import copy
from collections import Counter
from pathlib import Path

import pytest
import torch
from tiny_models import CONFIGS, SHAPES, byte_tokenizer, random_model

from specviz.distill.texts import (
    Job,
    SharedLimits,
    encode_prompts,
    plan_held_out,
    plan_jobs,
    shared_limits,
)
from specviz.distill.writing import Writer, read_texts, write_jobs, write_together
from specviz.errors import IncompatibleModelError, RequestError
from specviz.models.loading import LoadedModel


def loaded(shape: str = "llama", rows: int = 300, eos: frozenset[int] = frozenset()) -> LoadedModel:
    config = CONFIGS[shape]()
    config.vocab_size = rows
    model = random_model(config, dtype=torch.float64)
    return LoadedModel(shape, model, byte_tokenizer(), eos)


def writer(shape: str = "llama", rows: int = 300, ends: frozenset[int] = frozenset()) -> Writer:
    return Writer(loaded(shape, rows).model, 300, ends)


def job(ids: list[int], temperature: float = 0.0, num_new: int = 10) -> Job:
    return Job(0, tuple(ids), temperature, num_new)


PROMPTS = [[5, 6, 7], [9], [11, 12, 13, 14, 15, 16, 17], [9, 8]]


@pytest.mark.parametrize("shape", SHAPES)
def test_greedy_writing_equals_generate(shape: str) -> None:
    target = writer(shape)
    written = write_together(target, [job(prompt) for prompt in PROMPTS], seed=0)
    for prompt, ids in zip(PROMPTS, written, strict=True):
        expected = target.model.generate(
            torch.tensor([prompt]), max_new_tokens=10, do_sample=False, pad_token_id=0
        )[0].tolist()
        assert [*prompt, *ids] == expected


def test_a_text_ends_after_any_end_id_and_the_others_go_on() -> None:
    jobs = [job(prompt) for prompt in PROMPTS]
    free = write_together(writer(), jobs, seed=0)
    ends = frozenset({free[0][3], free[2][5]})
    cut = write_together(writer(ends=ends), jobs, seed=0)
    for whole, ids in zip(free, cut, strict=True):
        length = next((i + 1 for i, token in enumerate(whole) if token in ends), len(whole))
        assert ids == whole[:length]
    assert len(cut[0]) <= 4


def test_sampling_follows_the_law_the_temperature_and_the_seed() -> None:
    target = writer(rows=320)
    jobs = [job([5, 6], temperature, 1) for temperature in [1.0] * 3000 + [0.5] * 3000]
    first, again = (write_together(target, jobs, seed=4) for _ in range(2))
    assert first == again
    logits = target.model(input_ids=torch.tensor([[5, 6]])).logits[0, -1, :300].detach()
    for part, temperature in ((first[:3000], 1.0), (first[3000:], 0.5)):
        law = (logits / temperature).softmax(-1)
        counts = Counter(ids[0] for ids in part)
        found = torch.tensor([counts[token] / 3000 for token in range(300)])
        # Half the L1 distance of 3,000 draws from 300 outcomes is at most sqrt(300 / 3000) / 2 =
        # .16 in the mean; the law at the other temperature is farther off.
        other = (logits / (1.5 - temperature)).softmax(-1)
        assert float((found - law).abs().sum() / 2) < 0.16
        assert float((found - other).abs().sum() / 2) > 0.16


def test_rows_of_different_temperatures_do_not_disturb_greedy_ones() -> None:
    target = writer()
    alone = write_together(target, [job([5, 6, 7])], seed=0)[0]
    among = write_together(target, [job([9], 1.0, 4), job([5, 6, 7]), job([8], 0.7)], seed=1)
    assert among[1] == alone
    assert [len(ids) for ids in among] == [4, 10, 10]


def test_half_of_the_texts_are_sampled_at_one() -> None:
    encoded = {0: (1, 2, 3), 1: (1,), 4: (1, 2)}
    jobs = plan_jobs(encoded, range(6), 20, context=22)
    assert [len(job.ids) for job in jobs] == [1] * 6 + [2] * 6 + [3] * 6
    assert sorted(job.temperature for job in jobs if job.prompt == 4) == [0, 0.7, 0.7, 1, 1, 1]
    assert {(job.prompt, job.num_new) for job in jobs} == {(0, 19), (1, 20), (4, 20)}
    held_out = plan_held_out(encoded, 20, context=100)
    assert {job.prompt: job.temperature for job in held_out} == {0: 1.0, 1: 0.0, 4: 1.0}


def test_what_is_on_disk_is_not_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = writer()
    jobs = plan_jobs({index: (index + 5, 6) for index in range(40)}, range(1), 8, 100)
    texts, seconds = write_jobs(target, jobs, 0, tmp_path, "writing")
    assert [text.prompt for text in texts] == [job.prompt for job in jobs]
    assert all(text.num_written == 8 and text.ids[:2] == (text.prompt + 5, 6) for text in texts)
    (tmp_path / "00001.json").unlink()
    calls: list[int] = []
    real = write_together

    def counted(*args: object) -> list[list[int]]:
        calls.append(1)
        return real(*args)  # type: ignore[arg-type]

    monkeypatch.setattr("specviz.distill.writing.write_together", counted)
    again, _ = write_jobs(target, jobs, 0, tmp_path, "writing")
    assert (again, len(calls)) == (texts, 1)
    assert read_texts(tmp_path) == texts
    assert read_texts(tmp_path / "none") == []
    assert seconds > 0


def test_prompts_without_room_are_left_out() -> None:
    target = loaded()
    limits = SharedLimits(vocab_size=300, context=30)
    encoded = encode_prompts(["a fox", "x" * 40, "the fox"], target, limits, uses_chat=False)
    assert list(encoded) == [0, 2]
    assert list(encoded[0]) == target.tokenizer("a fox")["input_ids"]
    with pytest.raises(RequestError, match=r"no prompt leaves room to write: .* at most 30 tokens"):
        encode_prompts(["x" * 40], target, limits, uses_chat=False)
    last = max(encoded[2])
    low = SharedLimits(vocab_size=last, context=30)
    assert 2 not in encode_prompts(["\t", "a fox", "the fox"], target, low, uses_chat=False)


def test_a_chat_template_is_put_around_prompts_where_there_is_one() -> None:
    limits = SharedLimits(300, 128)
    plain = loaded()
    with pytest.raises(RequestError, match="llama has no chat template; leave out --chat"):
        encode_prompts(["a"], plain, limits, uses_chat=True)
    chatty = copy.deepcopy(plain.tokenizer)
    chatty.chat_template = "<{{ messages[0].content }}>{% if add_generation_prompt %}!{% endif %}"
    target = LoadedModel("chatty", plain.model, chatty, frozenset())
    encoded = encode_prompts(["a fox"], target, limits, uses_chat=True)
    assert chatty.decode(list(encoded[0])) == "<a fox>!"


def test_the_smaller_of_both_vocabularies_and_contexts_counts() -> None:
    short = loaded(rows=320)
    short.model.config.max_position_embeddings = 64
    assert shared_limits(loaded(rows=304), short) == SharedLimits(300, 64)
    assert shared_limits(loaded(rows=299), short) == SharedLimits(299, 64)
    with pytest.raises(IncompatibleModelError, match="an output layer of 48 rows for a tokenizer"):
        shared_limits(loaded(), loaded(rows=48))
