"""Trains in short pieces, measures on the way, and keeps the weights that did best.

What learns, a draft or a head, is measured on held-out texts some `NUM_MEASURES` times, and
learning ends early where its figure has not risen at the last `PATIENCE` of them. What was measured
and the best weights are kept with the run, so that an interrupted one comes to the same end.
"""

import json
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import torch

from specviz.distill.fit_news import FitNews, FitPhase, FitProgress, LearningEnd
from specviz.distill.training_run import TrainingRun

NUM_MEASURES = 24
PATIENCE = 8
"""A third of them: alpha often rests for a while before the learning rates fall."""
TIMED_STEPS = 10
STEPS_FILE = "steps.json"


@dataclass(frozen=True, slots=True)
class LearningPlan:
    """How long something learns."""

    num_steps: int | None
    """None: as many as `minutes` allow."""
    minutes: float
    seconds_before: float
    """Work that was done before it began to learn."""


@dataclass(frozen=True, slots=True)
class Measure:
    """How well it does at one step."""

    figure: float
    """What is to rise."""
    others: tuple[float, ...] = ()
    """What else was measured."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Where learning stood when something was measured."""

    step: int
    num_steps: int | None
    is_best: bool
    seconds: float
    """Work since the fit began."""


class Learner(Protocol):
    """What learns."""

    @property
    def run(self) -> TrainingRun:
        """Its progress, resumed where it was interrupted."""

    @property
    def model(self) -> Any:
        """The module of which the best weights are kept."""

    def step(self, num_steps: int | None) -> float:
        """Take one of so many steps, None where that is not known yet; give its loss in nats.

        Raises:
            IncompatibleModelError: The loss is not a number.
        """

    def measuring(self) -> Generator[None, None, Measure]:
        """Measure it as it is, in short pieces."""

    def told(self, measure: Measure, standing: Standing) -> FitNews:
        """Say what was measured."""


class Learning:
    """Something that learns; `end` and `num_steps` are known once `run` is through."""

    def __init__(
        self, learner: Learner, plan: LearningPlan, should_stop: Callable[[], bool]
    ) -> None:
        self._learner, self._plan = learner, plan
        self._should_stop = should_stop
        self._kept: dict[str, Any] = learner.run.kept
        self.num_steps: int | None = plan.num_steps
        self.end = LearningEnd.DONE

    @property
    def best_step(self) -> int:
        """The step at which the figure was the highest, the first of them."""
        return int(max(self._measures, key=lambda each: (each[1], -each[0]))[0])

    def run(self) -> Generator[FitNews, None, None]:
        """Learn to the end, and put the best weights into the model.

        Closed between two pieces of news, it leaves a checkpoint from which it goes on.

        Raises:
            IncompatibleModelError: The loss is not a number.
        """
        try:
            yield from self._run()
        except GeneratorExit:
            self._learner.run.save()
            raise
        self._learner.run.save()
        self._learner.model.load_state_dict(self._kept["weights"])

    def _run(self) -> Generator[FitNews, None, None]:
        state = self._learner.run.state
        yield from self._measure()
        if self.num_steps is None:
            yield from self._time_steps()
        every = max(1, round((self.num_steps or 0) / NUM_MEASURES))
        while not self._is_over():
            yield self._step(self.num_steps)
            if state.steps % every == 0:
                yield from self._measure()
        yield from self._measure()

    @property
    def _measures(self) -> list[list[float]]:
        """Step, figure and what else was measured of each."""
        measures: list[list[float]] = self._kept.setdefault("measures", [])
        return measures

    def _is_over(self) -> bool:
        if self._should_stop():
            self.end = LearningEnd.STOPPED
            return True
        if self._learner.run.state.steps == self.num_steps:
            return True
        if sum(each[0] > self.best_step for each in self._measures) < PATIENCE:
            return False
        self.end = LearningEnd.PLATEAU
        return True

    def _time_steps(self) -> Iterator[FitNews]:
        """Find how many steps there is time for; a resumed run takes as many as it found first."""
        run = self._learner.run
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
        loss = self._learner.step(num_steps)
        state = self._learner.run.state
        left = 60 * self._plan.minutes
        if num_steps is not None:
            left = (num_steps - state.steps) * state.seconds / state.steps
        return FitProgress(FitPhase.LEARNING, state.steps, num_steps, left, loss)

    def _measure(self) -> Iterator[FitNews]:
        """Measure it as it is, unless that was done, and keep it if it is the best."""
        state = self._learner.run.state
        if any(each[0] == state.steps for each in self._measures):
            return
        pieces = self._learner.measuring()
        while True:
            try:
                next(pieces)
            except StopIteration as ended:
                measure: Measure = ended.value
                break
            yield FitProgress(FitPhase.LEARNING, state.steps, self.num_steps, None)
        self._measures.append([state.steps, measure.figure, *measure.others])
        is_best = self.best_step == state.steps
        if is_best:
            self._kept["weights"] = _copy(self._learner.model)
        seconds = self._plan.seconds_before + state.seconds
        standing = Standing(state.steps, self.num_steps, is_best, seconds)
        yield self._learner.told(measure, standing)


def _copy(model: Any) -> dict[str, torch.Tensor]:
    """The weights as they are, in the computer's memory."""
    return {name: each.detach().cpu().clone() for name, each in model.state_dict().items()}
