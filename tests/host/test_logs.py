"""What is logged says what happened, and never a prompt, a token or a key."""

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from fake_race import FakeRace

from specviz.host.logs import JsonLines, PlainText, set_up_logs, without_keys
from specviz.trace.values import LaneSpec, Method, RaceRequest
from specviz.ui.page_limits import PageLimits
from specviz.ui.panels import Panel
from specviz.ui.race_queue import RaceQueue
from specviz.ui.runs import RunStore
from specviz.ui.sessions import RaceSessions

SECRET = "the hare knows nothing of it"
KEY = "hf_AbCdEfGh0123456789"
LANES = (
    LaneSpec(None, Method.BASELINE, "fake-target"),
    LaneSpec(None, Method.DRAFT_MODEL, "fake-target", "fake-draft", 4),
)


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """What the package logs as lines of JSON."""
    stream, log = io.StringIO(), logging.getLogger("specviz")
    handler, level = logging.StreamHandler(stream), log.level
    handler.setFormatter(JsonLines())
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    yield stream
    log.removeHandler(handler)
    log.setLevel(level)


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_how_a_race_ended_is_one_line(written: io.StringIO) -> None:
    sessions = RaceSessions(FakeRace(pause=0), RunStore(), RaceQueue(8), PageLimits())
    sessions.enter(Panel.RACE, lambda: RaceRequest(SECRET, LANES, max_new_tokens=24), "page")
    list(sessions.stream("page"))
    (line,) = lines(written)
    assert line["event"] == "race ended"
    assert {key: line[key] for key in ("panel", "state", "lanes", "tokens", "level")} == {
        "panel": "race", "state": "finished", "lanes": 2, "tokens": 24, "level": "info"
    }  # fmt: skip
    assert line["seconds"] >= 0
    assert SECRET not in written.getvalue()
    assert "fox" not in written.getvalue(), "a token of the text"


def test_an_error_says_where_it_was_raised_and_not_what_somebody_wrote(
    written: io.StringIO,
) -> None:
    def fail(*_: object) -> Any:
        raise RuntimeError(f"cannot read {SECRET!r} with {KEY}")

    sessions = RaceSessions(fail, RunStore(), RaceQueue(8), PageLimits())
    sessions.enter(Panel.RACE, lambda: RaceRequest(SECRET, LANES, max_new_tokens=24), "page")
    with pytest.raises(RuntimeError):
        list(sessions.stream("page"))
    failed, ended = lines(written)
    assert (failed["event"], failed["error"]) == ("a race failed", "RuntimeError")
    assert failed["at"][-1].endswith(" fail")
    assert ended["state"] == "error"
    assert SECRET not in written.getvalue()
    assert KEY not in written.getvalue()


def test_what_comes_with_a_record_unasked_is_left_out(written: io.StringIO) -> None:
    logging.getLogger("specviz.ui").warning("told", extra={"prompt": SECRET, "path": "/x"})
    (line,) = lines(written)
    assert set(line) == {"time", "level", "logger", "event", "path"}


def test_keys_are_struck_out_of_plain_text_too() -> None:
    record = logging.LogRecord("x", logging.WARNING, "", 1, "denied for %s", (KEY,), None)
    assert PlainText("%(message)s").format(record) == "denied for hf_…"
    assert without_keys("half_hearted hf_x") == "half_hearted hf_x"


@pytest.mark.parametrize(("kind", "formatter"), [("json", JsonLines), ("text", PlainText)])
def test_everything_is_logged_so(kind: str, formatter: type) -> None:
    root, own = logging.getLogger(), logging.getLogger("specviz")
    kept, level, own_level = root.handlers[:], root.level, own.level
    try:
        root.handlers = []
        set_up_logs(kind)
        assert [type(each.formatter) for each in root.handlers] == [formatter]
        assert own.isEnabledFor(logging.INFO) is (kind == "json")
    finally:
        root.handlers = kept
        root.setLevel(level)
        own.setLevel(own_level)
