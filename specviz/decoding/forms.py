"""In which form the models of a race run: all lanes by the same means, and only as was proved.

*Growing* is the plain form: caches that grow, operations launched one by one. *Static* has fixed
buffers and a few widths of blocks; where the device can record, each width is *captured* once and
replayed, and so is the whole chain of a draft model where it was proved too; else its lane drafts
step by step, and the race's reason says so. Recorded runners are kept for the next race of the same
models, a bounded number of them.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from weakref import WeakKeyDictionary

import torch
from transformers import PreTrainedModel

from specviz.decoding.capture import Capture, CudaGraphs, uncaptured
from specviz.decoding.chain_proof import prove_chain
from specviz.decoding.model_runner import ModelRunner
from specviz.decoding.spread import is_spread
from specviz.decoding.static_chain import ChainKind, StaticChain
from specviz.decoding.static_judge import StaticJudge
from specviz.decoding.static_proof import StaticProof, prove_static
from specviz.decoding.static_runner import StaticRunner
from specviz.decoding.trees import TreeSize
from specviz.trace.values import Form, LaneSpec, Method, Schedule

MakeRunner = Callable[[PreTrainedModel, int], ModelRunner]
"""Makes a runner for texts of at most so many tokens."""
MAX_IDLE = 5
"""Runners that are kept of each model: a race has at most four lanes, and with one more the
rounding noise of its form is measured."""
NARROW = (1, 2, 4)
Steps = tuple[tuple[int, ...], int]
"""Widths of the blocks that a runner records, and how many nodes of a tree may stand before one."""


class Compile(StrEnum):
    """What was asked for."""

    AUTO = "auto"
    """Recorded steps where the device can record and they are right and faster."""
    ON = "on"
    """The static form wherever it is right, recorded or not."""
    OFF = "off"


RecordChain = Callable[
    [StaticRunner, ChainKind, torch.dtype], tuple[StaticChain, StaticJudge] | None
]
"""Records what a draft's runner drafts, and what judges it by logits of a dtype; None: its lane
goes step by step."""


@dataclass(slots=True)
class RaceForm:
    """The form of one race and why it is no other."""

    form: Form = Form.GROWING
    reason: str = ""
    """A key below `form` of the page's texts; final when all lanes are built."""
    make_runner: MakeRunner = ModelRunner
    record_chain: RecordChain = lambda runner, kind, dtype: None
    give_back: Callable[[], None] = lambda: None
    """Takes the race's runners back, once it is over."""


