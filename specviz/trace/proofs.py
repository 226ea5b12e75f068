"""What a proof is asked for, what it says while it runs, and what it found; standard library only.

A proof writes many continuations of one prompt with a lane's own decoder and holds them against the
law that the target alone gives. It can show that a lane differs; that it does not, it can only make
probable: `consistent` means that no test at the level `LEVEL` told the two apart.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from specviz.trace.values import LaneSpec, ModelLoading, Sampling

LEVEL = 0.01
"""How often a lane that follows the law exactly may be called different."""
DEFAULT_SAMPLES = 2_000
MIN_SAMPLES, MAX_SAMPLES = 100, 100_000


class Finding(StrEnum):
    """What a proof found."""

    CONSISTENT = "consistent"
    DIFFERENT = "different"


class CheckName(StrEnum):
    """What a statistical test looks at."""

    NEXT_TOKEN = "next-token"
    """How often each token comes first."""
    CONTINUATION = "continuation"
    """How often each continuation comes, as far as its tokens are frequent enough."""
    FAVOURED = "favoured-by-the-draft"
    """At each position, how often a token is written that the draft proposes more often than the
    target does."""
    PROBABILITY = "target-probability"
    """At each position, how probable the written tokens are under the target."""


@dataclass(frozen=True, slots=True)
class ProofRequest:
    """A lane to hold against its target's law, behind one prompt."""

    prompt: str
    lane: LaneSpec
    sampling: Sampling = field(default_factory=lambda: Sampling(temperature=1.0))
    num_samples: int = DEFAULT_SAMPLES
    uses_chat: bool = True
    """Write the prompt as a turn of a conversation where the target has a chat template."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One test of the null hypothesis that the lane follows the law."""

    name: CheckName
    statistic: float
    """Distributed as chi-square under the null hypothesis."""
    degrees: int
    """Degrees of freedom; 0 where the samples are too few or the law leaves nothing to test."""
    p_value: float
    """Probability of a statistic at least this large where the lane follows the law."""


@dataclass(frozen=True, slots=True)
class TokenBar:
    """One token of the two histograms of the next token."""

    id: int
    text: str
    target_prob: float
    """Exact."""
    num_alone: int
    """Times that the target alone drew it."""
    num_lane: int
    """Times that the lane wrote it."""


@dataclass(frozen=True, slots=True)
class ContinuationBar:
    """One cell of the two histograms of whole continuations: all those that begin alike."""

    ids: tuple[int, ...]
    """How they begin."""
    text: str
    is_rest: bool
    """Whether it holds what goes on behind `ids` with any token that has no bar of its own."""
    target_prob: float
    """Exact."""
    num_alone: int
    num_lane: int


@dataclass(frozen=True, slots=True)
class ProofProgress:
    """Event: so many continuations are written."""

    num_done: int
    num_samples: int
    total_variation: float
    """½ Σ |share of the lane's next tokens - target_prob|."""
    bound: float
    """What so many draws of the law itself stay below in 99 of 100 cases."""
    bars: tuple[TokenBar, ...]
    """The tokens that are most probable, or were written most often."""
    joint_variation: float
    """As `total_variation`, over the cells of whole continuations."""
    joint_bound: float
    continuations: tuple[ContinuationBar, ...]
    """The cells that are most probable, or were written most often."""
    checks: tuple[CheckResult, ...]
    """All tests of what is written so far; those of the last event decide."""


@dataclass(frozen=True, slots=True)
class Proof:
    """Event, the last one: what was found."""

    request: ProofRequest
    finding: Finding
    p_value: float
    """Of all checks together: the smallest times their number, at most 1 (Bonferroni)."""
    num_tokens: int
    """Most tokens of one continuation: γ + 2, unless the context ends."""
    last: ProofProgress
    """Counts of all that was written, which is less than was asked for where it was stopped."""
    seconds: float

    @property
    def checks(self) -> tuple[CheckResult, ...]:
        """The tests that decided."""
        return self.last.checks


ProofEvent = ModelLoading | ProofProgress | Proof


class StartProof(Protocol):
    """Runs a proof and yields its events; `should_stop` is asked between two continuations, and
    what was written until then is judged."""

    def __call__(
        self, request: ProofRequest, should_stop: Callable[[], bool] = ...
    ) -> Iterator[ProofEvent]: ...
