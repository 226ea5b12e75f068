"""Lets the target write the text that its draft learns from."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from tokenizers import Tokenizer

from specviz.decoding.rollback_cache import rollback_cache
from specviz.distill.training_run import default_device, progress_bar, read_state
from specviz.training.architecture import TARGET, load_trained
from specviz.training.corpus import (
    Ids,
    Indices,
    TokenStream,
    pick_sources,
    positive,
    prompt_part,
    read_texts,
    special_ids,
)
from specviz.training.settings import FamilySettings, SampleSettings

# A story prompt is this many tokens at most; some are the begin token alone.
LONGEST_OPENING = 12
# Rows of like prompt lengths are written together, chosen among this many times as many prompts.
POOL = 6
MAX_TEXTS = 6000


class Prompts:
    """Prompts of several sources, as ids that begin with the begin token."""

    def __init__(
        self, texts: dict[str, list[str]], tokenizer: Tokenizer, longest_prompt: int
    ) -> None:
        self.texts, self.tokenizer, self.longest_prompt = texts, tokenizer, longest_prompt
        self.begin = special_ids(tokenizer)[0]

    def draw(self, source: str, rng: np.random.Generator) -> list[int]:
        """Draw one prompt of a source, at most `longest_prompt` ids."""
        texts = self.texts[source]
        while True:
            text = texts[int(rng.integers(len(texts)))]
            head = prompt_part(text, source)
            if head is None:
                ids = self._encode(text[: 12 * LONGEST_OPENING])
                return ids[: 1 + int(rng.integers(LONGEST_OPENING + 1))]
            ids = self._encode(head)
            if len(ids) <= self.longest_prompt:
                return ids

    def _encode(self, text: str) -> list[int]:
        return [self.begin, *self.tokenizer.encode(text, add_special_tokens=False).ids]


def load_prompts(
    settings: FamilySettings, corpus: Path, tokenizer: Tokenizer, *, held_out: bool
) -> Prompts:
    """Read the texts that prompts are cut from."""
    texts = {
        source: read_texts(
            corpus, source, held_out=held_out, held_out_below=settings.held_out_below
        )[:MAX_TEXTS]
        for source in positive(settings.sample.prompt_mix)
    }
    return Prompts(texts, tokenizer, settings.sample.longest_prompt)


@dataclass(frozen=True, slots=True)
class Writing:
    """Rows that the target wrote together."""

    ids: Ids
    """`[rows, length]`, each row some texts one after the other, the last one cut."""
    is_written: npt.NDArray[np.bool_]
    """`[rows, length]`, False where the id belongs to a prompt."""


@torch.inference_mode()
def write(
    model: Any,
    prompts: list[list[int]],
    more_prompts: Iterator[list[int]],
    temperatures: list[float],
    num_steps: int,
    seed: int,
) -> Writing:
    """Write `num_steps` ids in every row; nothing is padded.

    The part that all prompts are long enough for is read in one pass. Then each row takes one id a
    step: the next one of its prompt while there is one, else the model's own. After the end token
    comes a new prompt.

    Args:
        temperatures: One a row; 0 is greedy.
    """
    device = model.device
    num_rows, shortest = len(prompts), min(map(len, prompts))
    generator = torch.Generator(device).manual_seed(seed)
    warmth = torch.tensor(temperatures, device=device)[:, None].clamp(min=1e-4)
    waiting = [deque(prompt[shortest:]) for prompt in prompts]
    ids = np.zeros((num_rows, shortest + num_steps), dtype=np.uint16)
    is_written = np.zeros(ids.shape, dtype=np.bool_)
    ids[:, :shortest] = [prompt[:shortest] for prompt in prompts]
    fed = torch.from_numpy(ids[:, :shortest].astype(np.int64)).to(device)
    cache = rollback_cache()
    for position in range(shortest, shortest + num_steps):
        logits = model(input_ids=fed, past_key_values=cache, logits_to_keep=1).logits[:, -1]
        noise = torch.empty_like(logits).exponential_(generator=generator)
        # argmax(p / exponential noise) is a draw from p; a greedy row goes without noise.
        scores = (logits / warmth).log_softmax(-1) - noise.log() * (warmth > 1e-4)
        for row, drawn in enumerate(scores.argmax(-1).tolist()):
            if waiting[row]:
                ids[row, position] = waiting[row].popleft()
                continue
            ids[row, position], is_written[row, position] = drawn, True
            if drawn == model.config.eos_token_id:
                waiting[row].extend(next(more_prompts))
        fed = torch.from_numpy(ids[:, position : position + 1].astype(np.int64)).to(device)
    return Writing(ids, is_written)


def write_chunk(model: Any, prompts: Prompts, settings: SampleSettings, seed: list[int]) -> Writing:
    """Write one chunk of rows, the same one for the same seed and weights."""
    rng = np.random.default_rng(seed)
    sources = pick_sources(settings.prompt_mix, settings.rows * POOL, rng)
    pool = sorted((prompts.draw(source, rng) for source in sources), key=len)
    first = int(rng.integers(POOL)) * settings.rows
    temperatures = [
        settings.temperatures[row % len(settings.temperatures)] for row in range(settings.rows)
    ]
    return write(
        model,
        pool[first : first + settings.rows],
        _endless(prompts, settings.prompt_mix, rng),
        temperatures,
        settings.new_tokens,
        seed=int(rng.integers(2**31)),
    )


def _endless(
    prompts: Prompts, mix: dict[str, float], rng: np.random.Generator
) -> Iterator[list[int]]:
    while True:
        yield prompts.draw(pick_sources(mix, 1, rng)[0], rng)


@dataclass(frozen=True, slots=True)
class Samples:
    """Everything the target has written so far, packed as a stream of ids."""

    stream: TokenStream
    num_written: int
    """Ids of the target's own, prompts not counted."""
    num_chunks: int
    target_tokens: int
    """How many tokens the target had been trained on."""

    def save(self, path: Path) -> None:
        """Write the samples, the old file staying until the new one is whole."""
        fresh = path.with_name("samples.new.npz")
        counts = np.array([self.num_written, self.num_chunks, self.target_tokens])
        np.savez(fresh, ids=self.stream.ids, starts=self.stream.starts, counts=counts)
        fresh.replace(path)


