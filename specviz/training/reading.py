"""Writes what the shipped target has read, and how probable held-out texts are under it.

The file lies beside the weights (`specviz.trace.reading`); the page compares prompts with it.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from rich.console import Console

from specviz.decoding.prompt_score import token_log_probs
from specviz.models.loading import LoadedModel, ModelPool
from specviz.trace.reading import READING_FILE, Beginnings, Reading, reading_to_json
from specviz.training.architecture import TARGET
from specviz.training.corpus import positive, read_texts
from specviz.training.settings import FamilySettings, TargetSettings

NUM_TEXTS = 150
"""Held-out texts of each source, or all that it has."""
LENGTHS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
SHARES = (0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.5, 0.75, 0.9)
MIN_TEXTS = 100
"""Fewer texts of a length say nothing about a share of 1 in 200."""
LANGUAGES = ("en",)
KINDS = {
    "stories": ("story_grammar", "stories_"),
    "code": ("code_",),
    "tasks": ("task_grammar", "edit_", "qa_"),
}
"""What the sources of a kind are called, or begin with."""

Floats = npt.NDArray[np.float64]


def write_reading(settings: FamilySettings, corpus: Path, models: Path) -> Path:
    """Score the target in `models` on held-out texts and write the file into its folder.

    Sources count as much as in the mix that the family is evaluated on.

    Raises:
        FileNotFoundError: The corpus lacks a source.
        ModelLoadError: The target was not exported.
    """
    folder = models / TARGET
    target = ModelPool("cpu", "float32").get(str(folder))
    mix = positive(settings.sample.prompt_mix)
    scores = {source: _scores(target, corpus, source, settings.held_out_below) for source in mix}
    reading = Reading(
        kinds=kinds_read(settings.target),
        languages=LANGUAGES,
        shares=SHARES,
        beginnings=beginnings_of(scores, mix),
    )
    path = folder / READING_FILE
    path.write_text(json.dumps(reading_to_json(reading), indent=1) + "\n", encoding="utf-8")
    return path


def kinds_read(target: TargetSettings) -> tuple[str, ...]:
    """Return the kinds of text that a target was trained on, by their share of its tokens.

    Sources of no kind are too small a part to be named.
    """
    read = dict.fromkeys(KINDS, 0.0)
    for stage in target.stages:
        whole = sum(stage.mix.values())
        for source, weight in stage.mix.items():
            for kind, names in KINDS.items():
                if source.startswith(names):
                    read[kind] += stage.tokens * weight / whole
    return tuple(sorted((kind for kind in read if read[kind]), key=lambda kind: -read[kind]))


def beginnings_of(scores: dict[str, list[Floats]], mix: dict[str, float]) -> tuple[Beginnings, ...]:
    """Take the quantiles of the texts' means over their first tokens, for each length.

    A text counts as its source's weight in `mix`, shared by all texts of the source, also where
    some are too short for a length.
    """
    found = []
    for length in LENGTHS:
        means, weights = [], []
        for source, texts in scores.items():
            for log_probs in texts:
                if len(log_probs) >= length:
                    means.append(float(log_probs[:length].mean()))
                    weights.append(mix[source] / len(texts))
        if len(means) >= MIN_TEXTS:
            quantiles = weighted_quantiles(means, weights, SHARES)
            rounded = tuple(round(value, 3) for value in quantiles)
            found.append(Beginnings(length, len(means), rounded))
    return tuple(found)


def weighted_quantiles(
    values: Sequence[float], weights: Sequence[float], shares: Sequence[float]
) -> list[float]:
    """Return for each share the lowest value up to which so much of the weight lies.

    Example: values 1, 2, 3 of weights 1, 1, 2 have the quantiles 2 at 0.5 and 3 at 0.6.
    """
    order = np.argsort(values)
    sums = np.cumsum(np.asarray(weights, dtype=np.float64)[order])
    at = np.searchsorted(sums, np.asarray(shares) * sums[-1] * (1 - 1e-12))
    return [float(values[order[index]]) for index in at]


def _scores(target: LoadedModel, corpus: Path, source: str, held_out_below: str) -> list[Floats]:
    """Log-probabilities of the first tokens of held-out texts."""
    texts = read_texts(corpus, source, held_out=True, held_out_below=held_out_below)[:NUM_TEXTS]
    encoded = [target.tokenizer(text)["input_ids"][: LENGTHS[-1] + 1] for text in texts]
    scores = [token_log_probs(target.model, ids).numpy().astype(np.float64) for ids in encoded]
    mean = np.concatenate(scores).mean()
    Console().print(f"{source}: {len(scores)} texts, {mean:.2f} nats a token")
    return scores
