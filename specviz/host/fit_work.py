"""Fits a draft for a page, a turn of the device at a time, and puts it on the menu."""

import os
import shutil
from collections.abc import Callable, Generator, Iterator
from itertools import count
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from specviz.distill.fit_news import (
    FitBegun,
    FitMeasured,
    FitNews,
    FitOutcome,
    FitProgress,
    HeadMeasured,
    LearningEnded,
    PromptsLeftOut,
)
from specviz.distill.request import FitRequest, short_name
from specviz.errors import RequestError
from specviz.models.catalogue import FITTED_FOLDER, FITTED_PREFIX
from specviz.texts import message
from specviz.trace.fits import FittedDraft
from specviz.ui.fit_form import FitAsked, read_fit_form
from specviz.ui.fitted_view import new_fit_view
from specviz.ui.options import PageOptions
from specviz.ui.page_tasks import ReadWork, Work
from specviz.ui.turns import Turns

if TYPE_CHECKING:
    from specviz.models.loading import LoadedModel

TURN_SECONDS = 1.0
TURN_TOKENS = 100
"""As many tokens as the shipped target writes in about that time."""
PROMPTS_FILE = "prompts.txt"
NEW_SIZE = "small"
"""Of a draft that is made new."""
NEW_TOKENS = 96
"""Longest text that the target writes: short ones are many, in minutes that somebody watches."""

LoadTarget = Callable[[str], "LoadedModel"]
Steps = Generator[FitNews, None, FitOutcome | None]
News = dict[str, Any]


def make_fit_reader(
    options: PageOptions, load_target: LoadTarget, place: Path = FITTED_FOLDER
) -> ReadWork:
    """Make what reads a page's form and fits the draft that it asks for.

    Args:
        load_target: Gives a target as races have it, waiting for it where it is being loaded.
        place: The folder in which each draft gets one of its own.
    """

    def read(form: Any) -> Work:
        asked = read_fit_form(form, options)
        return lambda turns: _fit(asked, options, load_target, place, turns)

    return read


def _fit(
    asked: FitAsked, options: PageOptions, load_target: LoadTarget, place: Path, turns: Turns
) -> Iterator[News]:
    request = _request(asked, options, place)
    found: list[FitOutcome] = []
    try:
        yield from _in_turns(_steps(request, asked, load_target, turns), turns, found)
    finally:
        if not any(outcome.has_helped for outcome in found):
            shutil.rmtree(request.folder, ignore_errors=True)
    for outcome in found:
        yield _brought(outcome, request, options)


def _request(asked: FitAsked, options: PageOptions, place: Path) -> FitRequest:
    """Make a folder of its own for the draft, and write the prompts into it."""
    begin = short_name(asked.draft) if asked.draft else f"new-{NEW_SIZE}"
    name = begin.split("/")[-1].removeprefix("specviz-")
    try:
        place.mkdir(parents=True, exist_ok=True)
        folder = next(
            folder for number in count(1) if not (folder := place / f"{name}-fit-{number}").exists()
        )
        folder.mkdir()
        path = folder / PROMPTS_FILE
        path.write_text("".join(f"{prompt}\n" for prompt in asked.prompts), encoding="utf-8")
    except OSError as error:
        values = {"path": str(place), "reason": error.strerror or "it cannot be written"}
        raise RequestError(message("refusal.not_written", **values)) from error
    return FitRequest(
        target=asked.target,
        draft=asked.draft,
        new_size=None if asked.draft else NEW_SIZE,
        prompts_file=path,
        held_out_file=None,
        folder=folder,
        new_tokens=NEW_TOKENS,
        minutes=asked.minutes,
        device=options.device,
        # One core is left to the page.
        num_threads=max(1, (os.cpu_count() or 1) - 1),
    )


def _steps(request: FitRequest, asked: FitAsked, load_target: LoadTarget, turns: Turns) -> Steps:
    # torch and transformers come with it, and the page answers before they are read.
    from specviz.distill.fit_draft import Fitting

    return Fitting(request, turns.should_stop, lambda: load_target(asked.target)).run()


def _in_turns(steps: Steps, turns: Turns, found: list[FitOutcome]) -> Iterator[News]:
    """Go on with the fit for about a second at a time; what it came to is put into `found`."""
    is_over = False
    while not is_over:
        told: list[News] = []
        # Stopped, it still stores the best draft so far.
        with turns.take(TURN_TOKENS, must_end=True):
            is_over = _take_steps(steps, told, found)
        yield from told


def _take_steps(steps: Steps, told: list[News], found: list[FitOutcome]) -> bool:
    """Take steps for the time of a turn, one at least; returns whether it was the last."""
    ends_at = monotonic() + TURN_SECONDS
    while True:
        try:
            _note(next(steps), told)
        except StopIteration as ended:
            if ended.value is not None:
                found.append(ended.value)
            return True
        if monotonic() >= ends_at:
            return False


def _note(news: FitNews, told: list[News]) -> None:
    """Add news as the page takes it; of the progress in one turn the last is enough."""
    item = _as_news(news)
    if told and item["kind"] == told[-1]["kind"] == "progress":
        told.pop()
    told.append(item)


def _as_news(news: FitNews) -> News:
    # Of heads alone, which the page does not train.
    assert not isinstance(news, HeadMeasured)
    match news:
        case FitBegun():
            counts = {"num_learned": news.num_learned, "num_held_out": news.num_held_out}
            return {"kind": "begun", **counts, "is_few": news.is_few}
        case PromptsLeftOut():
            return {"kind": "left_out", "number": news.number, "context": news.context}
        case FitProgress():
            parts = {"done": news.done, "total": news.total, "seconds_left": news.seconds_left}
            return {"kind": "progress", "phase": news.phase.value, **parts, "loss": news.loss}
        case FitMeasured():
            score = {"alpha": news.score.alpha, "num_tokens": news.score.num_tokens}
            when = {"step": news.step, "seconds": news.seconds, "is_best": news.is_best}
            return {"kind": "measured", **when, **score}
        case LearningEnded():
            steps = {"step": news.step, "best_step": news.best_step}
            return {"kind": "ended", "end": news.end.value, **steps}


def _brought(outcome: FitOutcome, request: FitRequest, options: PageOptions) -> News:
    fit = outcome.fit
    if not outcome.has_helped:
        return {"kind": "no_help", "before": fit.before.alpha, "after": fit.after.alpha}
    name = f"{FITTED_PREFIX}{request.folder.name}"
    options.new_fits.add(FittedDraft(name, request.draft, fit))
    index = len(options.all_fitted) - 1
    return {"kind": "done", **new_fit_view(index, options)}
