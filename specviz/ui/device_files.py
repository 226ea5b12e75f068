"""What `bench --out` measured, read from `assets/devices`: what one token costs on a device."""

import json
from pathlib import Path
from typing import Any

from specviz.ui.assets import ASSETS

DEVICES_FOLDER = ASSETS / "devices"
SHOWN_WIDTHS = (8, 64)
"""Tokens of a pass whose time is told beside that of one token."""


def measured_passes(folder: Path = DEVICES_FOLDER) -> list[dict[str, Any]]:
    """List every size of model on every device, smallest first: weights in GB, milliseconds of a
    pass over one token and over `widths` of them, and what share of the memory's speed it used."""
    found = []
    for path in sorted(folder.glob("*.json")):
        report = json.loads(path.read_text(encoding="utf-8"))
        place = report["environment"]
        for pair in report["pairs"]:
            times = pair["pass_ms"]
            found.append(
                {
                    "shape": pair["shape"],
                    "gigabytes": pair["weight_gb"],
                    "step_ms": times["1"],
                    "widths": [[n, times[str(n)]] for n in SHOWN_WIDTHS if str(n) in times],
                    "share_of_bound": pair["share_of_bound"],
                    "copy_gb_per_second": report["copy_gb_per_second"],
                    "environment": place,
                }
            )
    return sorted(found, key=lambda each: (each["environment"]["device_name"], each["gigabytes"]))
