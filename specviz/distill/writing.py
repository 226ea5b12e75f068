"""Lets a target write after prompts, many texts at once, and keeps each group that is done."""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

import torch
from transformers import DynamicCache

from specviz.distill.texts import Job, Text
from specviz.distill.training_run import progress_bar
from specviz.trace.typed_json import decode, encode

ROWS = 32


@dataclass(frozen=True, slots=True, eq=False)
class Writer:
    """A causal LM that writes texts."""

    model: Any
    vocab_size: int
    """It writes ids below this."""
    eos_ids: frozenset[int]
    """A text ends after any of them."""


@dataclass(frozen=True, slots=True)
class WrittenGroup:
    """Texts that were written together, as a file keeps them."""

    texts: tuple[Text, ...]
    seconds: float


def write_jobs(
    writer: Writer, jobs: Sequence[Job], seed: int, folder: Path, title: str
) -> tuple[list[Text], float]:
    """Write all jobs, going on where an earlier run stopped.

    Returns:
        The texts, and how many seconds they took.
    """
    texts: list[Text] = []
    seconds = 0.0
    if not jobs:
        return texts, seconds
    with progress_bar() as progress:
        bar = progress.add_task(title, total=len(jobs))
        groups = (jobs[start : start + ROWS] for start in range(0, len(jobs), ROWS))
        for group in write_groups(writer, groups, seed, folder):
            texts += group.texts
            seconds += group.seconds
            progress.update(bar, completed=len(texts))
    return texts, seconds


def write_groups(
    writer: Writer, groups: Iterable[Sequence[Job]], seed: int, folder: Path
) -> Iterator[WrittenGroup]:
    """Write one group after the other, or read those that the folder holds already."""
    for group in writing_groups(writer, groups, seed, folder):
        if group is not None:
            yield group


def writing_groups(
    writer: Writer, groups: Iterable[Sequence[Job]], seed: int, folder: Path
) -> Iterator[WrittenGroup | None]:
    """Write as `write_groups` does, in short pieces: None stands between two of a group."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, jobs in enumerate(groups):
        path = folder / f"{number:05}.json"
        if not path.exists():
            yield from _write_group(writer, jobs, seed * 100_003 + number, path)
        yield _read_group(path)


def read_texts(folder: Path) -> list[Text]:
    """Read all texts that `folder` holds, none where there is no such folder."""
    return [text for path in sorted(folder.glob("*.json")) for text in _read_group(path).texts]


def _write_group(writer: Writer, jobs: Sequence[Job], seed: int, path: Path) -> Iterator[None]:
    writing = WritingTogether(writer, jobs, seed)
    seconds, goes_on = 0.0, True
    while goes_on:
        begun = monotonic()
        goes_on = writing.step()
        seconds += monotonic() - begun
        yield
    texts = tuple(
        Text(job.prompt, (*job.ids, *written), len(job.ids))
        for job, written in zip(jobs, writing.written, strict=True)
    )
    # Several processes may want the same texts; each writes all of them, and any may be the last.
    fresh = path.with_suffix(f".{os.getpid()}.new")
    fresh.write_text(json.dumps(encode(WrittenGroup(texts, seconds))))
    fresh.replace(path)


def _read_group(path: Path) -> WrittenGroup:
    group: WrittenGroup = decode(WrittenGroup, json.loads(path.read_text()))
    return group


def write_together(writer: Writer, jobs: Sequence[Job], seed: int) -> list[list[int]]:
    """Write several texts at once, and return what was written after each prompt."""
    writing = WritingTogether(writer, jobs, seed)
    while writing.step():
        continue
    return writing.written


class WritingTogether:
    """Several texts that are written at once, a step at a time; nothing is padded.

    The part that all prompts are long enough for is read in one pass. Then each row takes one id a
    step: the next one of its prompt while there is one, else the model's own. A row that has ended
    leaves the batch.
    """

    def __init__(self, writer: Writer, jobs: Sequence[Job], seed: int) -> None:
        self._writer, self._jobs, device = writer, jobs, writer.model.device
        self._generator = torch.Generator(device).manual_seed(seed)
        self._rows = list(range(len(jobs)))
        self._texts = [list(job.ids) for job in jobs]
        self._read = min(map(len, self._texts))
        self._fed = torch.tensor([text[: self._read] for text in self._texts], device=device)
        self._warmth = torch.tensor([job.temperature for job in jobs], device=device)
        self._cache = DynamicCache(config=writer.model.config)

    @property
    def written(self) -> list[list[int]]:
        """What stands after each prompt so far."""
        return [text[len(job.ids) :] for text, job in zip(self._texts, self._jobs, strict=True)]

    @torch.inference_mode()
    def step(self) -> bool:
        """Take one pass, which every text that goes on gets an id of; return whether any does."""
        writer, texts, rows = self._writer, self._texts, self._rows
        out = writer.model(input_ids=self._fed, past_key_values=self._cache, logits_to_keep=1)
        logits = out.logits[:, -1, : writer.vocab_size].float()
        drawn = _draw(logits, self._warmth[rows], self._generator)
        for row, token in zip(rows, drawn, strict=True):
            if len(texts[row]) == self._read:
                texts[row].append(token)
        self._read += 1
        going = [not _has_ended(texts[row], self._jobs[row], writer.eos_ids) for row in rows]
        device = self._fed.device
        if not all(going):
            self._rows = [row for row, goes in zip(rows, going, strict=True) if goes]
            # Unlike `batch_select_indices`, states of recurrent layers are selected from too.
            self._cache.reorder_cache(torch.tensor(going, device=device).nonzero()[:, 0])
        newest = [[texts[row][self._read - 1]] for row in self._rows]
        self._fed = torch.tensor(newest, device=device)
        return bool(self._rows)


def _draw(logits: torch.Tensor, warmth: torch.Tensor, generator: torch.Generator) -> list[int]:
    """Draw one id a row from `[rows, vocab]`; rows of warmth 0 take the first choice."""
    noise = torch.empty_like(logits).exponential_(generator=generator)
    scaled = logits / warmth.clamp(min=1e-4)[:, None]
    # argmax(p / exponential noise) is a draw from p.
    scores = torch.where(warmth[:, None] > 0, scaled.log_softmax(-1) - noise.log(), logits)
    ids: list[int] = scores.argmax(-1).tolist()
    return ids


def _has_ended(text: list[int], job: Job, eos_ids: frozenset[int]) -> bool:
    num_written = len(text) - len(job.ids)
    return num_written >= job.num_new or (num_written > 0 and text[-1] in eos_ids)
