"""The rounds of a race as a table that any program reads."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from specviz.trace.files import read_trace
from specviz.trace.rounds_csv import COLUMNS, rounds_csv
from specviz.trace.values import Trace

FIXTURES = Path(__file__).parents[1] / "fixtures"


@pytest.fixture
def trace() -> Trace:
    return read_trace(FIXTURES / "trace_v1.json")


def _rows(trace: Trace) -> list[dict[str, str]]:
    table = csv.DictReader(io.StringIO(rounds_csv(trace)))
    assert tuple(table.fieldnames or ()) == COLUMNS
    return list(table)


def test_every_round_is_a_row_with_its_counts_and_times(trace: Trace) -> None:
    rows = _rows(trace)
    assert len(rows) == sum(len(lane.rounds) for lane in trace.lanes)
    for index, lane in enumerate(trace.lanes):
        own = [row for row in rows if row["lane"] == str(index)]
        assert [int(row["round"]) for row in own] == [each.index + 1 for each in lane.rounds]
        assert sum(int(row["num_emitted"]) for row in own) == len(lane.emitted)
        assert float(own[-1]["clock_ms"]) == pytest.approx(sum(each.ms for each in lane.rounds))
        for row, round_ in zip(own, lane.rounds, strict=True):
            fates = [int(row[f"num_{fate}"]) for fate in ("accepted", "rejected", "discarded")]
            assert sum(fates) == int(row["num_drafted"]) == len(round_.drafted)
            assert float(row["verify_ms"]) == round_.verify_ms
            assert row["last_source"] == round_.emitted[-1].source


def test_the_texts_of_a_lane_make_its_output(trace: Trace) -> None:
    texts = [json.loads(row["text"]) for row in _rows(trace) if row["lane"] == "1"]
    assert "".join(texts) == "".join(token.text for token in trace.lanes[1].emitted)


def test_no_cell_is_a_formula_and_no_row_is_broken(trace: Trace) -> None:
    lane = trace.lanes[1]
    token = replace(lane.rounds[0].emitted[-1], text='=HYPERLINK("x")\n\r')
    emitted = (*lane.rounds[0].emitted[:-1], token)
    rounds = (replace(lane.rounds[0], emitted=emitted), *lane.rounds[1:])
    spec = replace(lane.spec, name="=1+1", draft="@draft")
    hostile = replace(trace, lanes=(trace.lanes[0], replace(lane, spec=spec, rounds=rounds)))
    text = rounds_csv(hostile)
    row = next(row for row in _rows(hostile) if row["lane"] == "1")
    assert (row["name"], row["draft"]) == ("'=1+1", "'@draft")
    assert json.loads(row["text"]).endswith('=HYPERLINK("x")\n\r')
    assert row["text"].startswith('"')
    assert text.count("\n") == len(_rows(hostile)) + 1
