"""Sweeps of a page on made-up races: what is read, told, gone on with, saved, opened, refused."""

import json
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from fake_race import OPTIONS, FakeRace

from specviz.bench.plan import GalleryPrompt
from specviz.bench.sweep_files import parse_sweep, read_cells_csv
from specviz.bench.sweep_plan import SweepPlan, make_lanes
from specviz.bench.sweep_record import ModelSize, SweepRecord
from specviz.errors import FormatError, RequestError
from specviz.host.sweep_news import head_of, shown_of
from specviz.host.sweep_work import make_sweep_work
from specviz.trace.values import LaneSpec, Method, Tree
from specviz.ui.page_limits import PageLimits
from specviz.ui.page_tasks import PageTasks
from specviz.ui.race_queue import RaceQueue

GALLERY = tuple(
    GalleryPrompt(group, f"{group}_{number}", f"{group} {number}")
    for group in ("story", "code")
    for number in range(2)
)
FORM: dict[str, Any] = {
    "target": "fake-target",
    "lanes": [{"method": "draft-model", "draft": "fake-draft"}, {"method": "prompt-lookup"}],
    "gammas": [1, 2],
    "temperature": 0,
    "tokens": 16,
    "minutes": 0.5,
    "suite": "gallery",
}


def tasks_of(limits: PageLimits = OPTIONS.limits) -> PageTasks:
    work = make_sweep_work(
        FakeRace(pause=0.0),
        replace(OPTIONS, limits=limits),
        GALLERY,
        lambda request, should_stop: iter(()),
        lambda names: tuple(ModelSize(name, 10, 40) for name in names),
    )
    return PageTasks(work, RaceQueue(3), limits)


def until(is_so: Callable[[], bool]) -> None:
    ends_at = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < ends_at
        time.sleep(0.01)


def told_by(tasks: PageTasks, kind: str, form: object) -> list[dict[str, Any]]:
    task = tasks.start(kind, form)["id"]
    until(lambda: tasks.news(task, 0)["state"] != "running")
    answer = tasks.news(task, 0)
    assert "text" not in answer
    return list(answer["news"])


def stopped_early(tasks: PageTasks, form: object) -> list[dict[str, Any]]:
    task = tasks.start("sweep", form)["id"]
    until(lambda: len(tasks.news(task, 0)["news"]) > 1)
    tasks.stop(task)
    until(lambda: tasks.news(task, 0)["state"] == "stopped")
    return list(tasks.news(task, 0)["news"])


def test_a_sweep_is_stopped_saved_opened_and_gone_on_with() -> None:
    tasks = tasks_of()
    head, *rest = stopped_early(tasks, FORM)
    assert head["categories"] == ["all", "story", "code"]
    assert head["prompts"] == {"story": "story 0", "code": "code 0"}
    assert [lane["draft"] for lane in head["lanes"]] == ["fake-draft", "prompt-lookup"]
    assert head["models"]["fake-draft"]["weights_bytes"] == 40
    assert {best["draft"] for best in rest[-1]["best"]} == {"fake-draft", "prompt-lookup"}
    (saved,) = told_by(tasks, "sweep_file", {"key": head["key"], "kind": "json"})
    record = parse_sweep(saved["text"])
    assert record.num_races == rest[-1]["num_races"]
    (table,) = told_by(tasks, "sweep_file", {"key": head["key"], "kind": "csv"})
    (opened,) = told_by(tasks, "sweep_open", {"text": saved["text"]})
    assert len(read_cells_csv(table["text"])) == len(opened["cells"])
    assert opened["key"] != head["key"]
    assert {key: opened[key] for key in shown_of(record)} == shown_of(record)
    again = stopped_early(tasks, {"go_on": opened["key"], "minutes": 0.5})
    assert again[-1]["num_races"] > record.num_races
    assert head_of(record).items() <= again[0].items()


