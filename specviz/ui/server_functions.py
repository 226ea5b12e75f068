"""What the page's scripts may call on the server beside races; each answer is plain JSON.

A browser sends the arguments of a call as one list. Nothing in it is trusted: what does not fit is
answered with `{"error": text}`, never with an exception.
"""

from collections.abc import Callable
from typing import Any

from specviz.errors import SpecvizError
from specviz.trace.files import dumps
from specviz.trace.limits import MAX_GAMMA
from specviz.trace.rounds_csv import rounds_csv
from specviz.trace.theory import best_gamma, predicted_speedup
from specviz.ui.fitted_view import new_fits_view
from specviz.ui.hub_offer import read_pair
from specviz.ui.options import PageOptions
from specviz.ui.page_limits import PageLimits
from specviz.ui.page_tasks import PageTasks
from specviz.ui.prompt_guide import PromptGuide
from specviz.ui.race_file import race_html
from specviz.ui.recorded import open_trace, packets_of, read_recorded
from specviz.ui.request_values import shown
from specviz.ui.runs import Run, RunStore
from specviz.ui.sessions import RaceSessions
from specviz.ui.settings_data import pair_data
from specviz.ui.sign_in import taking_key
from specviz.ui.strings import PageError, message

ServerFunction = Callable[[Any], Any]


def make_server_functions(
    runs: RunStore,
    sessions: RaceSessions,
    options: PageOptions,
    guide: PromptGuide | None = None,
    tasks: PageTasks | None = None,
) -> list[ServerFunction]:
    """Make the functions that the hidden bus offers to the page's scripts, by their names."""

    def replay(run_id: object, first: object) -> Any:
        """Give the packets of a run from a number on."""
        return runs.replay(run_id, first)

    def control(run_id: object, wish: object, value: object = None) -> Any:
        """Pause, resume, step, stop or pace the race of a run."""
        return sessions.control(run_id, wish, value)

    def recorded(name: object) -> Any:
        """Give a shipped race by its name."""
        packets = read_recorded(name) if isinstance(name, str) else None
        if packets is None:
            raise PageError("error.no_such_recording")
        return {"packets": packets}

    def opened(text: object) -> Any:
        """Read a trace file that the visitor opened."""
        return {"packets": open_trace(text, options.limits, guide)}

    def finished(run_id: object) -> Any:
        """Give a finished run of this visitor again, with figures after every round."""
        return {"packets": list(packets_of(_trace_of(runs.get(run_id)), guide))}

    def saved(run_id: object, kind: object = "json") -> Any:
        """Give a finished run as the text of a file: its trace, a page, or a table of rounds."""
        trace = _trace_of(runs.get(run_id))
        if kind == "html":
            return {"text": _within(race_html(trace, guide, options.limits), options.limits)}
        if kind == "csv":
            return {"text": rounds_csv(trace)}
        if kind == "json":
            return {"text": dumps(trace)}
        raise PageError("error.wrong_call")

    def fits_made(first: object) -> Any:
        """Give the drafts that were fitted since the page was started, from a number on."""
        if type(first) is not int or first < 0:
            raise PageError("error.wrong_call")
        return {"fits": new_fits_view(options, first)}

    functions: list[Callable[..., Any]] = [replay, control, recorded, opened, finished, saved]
    functions.append(fits_made)
    functions += [*_hub_functions(options), *_task_functions(tasks), predicted]
    called = [_taking_lists(function) for function in functions]
    return [taking_key(each) for each in called] if options.takes_sign_in else called


def _hub_functions(options: PageOptions) -> list[Callable[..., Any]]:
    def hub_known(target: object) -> Any:
        """Give the menu's entry of a hub model that somebody has looked at."""
        option = options.pair(target) if isinstance(target, str) else None
        if option is None:
            raise PageError("error.hub_not_looked", found=shown(target))
        return {"pair": pair_data(option)}

    def hub_look(
        target: object,
        draft: object,
        prompt: object,
        tokens: object,
        gamma: object,
        head: object = None,
    ) -> Any:
        """Say what a pair of the hub takes, before anything large is downloaded."""
        if options.hub is None:
            raise PageError("error.wrong_call")
        limits = options.limits
        ends = (limits.max_prompt_chars, limits.max_new_tokens, limits.max_gamma)
        asked = read_pair(target, draft, prompt, tokens, gamma, ends, head)
        found = options.hub.look(asked)
        pair = options.pair(asked.target) if found.option else None
        return {
            "findings": [{"level": level, "text": text} for level, text in found.findings],
            "download_bytes": found.download_bytes,
            "pair": pair and pair_data(pair),
        }

    return [hub_known, hub_look]


def _task_functions(tasks: PageTasks | None) -> list[Callable[..., Any]]:
    if tasks is None:
        return []

    def task_start(kind: object, form: object) -> Any:
        """Begin a piece of long work; gives its id."""
        return tasks.start(kind, form)

    def task_news(task_id: object, first: object) -> Any:
        """Give what a task has told from a number on, and how it stands."""
        return tasks.news(task_id, first)

    def task_stop(task_id: object) -> Any:
        """Ask a task to end."""
        return tasks.stop(task_id)

    return [task_start, task_news, task_stop]


def predicted(alpha: object, draft_cost: object, verify_cost: object) -> Any:
    """Predict the speedup at every draft length."""
    try:
        a, c, v = (float(each) for each in (alpha, draft_cost, verify_cost))  # type: ignore[arg-type]
        speedups = [predicted_speedup(a, gamma, c, v) for gamma in range(1, MAX_GAMMA + 1)]
        return {"speedups": speedups, "best": best_gamma(a, c, v)}
    except (TypeError, ValueError, OverflowError):
        return {"error": message("error.no_prediction")}


def _within(page: str, limits: PageLimits) -> str:
    size, allowed = len(page.encode()), limits.max_export_bytes
    if size > allowed:
        values = {"found": round(size / 1000), "allowed": round(allowed / 1000)}
        raise PageError("error.export_too_long", **values)
    return page


def _trace_of(run: Run | None) -> Any:
    if run is None or run.trace is None:
        raise PageError("error.no_trace")
    return run.trace


def _taking_lists(function: Callable[..., Any]) -> ServerFunction:
    """Hand the list that a browser sent on as arguments, and answer a refusal as an error.

    Not by `functools.wraps`: Gradio would look through it and count other parameters.
    """
    num_least = function.__code__.co_argcount - len(function.__defaults__ or ())

    def guarded(sent: Any) -> Any:
        arguments = sent if isinstance(sent, list) else []
        if not num_least <= len(arguments) <= function.__code__.co_argcount:
            return {"error": message("error.wrong_call")}
        try:
            return function(*arguments)
        except SpecvizError as error:
            return {"error": error.text}

    guarded.__name__, guarded.__doc__ = function.__name__, function.__doc__
    return guarded
