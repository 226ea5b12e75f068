"""Reads, writes and validates trace JSON, schema_version 1.

The format is the dataclasses of `specviz.trace.values`, each field under its own name, an enum as
its value, a tuple as a list, a `TopToken` as [id, text, prob]. Reading walks the type hints, so a
new field needs no line here; what is written was read back before. No key may be unknown, and none
missing but those of ADDED_LATER; no number NaN or infinite. A message names the place:
"lanes[1].rounds[3].drafted[0].draw: must be …".
"""

import json
import math
import types
from collections.abc import Callable
from dataclasses import is_dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

from specviz.errors import RequestError, TraceFormatError
from specviz.trace.values import (
    MAX_LANES,
    SCHEMA_VERSION,
    DraftToken,
    LaneTrace,
    Outcome,
    Round,
    Source,
    StopReason,
    Trace,
)

MAX_BYTES = 20_000_000
ADDED_LATER = frozenset({"runner_up"})
"""Fields that a trace of version 1 may lack; each has a default."""
_HIGHEST_FLOAT = dict.fromkeys(
    ("prob", "draft_prob", "target_prob", "accept_prob", "draw", "top_p"), 1.0 + 1e-6
)
# A sum over the whole vocabulary gathers more rounding.
_HIGHEST_FLOAT["overlap"] = 1.0 + 1e-4
# Integers below 0 that mean something; all other integers are ids, counts and sizes.
_LOWEST = {"parent": -1, "seed": -(2**63)}
_HIGHEST = 2**64 - 1


def to_json(trace: Trace) -> dict[str, Any]:
    """Return a trace as a value that `json` can write.

    Raises: TraceFormatError where the trace holds what the format does not allow.
    """
    content: dict[str, Any] = {"schema_version": SCHEMA_VERSION, **_encode(trace)}
    from_json(content)
    return content


def from_json(content: object) -> Trace:
    """Build a trace from parsed JSON.

    Raises: TraceFormatError naming the first place that does not fit the format.
    """
    if not isinstance(content, dict):
        raise _error("", f"must be an object, is {_name_of(content)}")
    version = content.get("schema_version")
    if type(version) is not int or version != SCHEMA_VERSION:
        raise _error("schema_version", f"must be {SCHEMA_VERSION}, is {_show(version)}")
    body = {key: value for key, value in content.items() if key != "schema_version"}
    trace: Trace = _decode(Trace, body, "", "")
    _check_trace(trace)
    return trace


