"""Trains an EAGLE-3 head step by step, measured on the way; resumable.

Weights are float32; the large products are bfloat16 where that is found to be faster here, which a
run decides once.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, process_time
from typing import Any

import numpy as np
import torch

from specviz.decoding.eagle3_head import Eagle3Head
from specviz.distill.fit_news import HeadMeasured
from specviz.distill.head_loss import HeadScore, score_head
from specviz.distill.head_texts import HeadTexts
from specviz.distill.learning import Measure, Standing
from specviz.distill.optimizers import NEW_RATES, Muon
from specviz.distill.training_run import TrainingRun
from specviz.errors import IncompatibleModelError

NUM_STEPS = 5
"""Tokens ahead that a head is trained for."""
WARM_UP, CLIP, DECAY_SHARE = 20, 1.0, 0.5
SAVE_EVERY_SECONDS = 60.0
PROBE_TIMES = 3
MIN_GAIN = 1.1
"""bfloat16 is taken where a step needs this many times less time with it."""


@dataclass(frozen=True, slots=True)
class HeadAgreement:
    """How well a head guesses what its target says, with its own states from the second guess
    on."""

    tau: float
    """Mean tokens of a round of `NUM_STEPS` guesses at temperature 0: those that are kept before
    the first wrong one, and the target's own."""
    agreement: tuple[float, ...]
    """Of each step ahead: share of the tokens at which head and target have one first choice."""
    num_tokens: int
    """Of the first step."""


class HeadTraining:
    """One head in training, watched on texts that it does not learn from."""

    def __init__(
        self, head: Eagle3Head, texts: HeadTexts, watched: HeadTexts, folder: Path, seed: int
    ) -> None:
        """Take up the run that the folder holds, if it holds one."""
        self._head, self._texts, self._watched, self._seed = head, texts, watched, seed
        matrices = [
            weight
            for name, weight in head.named_parameters()
            if weight.dim() == 2 and not name.startswith("lm_head")
        ]
        known = {id(weight) for weight in matrices}
        others = [weight for weight in head.parameters() if id(weight) not in known]
        muon, adam = NEW_RATES
        optimizers = [
            Muon(matrices, lr=muon, weight_decay=0.01),
            torch.optim.AdamW(others, lr=adam / head.form.hidden_size, betas=(0.9, 0.95)),
        ]
        self.run = TrainingRun(folder, head, optimizers, texts.device)
        self.run.resume()
        self._saved = monotonic()

    @property
    def model(self) -> Any:
        """The head."""
        return self._head

    @property
    def dtype(self) -> torch.dtype:
        """What the large products are computed in; found out at the first call of a run."""
        kept = self.run.kept
        if "uses_bf16" not in kept:
            kept["uses_bf16"] = is_faster(self._score, self._head)
        return torch.bfloat16 if kept["uses_bf16"] else torch.float32

    def step(self, num_steps: int | None) -> float:
        """Take one of so many steps and return its loss in nats.

        Raises:
            IncompatibleModelError: The loss is not a number.
        """
        dtype = self.dtype  # Found out before the step is timed.
        return self.run.take(lambda: self._step(num_steps, dtype), 0)

    def measuring(self) -> Generator[None, None, Measure]:
        """Measure tau, and the agreement at each step ahead beside."""
        found = yield from measuring_head(self._head, self._watched)
        return Measure(found.tau, found.agreement)

    def told(self, measure: Measure, standing: Standing) -> HeadMeasured:
        """Say what was measured."""
        return HeadMeasured(
            standing.step,
            standing.num_steps,
            measure.figure,
            measure.others,
            standing.is_best,
            standing.seconds,
        )

    def _step(self, num_steps: int | None, dtype: torch.dtype) -> float:
        state = self.run.state
        if monotonic() - self._saved > SAVE_EVERY_SECONDS:
            self.run.save()
            self._saved = monotonic()
        score = self._score(dtype)
        value = float(score.loss.detach())
        if not np.isfinite(value):
            raise IncompatibleModelError(
                f"training broke off at step {state.steps}: the loss is {value}; the target "
                "gives states or logits that are not numbers"
            )
        left = 1.0 - state.steps / num_steps if num_steps else 1.0
        state.tokens += int(score.num_slots[0])
        self.run.update(score.loss, min(1.0, left / DECAY_SHARE), WARM_UP, CLIP)
        return value

    def _score(self, dtype: torch.dtype) -> HeadScore:
        """Score the batch of the next step: each epoch goes through all in an order of its own."""
        epoch, place = divmod(self.run.state.steps, len(self._texts))
        order = np.random.default_rng([self._seed, epoch]).permutation(len(self._texts))
        batch = self._texts.batch(int(order[place]))
        is_narrow = dtype is not torch.float32
        with torch.autocast(self._texts.device.type, dtype=torch.bfloat16, enabled=is_narrow):
            return score_head(self._head, batch, NUM_STEPS)


def is_faster(score: Callable[[torch.dtype], HeadScore], head: Eagle3Head) -> bool:
    """Whether a step needs clearly less time where its large products are bfloat16.

    Processor time is compared, which others on the machine disturb little. The head stays as it is.
    """
    if head.embedding_weight.device.type != "cpu":
        return torch.cuda.is_available() and torch.cuda.is_bf16_supported()

    def least_seconds(dtype: torch.dtype) -> float:
        seconds = []
        for _ in range(PROBE_TIMES):
            begun = process_time()
            score(dtype).loss.backward()  # type: ignore[no-untyped-call]
            seconds.append(process_time() - begun)
        head.zero_grad()
        return min(seconds)

    return least_seconds(torch.float32) > MIN_GAIN * least_seconds(torch.bfloat16)


@torch.no_grad()
def measuring_head(head: Eagle3Head, texts: HeadTexts) -> Generator[None, None, HeadAgreement]:
    """Measure how well a head guesses, in float32 and in short pieces."""
    same = torch.zeros(NUM_STEPS, dtype=torch.int64)
    slots = torch.zeros(NUM_STEPS, dtype=torch.int64)
    num_kept = num_rounds = 0.0
    for number in range(len(texts)):
        score = score_head(head, texts.batch(number), NUM_STEPS)
        same, slots = same + score.num_same.cpu(), slots + score.num_slots.cpu()
        num_kept += float(score.num_kept)
        num_rounds += float(score.num_rounds)
        if number + 1 < len(texts):
            yield
    agreement = tuple((same / slots.clamp(min=1)).tolist())
    return HeadAgreement(1.0 + num_kept / max(1.0, num_rounds), agreement, int(slots[0]))
