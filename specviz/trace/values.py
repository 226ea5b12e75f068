"""What happened in a race: immutable values that every view, metric and file is made from.

Standard library only. Raw facts only: a number that can be derived from others is not stored here.
Probabilities are those of the law that decided (after temperature, top-k, top-p). At temperature 0
the decision is an argmax; the probabilities recorded beside it are then the softmax at temperature
1.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, NamedTuple, Protocol

from specviz.trace.limits import DEFAULT_CONFIDENCE, DEFAULT_NGRAM

SCHEMA_VERSION = 7
NUM_TOP = 10


@dataclass(frozen=True, slots=True)
class Range:
    """What a number read from a file may be, as an annotation of its type."""

    lowest: float = 0
    highest: float = math.inf
    rounding: float = 0.0
    """How far above `highest` a sum of rounded numbers may lie."""


Probability = Annotated[float, Range(highest=1, rounding=1e-6)]
ProbabilitySum = Annotated[float, Range(highest=1, rounding=1e-4)]
"""A sum over the whole vocabulary, which gathers more rounding."""
LogProb = Annotated[float, Range(lowest=-math.inf, highest=0)]
"""A natural logarithm of a probability, in nats."""


class Method(StrEnum):
    """How a lane makes its drafts."""

    BASELINE = "baseline"
    DRAFT_MODEL = "draft-model"
    PROMPT_LOOKUP = "prompt-lookup"
    EARLY_EXIT = "early-exit"
    EAGLE3 = "eagle3"
    MTP = "mtp"
    """By layers of the target's own that were trained for it (multi-token prediction)."""


class Rule(StrEnum):
    """By which rule a lane keeps or rejects drafts: the right one, or one known to be wrong.

    What the wrong ones do stands in `decoding/wrong_rules.py`.
    """

    RIGHT = "right"
    TARGET_RESAMPLE = "target-resample"
    ARGMAX_SOFTMAX = "argmax-softmax"
    KEEP_AFTER_REJECTION = "keep-after-rejection"
    NO_RENORMALISE = "no-renormalise"


class Schedule(StrEnum):
    """How many tokens each round of a lane drafts, of which the lane's gamma is the most.

    How each chooses stands in `decoding/draft_lengths.py`.
    """

    FIXED = "fixed"
    """Always gamma."""
    HEURISTIC = "heuristic"
    """Two more after a round that kept all, one fewer after any other."""
    CONFIDENCE = "confidence"
    """Up to the first token that the draft itself was not sure of, that one included."""
    COST_AWARE = "auto"
    """What promises the most tokens a millisecond, by the lane's recent rounds."""


class Tree(StrEnum):
    """Whether a lane drafts one token for each place or several: a tree, of which gamma is the
    depth.

    How each is grown stands in `decoding/trees.py`.
    """

    NONE = "none"
    """A chain."""
    STATIC = "static"
    """Its shape is fixed beforehand, by how often a token of each rank is thought to be right."""
    DYNAMIC = "dynamic"
    """EAGLE-2's: the nodes that the draft itself holds most probable, path and all."""


class Translation(StrEnum):
    """How what a draft model of another tokenizer writes becomes tokens of the target."""

    TEXT = "text"
    """Its text is cut anew by the target's tokenizer; each token is a point mass."""
    SHARED = "shared"
    """It drafts only tokens that both tokenizers have, by a law over those."""


class Outcome(StrEnum):
    """Fate of a drafted token."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    DISCARDED = "discarded"


class Source(StrEnum):
    """Where an emitted token comes from."""

    DRAFT = "draft"
    CORRECTION = "correction"
    BONUS = "bonus"
    TARGET = "target"


class StopReason(StrEnum):
    """Why a lane ended."""

    EOS = "eos"
    LENGTH = "length"
    """As many tokens were written as were asked for."""
    CONTEXT = "context"
    """The target can read no more tokens, the prompt's among them, though more were asked for."""
    CANCELLED = "cancelled"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Sampling:
    """The law that tokens are drawn from; temperature 0 is greedy, top_k 0 and top_p 1 switch those
    off."""

    temperature: float = 0.0
    top_k: int = 0
    top_p: Probability = 1.0
    seed: Annotated[int, Range(lowest=-(2**63))] = 0