def load_samples(build: Path) -> Samples:
    """Read what the target has written.

    Raises:
        FileNotFoundError: Nothing was written yet.
    """
    path = build / "samples.npz"
    if not path.exists():
        raise FileNotFoundError(f"{path} is missing: run the command `sample` first")
    with np.load(path) as stored:
        written, chunks, target_tokens = (int(count) for count in stored["counts"])
        return Samples(TokenStream(stored["ids"], stored["starts"]), written, chunks, target_tokens)


def _grow(samples: Samples, writing: Writing) -> Samples:
    rows, length = writing.ids.shape
    starts: Indices = len(samples.stream.ids) + np.arange(rows, dtype=np.int64) * length
    return Samples(
        TokenStream(
            np.concatenate([samples.stream.ids, writing.ids.ravel()]),
            np.concatenate([samples.stream.starts, starts]),
        ),
        samples.num_written + int(writing.is_written.sum()),
        samples.num_chunks + 1,
        samples.target_tokens,
    )


def write_samples(
    settings: FamilySettings, corpus: Path, build: Path, tokenizer: Tokenizer
) -> Samples:
    """Write the samples of the settings chunk by chunk, going on where an earlier run stopped.

    Samples of a target that was trained further since are thrown away.
    """
    model = load_trained(settings, TARGET, build, tokenizer, default_device())
    prompts = load_prompts(settings, corpus, tokenizer, held_out=False)
    target_tokens = read_state(build / TARGET).tokens
    empty = TokenStream(np.zeros(0, np.uint16), np.zeros(0, np.int64))
    samples = Samples(empty, 0, 0, target_tokens)
    path = build / "samples.npz"
    if path.exists() and (stored := load_samples(build)).target_tokens == target_tokens:
        samples = stored
    with progress_bar() as progress:
        bar = progress.add_task("samples", total=settings.sample.tokens)
        while samples.num_written < settings.sample.tokens:
            seed = [settings.seed, samples.num_chunks]
            samples = _grow(samples, write_chunk(model, prompts, settings.sample, seed))
            samples.save(path)
            progress.update(bar, completed=samples.num_written)
    return samples
