"""Shows a fit on the terminal while it goes on: a bar for what is done, a line for each finding."""

from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn
from rich.text import Text

from specviz.distill.fit_news import (
    FitBegun,
    FitMeasured,
    FitNews,
    FitPhase,
    FitProgress,
    HeadMeasured,
    LearningEnd,
    LearningEnded,
    PromptsLeftOut,
)
from specviz.distill.request import FitRequest
from specviz.trace.fits import FEW_PROMPTS

_DOING = {
    FitPhase.WRITING: "the target writes text",
    FitPhase.READING: "the target reads it again",
    FitPhase.LEARNING: "learning",
    FitPhase.JUDGING: "judging",
}


class FitDisplay:
    """Prints the news of one fit."""

    def __init__(self, request: FitRequest, console: Console) -> None:
        self._request, self._console = request, console
        doing, left = TextColumn("{task.description}"), TextColumn("{task.fields[left]}")
        columns = (doing, BarColumn(), MofNCompleteColumn(), left)
        self._bars = Progress(*columns, console=console, transient=True)
        self._bar: TaskID | None = None

    def __enter__(self) -> "FitDisplay":
        self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bars.stop()

    def note(self, news: FitNews) -> None:
        """Show what is new."""
        if isinstance(news, FitProgress):
            self._move(news)
            return
        for line in told(news, self._request):
            self._console.print(Text(line))

    def _move(self, news: FitProgress) -> None:
        if self._bar is None:
            self._bar = self._bars.add_task("", left="")
        left = "" if news.seconds_left is None else f"about {news.seconds_left:.0f} s left"
        self._bars.update(
            self._bar,
            description=_DOING[news.phase],
            completed=news.done,
            total=news.total,
            left=left,
        )


def told(news: FitNews, request: FitRequest) -> list[str]:
    """What is printed of news that is no progress, a line each."""
    if isinstance(news, FitBegun):
        return _begun(news, request)
    if isinstance(news, PromptsLeftOut):
        return [f"{news.number} prompts are left out: no room in a context of {news.context}."]
    if isinstance(news, FitMeasured):
        of = "" if news.num_steps is None else f" of {news.num_steps}"
        best = ", the best so far" if news.is_best and news.step else ""
        return [f"step {news.step}{of}: held-out alpha {news.score.alpha:.3f}{best}"]
    if isinstance(news, HeadMeasured):
        of = "" if news.num_steps is None else f" of {news.num_steps}"
        best = ", the best so far" if news.is_best and news.step else ""
        shares = " ".join(f"{share:.2f}" for share in news.agreement)
        return [f"step {news.step}{of}: held-out tau {news.tau:.2f} ({shares}){best}"]
    if isinstance(news, LearningEnded):
        return _ended(news, "tau" if request.head is not None else "alpha")
    return []


def _begun(news: FitBegun, request: FitRequest) -> list[str]:
    lines = [
        f"Fitting {request.draft_name} to {request.target}: {news.num_learned} prompts to learn "
        f"from, {news.num_held_out} held out, which are never trained on."
    ]
    if news.is_few:
        number = news.num_learned + news.num_held_out
        lines.append(
            f"Warning: {number} prompts are few. What is learned from fewer than {FEW_PROMPTS} is "
            "seldom good for others."
        )
    if news.is_resumed:
        lines.append(f"Going on with the unfinished fit in {request.folder}.")
    return lines


def _ended(news: LearningEnded, figure: str) -> list[str]:
    why = {
        LearningEnd.DONE: f"Learning is over after {news.step} steps",
        LearningEnd.PLATEAU: f"Learning ended at step {news.step}: held-out {figure} no longer "
        "rose",
        LearningEnd.STOPPED: f"Learning was stopped at step {news.step}",
    }[news.end]
    return [f"{why}; the weights of step {news.best_step} did best and are kept."]
