"""Trains a draft in short pieces, measures it on the way, and keeps the weights that did best.

Alpha is measured on held-out texts some `NUM_MEASURES` times, and learning ends early where it has
not risen at the last `PATIENCE` of them. What was measured and the best weights are kept with the
run, so that an interrupted one comes to the same draft.
"""

import json
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Any

import torch

from specviz.distill.agreement import measuring, pool
from specviz.distill.draft_training import DraftTraining
from specviz.distill.fit_news import FitMeasured, FitNews, FitPhase, FitProgress, LearningEnd
from specviz.distill.model_reader import TargetReader
from specviz.trace.fits import FitScore

NUM_MEASURES = 24
PATIENCE = 8
"""A third of them: alpha often rests for a while before the learning rates fall."""
TIMED_STEPS = 10
STEPS_FILE = "steps.json"


@dataclass(frozen=True, slots=True)
class LearningPlan:
    """How long a draft learns."""

    num_steps: int | None
    """None: as many as `minutes` allow."""
    minutes: float
    seconds_before: float
    """Work that was done before the draft began to learn."""


class DraftLearning:
    """One draft that learns; `end` and `num_steps` are known once `run` is through."""

    def __init__(
        self,
        training: DraftTraining,
        watched: TargetReader,
        plan: LearningPlan,
        should_stop: Callable[[], bool],
    ) -> None:
        self._training, self._watched, self._plan = training, watched, plan
        self._should_stop = should_stop
        self._kept: dict[str, Any] = training.run.kept
        self.num_steps: int | None = plan.num_steps
        self.end = LearningEnd.DONE

    @property
    def best_step(self) -> int:
        """The step at which alpha was the highest, the first of them."""
        return int(max(self._measures, key=lambda each: (each[1], -each[0]))[0])

    def run(self) -> Generator[FitNews, None, None]:
        """Learn to the end, and put the best weights into the draft.

        Raises:
            IncompatibleModelError: The loss is not a number.
        """
        state = self._training.run.state
        yield from self._measure()
        if self.num_steps is None:
            yield from self._time_steps()
        every = max(1, round((self.num_steps or 0) / NUM_MEASURES))
        while not self._is_over():
            yield self._step(self.num_steps)
            if state.steps % every == 0:
                yield from self._measure()
        yield from self._measure()
        self._training.run.save()
        self._training.draft.model.load_state_dict(self._kept["weights"])

    @property
    def _measures(self) -> list[list[float]]:
        """Step, alpha, share of the same first choice, and number of tokens of each."""
        measures: list[list[float]] = self._kept.setdefault("measures", [])
        return measures

    def _is_over(self) -> bool:
        if self._should_stop():
            self.end = LearningEnd.STOPPED
            return True
        if self._training.run.state.steps == self.num_steps:
            return True
        if sum(each[0] > self.best_step for each in self._measures) < PATIENCE:
            return False
        self.end = LearningEnd.PLATEAU
        return True

    def _time_steps(self) -> Iterator[FitNews]:
        """Find how many steps there is time for; a resumed run takes as many as it found first."""
        run = self._training.run
        path = run.folder / STEPS_FILE
        if not path.exists():
            while run.state.steps < TIMED_STEPS:
                if self._should_stop():
                    return
                yield self._step(None)
            per_step = run.state.seconds / max(1, run.state.steps)
            run.save()
            path.write_text(json.dumps(max(TIMED_STEPS, round(60 * self._plan.minutes / per_step))))
        self.num_steps = int(json.loads(path.read_text()))

    def _step(self, num_steps: int | None) -> FitProgress:
        loss = self._training.step(num_steps)
        state = self._training.run.state
        left = 60 * self._plan.minutes
        if num_steps is not None:
            left = (num_steps - state.steps) * state.seconds / state.steps
        return FitProgress(FitPhase.LEARNING, state.steps, num_steps, left, loss)

    def _measure(self) -> Iterator[FitNews]:
        """Measure the draft as it is, unless that was done, and keep it if it is the best."""
        state = self._training.run.state
        if any(each[0] == state.steps for each in self._measures):
            return
        scores: list[FitScore] = []
        for found in measuring(self._training.draft, self._watched):
            scores += found
            if len(scores) < len(self._watched.texts):
                yield FitProgress(FitPhase.LEARNING, state.steps, self.num_steps, None)
        score = pool(scores)
        self._measures.append([state.steps, score.alpha, score.greedy, score.num_tokens])
        is_best = self.best_step == state.steps
        if is_best:
            self._kept["weights"] = _copy(self._training.draft.model)
        seconds = self._plan.seconds_before + state.seconds
        yield FitMeasured(state.steps, self.num_steps, score, is_best, seconds)


def _copy(model: Any) -> dict[str, torch.Tensor]:
    """The weights as they are, in the computer's memory."""
    return {name: each.detach().cpu().clone() for name, each in model.state_dict().items()}
