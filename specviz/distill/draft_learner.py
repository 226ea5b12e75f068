"""A draft model that learns: its steps, and its alpha on held-out texts."""

from collections.abc import Generator
from typing import Any

from specviz.distill.agreement import measuring, pool
from specviz.distill.draft_training import DraftTraining
from specviz.distill.fit_news import FitMeasured
from specviz.distill.learning import Measure, Standing
from specviz.distill.model_reader import TargetReader
from specviz.distill.training_run import TrainingRun
from specviz.trace.fits import FitScore


class DraftLearner:
    """A draft in training, watched on texts of its target that it does not learn from."""

    def __init__(self, training: DraftTraining, watched: TargetReader) -> None:
        self._training, self._watched = training, watched

    @property
    def run(self) -> TrainingRun:
        """Its progress."""
        return self._training.run

    @property
    def model(self) -> Any:
        """The draft."""
        return self._training.draft.model

    def step(self, num_steps: int | None) -> float:
        """Take one step."""
        return self._training.step(num_steps)

    def measuring(self) -> Generator[None, None, Measure]:
        """Measure alpha, and the share of equal first choices and the number of tokens beside."""
        scores: list[FitScore] = []
        for found in measuring(self._training.draft, self._watched):
            scores += found
            if len(scores) < len(self._watched.texts):
                yield
        score = pool(scores)
        return Measure(score.alpha, (score.greedy, score.num_tokens))

    def told(self, measure: Measure, standing: Standing) -> FitMeasured:
        """Say what was measured."""
        greedy, num_tokens = measure.others
        return FitMeasured(
            standing.step,
            standing.num_steps,
            FitScore(measure.figure, greedy, int(num_tokens)),
            standing.is_best,
            standing.seconds,
        )
