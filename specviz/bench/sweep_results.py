"""Everything that is computed of a sweep's raw facts: cells, best draft lengths, verdicts."""

from dataclasses import dataclass

from specviz.bench.sweep_best import Best, best_of
from specviz.bench.sweep_cells import Cell, Prediction, cells_of, prediction_of
from specviz.bench.sweep_record import SweepRecord
from specviz.bench.sweep_verdicts import SweepVerdict, verdict_of


@dataclass(frozen=True, slots=True)
class SweepResults:
    """What a sweep has to say."""

    cells: tuple[Cell, ...]
    best: tuple[Best, ...]
    """In the order of the plan; a lane that was never timed is not there."""
    prediction: Prediction
    verdicts: tuple[SweepVerdict, ...]

    @property
    def leaders(self) -> tuple[Best, ...]:
        """The best of each draft, the fastest first."""
        return tuple(sorted(self.best, key=lambda best: -best.speedup))


def results_of(record: SweepRecord) -> SweepResults:
    """Compute all results of what was measured so far."""
    cells = cells_of(record)
    best = best_of(record, cells)
    verdicts = tuple(verdict_of(each, best, cells, record) for each in best)
    return SweepResults(cells, best, prediction_of(cells), verdicts)
