"""In which form a training step runs fastest here: dtype, compiled or not, how many threads."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

PROBE_SHAPE = (6144, 128, 384)
PROBE_REPEATS = 5
MIN_GAIN = 1.3
"""bfloat16 products count as faster where they take this many times less processor time."""
FORM_STEPS = 5

Step = Callable[[int], object]


@dataclass(frozen=True, slots=True)
class Form:
    """How a training step is computed; the weights are float32 in every form."""

    bf16: bool
    compiled: bool
    threads: int

    @property
    def dtype(self) -> torch.dtype:
        """What the large products take."""
        return torch.bfloat16 if self.bf16 else torch.float32


def has_bf16_units() -> bool:
    """Whether products of bfloat16 matrices are clearly faster here than those of float32.

    Processor time is compared, which others on the machine disturb little.
    """
    rows, inner, columns = PROBE_SHAPE
    left, right = torch.randn(rows, inner), torch.randn(inner, columns)
    wide = _least_seconds(left, right)
    return wide > MIN_GAIN * _least_seconds(left.bfloat16(), right.bfloat16())


def _least_seconds(left: torch.Tensor, right: torch.Tensor) -> float:
    seconds = []
    for _ in range(1 + PROBE_REPEATS):
        begun = time.process_time()
        left @ right
        seconds.append(time.process_time() - begun)
    return min(seconds[1:])


def candidates(threads: int) -> Iterator[Form]:
    """The forms that are worth timing with at most `threads` threads."""
    kinds = [False, True] if has_bf16_units() else [False]
    for bf16 in kinds:
        for compiled in (False, True):
            yield Form(bf16, compiled, threads)
    if threads > 1:
        yield Form(kinds[-1], True, 1)


def time_form(form: Form, step: Step) -> float:
    """Least seconds of a few steps, the first two, which compile and warm up, not counted."""
    torch.set_num_threads(form.threads)
    seconds = []
    for number in range(2 + FORM_STEPS):
        begun = time.perf_counter()
        step(number)
        seconds.append(time.perf_counter() - begun)
    return min(seconds[2:])


def fastest_form(file: Path, threads: int, make_step: Callable[[Form], Step]) -> Form:
    """The fastest form, timed once and then read from `file`.

    A form that does not run here (no compiler, say) falls out.
    """
    if file.exists():
        return Form(**json.loads(file.read_text(encoding="utf-8"))["chosen"])
    timed: list[tuple[float, Form]] = []
    for form in candidates(threads):
        try:
            timed.append((time_form(form, make_step(form)), form))
        except RuntimeError:  # torch's compiler raises children of it
            continue
        torch.compiler.reset()
    chosen = min(timed, key=lambda pair: pair[0])[1]
    rows = [{**asdict(form), "seconds_a_step": seconds} for seconds, form in timed]
    file.write_text(json.dumps({"chosen": asdict(chosen), "timed": rows}, indent=1))
    return chosen
