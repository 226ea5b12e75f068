"""What a pass costs is measured in turns, and only for a target that the page offers."""

from dataclasses import replace
from typing import Any

import pytest
from fake_race import OPTIONS

from specviz.errors import RequestError
from specviz.host import cost_work
from specviz.host.cost_work import make_cost_reader
from specviz.models.loading import ModelPool
from specviz.ui.pair_option import PairOption
from specviz.ui.race_queue import RaceQueue
from specviz.ui.turns import Turns, WorkStopped


def test_widths_and_batches_are_told_as_they_are_measured(
    tiny_pair: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cost_work, "NUM_TIMED", 1)
    pair = PairOption(tiny_pair[0], ())
    read = make_cost_reader(replace(OPTIONS, pairs=(pair,), hub=None), ModelPool().get)
    news: list[dict[str, Any]] = list(read({"target": pair.target})(_turns()))
    passes = [each["tokens"] for each in news if each["kind"] == "pass"]
    assert passes == [1, 2, 4, 8, 16, 32, 64, 128, 256]
    batches = [(each["texts"], each["tokens"]) for each in news if each["kind"] == "batch"]
    assert batches == [(texts, tokens) for texts in (1, 2, 4, 8, 16) for tokens in (1, 5)]
    assert all(each["ms"] > 0 for each in news)
    monkeypatch.setattr(cost_work, "LONGEST_MS", 0.0)
    assert len(list(read({"target": pair.target})(_turns()))) == 3
    with pytest.raises(WorkStopped):
        list(read({"target": pair.target})(Turns(RaceQueue(0), lambda: True)))


def _turns() -> Turns:
    return Turns(RaceQueue(0), lambda: False)


@pytest.mark.parametrize("form", [None, {}, {"target": "other"}, {"target": 3}])
def test_other_targets_are_refused(form: object) -> None:
    with pytest.raises(RequestError, match="Unknown target"):
        make_cost_reader(OPTIONS, ModelPool().get)(form)
