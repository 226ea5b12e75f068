"""Lanes are named by what they run; the page's scripts are held to the same table."""

import json
from pathlib import Path
from typing import Any

import pytest
from traces import lane, plain, trace

from specviz.trace.names import lane_names, names_of
from specviz.trace.typed_json import decode
from specviz.trace.values import LaneSpec, Method

TABLE = Path(__file__).parents[1] / "fixtures" / "lane_names.json"
CASES: list[dict[str, Any]] = json.loads(TABLE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=[case["about"] for case in CASES])
def test_names_of_the_table(case: dict[str, Any]) -> None:
    later = {"rule", "head", "head_reading"}
    specs = [decode(LaneSpec, spec, may_be_absent=later) for spec in case["specs"]]
    assert list(lane_names(specs)) == case["names"]


def test_a_race_names_its_lanes() -> None:
    race = trace(lane(plain(1), Method.BASELINE), lane(plain(1), name="the one I like"))
    assert names_of(race) == ("target alone", "the one I like")
