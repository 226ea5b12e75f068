"""Lets pages measure which draft is worth it: sweeps, going on with them, their files."""

import json
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from specviz.bench.plan import GalleryPrompt
from specviz.bench.sweep import SweepProgress, run_sweep
from specviz.bench.sweep_files import cells_csv, parse_sweep, sweep_json
from specviz.bench.sweep_plan import SweepPlan
from specviz.bench.sweep_record import ModelSize, SweepRecord
from specviz.bench.sweep_results import results_of
from specviz.errors import SpecvizError
from specviz.host.sweep_form import check_plan, read_minutes, read_sweep_form
from specviz.host.sweep_news import SweepNews, head_of
from specviz.trace.values import FetchModels, LaneSpec, Method, RaceRequest, StartRace
from specviz.ui.options import PageOptions
from specviz.ui.page_tasks import ReadWork, Work
from specviz.ui.request_values import read_mapping
from specviz.ui.strings import PageError
from specviz.ui.turns import Turns, WorkStopped

MAX_KEPT = 24
"""Sweeps that can be gone on with and saved."""
SECONDS_BETWEEN_NEWS = 1.0
BUSY_SHARE = 0.1
"""Of a sweep's time that computing its results may take."""
News = dict[str, Any]
ModelSizes = Callable[[Sequence[str]], tuple[ModelSize, ...]]
"""Sizes of the models of those names, as far as they are known."""


class SweepRecords:
    """The sweeps of all pages, each known only by an unguessable key."""

    def __init__(self) -> None:
        self._records: OrderedDict[str, SweepRecord] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, record: SweepRecord, key: str | None = None) -> str:
        """Keep a record under its key, or under a new one; gives the key."""
        key = key or secrets.token_urlsafe(18)
        with self._lock:
            self._records[key] = record
            self._records.move_to_end(key)
            while len(self._records) > MAX_KEPT:
                self._records.popitem(last=False)
        return key

    def get(self, key: object) -> SweepRecord:
        """Give the record of a key. Raises: PageError where there is none any more."""
        with self._lock:
            record = self._records.get(key) if isinstance(key, str) else None
        if record is None:
            raise PageError("sweep_page.forgotten")
        return record


def make_sweep_work(
    start_race: StartRace,
    options: PageOptions,
    gallery: Sequence[GalleryPrompt],
    fetch_models: FetchModels,
    model_sizes: ModelSizes,
) -> dict[str, ReadWork]:
    """Make the kinds of work of the tab Compare: `sweep` (a form, or `go_on` with a key and
    `minutes`), `sweep_file` (`key`, and `kind` json or csv; gives `text`) and `sweep_open`
    (`text` of such a file)."""
    records = SweepRecords()

    def read(form: object) -> Work:
        if isinstance(form, dict) and "go_on" in form:
            fields = read_mapping(form, "sweep", {"go_on", "minutes"})
            key = str(fields["go_on"])
            record, minutes = records.get(key), read_minutes(fields.get("minutes"), options)
            check_plan(record.plan, options, gallery)
        else:
            asked = read_sweep_form(form, options, gallery)
            record, minutes = SweepRecord(asked.plan), asked.minutes
            key = records.keep(record)

        def work(turns: Turns) -> Iterator[News]:
            nonlocal record
            for _ in fetch_models(_everything(record.plan), turns.should_stop):
                continue
            if not record.models:
                record = replace(record, models=model_sizes(_names(record.plan)))
            yield {"key": key, **head_of(record)}
            yield from _sweep(turns, start_race, record, minutes, records, key)

        return work

    def read_file(form: object) -> Work:
        fields = read_mapping(form, "file", {"key", "kind"})
        record, kind = records.get(fields.get("key")), fields.get("kind")
        if kind not in ("json", "csv"):
            raise PageError("error.wrong_call")
        return lambda turns: iter([{"text": _written(record, str(kind))}])

    def read_opened(form: object) -> Work:
        text = read_mapping(form, "file", {"text"}).get("text")
        content, allowed = text if isinstance(text, str) else "", options.limits.max_sweep_chars
        if len(content) > allowed:
            raise PageError("error.trace_too_long", chars=len(content), allowed=allowed)
        record = parse_sweep(content)
        key = records.keep(record)
        told = {"key": key, **head_of(record)}
        return lambda turns: iter([told | SweepNews(record).tell(record)])

    return {"sweep": read, "sweep_file": read_file, "sweep_open": read_opened}


def _sweep(
    turns: Turns,
    start_race: StartRace,
    record: SweepRecord,
    minutes: float,
    records: SweepRecords,
    key: str,
) -> Iterator[News]:
    """Race, and tell how far it is and, as often as it is worth it, what came out so far."""
    news = SweepNews(record)
    heard_at = computed_at = 0.0
    progress = None
    try:
        for progress in run_sweep(
            turns.racing(start_race),
            record,
            minutes=minutes,
            is_strict=True,
            should_stop=turns.should_stop,
        ):
            record = progress.record
            records.keep(record, key)
            began = time.monotonic()
            if began < heard_at:
                continue
            told = _progress(progress)
            if began >= computed_at:
                told |= news.tell(record)
                computed_at = began + (time.monotonic() - began) / BUSY_SHARE
            heard_at = time.monotonic() + SECONDS_BETWEEN_NEWS
            yield told
    except WorkStopped:
        pass
    except SpecvizError:
        yield news.tell(record)
        raise
    yield news.tell(record)


def _progress(progress: SweepProgress) -> News:
    return {
        "done": progress.done,
        "of": progress.of,
        "seconds_left": round(progress.seconds_left),
        "is_repeating": progress.is_repeating,
    }


def _written(record: SweepRecord, kind: str) -> str:
    results = results_of(record)
    if kind == "csv":
        return cells_csv(results.cells)
    return json.dumps(sweep_json(record, results), allow_nan=False, ensure_ascii=False)


def _names(plan: SweepPlan) -> list[str]:
    return [plan.target, *(lane.spec.draft for lane in plan.lanes if lane.spec.draft)]


def _everything(plan: SweepPlan) -> RaceRequest:
    """Name all models of a sweep at once, for their download."""
    specs = (replace(lane.spec, gamma=lane.gammas[0]) for lane in plan.lanes)
    return RaceRequest(plan.prompts[0].text, (LaneSpec(None, Method.BASELINE, plan.target), *specs))
