"""Held-out texts on which every draft of the family is compared with the target."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from specviz.distill.agreement import measure_texts, pool
from specviz.distill.model_reader import ModelReader, TargetReader
from specviz.distill.texts import Job, Text
from specviz.distill.training_run import read_state
from specviz.distill.writing import read_texts, write_jobs
from specviz.trace.fits import FitScore
from specviz.training.architecture import TARGET
from specviz.training.corpus import positive
from specviz.training.samples import Prompts, family_writer, load_prompts
from specviz.training.settings import FamilySettings

NUM_TEXTS = 32
NUM_TOKENS = 96


def plan_held_out(prompts: Prompts, source: str, seed: int) -> list[Job]:
    """Plan texts after held-out prompts of one source, every other one greedy."""
    rng = np.random.default_rng([seed, len(source)])
    drawn = sorted((prompts.draw(source, rng) for _ in range(NUM_TEXTS)), key=len)
    return [
        Job(number, tuple(ids), float(number % 2 == 0), NUM_TOKENS)
        for number, ids in enumerate(drawn)
    ]


def held_out_texts(
    target: Any, settings: FamilySettings, corpus: Path, build: Path, tokenizer: Tokenizer
) -> dict[str, list[Text]]:
    """What the target writes after held-out prompts, by source.

    Kept in the build folder: every draft is judged on the same texts, written once.
    """
    folder = build / "held_out" / str(read_state(build / TARGET).tokens)
    texts = {source: read_texts(folder / source) for source in positive(settings.sample.prompt_mix)}
    if all(texts.values()):
        return texts
    prompts = load_prompts(settings, corpus, tokenizer, held_out=True)
    writer = family_writer(target, tokenizer)
    for source in texts:
        jobs = plan_held_out(prompts, source, settings.seed)
        title = f"held out, {source}"
        texts[source], _ = write_jobs(writer, jobs, settings.seed, folder / source, title)
    return texts


class HeldOut:
    """Held-out texts of several kinds, which the target reads once."""

    def __init__(self, target: ModelReader, texts: Mapping[str, Sequence[Text]]) -> None:
        self._kinds = [kind for kind, part in texts.items() for _ in part]
        flat = [text for part in texts.values() for text in part]
        self._texts = TargetReader(target, flat).keep()

    def agreement(self, draft: ModelReader) -> dict[str, FitScore]:
        """How well a draft agrees with the target, by kind."""
        found = list(zip(self._kinds, measure_texts(draft, self._texts), strict=True))
        return {
            kind: pool([score for its_kind, score in found if its_kind == kind])
            for kind in dict.fromkeys(self._kinds)
        }
