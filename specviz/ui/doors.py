"""What the page's scripts may ask of the server beside races; each answer is plain JSON.

A browser sends the arguments of a call as one list. Nothing in it is trusted: what does not fit is
answered with `{"error": text}`, never with an exception.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from specviz.errors import SpecvizError
from specviz.trace.files import dumps
from specviz.trace.theory import best_gamma, predicted_speedup
from specviz.trace.values import MAX_GAMMA
from specviz.ui.measured import measured_of
from specviz.ui.options import PageLimits
from specviz.ui.race_desk import RaceDesk
from specviz.ui.recorded import open_trace, read_recorded, recording_of
from specviz.ui.runs import RunStore
from specviz.ui.stream import sentence
from specviz.ui.strings import message

Door = Callable[[list[Any]], Any]


def make_doors(runs: RunStore, desk: RaceDesk, limits: PageLimits) -> list[Door]:
    """Make the functions that the hidden bus offers to the page's scripts, by their names."""

    def replay(arguments: list[Any]) -> Any:
        """Give the packets of a run from a number on: [run id, number]."""
        return runs.replay(*arguments) if len(arguments) == 2 else []

    def control(arguments: list[Any]) -> Any:
        """Pause, resume, step or stop a race that runs: [run id, wish]."""
        return desk.control(*arguments) if len(arguments) == 2 else False

    def pace(arguments: list[Any]) -> Any:
        """Send the packets of a run further apart, to a slow browser: [run id, milliseconds]."""
        return desk.pace(*arguments) if len(arguments) == 2 else False

    def opened(arguments: list[Any]) -> Any:
        """Read a trace file that the visitor opened: [its text]."""
        try:
            return open_trace(arguments[0] if arguments else "", limits)
        except SpecvizError as error:
            return {"error": sentence(error)}

    def saved(arguments: list[Any]) -> Any:
        """Give the whole trace of a finished run as the text of a file: [run id]."""
        run = runs.get(arguments[0] if arguments else None)
        if run is None or run.trace is None:
            return {"error": message("error.no_trace")}
        return {"text": dumps(run.trace)}

    def finished(arguments: list[Any]) -> Any:
        """Give a finished run of this visitor as a recording: [run id]."""
        run = runs.get(arguments[0] if arguments else None)
        if run is None or run.trace is None:
            return {"error": message("error.no_trace")}
        return recording_of(run.trace)

    def measured(arguments: list[Any]) -> Any:
        """Give what a finished run of this visitor measured of its device: [run id]."""
        run = runs.get(arguments[0] if arguments else None)
        found = measured_of(run.trace) if run is not None and run.trace is not None else None
        return found or {"error": message("error.no_trace")}

    doors = [replay, control, pace, recorded, opened, saved, finished, measured, predicted]
    return [_taking_lists(door) for door in doors]


def recorded(arguments: list[Any]) -> Any:
    """Give a shipped race by its name: [name]."""
    name = arguments[0] if arguments else None
    found = read_recorded(name) if isinstance(name, str) else None
    return found or {"error": message("error.no_such_recording")}


def predicted(arguments: list[Any]) -> Any:
    """Predict the speedup at every draft length: [alpha, c, v]."""
    try:
        alpha, draft_cost, verify_cost = (float(value) for value in arguments)
        speedups = [
            round(predicted_speedup(alpha, gamma, draft_cost, verify_cost), 4)
            for gamma in range(1, MAX_GAMMA + 1)
        ]
        best = best_gamma(alpha, draft_cost, verify_cost)
    except (TypeError, ValueError, OverflowError):
        return {"error": message("error.no_prediction")}
    return {"speedups": speedups, "best": best}


def _taking_lists(door: Door) -> Door:
    """Hand on what a browser sent; what is no list is no argument."""

    @wraps(door)
    def guarded(sent: Any) -> Any:
        return door(sent if isinstance(sent, list) else [])

    return guarded
