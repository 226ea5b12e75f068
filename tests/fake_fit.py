"""A fit without a model, for tests of the page: plausible news, and a draft on the menu."""

import time
from collections.abc import Iterator
from typing import Any

from specviz.trace.fits import Fit, FittedDraft
from specviz.ui.fit_form import read_fit_form
from specviz.ui.fitted_view import new_fit_view
from specviz.ui.options import PageOptions
from specviz.ui.page_tasks import ReadWork, Work
from specviz.ui.turns import Turns

NAME = "fake-fit"
PAUSE = 0.02


def make_fake_fit(options: PageOptions, fit: Fit) -> ReadWork:
    """Make what reads the form as the page does and tells a made-up fit; a minute never ends."""

    def read(form: Any) -> Work:
        asked = read_fit_form(form, options)

        def work(turns: Turns) -> Iterator[dict[str, Any]]:
            yield from _begin(len(asked.prompts))
            step = 0
            while step < 100 and not turns.should_stop():
                time.sleep(PAUSE)
                step += 10 if asked.minutes > 1 or step < 60 else 0
                yield _progress("learning", step, 100)
                yield _measured(step)
            end = "done" if step == 100 else "stopped"
            yield {"kind": "ended", "end": end, "step": step, "best_step": min(step, 80)}
            name = f"{NAME}-{len(options.all_fitted)}"
            options.new_fits.add(FittedDraft(name, asked.draft, fit))
            yield {"kind": "done", **new_fit_view(len(options.all_fitted) - 1, options)}

        return work

    return read


def _begin(num_prompts: int) -> Iterator[dict[str, Any]]:
    num_held_out = round(num_prompts / 5)
    counts = {"num_learned": num_prompts - num_held_out, "num_held_out": num_held_out}
    yield {"kind": "begun", **counts, "is_few": num_prompts < 50}
    yield _progress("writing", 30, None)
    yield _measured(0)


def _progress(phase: str, done: int, total: int | None) -> dict[str, Any]:
    parts = {"done": done, "total": total, "seconds_left": 100.0 - done, "loss": 3.0 - done / 50}
    return {"kind": "progress", "phase": phase, **parts}


def _measured(step: int) -> dict[str, Any]:
    alpha = 0.04 + 0.005 * min(step, 80) - 0.001 * max(0, step - 80)
    when = {"step": step, "seconds": 30.0 + step, "is_best": step <= 80}
    return {"kind": "measured", **when, "alpha": alpha, "num_tokens": 900}
