"""What a target writes after prompts: its own law, ends, groups on disk."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch
from tiny_models import CONFIGS, HYBRID_CONFIGS, HYBRIDS, SHAPES, random_model

from specviz.distill.texts import Job, plan_jobs
from specviz.distill.writing import Writer, WritingTogether, read_texts, write_jobs, write_together


def writer(shape: str = "llama", rows: int = 300, ends: frozenset[int] = frozenset()) -> Writer:
    config = (CONFIGS | HYBRID_CONFIGS)[shape]()
    config.vocab_size = rows
    return Writer(random_model(config, dtype=torch.float64), 300, ends)


def job(ids: list[int], temperature: float = 0.0, num_new: int = 10) -> Job:
    return Job(0, tuple(ids), temperature, num_new)


PROMPTS = [[5, 6, 7], [9], [11, 12, 13, 14, 15, 16, 17], [9, 8]]


@pytest.mark.parametrize("shape", [*SHAPES, *HYBRIDS])
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

    def counted(*args: Any) -> WritingTogether:
        calls.append(1)
        return WritingTogether(*args)

    monkeypatch.setattr("specviz.distill.writing.WritingTogether", counted)
    again, _ = write_jobs(target, jobs, 0, tmp_path, "writing")
    assert (again, len(calls)) == (texts, 1)
    assert read_texts(tmp_path) == texts
    assert read_texts(tmp_path / "none") == []
    assert seconds > 0
