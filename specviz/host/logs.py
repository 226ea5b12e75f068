"""Sets up what is logged: lines of JSON for who hosts strangers, plain text for everybody else.

No line holds a prompt, a token of a text, or a key: only fields that are named here are written,
an error as its kind and where it was raised, and what looks like a key of the hub is struck out.
"""

import json
import logging
import re
import sys
import time
import traceback
from types import TracebackType

FIELDS = ("panel", "state", "lanes", "tokens", "seconds", "kind", "path", "status")
"""What a line may say beside its event; everything else that comes with a record is left out."""
KEY = re.compile(r"hf_[A-Za-z0-9_]{4,}")
STRUCK = "hf_…"
MAX_FRAMES = 12


class JsonLines(logging.Formatter):
    """Writes a record as one object: `time`, `level`, `logger`, `event`, and its `FIELDS`."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        line: dict[str, object] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
        }
        line |= {key: getattr(record, key) for key in FIELDS if hasattr(record, key)}
        if record.exc_info and record.exc_info[0] is not None:
            kind, _, raised_at = record.exc_info
            line |= {"error": kind.__name__, "at": _frames(raised_at)}
        return without_keys(json.dumps(line, ensure_ascii=False, default=str))


class PlainText(logging.Formatter):
    """Writes a record as people read it, without keys."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record, with the traceback of an error."""
        return without_keys(super().format(record))


def without_keys(text: str) -> str:
    """Strike out what looks like a key of the hub."""
    return KEY.sub(STRUCK, text)


def set_up_logs(kind: str) -> None:
    """Let everything be logged to the error stream, as `text` or as `json`.

    As text only what went wrong is told; lines of JSON also say how each race ended.
    """
    handler = logging.StreamHandler(sys.stderr)
    is_json = kind == "json"
    handler.setFormatter(JsonLines() if is_json else PlainText("%(levelname)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("specviz").setLevel(logging.INFO if is_json else logging.WARNING)


def _frames(raised_at: TracebackType | None) -> list[str]:
    """Where an error was raised, innermost last; what it says may hold what somebody wrote."""
    frames = traceback.extract_tb(raised_at)[-MAX_FRAMES:]
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
