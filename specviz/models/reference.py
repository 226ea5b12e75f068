"""transformers' own `generate()`, plain and assisted, timed: what our lanes are held against.

Decoding time only. A streamer notes when each piece of output arrives; the first piece, which comes
after the prompt was read, starts the clock and is not counted, so what is timed is the decoding of
all later tokens.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from transformers import GenerationConfig
from transformers.generation.streamers import BaseStreamer

from specviz.models.loading import LoadedModel


@dataclass(frozen=True, slots=True)
class GenerateRun:
    """One call of `generate()`."""

    ids: tuple[int, ...]
    """Tokens after the prompt."""
    num_timed: int
    """Tokens that arrived after the first piece of output."""
    timed_ms: float
    """Time from the first piece of output to the last."""


class _Arrivals(BaseStreamer):  # type: ignore[misc]
    """Notes how many tokens arrive when; the first arrival is the prompt itself."""

    def __init__(self) -> None:
        self.pieces: list[tuple[int, float]] = []

    def put(self, value: torch.Tensor) -> None:
        self.pieces.append((value.numel(), time.perf_counter() * 1000.0))

    def end(self) -> None:
        """Nothing to finish."""


def run_generate(
    target: LoadedModel,
    prompt_ids: Sequence[int],
    max_new_tokens: int,
    draft: LoadedModel | None = None,
    gamma: int = 0,
) -> GenerateRun:
    """Decode greedily with `generate()`; with `draft`, as its assistant at a constant gamma.

    The models' own generation settings are set aside, so that nothing but the ids of the end tokens
    is taken from them, and are put back afterwards.
    """
    ids = torch.tensor([list(prompt_ids)], device=target.model.device)
    arrivals = _Arrivals()
    settings = GenerationConfig(
        do_sample=False,
        max_new_tokens=max_new_tokens,
        eos_token_id=sorted(target.eos_ids) or None,
        pad_token_id=0,
    )
    options: dict[str, Any] = {} if draft is None else {"assistant_model": draft.model}
    with _settings_of(target, GenerationConfig()), _settings_of(draft, _constant(gamma)):
        output = target.model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            generation_config=settings,
            streamer=arrivals,
            **options,
        )
    (_, first_ms), *later = arrivals.pieces[1:]
    last_ms = later[-1][1] if later else first_ms
    return GenerateRun(
        ids=tuple(output[0, len(prompt_ids) :].tolist()),
        num_timed=sum(size for size, _ in later),
        timed_ms=last_ms - first_ms,
    )


def _constant(gamma: int) -> GenerationConfig:
    """Settings of an assistant that always drafts `gamma` tokens, however unsure it is."""
    return GenerationConfig(
        num_assistant_tokens=gamma or None,
        num_assistant_tokens_schedule="constant",
        assistant_confidence_threshold=0.0,
    )


@contextmanager
def _settings_of(loaded: LoadedModel | None, settings: GenerationConfig) -> Iterator[None]:
    """Lend a model other generation settings."""
    if loaded is None:
        yield
        return
    own = loaded.model.generation_config
    loaded.model.generation_config = settings
    try:
        yield
    finally:
        loaded.model.generation_config = own
