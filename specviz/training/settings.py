"""Reads family.toml, the one file with every setting of the shipped family."""

import tomllib
from dataclasses import dataclass, fields
from pathlib import Path

from specviz.errors import FormatError
from specviz.trace.typed_json import decode
from specviz.trace.values import Probability as Share

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
    exit_rows: Share
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
    """Longest text that the target writes after a prompt."""
    rows: int
    """How many texts are written at once."""
    temperatures: tuple[float, ...]
    """Texts take turns over these; 0 is greedy."""
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
    sampled_share: Share
    """Share of the windows cut from the target's own text; the others are training text."""
    kl_weight: Share
    """Weight of the divergence; cross-entropy has what is left to 1."""
    hybrid_share: Share
    """Share of the steps, the last ones, that minimise the hybrid of KL and total variation."""
    decay_share: Share
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
        FormatError: The file is not TOML, or a setting is missing, unknown or out of its range.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        settings: FamilySettings = decode(
            FamilySettings, content, may_be_absent={field.name for field in fields(Stage)}
        )
    except (tomllib.TOMLDecodeError, FormatError) as error:
        raise FormatError(f"{path.name}: {error}") from error
    return settings


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
