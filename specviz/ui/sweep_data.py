"""What the sweep of the tab Compare is given: what may be asked for, where a recorded one is."""

from collections.abc import Sequence
from typing import Any

from specviz.ui.assets import SWEEPS_FOLDER, file_address
from specviz.ui.options import PageOptions
from specviz.ui.views import plotly_address

KIND = "sweep"
RECORDED = "shipped"
FIRST_MINUTES, FIRST_GAMMAS, FIRST_TOKENS = 5.0, (1, 8), 64


def sweep_data(options: PageOptions, kinds: Sequence[str]) -> dict[str, Any]:
    """Give limits, what the form begins with, whether this page can sweep at all, and the address
    of the recorded sweep; None where none ships."""
    limits = options.limits
    recorded = SWEEPS_FOLDER / f"{RECORDED}.json"
    return {
        "can_run": KIND in kinds,
        "recorded": file_address(recorded) if recorded.is_file() else None,
        "plotly": plotly_address(),
        "takes_own": limits.takes_own_prompts,
        "most": {
            "gamma": limits.max_gamma,
            "lanes": limits.max_sweep_lanes,
            "minutes": limits.max_sweep_minutes,
            "tokens": limits.max_new_tokens,
            "temperature": limits.max_temperature,
        },
        "first": {
            "gammas": FIRST_GAMMAS,
            "temperature": 0,
            "tokens": FIRST_TOKENS,
            "minutes": min(FIRST_MINUTES, limits.max_sweep_minutes),
        },
    }
