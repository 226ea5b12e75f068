"""What an EAGLE-3 head looks like: sizes, taps, rotation, and where it normalises.

Plain values without torch, so that what reads a head's files and what runs it agree on them. A
*tap* is a boundary of the target: b stands for the states after its first b layers, before any
norm; `FINAL` for those after its last norm, which its output layer reads.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from types import MappingProxyType
from typing import Any

FINAL = -1
STATED = "stated"
TARGET_KEY = "target_name_or_path"
"""In the configs that this package writes: the target that a head was trained for."""
PLAIN_THETA = 10_000.0
PLAIN_ROPE: Mapping[str, Any] = MappingProxyType(
    {"rope_type": "default", "rope_theta": PLAIN_THETA}
)
"""The rotation of a head whose config names none: never the target's own."""
MIN_LAYERS = 6
"""Fewer layers of a target have no three places low, in the middle and high."""


@dataclass(frozen=True, slots=True)
class HeadForm:
    """One EAGLE-3 head (Li et al. 2025, arXiv:2503.01840), whoever trained it."""

    hidden_size: int
    """H, of the head's own states."""
    target_hidden_size: int
    """Of the target's states and, unless the head has an own one, of the embedding."""
    num_heads: int
    num_kv_heads: int
    head_dim: int
    intermediate_size: int
    num_layers: int
    vocab_size: int
    """Ids that drafted tokens are mapped to lie below this."""
    draft_vocab_size: int
    taps: tuple[int, ...]
    rope: Mapping[str, Any]
    """`rope_type`, `rope_theta` and what else transformers' `rope_parameters` hold."""
    max_positions: int = 2048
    """That the head was trained for, which some rotations go by; longer texts are read too."""
    rms_eps: float = 1e-5
    fuses: bool = True
    """Whether a matrix makes one state of the tapped ones; else the one tap is the state."""
    norm_before_residual: bool = False
    """Whether the residual of the first layer is the normalised state."""
    feeds_norm: bool = False
    """Whether the next step is given the state after the last norm instead of before it."""
    doubles_norm: bool = False
    """Whether states pass the embedding's norm before their own, as ModelOpt 0.42 trains them."""
    has_embedding_norm: bool = True
    has_last_norm: bool = True
    has_tap_norms: bool = False
    """A norm for each tap before they are fused (EAGLE 3.1)."""
    has_joint_norm: bool = False
    """One norm for all taps together."""
    has_head_norms: bool = False
    """Each head of queries and keys is normalised, as in Qwen3."""
    has_biases: bool = False
    """Of the projections to queries, keys and values."""
    has_output_bias: bool = False
    owns_embedding: bool = False
    owns_output: bool = True

    def read_as(self, reading: "Reading") -> "HeadForm":
        """Return the same head read another way."""
        shifted = tuple(tap if tap == FINAL else tap + reading.tap_shift for tap in self.taps)
        theta = self.rope.get("rope_theta", PLAIN_THETA)
        rope = {**PLAIN_ROPE, "rope_theta": theta} if reading.has_plain_rope else self.rope
        return replace(self, taps=shifted, rope=rope, doubles_norm=reading.doubles_norm)

    def readings(self, num_layers: int) -> "tuple[Reading, ...]":
        """List the ways to read a head for a target of so many layers that its files may have
        meant, what they state first."""
        is_scaled = self.rope.get("rope_type", "default") != "default"
        found = product(
            (0, 1, -1), (False, True)[: 1 + is_scaled], (False, True)[: 1 + self.has_embedding_norm]
        )
        return tuple(
            Reading(shift, plain, doubles)
            for shift, plain, doubles in found
            if all(tap == FINAL or 0 <= tap + shift <= num_layers for tap in self.taps)
            and (shift == 0 or self.fuses)
        )


@dataclass(frozen=True, slots=True)
class Reading:
    """In what a head is read otherwise than its files state."""

    tap_shift: int = 0
    """By how many layers later each state is tapped."""
    has_plain_rope: bool = False
    """Whether a scaling of the rotation is ignored, which some exporters write and never train
    with."""
    doubles_norm: bool = False
    """Whether states pass the embedding's norm first, see `HeadForm`."""

    @property
    def text(self) -> str:
        """How it is written on the command line: `stated`, or words like `taps+1`."""
        words = [f"taps{self.tap_shift:+d}"] if self.tap_shift else []
        words += ["plain-rope"] * self.has_plain_rope + ["double-norm"] * self.doubles_norm
        return " ".join(words) or STATED

    @staticmethod
    def parse(text: str) -> "Reading | None":
        """Read what `text` writes; None where it is nothing of this."""
        known = {reading.text: reading for reading in EVERY_READING}
        return known.get(" ".join(text.split()))


EVERY_READING = tuple(Reading(*each) for each in product((0, 1, -1), (False, True), (False, True)))
"""All that a head could be read as, whatever its files allow; what they state comes first."""


def default_taps(num_layers: int) -> tuple[int, ...]:
    """Return the boundaries that EAGLE-3 taps where nothing else is said: 2, N // 2 and N - 3.

    Example: a target of 32 layers is tapped at 2, 16 and 29.
    """
    return 2, num_layers // 2, num_layers - 3