@dataclass(frozen=True, slots=True)
class LaneSpec:
    """What one lane runs."""

    name: str | None
    """A name that somebody gave; None: `trace.names` derives one from what the lanes run."""
    method: Method
    target: str
    """Name of a shipped model, a hub id, or a local folder."""
    draft: str | None = None
    """Draft model of the method `draft-model`, else None."""
    gamma: int = 0
    """Tokens drafted a round, at most where the schedule chooses; 0 for the baseline."""
    exit_layer: int | None = None
    """Layers that draft in the method `early-exit`; None takes the first exit the model
    declares."""
    max_ngram: int = DEFAULT_NGRAM
    """Longest match that the method `prompt-lookup` looks for, in tokens."""
    rule: Rule = Rule.RIGHT
    """Any other makes a lane whose text does not follow the target's law; its name says so."""
    schedule: Schedule = Schedule.FIXED
    confidence: Probability = DEFAULT_CONFIDENCE
    """Of the schedule `confidence`: the draft's probability of a token below which it ends."""
    flipped_coins: tuple[int, ...] = ()
    """Which of the coins that judge its drafts fall the other way, counted from 0 and rising."""
    head: str | None = None
    """EAGLE-3 head of the method `eagle3`: a local folder or a hub id; else None."""
    head_reading: str | None = None
    """How the head is read: `stated`, or words for what is not as its files state (`taps+1`,
    `plain-rope`, `double-norm`). None in a request: as it agrees best with the target; in a trace:
    as stated."""
    tree: Tree = Tree.NONE
    branches: int = 0
    """Of a tree: drafts tried in one place at most; 0 without."""
    budget: int = 0
    """Of a tree: nodes that a round verifies at most; 0 without."""
    translation: Translation | None = None
    """Of a draft model with another tokenizer than the target's. None in a request: what suits
    tokenizers and temperature; in a trace: both have the same tokenizer."""


@dataclass(frozen=True, slots=True)
class RaceRequest:
    """A race to run: one prompt, one law, two to four lanes of which the first is the baseline."""

    prompt: str
    lanes: tuple[LaneSpec, ...]
    sampling: Sampling = Sampling()
    max_new_tokens: int = 128
    uses_chat: bool = True
    """Write the prompt as a turn of a conversation where the target has a chat template."""
    record_top: bool = True
    """Record the ten most probable tokens of draft, target and residual at each judged position."""


class TopToken(NamedTuple):
    """One entry of a list of most probable tokens."""

    id: int
    text: str
    prob: Probability


@dataclass(frozen=True, slots=True)
class DraftToken:
    """One drafted token and how it was judged."""

    id: int
    text: str
    parent: Annotated[int, Range(lowest=-1)]
    """Index of the parent in the round's drafts; -1 is the last committed token."""
    outcome: Outcome
    draft_prob: Probability | None
    """What it was drawn from gave it, or at temperature 0 what the draft believed. None where the
    proposal is deterministic: without a distribution (prompt lookup), or, above temperature 0, the
    most probable tokens of one (dynamic trees), which `top_draft` shows."""
    target_prob: Probability | None
    """Under the target's distribution here; None where the token was discarded: never judged."""
    accept_prob: Probability | None
    """min(1, target_prob / draft_prob), or target_prob for a point mass, or 0 and 1 when greedy.
    For a later sibling in a tree both laws are what its rejected siblings left of them."""
    draw: Probability | None
    """The uniform number that decided (accepted where draw < accept_prob); None at temperature
    0."""
    overlap: ProbabilitySum | None
    """Σ min(target_probs, draft_probs) at this position, of both laws as they stood when it was
    tried, a point mass being one; None at temperature 0 or where never judged."""
    top_draft: tuple[TopToken, ...] = ()
    top_target: tuple[TopToken, ...] = ()
    top_residual: tuple[TopToken, ...] = ()
    """Only where this token was rejected and the correction was drawn from the residual."""


@dataclass(frozen=True, slots=True)
class EmittedToken:
    """One token of a lane's output."""

    id: int
    text: str
    source: Source
    target_prob: Probability | None
    """Probability under the target's law; for a correction too, although it was drawn from the
    residual."""
    margin: float | None
    """Gap between the two largest target logits here, at temperature 0; None otherwise."""
    top_target: tuple[TopToken, ...] = ()
    """Only for bonus and target tokens; those of the others stand with the drafted token."""
    runner_up: int | None = None
    """Id of the second-largest target logit here, at temperature 0; None otherwise, and in traces
    that were recorded before it was."""