def test_what_is_as_before_is_not_told_again_and_all_of_it_adds_up() -> None:
    tasks = tasks_of()
    head, *rest = stopped_early(tasks, FORM)
    (saved,) = told_by(tasks, "sweep_file", {"key": head["key"], "kind": "json"})
    kept: dict[tuple[int, ...], list[Any]] = {}
    for news in rest:
        for row in news.get("cells", []):
            assert kept.get(tuple(row[:3])) != row
            kept[tuple(row[:3])] = row
    whole = shown_of(parse_sweep(saved["text"]))
    assert sorted(kept) == sorted(tuple(row[:3]) for row in whole["cells"])
    assert all(kept[tuple(row[:3])] == row for row in whole["cells"])
    assert len(json.dumps(rest[-1])) < 20_000


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"gammas": [3, 2]}, "draft lengths must be"),
        ({"gammas": [1, 40]}, "gamma must be"),
        ({"lanes": []}, "choose 1 to"),
        ({"lanes": [{"method": "draft-model", "draft": "/etc"}]}, "draft"),
        ({"target": "somebody/else"}, "somebody/else"),
        ({"minutes": 1e9}, "minutes"),
        ({"tokens": 10**6}, "max_new_tokens"),
        ({"suite": "stars"}, "prompts must be"),
        ({"suite": "lines", "text": " \n"}, "holds no prompt"),
        ({"suite": "file", "name": "a.jsonl", "text": "no"}, "line 1"),
        ({"suite": "lines", "text": "x\n" * 600}, "at most 500 prompts"),
        ({"more": 1}, "more"),
    ],
)
def test_what_goes_beyond_the_page_is_refused(changed: dict[str, Any], problem: str) -> None:
    with pytest.raises(RequestError, match=problem):
        tasks_of().start("sweep", FORM | changed)


def test_questions_and_own_lines_are_read() -> None:
    tasks = tasks_of()
    question = json.dumps({"question_id": 1, "category": "math", "turns": ["1 + 1 ="]})
    file = {"suite": "file", "name": "spec_bench.jsonl", "text": question}
    head = stopped_early(tasks, FORM | file)[0]
    assert head["prompts"] == {"math": "1 + 1 ="}
    lines = {"suite": "lines", "text": "One\n\nTwo"}
    assert set(stopped_early(tasks, FORM | lines)[0]["prompts"]) == {"lines"}


def test_a_public_page_has_its_gallery_alone_also_in_files() -> None:
    lines = {"suite": "lines", "text": "Once"}
    own = tasks_of()
    key = stopped_early(own, FORM | lines)[0]["key"]
    (saved,) = told_by(own, "sweep_file", {"key": key, "kind": "json"})
    public = tasks_of(PageLimits(max_sweep_minutes=2.0, takes_own_prompts=False))
    with pytest.raises(RequestError, match="gallery alone"):
        public.start("sweep", FORM | lines)
    with pytest.raises(RequestError, match="minutes"):
        public.start("sweep", FORM | {"minutes": 3})
    (opened,) = told_by(public, "sweep_open", {"text": saved["text"]})
    with pytest.raises(RequestError, match="cannot go on here"):
        public.start("sweep", {"go_on": opened["key"], "minutes": 1})


def test_a_file_cannot_bring_models_that_the_page_does_not_offer() -> None:
    tasks = tasks_of()
    key = stopped_early(tasks, FORM)[0]["key"]
    (saved,) = told_by(tasks, "sweep_file", {"key": key, "kind": "json"})
    foreign = saved["text"].replace("fake-draft", "somebody/else")
    (opened,) = told_by(tasks, "sweep_open", {"text": foreign})
    with pytest.raises(RequestError, match="somebody/else"):
        tasks.start("sweep", {"go_on": opened["key"], "minutes": 1})


def test_what_is_no_sweep_or_forgotten_is_said_so() -> None:
    tasks = tasks_of()
    with pytest.raises(FormatError, match="no sweep"):
        tasks.start("sweep_open", {"text": "{}"})
    with pytest.raises(RequestError, match="not kept here"):
        tasks.start("sweep", {"go_on": "nowhere", "minutes": 1})
    with pytest.raises(RequestError, match="not kept here"):
        tasks.start("sweep_file", {"key": "nowhere", "kind": "json"})


def test_lanes_of_trees_are_told_with_them() -> None:
    """Where they draft chains nothing is said, as in sweeps of earlier versions."""
    chain = LaneSpec(None, Method.DRAFT_MODEL, "target", "draft")
    tree = replace(chain, tree=Tree.DYNAMIC, branches=2, budget=8)
    lanes = make_lanes([(chain, (4,)), (tree, (4,))])
    told = [
        lane["spec"] for lane in head_of(SweepRecord(SweepPlan("target", lanes, ()), ()))["lanes"]
    ]
    assert "tree" not in told[0]
    assert told[1] == told[0] | {"tree": "dynamic", "branches": 2, "budget": 8}
