"""Lets any target write after prompts, and keeps what it wrote, so that this is done once."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

import torch
from transformers import DynamicCache

from specviz.decoding.model_runner import ModelRunner
from specviz.distill.training_run import progress_bar
from specviz.errors import IncompatibleModelError, RequestError
from specviz.models.loading import LoadedModel

ROWS = 32
MIN_ROOM = 8
MIN_SHARE_OF_IDS = 0.99
NO_LIMIT = 2**31
"""Stands for the context of a model that reads texts of any length."""


@dataclass(frozen=True, slots=True)
class Text:
    """A prompt and what the target wrote after it."""

    prompt: int
    """Which prompt: its place in the list of prompts."""
    ids: tuple[int, ...]
    """Ids of the prompt and of what was written."""
    num_prompt: int
    """How many of the ids, the first ones, are the prompt's."""

    @property
    def num_written(self) -> int:
        """How many ids the target wrote."""
        return len(self.ids) - self.num_prompt


@dataclass(frozen=True, slots=True)
class Job:
    """One text to be written."""

    prompt: int
    ids: tuple[int, ...]
    temperature: float
    """0 is greedy."""
    num_new: int
    """It ends after so many ids, or after an id that ends a text."""


@dataclass(frozen=True, slots=True)
class SharedLimits:
    """What both models of a pair can read."""

    vocab_size: int
    """Ids below this have a meaning and a row in both; output layers may have more rows."""
    context: int
    """Longest text, in ids."""


def shared_limits(target: LoadedModel, draft: LoadedModel) -> SharedLimits:
    """Find what both models can read.

    Raises:
        IncompatibleModelError: An output layer is too small for the tokenizer.
    """
    num_ids = len(target.tokenizer)
    sizes, contexts = [num_ids], [NO_LIMIT]
    for loaded in (target, draft):
        runner = ModelRunner(loaded.model)
        if runner.vocab_size < MIN_SHARE_OF_IDS * num_ids:
            raise IncompatibleModelError(
                f"{loaded.name} has an output layer of {runner.vocab_size} rows for a tokenizer of "
                f"{num_ids} ids; choose a model whose files belong together"
            )
        sizes.append(runner.vocab_size)
        contexts.append(runner.context or NO_LIMIT)
    return SharedLimits(min(sizes), min(contexts))


def encode_prompts(
    prompts: Sequence[str], target: LoadedModel, limits: SharedLimits, *, uses_chat: bool
) -> dict[int, tuple[int, ...]]:
    """Encode the prompts, by their place; those that cannot be read or leave no room are left out.

    Raises:
        RequestError: A chat template is asked for and there is none, or no prompt is left.
    """
    tokenizer = target.tokenizer
    if uses_chat and not tokenizer.chat_template:
        raise RequestError(f"{target.name} has no chat template; leave out --chat")
    encoded = {}
    for place, prompt in enumerate(prompts):
        if uses_chat:
            turn = [{"role": "user", "content": prompt}]
            prompt = tokenizer.apply_chat_template(turn, tokenize=False, add_generation_prompt=True)
        ids = tuple(tokenizer(prompt, add_special_tokens=not uses_chat)["input_ids"])
        if ids and max(ids) < limits.vocab_size and len(ids) + MIN_ROOM <= limits.context:
            encoded[place] = ids
    if not encoded:
        raise RequestError(
            f"no prompt leaves room to write: both models read at most {limits.context} tokens, "
            "the answer included; give shorter prompts"
        )
    return encoded


def plan_jobs(
    encoded: dict[int, tuple[int, ...]], numbers: Sequence[int], new_tokens: int, context: int
) -> list[Job]:
    """Plan the texts of these numbers after each prompt; about as long prompts stand together.

    Half of the texts are written at T = 1; of the others the first is greedy, the rest are cool.
    """
    jobs = []
    for place, ids in encoded.items():
        room = min(new_tokens, context - len(ids))
        jobs += [Job(place, ids, _temperature(number), room) for number in numbers]
    return sorted(jobs, key=lambda job: len(job.ids))


def plan_held_out(encoded: dict[int, tuple[int, ...]], new_tokens: int, context: int) -> list[Job]:
    """Plan one text after each held-out prompt, every other one greedy."""
    jobs = []
    for number, (place, ids) in enumerate(encoded.items()):
        jobs += plan_jobs({place: ids}, [number % 2], new_tokens, context)
    return sorted(jobs, key=lambda job: len(job.ids))


def _temperature(number: int) -> float:
    if number == 1:
        return 0.0
    return 0.7 if number % 2 else 1.0


def write_jobs(
    target: LoadedModel, vocab_size: int, jobs: Sequence[Job], seed: int, folder: Path, title: str
) -> tuple[list[Text], float]:
    """Write all jobs, some rows at a time, going on where an earlier run stopped.

    Returns:
        The texts, and how many seconds they took.
    """
    texts: list[Text] = []
    seconds = 0.0
    if not jobs:
        return texts, seconds
    folder.mkdir(parents=True, exist_ok=True)
    with progress_bar() as progress:
        bar = progress.add_task(title, total=len(jobs))
        for number, start in enumerate(range(0, len(jobs), ROWS)):
            group = jobs[start : start + ROWS]
            path = folder / f"{number:05}.json"
            if not path.exists():
                _write_group(target, vocab_size, group, seed * 100_003 + number, path)
            stored = json.loads(path.read_text())
            seconds += stored["seconds"]
            texts += [
                Text(job.prompt, (*job.ids, *written), len(job.ids))
                for job, written in zip(group, stored["written"], strict=True)
            ]
            progress.update(bar, completed=len(texts))
    return texts, seconds


def _write_group(
    target: LoadedModel, vocab_size: int, group: Sequence[Job], seed: int, path: Path
) -> None:
    begun = monotonic()
    written = write_together(target, vocab_size, group, seed)
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps({"written": written, "seconds": monotonic() - begun}))
    fresh.replace(path)


@torch.inference_mode()
def write_together(
    target: LoadedModel, vocab_size: int, jobs: Sequence[Job], seed: int
) -> list[list[int]]:
    """Write several texts at once in ids below `vocab_size`; nothing is padded.

    The part that all prompts are long enough for is read in one pass. Then each row takes one id a
    step: the next one of its prompt while there is one, else the target's own. A row that has ended
    leaves the batch.
    """
    model: Any = target.model
    generator = torch.Generator(model.device).manual_seed(seed)
    rows = list(range(len(jobs)))
    texts = [list(job.ids) for job in jobs]
    read = min(map(len, texts))
    fed = torch.tensor([text[:read] for text in texts], device=model.device)
    warmth = torch.tensor([job.temperature for job in jobs], device=model.device)
    cache = DynamicCache(config=model.config)
    while rows:
        logits = model(input_ids=fed, past_key_values=cache, logits_to_keep=1).logits[:, -1]
        drawn = _draw(logits[:, :vocab_size].float(), warmth[rows], generator)
        for row, token in zip(rows, drawn, strict=True):
            if len(texts[row]) == read:
                texts[row].append(token)
        read += 1
        going = [not _has_ended(texts[row], jobs[row], target.eos_ids) for row in rows]
        if not all(going):
            rows = [row for row, goes in zip(rows, going, strict=True) if goes]
            cache.batch_select_indices(torch.tensor(going, device=model.device).nonzero()[:, 0])
        fed = torch.tensor([[texts[row][read - 1]] for row in rows], device=model.device)
    return [text[len(job.ids) :] for text, job in zip(texts, jobs, strict=True)]


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