@dataclass(frozen=True, slots=True)
class Round:
    """One turn of the loop: propose, verify, commit."""

    index: int
    position: int
    """Tokens emitted before this round."""
    gamma: int
    """Tokens asked of the proposer this round; near the length limit fewer than the lane's
    gamma."""
    drafted: tuple[DraftToken, ...]
    emitted: tuple[EmittedToken, ...]
    draft_ms: float
    verify_ms: float
    other_ms: float

    @property
    def ms(self) -> float:
        """Time of the whole round in milliseconds."""
        return self.draft_ms + self.verify_ms + self.other_ms


@dataclass(frozen=True, slots=True)
class LaneTrace:
    """Everything one lane did."""

    spec: LaneSpec
    prefill_ms: float
    rounds: tuple[Round, ...]
    stop_reason: StopReason
    error: str | None = None
    """The sentence shown to the user where `stop_reason` is error, else None."""

    @property
    def emitted(self) -> tuple[EmittedToken, ...]:
        """All tokens of the output, in order."""
        return tuple(token for round_ in self.rounds for token in round_.emitted)


class Form(StrEnum):
    """In which form the models of a race run, the same for all lanes."""

    GROWING = "growing"
    """Caches grow and operations are launched one by one."""
    STATIC = "static"
    """Fixed buffers and a few widths of blocks."""
    CAPTURED = "captured"
    """The static form, each width recorded once by the device and replayed."""


@dataclass(frozen=True, slots=True)
class Environment:
    """Where the race ran."""

    device: str
    device_name: str
    dtype: str
    num_threads: int
    torch: str
    transformers: str
    specviz: str
    recorded_at: str
    """UTC, ISO 8601."""
    logit_noise: float
    """Largest difference measured between the target's logits of a block and of single steps."""
    form: Form = Form.GROWING
    form_reason: str = ""
    """Why it is this form, as a key below `form` of the page's texts; empty where nobody chose."""


@dataclass(frozen=True, slots=True)
class TraceRequest:
    """The part of a request that is the same for every lane."""

    prompt: str
    prompt_ids: tuple[int, ...]
    max_new_tokens: int
    sampling: Sampling
    prompt_log_prob: LogProb | None = None
    """Mean over the prompt's tokens after the first of their log-probability under the target, at
    temperature 1; None for a prompt of a single token, and in traces recorded before it was."""
    uses_chat: bool = False
    """Whether the prompt was read as a turn of a conversation, by the target's chat template."""


@dataclass(frozen=True, slots=True)
class Trace:
    """A finished race."""

    request: TraceRequest
    environment: Environment
    lanes: tuple[LaneTrace, ...]


@dataclass(frozen=True, slots=True)
class ModelLoading:
    """Event: a race waits for a model; comes before RaceStarted, where it comes at all."""

    model: str
    number: int
    """Which of the models that are being loaded this is, from 1."""
    count: int


@dataclass(frozen=True, slots=True)
class ModelDownloading:
    """Event: a race waits for files of the hub; comes before all others, where it comes at all."""

    model: str
    number: int
    """Which of the models that are downloaded this is, from 1."""
    count: int
    done_bytes: int
    total_bytes: int
    """0 as long as the hub has not said."""


@dataclass(frozen=True, slots=True)
class RaceStarted:
    """Event: models are ready, every lane has read the prompt, the clocks start."""

    request: TraceRequest
    environment: Environment
    specs: tuple[LaneSpec, ...]
    prefill_ms: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class RoundFinished:
    """Event: a lane committed a round."""

    lane: int
    round: Round


@dataclass(frozen=True, slots=True)
class LaneFinished:
    """Event: a lane ended."""

    lane: int
    stop_reason: StopReason
    error: str | None


@dataclass(frozen=True, slots=True)
class RaceFinished:
    """Event: the last one, with the whole trace."""

    trace: Trace


Event = ModelDownloading | ModelLoading | RaceStarted | RoundFinished | LaneFinished | RaceFinished


class StartRace(Protocol):
    """What the composition root hands to views: runs a race and yields its events.

    `should_stop` is asked between rounds; once it answers True every running lane ends as cancelled
    and the trace so far is still delivered. Closing the iterator stops the race too, without a
    trace.
    """

    def __call__(
        self, request: RaceRequest, should_stop: Callable[[], bool] = ...
    ) -> Iterator[Event]: ...


class FetchModels(Protocol):
    """What the composition root hands to views beside `StartRace`: brings here what a race lacks.

    It runs before the race waits for its turn, and holds nobody else up. Once `should_stop` answers
    True it ends; complete files stay. It raises ModelLoadError where a model cannot be had.
    """

    def __call__(
        self, request: RaceRequest, should_stop: Callable[[], bool] = ...
    ) -> Iterator[ModelDownloading]: ...
