"""Proves on a few texts that the static form of a model may stand in for the growing one."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import median

import torch
from transformers import PreTrainedModel

from specviz.decoding.capture import Capture
from specviz.decoding.clock import Clock, DeviceClock
from specviz.decoding.model_runner import ModelRunner
from specviz.decoding.probes import is_same_but_for_rounding
from specviz.decoding.static_runner import StaticRunner
from specviz.errors import IncompatibleModelError

OFFSETS = (96, 41, 64, 17, 5)
"""Lengths of the texts that are gone on from, back and forth, so that what is stale would show."""
STRIDE = 37
NUM_TIMED = 20
Timed = tuple[Callable[[], None], Callable[[], None]]
"""What prepares a run, outside the clock, and the run."""
FAILURES = (RuntimeError, TypeError, ValueError, IndexError, AttributeError, AssertionError)
"""What devices and models raise while they are recorded: the other form still runs."""


@dataclass(frozen=True, slots=True)
class StaticProof:
    """What came of the proof."""

    problem: str | None
    """Why the form may not be used, as a key below `form` of the page's texts; None: it may."""
    ratio: float | None = None
    """Time of a static step of one token, as a part of a growing one's, or of a chain, as a part of
    drafting step by step; None: not measured."""


@torch.inference_mode()
def prove_static(
    model: PreTrainedModel,
    widths: Iterable[int],
    make_capture: Callable[[], Capture],
    *,
    must_be_faster: bool,
    num_grown: int = 0,
) -> StaticProof:
    """Compare logits of blocks of each width behind texts of several lengths, then times.

    Args:
        num_grown: As in a `StaticRunner`; above 0 a tree is grown and read at once too.
        must_be_faster: Whether a form that is right but not faster is a problem.
    """
    widths = tuple(widths)
    growing = ModelRunner(model)
    room = min(OFFSETS[0] + max(widths), growing.context or OFFSETS[0] + max(widths))
    try:
        static = StaticRunner(model, room, widths, make_capture(), num_grown)
        static.prepare()
        if not _is_same(growing, static, widths, room):
            return StaticProof("differs")
        if num_grown and not _reads_same_trees(growing, static, room):
            return StaticProof("differs")
    except IncompatibleModelError:
        return StaticProof("unfit")
    except FAILURES:
        return StaticProof("failed")
    ratio = _time_ratio(growing, static)
    is_slower = must_be_faster and ratio >= 1.0
    return StaticProof("slower" if is_slower else None, ratio)


def _is_same(
    growing: ModelRunner, static: StaticRunner, widths: tuple[int, ...], room: int
) -> bool:
    """Whether both give one answer, drafting and verifying by turns."""
    text = [(STRIDE * index + 1) % growing.vocab_size for index in range(room)]
    for offset in OFFSETS:
        for width in (widths[0], *reversed(widths), widths[0]):
            ids = text[: min(offset, room - width) + width]
            expected = growing.forward(ids, width)
            if not is_same_but_for_rounding(static.forward(ids, width), expected):
                return False
    return True


def _reads_same_trees(growing: ModelRunner, static: StaticRunner, room: int) -> bool:
    """Whether both read a tree alike, at once and level by level, and keep the same branch."""
    text = [(STRIDE * index + 1) % growing.vocab_size for index in range(min(OFFSETS[-1], room))]
    tokens, parents = [1, 2, 3, 4, 5], [-1, -1, 0, 1, 1]
    tokens = [token % growing.vocab_size for token in tokens]
    found: list[list[torch.Tensor]] = []
    for runner in (growing, static):
        seen = [runner.read_tree(text, tokens, parents)]
        runner.keep(len(text), [1, 4])
        branch = [*text, tokens[1], tokens[4]]
        seen += [runner.forward([*branch, 1 % growing.vocab_size], 1), runner.forward(text, 1)]
        seen += [
            runner.grow_tree(tokens[:2], parents[:2]),
            runner.grow_tree(tokens[2:], parents[2:]),
        ]
        seen += [runner.forward([*branch, 2 % growing.vocab_size], 1)]
        found.append(seen)
    return all(map(is_same_but_for_rounding, found[1], found[0]))


def _time_ratio(growing: ModelRunner, static: StaticRunner) -> float:
    """Median over pairs of steps of one token."""
    text = [1] * OFFSETS[-1]

    def step(runner: ModelRunner) -> None:
        runner.forward(text, 1)

    def go_back(runner: ModelRunner) -> None:
        step(runner)
        runner.keep(len(text) - 1, [])

    return time_ratio(
        DeviceClock(growing.device),
        (lambda: go_back(growing), lambda: step(growing)),
        (lambda: go_back(static), lambda: step(static)),
    )


def time_ratio(clock: Clock, plain: Timed, other: Timed) -> float:
    """Median over pairs of what another way takes, as a part of what the plain one takes."""
    ratios = []
    for _ in range(NUM_TIMED):
        took = []
        for prepare, do in (plain, other):
            prepare()
            begun = clock.now_ms()
            do()
            took.append(max(clock.now_ms() - begun, time.get_clock_info("perf_counter").resolution))
        ratios.append(took[1] / took[0])
    return median(ratios)