def dumps(trace: Trace) -> str:
    """Return a trace as compact JSON text. Raises: as `to_json`."""
    return json.dumps(to_json(trace), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def loads(text: str | bytes) -> Trace:
    """Build a trace from JSON text. Raises: TraceFormatError, also for text above 20 MB."""
    if len(text) > MAX_BYTES:
        raise TraceFormatError(f"a trace may hold at most {MAX_BYTES // 10**6} MB; this is longer")
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TraceFormatError(f"this is not JSON: {error}") from error
    return from_json(content)


def read_trace(path: str | Path) -> Trace:
    """Read a trace from a file of at most 20 MB. Raises: TraceFormatError naming the file."""
    try:
        with open(path, "rb") as file:
            content = file.read(MAX_BYTES + 1)
        return loads(content)
    except OSError as error:
        raise TraceFormatError(f"cannot read {path}: {error.strerror}") from error
    except TraceFormatError as error:
        raise TraceFormatError(f"{path}: {error}") from error


def write_trace(trace: Trace, path: str | Path) -> None:
    """Write a trace to a file. Raises: RequestError where that file cannot be written."""
    content = dumps(trace).encode()
    if len(content) > MAX_BYTES:
        raise RequestError(
            f"this trace takes {len(content) / 1e6:.0f} MB and a file may hold "
            f"{MAX_BYTES // 10**6}: race fewer tokens, or do not record the most probable ones"
        )
    try:
        Path(path).write_bytes(content)
    except OSError as error:
        raise RequestError(f"cannot write {path}: {error.strerror}") from error


def _error(place: str, problem: str) -> TraceFormatError:
    return TraceFormatError(f"{place.lstrip('.') or 'the trace'}: {problem}")


@cache
def _fields(cls: Any) -> dict[str, Any]:
    """Field names and types of a dataclass or NamedTuple, in order."""
    return get_type_hints(cls)


def _encode(value: Any) -> Any:
    kind: Any = type(value)
    if is_dataclass(value):
        return {name: _encode(getattr(value, name)) for name in _fields(kind)}
    if isinstance(value, tuple):
        return [_encode(item) for item in value]
    # A plain str of every kind of str: of the enums, and of versions that compare in their own way.
    return str(value) if isinstance(value, str) else value


def _decode(hint: Any, value: Any, place: str, name: str) -> Any:
    """Build a value of the type `hint`; `name` is the field it stands in."""
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        inner = next(choice for choice in get_args(hint) if choice is not type(None))
        return None if value is None else _decode(inner, value, place, name)
    if origin is tuple:
        items = _expect(list, value, place)
        (item_hint, *_) = get_args(hint)
        return tuple(
            _decode(item_hint, item, f"{place}[{index}]", name) for index, item in enumerate(items)
        )
    if is_dataclass(hint):
        return _decode_object(hint, value, place)
    if issubclass(hint, tuple):
        return _decode_row(hint, value, place)
    if issubclass(hint, StrEnum):
        return _decode_choice(hint, value, place)
    return _SCALARS[hint](value, place, name)


def _decode_object(cls: Any, value: Any, place: str) -> Any:
    content = _expect(dict, value, place)
    hints = _fields(cls)
    for name in content:
        if name not in hints:
            raise _error(f"{place}.{name}", "is not a key of this format")
    for name in hints:
        if name not in content and name not in ADDED_LATER:
            raise _error(f"{place}.{name}", "is missing")
    return cls(
        **{
            name: _decode(hint, content[name], f"{place}.{name}", name)
            for name, hint in hints.items()
            if name in content
        }
    )


def _decode_row(cls: Any, value: Any, place: str) -> Any:
    """A NamedTuple, written as a list."""
    items = _expect(list, value, place)
    hints = _fields(cls)
    if len(items) != len(hints):
        raise _error(place, f"must hold {len(hints)} entries ({', '.join(hints)})")
    return cls(
        *(
            _decode(hint, item, f"{place}[{index}]", name)
            for index, (item, (name, hint)) in enumerate(zip(items, hints.items(), strict=True))
        )
    )


def _decode_choice(cls: type[StrEnum], value: Any, place: str) -> StrEnum:
    choices = [member.value for member in cls]
    if value not in choices:
        raise _error(place, f"must be one of {', '.join(choices)}, is {_show(value)}")
    return cls(value)


def _decode_int(value: Any, place: str, name: str) -> int:
    if type(value) is not int:
        raise _error(place, f"must be an integer, is {_name_of(value)}")
    lowest = _LOWEST.get(name, 0)
    if not lowest <= value <= _HIGHEST:
        raise _error(place, f"must be {lowest} to {_HIGHEST}, is {_show(value)}")
    return value


def _decode_float(value: Any, place: str, name: str) -> float:
    if _is_small_int(value):
        value = float(value)
    if type(value) is not float:
        raise _error(place, f"must be a number, is {_name_of(value)}")
    if not math.isfinite(value):
        raise _error(place, f"must be a finite number, is {value}")
    if not 0.0 <= value <= _HIGHEST_FLOAT.get(name, math.inf):
        allowed = "0 to 1" if name in _HIGHEST_FLOAT else "0 or more"
        raise _error(place, f"must be {allowed}, is {value}")
    return value


def _decode_str(value: Any, place: str, name: str) -> str:
    text: str = _expect(str, value, place)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _error(place, "holds half of a surrogate pair, which is no character") from None
    return text


def _decode_bool(value: Any, place: str, name: str) -> bool:
    if type(value) is not bool:
        raise _error(place, f"must be true or false, is {_name_of(value)}")
    return value


_SCALARS: dict[type, Callable[[Any, str, str], Any]] = {
    int: _decode_int,
    float: _decode_float,
    str: _decode_str,
    bool: _decode_bool,
}


def _expect(kind: type, value: Any, place: str) -> Any:
    if type(value) is not kind:
        raise _error(place, f"must be {_KINDS[kind]}, is {_name_of(value)}")
    return value


_KINDS: dict[type, str] = {
    dict: "an object",
    list: "a list",
    str: "a text",
    int: "an integer",
    float: "a number",
    bool: "true or false",
    type(None): "null",
}


def _name_of(value: object) -> str:
    return _KINDS.get(type(value), type(value).__name__)


def _show(value: object) -> str:
    """A value as a message may quote it, however long it is."""
    is_short = isinstance(value, str | float | None) or _is_small_int(value)
    text = repr(value) if is_short else _name_of(value)
    return text if len(text) <= 40 else f"{text[:40]}…"


def _is_small_int(value: object) -> bool:
    return type(value) is int and abs(value) <= _HIGHEST


def _check_trace(trace: Trace) -> None:
    if not 1 <= len(trace.lanes) <= MAX_LANES:
        raise _error("lanes", f"must hold 1 to {MAX_LANES} lanes, holds {len(trace.lanes)}")
    for index, lane in enumerate(trace.lanes):
        _check_lane(lane, trace.request.max_new_tokens, f"lanes[{index}]")


def _check_lane(lane: LaneTrace, max_new_tokens: int, place: str) -> None:
    position = 0
    for index, round_ in enumerate(lane.rounds):
        where = f"{place}.rounds[{index}]"
        if round_.index != index:
            raise _error(f"{where}.index", f"must be {index}, is {round_.index}")
        if round_.position != position:
            raise _error(f"{where}.position", f"must be {position}, is {round_.position}")
        _check_round(round_, where)
        position += len(round_.emitted)
    if position > max_new_tokens:
        raise _error(place, f"emits {position} tokens where max_new_tokens is {max_new_tokens}")
    if (lane.error is None) is (lane.stop_reason is StopReason.ERROR):
        raise _error(f"{place}.error", "must be a sentence if stop_reason is error, else null")


def _check_round(round_: Round, place: str) -> None:
    """Check that drafts form a tree, accepted ones a path from its root, which is then emitted."""
    last = -1
    path = []
    for index, token in enumerate(round_.drafted):
        where = f"{place}.drafted[{index}]"
        if not -1 <= token.parent < index:
            raise _error(f"{where}.parent", f"must be -1 to {index - 1}, is {token.parent}")
        if token.outcome is Outcome.ACCEPTED:
            if token.parent != last:
                raise _error(f"{where}.outcome", "is accepted off the path of accepted tokens")
            last = index
            path.append(token.id)
    _check_emitted(round_, path, _next_source(round_.drafted, last), place)


def _next_source(drafted: tuple[DraftToken, ...], last: int) -> Source | None:
    """Where the token after the accepted path must come from; None where no token may follow.

    That is where a child of the path's end was never judged: the output was cut before it.
    """
    if not drafted:
        return Source.TARGET
    children = {token.outcome for token in drafted if token.parent == last}
    if not children:
        return Source.BONUS
    return Source.CORRECTION if children == {Outcome.REJECTED} else None


def _check_emitted(round_: Round, path: list[int], following: Source | None, place: str) -> None:
    emitted = round_.emitted
    for index, (token_id, token) in enumerate(zip(path, emitted, strict=False)):
        if token.id != token_id or token.source is not Source.DRAFT:
            raise _error(f"{place}.emitted[{index}]", f"must be the accepted token {token_id}")
    if not emitted or not len(path) <= len(emitted) <= len(path) + 1:
        raise _error(
            f"{place}.emitted",
            f"must hold the {len(path)} accepted tokens and at most one more, holds {len(emitted)}",
        )
    if len(emitted) > len(path) and emitted[-1].source is not following:
        allowed = f"must be {following}" if following else "must not be: nothing was judged here"
        raise _error(f"{place}.emitted[{len(path)}].source", f"{allowed}, is {emitted[-1].source}")
