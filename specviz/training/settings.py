"""Reads family.toml, the one file with every setting of the shipped family."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SETTINGS_FILE = Path(__file__).with_name("family.toml")


@dataclass(frozen=True, slots=True)
class TokenizerSettings:
    """Vocabulary size and the text it is learned from (source name to million characters)."""

    vocab_size: int
    sample: dict[str, float]


@dataclass(frozen=True, slots=True)
class Stage:
    """A stretch of training with one batch shape and one mixture (source name to weight)."""

    name: str
    tokens: int
    rows: int
    seq_len: int
    mix: dict[str, float]
    num_layers: int = 0
    """Layers while this stage lasts, never fewer than in the stage before; 0: as in the end."""
    lr_scale: float = 1.0
    """What the learning rates are multiplied with."""
    decay: bool = False
    """Let the learning rate fall linearly to zero over this stage; otherwise it is constant."""


@dataclass(frozen=True, slots=True)
class TargetSettings:
    """Shape and training of the target model."""

    num_layers: int
    hidden_size: int
    intermediate_size: int
    num_heads: int
    context: int
    rope_theta: float
    exit_layers: tuple[int, ...]
    exit_weight: float
    exit_rows: float
    matrix_lr: float
    other_lr: float
    weight_decay: float
    warmup_steps: int
    clip: float
    stages: tuple[Stage, ...]


@dataclass(frozen=True, slots=True)
class SampleSettings:
    """What the target writes for its drafts to learn from."""

    tokens: int
    """How many tokens the target writes, prompts not counted."""
    new_tokens: int
    """How many steps one row takes; a text that ends sooner is followed by a new prompt."""
    rows: int
    """How many rows are written at once."""
    temperatures: tuple[float, ...]
    """Rows take turns over these; 0 is greedy."""
    longest_prompt: int
    prompt_mix: dict[str, float]
    """Source name to weight."""


@dataclass(frozen=True, slots=True)
class DraftSettings:
    """Shape and distillation of one draft model."""

    name: str
    num_layers: int
    hidden_size: int
    intermediate_size: int
    num_heads: int
    begin_from_target: bool
    """Begin with the target's embeddings, last norm and first layers, where widths are equal."""
    tokens: int
    rows: int
    seq_len: int
    sampled_share: float
    """Share of the windows cut from the target's own text; the others are training text."""
    kl_weight: float
    """Weight of the divergence; cross-entropy has what is left to 1."""
    hybrid_share: float
    """Share of the steps, the last ones, that minimise the hybrid of KL and total variation."""
    decay_share: float
    """Share of the steps, the last ones, over which the learning rate falls to zero."""
    matrix_lr: float
    other_lr: float
    weight_decay: float
    warmup_steps: int
    clip: float
    mix: dict[str, float]
    """Training text, source name to weight."""


@dataclass(frozen=True, slots=True)
class FamilySettings:
    """Everything that family.toml says."""

    seed: int
    held_out_below: str
    tokenizer: TokenizerSettings
    target: TargetSettings
    sample: SampleSettings
    drafts: tuple[DraftSettings, ...]


def load_settings(path: Path = SETTINGS_FILE) -> FamilySettings:
    """Read the settings of the family.

    Raises:
        ValueError: A setting is missing or unknown.
    """
    raw: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    try:
        target, sample = dict(raw["target"]), dict(raw["sample"])
        stages = tuple(Stage(**stage) for stage in target.pop("stages"))
        exits = tuple(target.pop("exit_layers"))
        temperatures = tuple(sample.pop("temperatures"))
        return FamilySettings(
            seed=raw["seed"],
            held_out_below=raw["held_out_below"],
            tokenizer=TokenizerSettings(**raw["tokenizer"]),
            target=TargetSettings(exit_layers=exits, stages=stages, **target),
            sample=SampleSettings(temperatures=temperatures, **sample),
            drafts=tuple(DraftSettings(**draft) for draft in raw["drafts"]),
        )
    except (TypeError, KeyError) as error:
        raise ValueError(f"{path.name} has a missing or unknown setting: {error}") from error


def find_draft(settings: FamilySettings, name: str) -> DraftSettings:
    """Return the settings of the draft called `name`.

    Raises:
        ValueError: The family has no such draft.
    """
    for draft in settings.drafts:
        if draft.name == name:
            return draft
    names = ", ".join(draft.name for draft in settings.drafts)
    raise ValueError(f"the family has no draft called {name!r}; it has: {names}")
