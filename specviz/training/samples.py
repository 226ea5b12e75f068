"""Lets the target write the text that its drafts learn from."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from specviz.distill.texts import Job, Text
from specviz.distill.training_run import default_device, progress_bar, read_state
from specviz.distill.writing import Writer, read_texts, write_groups
from specviz.training.architecture import TARGET, load_trained
from specviz.training.corpus import (
    TokenStream,
    pick_sources,
    positive,
    prompt_part,
    special_ids,
)
from specviz.training.corpus import read_texts as read_corpus
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
        source: read_corpus(
            corpus, source, held_out=held_out, held_out_below=settings.held_out_below
        )[:MAX_TEXTS]
        for source in positive(settings.sample.prompt_mix)
    }
    return Prompts(texts, tokenizer, settings.sample.longest_prompt)


def family_writer(target: Any, tokenizer: Tokenizer) -> Writer:
    """The family's target as what writes texts, which end after the end token."""
    return Writer(target, tokenizer.get_vocab_size(), frozenset({special_ids(tokenizer)[1]}))


def plan_samples(prompts: Prompts, settings: SampleSettings, seed: list[int]) -> list[Job]:
    """Plan texts that are written together, the same ones for the same seed."""
    rng = np.random.default_rng(seed)
    sources = pick_sources(settings.prompt_mix, settings.rows * POOL, rng)
    pool = sorted((prompts.draw(source, rng) for source in sources), key=len)
    first = int(rng.integers(POOL)) * settings.rows
    return [
        Job(
            row,
            tuple(ids),
            settings.temperatures[row % len(settings.temperatures)],
            settings.new_tokens,
        )
        for row, ids in enumerate(pool[first : first + settings.rows])
    ]


def write_samples(
    settings: FamilySettings, corpus: Path, build: Path, tokenizer: Tokenizer
) -> list[Text]:
    """Write the samples of the settings group by group, going on where an earlier run stopped.

    A target that was trained further since writes new ones.
    """
    target = load_trained(settings, TARGET, build, tokenizer, default_device())
    prompts = load_prompts(settings, corpus, tokenizer, held_out=False)

    def plans() -> Iterator[list[Job]]:
        number = 0
        while True:
            yield plan_samples(prompts, settings.sample, [settings.seed, number])
            number += 1

    texts: list[Text] = []
    num_written = 0
    with progress_bar() as progress:
        bar = progress.add_task("samples", total=settings.sample.tokens)
        writer = family_writer(target, tokenizer)
        for group in write_groups(writer, plans(), settings.seed, _folder(build)):
            texts += group.texts
            num_written += sum(text.num_written for text in group.texts)
            progress.update(bar, completed=num_written)
            if num_written >= settings.sample.tokens:
                break
    return texts


def load_samples(build: Path) -> list[Text]:
    """Read what the target, as it is now, has written.

    Raises:
        FileNotFoundError: Nothing was written yet.
    """
    texts = read_texts(_folder(build))
    if not texts:
        raise FileNotFoundError(
            f"{_folder(build)} holds no samples: run the command `sample` first"
        )
    return texts


def _folder(build: Path) -> Path:
    """Samples of this very target, which its progress tells from earlier ones."""
    return build / "samples" / str(read_state(build / TARGET).tokens)


def pack_texts(texts: list[Text]) -> TokenStream:
    """Put texts one after the other; each begins with the begin token."""
    lengths = [len(text.ids) for text in texts]
    return TokenStream(
        np.concatenate([np.array(text.ids, dtype=np.uint16) for text in texts]),
        np.cumsum([0, *lengths[:-1]], dtype=np.int64),
    )
