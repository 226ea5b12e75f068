"""Long work that a page asks for beside races, such as a sweep: runs it, keeps its news, ends it.

A task runs in a thread of its own and takes the device a turn at a time. Its page asks for news; a
task that nobody asks for any more is stopped. It is known only by an unguessable id.
"""

import contextvars
import logging
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import Any

from specviz.errors import SpecvizError
from specviz.ui.page_limits import PageLimits
from specviz.ui.race_queue import RaceQueue
from specviz.ui.strings import PageError, Text, message
from specviz.ui.turns import Turns, WorkStopped
from specviz.ui.visitors import served_address

SILENT_SECONDS = 150.0
"""After which nobody looks at a task any more; a hidden tab asks once a minute."""
MAX_KEPT = 32
"""Tasks that are over and can still be read."""
_log = logging.getLogger(__name__)

Work = Callable[[Turns], Iterator[dict[str, Any]]]
"""Does one piece of work; yields its news as plain JSON. Every use of the device is a turn."""
ReadWork = Callable[[Any], Work]
"""Makes work of what a page sent, which is checked here; raises RequestError where it cannot be."""


class TaskState(StrEnum):
    """How a task stands."""

    RUNNING = "running"
    FINISHED = "finished"
    STOPPED = "stopped"
    ERROR = "error"


class PageTask:
    """One piece of work of one page."""

    def __init__(self, kind: str, address: str = "") -> None:
        self.id = secrets.token_urlsafe(18)
        self.kind = kind
        self.address = address
        """Where the page is open that it is for; empty where that is not known."""
        self.state = TaskState.RUNNING
        self.text: Text | None = None
        """Why it failed."""
        self.news: list[dict[str, Any]] = []
        self._stop = threading.Event()
        self._heard_at = time.monotonic()

    def hear(self, first: int) -> dict[str, Any]:
        """Give `state`, `news` from a number on, and `text` where it failed."""
        self._heard_at = time.monotonic()
        # The state comes first: what was told before it changed is then among the news.
        told: dict[str, Any] = {"state": self.state.value}
        if self.text is not None:
            told["text"] = self.text
        return told | {"news": self.news[first:]}

    def stop(self) -> None:
        """Ask the work to end; what it has told stays."""
        self._stop.set()

    def should_stop(self) -> bool:
        """Whether it was stopped, or nobody listens any more."""
        return self._stop.is_set() or time.monotonic() - self._heard_at > SILENT_SECONDS

    def run(self, work: Work, turns: Turns) -> None:
        """Do the work to its end, whatever that is."""
        state, text = TaskState.FINISHED, None
        try:
            for news in work(turns):
                self.news.append(news)
        except WorkStopped:
            state = TaskState.STOPPED
        except SpecvizError as error:
            state, text = TaskState.ERROR, error.text
        except Exception:  # noqa: BLE001  nobody is above a thread
            _log.exception("the task %s failed", self.kind)
            state, text = TaskState.ERROR, message("status.broken")
        else:
            if self.should_stop():
                state = TaskState.STOPPED
        self.text = text
        self.state = state


class PageTasks:
    """All tasks of all pages; `readers` holds the kinds of work that this page offers."""

    def __init__(
        self, readers: Mapping[str, ReadWork], queue: RaceQueue, limits: PageLimits
    ) -> None:
        self._readers, self._queue, self._limits = readers, queue, limits
        self._tasks: OrderedDict[str, PageTask] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of work that are offered."""
        return tuple(self._readers)

    def start(self, kind: object, form: object) -> dict[str, Any]:
        """Read what is asked for and begin it; gives the task's `id`.

        Raises:
            RequestError: It cannot be done, or too many tasks run already.
        """
        read = self._readers.get(kind) if isinstance(kind, str) else None
        if read is None:
            raise PageError("error.wrong_call")
        work = read(form)
        task = PageTask(str(kind), served_address())
        with self._lock:
            self._check_room(task.address)
            self._tasks[task.id] = task
            self._forget()
        turns = Turns(self._queue, task.should_stop)
        # Whom the work is for goes along: it may need their key to the hub.
        run = contextvars.copy_context().run
        threading.Thread(target=run, args=(task.run, work, turns), daemon=True).start()
        return {"id": task.id}

    def news(self, task_id: object, first: object) -> dict[str, Any]:
        """Give what a task has told from a number on, as `PageTask.hear`.

        Raises:
            PageError: There is no such task.
        """
        if not isinstance(first, int) or first < 0:
            raise PageError("error.wrong_call")
        return self._get(task_id).hear(first)

    def stop(self, task_id: object) -> dict[str, Any]:
        """Ask a task to end after what it is doing."""
        self._get(task_id).stop()
        self._queue.wake()
        return {}

    def end(self) -> None:
        """Stop all tasks, since the server goes."""
        with self._lock:
            for task in self._tasks.values():
                task.stop()
        self._queue.wake()

    def has_ended(self) -> bool:
        """Whether no task goes on."""
        with self._lock:
            return all(each.state is not TaskState.RUNNING for each in self._tasks.values())

    def _check_room(self, address: str) -> None:
        running = [each for each in self._tasks.values() if each.state is TaskState.RUNNING]
        if len(running) >= self._limits.max_tasks:
            raise PageError("error.too_many_tasks", allowed=self._limits.max_tasks)
        own, most = sum(each.address == address for each in running), self._limits.max_visitor_tasks
        if address and own >= most:
            raise PageError("error.too_many_own_tasks", allowed=most)

    def _get(self, task_id: object) -> PageTask:
        with self._lock:
            task = self._tasks.get(task_id) if isinstance(task_id, str) else None
        if task is None:
            raise PageError("error.no_task")
        return task

    def _forget(self) -> None:
        over = [each for each in self._tasks.values() if each.state is not TaskState.RUNNING]
        for task in over[: max(0, len(over) - MAX_KEPT)]:
            del self._tasks[task.id]
