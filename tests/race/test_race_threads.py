"""How many threads a race runs on: chosen from its models, and recorded."""

from collections.abc import Iterator

import pytest
import torch
from test_lanes import POOL, REQUEST

from specviz.models import threads
from specviz.race.wiring import make_start_race
from specviz.trace.values import RaceFinished


@pytest.fixture(autouse=True)
def _keep_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def recorded_threads() -> int:
    *_, finished = make_start_race(POOL)(REQUEST)  # type: ignore[arg-type]
    assert isinstance(finished, RaceFinished)
    return finished.trace.environment.num_threads


def test_small_models_race_on_one_thread_and_the_trace_says_so() -> None:
    torch.set_num_threads(3)
    assert recorded_threads() == 1


def test_large_models_race_on_the_threads_that_were_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(threads, "SMALL_MODEL_PARAMETERS", 1)
    for asked in (2, 3):
        monkeypatch.setenv("OMP_NUM_THREADS", str(asked))
        assert recorded_threads() == asked