@dataclass(slots=True)
class Forms:
    """Chooses the form of each race on one device."""

    device: torch.device
    wish: Compile = Compile.AUTO
    make_capture: Callable[[], Capture] | None = None
    """What records on this device; None: nothing does."""
    _proofs: WeakKeyDictionary[PreTrainedModel, dict[Steps, StaticProof]] = field(
        default_factory=WeakKeyDictionary
    )
    _chain_proofs: WeakKeyDictionary[
        PreTrainedModel, dict[tuple[ChainKind, torch.dtype], StaticProof]
    ] = field(default_factory=WeakKeyDictionary)
    """Of draft models."""
    _idle: dict[PreTrainedModel, list[tuple[Steps, StaticRunner]]] = field(default_factory=dict)
    """Of the models of the last race alone: a runner holds its model."""

    @staticmethod
    def on(device: torch.device, wish: Compile = Compile.AUTO) -> "Forms":
        """Choose for a device of this machine."""
        return Forms(device, wish, CudaGraphs if device.type == "cuda" else None)

    def of_race(self, models: Iterable[PreTrainedModel], lanes: Iterable[LaneSpec]) -> RaceForm:
        """Choose for a race of these models, and prove what was not proved yet.

        No clock runs meanwhile: this may take some seconds at a model's first race.
        """
        models, lanes = tuple(models), tuple(lanes)
        self._idle = {model: self._idle.get(model, []) for model in models}
        widths = tuple(sorted({*NARROW, *(width for lane in lanes for width in _widths(lane))}))
        num_grown = max(map(_num_grown, lanes), default=0)
        reason = self._obstacle(models, lanes) or self._problem(models, widths, num_grown)
        if reason is not None:
            return RaceForm(reason=reason)
        lent: list[tuple[PreTrainedModel, StaticRunner]] = []

        def make_runner(model: PreTrainedModel, num_tokens: int) -> ModelRunner:
            runner = self._take(model, num_tokens, widths, num_grown)
            lent.append((model, runner))
            return runner

        def give_back() -> None:
            # In the order in which they were lent, so that each lane of a race like this finds
            # the chain that was recorded for it.
            for model, runner in lent:
                if runner.is_tapped:  # Its steps were recorded for one head.
                    continue
                idle = self._idle.setdefault(model, [])
                idle.append(((widths, num_grown), runner))
                del idle[:-MAX_IDLE]
            lent.clear()

        def record_chain(
            runner: StaticRunner, kind: ChainKind, dtype: torch.dtype
        ) -> tuple[StaticChain, StaticJudge] | None:
            problem = self._chain_proof(runner, kind, dtype).problem
            if problem is None:
                return runner.record_chain(kind, dtype)
            runner.drop_chain()
            chosen.reason = problem
            return None

        form = Form.STATIC if self.make_capture is None else Form.CAPTURED
        chosen = RaceForm(form, "proved", make_runner, record_chain, give_back)
        return chosen

    def _obstacle(
        self, models: tuple[PreTrainedModel, ...], lanes: tuple[LaneSpec, ...]
    ) -> str | None:
        """Why this race cannot be static, as far as can be told without a proof."""
        if self.wish is Compile.OFF:
            return "off"
        if self.wish is Compile.AUTO and self.make_capture is None:
            return "no_recording"
        if any(lane.method is Method.EARLY_EXIT for lane in lanes):
            return "early_exit"
        if any(is_spread(model) for model in models):
            return "spread"
        return None

    def _problem(
        self, models: Iterable[PreTrainedModel], widths: tuple[int, ...], num_grown: int
    ) -> str | None:
        """The first problem of any model, since all lanes run by the same means."""
        problems = (self._proof(model, widths, num_grown).problem for model in models)
        return next((problem for problem in problems if problem is not None), None)

    def _proof(
        self, model: PreTrainedModel, widths: tuple[int, ...], num_grown: int
    ) -> StaticProof:
        known = self._proofs.setdefault(model, {})
        if (widths, num_grown) not in known:
            capture = self.make_capture or (lambda: uncaptured)
            faster = self.wish is Compile.AUTO
            known[widths, num_grown] = prove_static(
                model, widths, capture, must_be_faster=faster, num_grown=num_grown
            )
        return known[widths, num_grown]

    def _chain_proof(
        self, runner: StaticRunner, kind: ChainKind, dtype: torch.dtype
    ) -> StaticProof:
        known = self._chain_proofs.setdefault(runner.model, {})
        if (kind, dtype) not in known:
            faster = self.wish is Compile.AUTO
            known[kind, dtype] = prove_chain(runner, kind, dtype, must_be_faster=faster)
        return known[kind, dtype]

    def _take(
        self, model: PreTrainedModel, num_tokens: int, widths: tuple[int, ...], num_grown: int
    ) -> StaticRunner:
        """An idle runner of these steps with enough room, or a new one; its steps recorded."""
        idle = self._idle.setdefault(model, [])
        for index, (known, runner) in enumerate(idle):
            room = num_tokens + widths[-1] + num_grown
            if known == (widths, num_grown) and runner.capacity >= room:
                del idle[index]
                runner.reset()
                return runner
        capture = uncaptured if self.make_capture is None else self.make_capture()
        runner = StaticRunner(model, num_tokens, widths, capture, num_grown)
        runner.prepare()
        return runner


def _widths(lane: LaneSpec) -> Iterable[int]:
    """How many tokens a model may read at once for a lane: a schedule drafts fewer at times, and a
    draft reads its trees level by level."""
    tree = TreeSize.of(lane)
    if tree is not None:
        return (*tree.level_widths(lane.gamma), tree.budget + 1)
    shortest = lane.gamma if lane.schedule is Schedule.FIXED else 1
    return range(shortest + 1, lane.gamma + 2)


def _num_grown(lane: LaneSpec) -> int:
    """Most nodes of a lane's trees that a model reads before others of them."""
    tree = TreeSize.of(lane)
    return 0 if tree is None else tree.num_read(lane.gamma)
