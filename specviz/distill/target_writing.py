"""Lets a target write after prompts for a fit: to judge by, to choose weights by, to learn from."""

from collections.abc import Callable, Generator

from specviz.distill.fit_news import FitNews, FitPhase, FitProgress
from specviz.distill.folder import WORK
from specviz.distill.report import Written
from specviz.distill.request import TRAINING_SHARE, WRITING_SHARE, FitRequest
from specviz.distill.texts import Job, Text, plan_held_out, plan_jobs
from specviz.distill.writing import ROWS, Writer, writing_groups

MAX_WATCHED = 64
"""Held-out texts by which the best weights are chosen; all of the others judge."""

Encoded = dict[int, tuple[int, ...]]
"""The ids of prompts, by their index."""


class TargetWriting:
    """Everything that a target writes for one fit, each part in a folder of its own number."""

    def __init__(
        self, request: FitRequest, writer: Writer, context: int, should_stop: Callable[[], bool]
    ) -> None:
        """Write nothing yet.

        Args:
            context: Longest text that both models read, in ids.
        """
        self._request, self._writer, self._context = request, writer, context
        self._should_stop = should_stop
        self._seconds = 0.0
        self._num_folders = self._num_written = 0

    def run(self, learned: Encoded, held_out: Encoded) -> Generator[FitNews, None, Written | None]:
        """Write it all; gives None where it was stopped before that."""
        length = self._request.new_tokens
        judged = yield from self._write(plan_held_out(held_out, length, self._context))
        some = dict(list(held_out.items())[:MAX_WATCHED])
        watched = yield from self._write(plan_held_out(some, length, self._context, first=1))
        texts, num_texts = yield from self._write_to_learn(learned)
        if self._should_stop():
            return None
        return Written(texts, judged, watched, num_texts, self._seconds)

    def _write_to_learn(self, learned: Encoded) -> Generator[FitNews, None, tuple[list[Text], int]]:
        """Write after every prompt, round after round; also gives how many texts each got.

        A round has one text a prompt, or a few where that fills a batch. Without a number that is
        asked for, no round is begun that would probably end after its time.
        """
        wanted, length = self._request.num_texts, self._request.new_tokens
        allowed = self._seconds + 60 * self._request.minutes * WRITING_SHARE
        at_once = -(-ROWS // len(learned))
        texts: list[Text] = []
        num_texts = 0
        while not self._should_stop():
            end = min(num_texts + at_once, wanted or num_texts + at_once)
            jobs = plan_jobs(learned, range(num_texts, end), length, self._context)
            before = self._seconds
            texts += yield from self._write(jobs)
            num_texts = end
            took = self._seconds - before
            if num_texts == wanted or (wanted is None and self._seconds + took > allowed):
                break
        return texts, num_texts

    def _write(self, jobs: list[Job]) -> Generator[FitNews, None, list[Text]]:
        """Write all jobs, or those that are done when it is stopped."""
        folder = self._request.folder / WORK / f"texts-{self._num_folders}"
        seed = 1000 * self._request.seed + self._num_folders
        self._num_folders += 1
        groups = (jobs[start : start + ROWS] for start in range(0, len(jobs), ROWS))
        texts: list[Text] = []
        for group in writing_groups(self._writer, groups, seed, folder):
            if group is not None:
                texts += group.texts
                self._seconds += group.seconds
                self._num_written += len(group.texts)
            yield FitProgress(FitPhase.WRITING, self._num_written, None, self._left())
            if self._should_stop():
                break
        return texts

    def _left(self) -> float | None:
        request = self._request
        if request.num_steps is not None and request.num_texts is not None:
            return None
        budget = 60 * request.minutes * (WRITING_SHARE + TRAINING_SHARE)
        return max(0.0, budget - self._seconds)
