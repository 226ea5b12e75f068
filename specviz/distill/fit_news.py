"""What a fit says while it goes on, as plain values: a page draws them, the command prints them."""

from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from specviz.trace.fits import FEW_PROMPTS, Fit, FitScore


class FitPhase(StrEnum):
    """What is being done."""

    WRITING = "writing"
    """The target writes text."""
    READING = "reading"
    """The target reads it again, for its probabilities of every next token."""
    LEARNING = "learning"
    """The draft learns from them."""
    JUDGING = "judging"
    """The draft is stored and held against texts that had no part in choosing it."""


class LearningEnd(StrEnum):
    """Why learning ended."""

    DONE = "done"
    """All steps were taken."""
    PLATEAU = "plateau"
    """What is measured on held-out texts no longer rose."""
    STOPPED = "stopped"
    """It was asked to."""


@dataclass(frozen=True, slots=True)
class FitBegun:
    """What is fitted on; comes first."""

    num_learned: int
    """Prompts to learn from."""
    num_held_out: int
    is_resumed: bool
    """Whether an interrupted fit goes on."""

    @property
    def is_few(self) -> bool:
        """Whether there are fewer prompts than a fit should have."""
        return self.num_learned + self.num_held_out < FEW_PROMPTS


@dataclass(frozen=True, slots=True)
class PromptsLeftOut:
    """Prompts that leave no room for an answer."""

    number: int
    context: int
    """What both models read, in tokens."""


@dataclass(frozen=True, slots=True)
class FitProgress:
    """A short piece of work was done."""

    phase: FitPhase
    done: int
    """Texts, or steps while the draft learns."""
    total: int | None
    """None as long as nobody knows."""
    seconds_left: float | None
    """Of writing and learning together; None where steps and texts were given."""
    loss: float | None = None
    """Of the last step, in nats."""


@dataclass(frozen=True, slots=True)
class FitMeasured:
    """The draft as it is was held against held-out texts."""

    step: int
    num_steps: int | None
    score: FitScore
    is_best: bool
    seconds: float
    """Work since the fit began."""


@dataclass(frozen=True, slots=True)
class HeadMeasured:
    """An EAGLE-3 head as it is was held against held-out texts."""

    step: int
    num_steps: int | None
    tau: float
    """Mean tokens that a round of as many guesses as `agreement` has would bring."""
    agreement: tuple[float, ...]
    """Of each step ahead: share of the tokens at which head and target have one first choice."""
    is_best: bool
    seconds: float
    """Work since the training began."""


@dataclass(frozen=True, slots=True)
class LearningEnded:
    """The draft learns no more; the weights of `best_step` are kept."""

    end: LearningEnd
    step: int
    best_step: int


FitNews = FitBegun | PromptsLeftOut | FitProgress | FitMeasured | HeadMeasured | LearningEnded
Outcome = TypeVar("Outcome")


def run_noting(
    steps: Generator[FitNews, None, Outcome], note: Callable[[FitNews], None]
) -> Outcome:
    """Do work to its end, piece by piece, and return what it came to.

    Args:
        note: Takes the news on the way; where it raises, the work is closed between two pieces.
    """
    with closing(steps):
        while True:
            try:
                news = next(steps)
            except StopIteration as ended:
                outcome: Outcome = ended.value
                return outcome
            note(news)


@dataclass(frozen=True, slots=True)
class FitOutcome:
    """What a fit came to."""

    fit: Fit
    has_helped: bool
    """Whether alpha on the judging texts rose. Where it did not, nothing was written."""
