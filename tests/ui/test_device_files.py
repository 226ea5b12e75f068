"""The page tells what was measured on devices, from the files that the command writes."""

import json
from dataclasses import asdict
from pathlib import Path

from traces import ENVIRONMENT

from specviz.bench.device_report import DeviceReport
from specviz.ui.device_files import measured_passes


def _report(shapes: dict[str, float]) -> DeviceReport:
    pairs = [
        {
            "shape": shape,
            "weight_gb": size,
            "pass_ms": {1: 10 * size, 2: 11 * size, 8: 12 * size},
            "share_of_bound": 0.8,
        }
        for shape, size in shapes.items()
    ]
    return DeviceReport(asdict(ENVIRONMENT), 12.5, pairs)


def test_every_size_on_every_device_is_told_smallest_first(tmp_path: Path) -> None:
    text = json.dumps(asdict(_report({"3B": 6.0, "1B": 2.0})))
    (tmp_path / "a.json").write_text(text, encoding="utf-8")
    small, large = measured_passes(tmp_path)
    assert (small["shape"], small["gigabytes"], small["step_ms"]) == ("1B", 2.0, 20.0)
    assert small["widths"] == [[8, 24.0]], "what was not measured is not told"
    assert large["shape"] == "3B"
    assert measured_passes(tmp_path / "nothing") == []


def test_the_files_that_come_with_the_page_can_be_read() -> None:
    for each in measured_passes():
        assert each["step_ms"] > 0
        assert 0 < each["share_of_bound"] < 1.5
        assert each["environment"]["device_name"]
