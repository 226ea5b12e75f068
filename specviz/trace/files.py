"""Reads, writes and validates trace JSON of schema_version 7; reads 1 to 6 too.

The format is the dataclasses of `specviz.trace.values`, as `specviz.trace.typed_json` writes them:
a new field needs no line here. What is written was read back before. Beyond its types, a trace must
be a race that can have happened: rounds follow one another, drafts form a tree, what was accepted
is a path in it and is what was emitted.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from specviz.errors import FormatError, RequestError, TraceFormatError
from specviz.texts import Message, Text, message
from specviz.trace.limits import MAX_LANES
from specviz.trace.names import METHOD_NAMES
from specviz.trace.typed_json import decode, encode, kind_of, parse_json, quoted, read_json, refusal
from specviz.trace.values import (
    SCHEMA_VERSION,
    DraftToken,
    LaneTrace,
    Method,
    Outcome,
    Round,
    Source,
    StopReason,
    Trace,
)

MAX_BYTES = 20_000_000
ADDED_LATER = frozenset(
    {
        "runner_up",
        "prompt_log_prob",
        "form",
        "form_reason",
        "uses_chat",
        "rule",
        "schedule",
        "confidence",
        "flipped_coins",
        "head",
        "head_reading",
        # Since 7.
        "tree",
        "branches",
        "budget",
        "translation",
    }
)
"""Fields that a trace of an earlier version may lack; each has a default."""


def to_json(trace: Trace) -> dict[str, Any]:
    """Return a trace as a value that `json` can write.

    Raises: TraceFormatError where the trace holds what the format does not allow.
    """
    content: dict[str, Any] = {"schema_version": SCHEMA_VERSION, **encode(trace)}
    from_json(content)
    return content


def from_json(content: object) -> Trace:
    """Build a trace from parsed JSON.

    Raises: TraceFormatError naming the first path that does not fit the format.
    """
    if not isinstance(content, dict):
        raise _no_race(message("format.no_object", found=kind_of(content)))
    if "schema_version" not in content:
        raise _no_race(message("format.no_version"))
    version = content["schema_version"]
    _check_version(version)
    try:
        body = {key: value for key, value in content.items() if key != "schema_version"}
        if version < SCHEMA_VERSION:
            body = _upgraded(body, _upgraded_lane_1 if version == 1 else _upgraded_lane)
        trace: Trace = decode(Trace, body, may_be_absent=ADDED_LATER)
        _check_trace(trace)
    except FormatError as error:
        raise _no_race(error.text) from error
    return trace


def dumps(trace: Trace) -> str:
    """Return a trace as compact JSON text. Raises: as `to_json`."""
    return json.dumps(to_json(trace), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def loads(text: str | bytes) -> Trace:
    """Build a trace from JSON text. Raises: TraceFormatError, also for text above 20 MB."""
    try:
        content = parse_json(text, MAX_BYTES)
    except FormatError as error:
        raise _no_race(error.text) from error
    return from_json(content)


def read_trace(path: str | Path) -> Trace:
    """Read a trace from a file of at most 20 MB. Raises: TraceFormatError naming the file."""
    try:
        return from_json(read_json(path, MAX_BYTES))
    except FormatError as error:
        raise TraceFormatError(
            message("format.in_file", path=str(path), problem=error.text)
        ) from error


def write_trace(trace: Trace, path: str | Path) -> None:
    """Write a trace to a file. Raises: RequestError where that file cannot be written."""
    content = dumps(trace).encode()
    if len(content) > MAX_BYTES:
        raise RequestError(
            message(
                "refusal.trace_too_big",
                megabytes=round(len(content) / 1e6),
                allowed=MAX_BYTES // 10**6,
            )
        )
    try:
        Path(path).write_bytes(content)
    except OSError as error:
        raise RequestError(
            message("refusal.not_written", path=str(path), reason=str(error.strerror))
        ) from error


def upgraded_spec(spec: object) -> object:
    """Bring a lane's spec of schema_version 2 to 6 to the form of today.

    There a lane had one flipped coin, or null. What has another form than that is left for the
    reader to refuse.
    """
    if not isinstance(spec, dict) or "flipped_coin" not in spec or "flipped_coins" in spec:
        return spec
    coin = spec["flipped_coin"]
    rest = {key: value for key, value in spec.items() if key != "flipped_coin"}
    return rest | {"flipped_coins": [] if coin is None else [coin]}


def _upgraded(body: dict[str, Any], upgrade: Callable[[object], object]) -> dict[str, Any]:
    """Bring the lanes of an earlier version to the form of today."""
    lanes = body.get("lanes")
    if not isinstance(lanes, list):
        return body
    return body | {"lanes": [upgrade(lane) for lane in lanes]}


def _upgraded_lane(lane: object) -> object:
    if not isinstance(lane, dict) or "spec" not in lane:
        return lane
    return lane | {"spec": upgraded_spec(lane["spec"])}


def _upgraded_lane_1(lane: object) -> object:
    """In version 1 a lane bore its name twice, also where nobody had given it one."""
    if not isinstance(lane, dict) or not isinstance(spec := lane.get("spec"), dict):
        return lane
    name, method = spec.get("name"), spec.get("method")
    if isinstance(name, str) and method in tuple(Method):
        own, derived = re.escape(METHOD_NAMES[Method(method)]), re.escape(method)
        if re.fullmatch(rf"{own}( \(.*\))?|{derived}( \d+)?", name):
            spec = spec | {"name": None}
    return {key: value for key, value in lane.items() if key != "name"} | {"spec": spec}


def _check_version(version: object) -> None:
    found, highest = quoted(version), str(SCHEMA_VERSION)
    if type(version) is int and version > SCHEMA_VERSION:
        raise TraceFormatError(message("format.newer", found=found, highest=highest))
    if type(version) is not int or version < 1:
        problem = message("format.between", low="1", high=highest, found=found)
        raise _no_race(message("format.at", path="schema_version", problem=problem))


def _no_race(reason: Text) -> TraceFormatError:
    return TraceFormatError(message("format.no_race", reason=reason))


def _check_trace(trace: Trace) -> None:
    if not 1 <= len(trace.lanes) <= MAX_LANES:
        raise refusal("lanes", message("format.num_lanes", most=MAX_LANES, found=len(trace.lanes)))
    for index, lane in enumerate(trace.lanes):
        _check_lane(lane, trace.request.max_new_tokens, f"lanes[{index}]")


def _check_lane(lane: LaneTrace, max_new_tokens: int, path: str) -> None:
    position = 0
    for index, round_ in enumerate(lane.rounds):
        where = f"{path}.rounds[{index}]"
        if round_.index != index:
            raise refusal(f"{where}.index", _must_be(index, round_.index))
        if round_.position != position:
            raise refusal(f"{where}.position", _must_be(position, round_.position))
        _check_round(round_, where)
        position += len(round_.emitted)
    if position > max_new_tokens:
        raise refusal(
            path, message("format.too_many_emitted", found=position, allowed=max_new_tokens)
        )
    if (lane.error is None) is (lane.stop_reason is StopReason.ERROR):
        raise refusal(f"{path}.error", message("format.error_sentence"))


def _must_be(wanted: int, found: int) -> Message:
    return message("format.must_be", wanted=str(wanted), found=str(found))


def _check_round(round_: Round, path: str) -> None:
    """Check that drafts form a tree, accepted ones a path from its root, which is then emitted."""
    last = -1
    accepted: list[int] = []
    for index, token in enumerate(round_.drafted):
        where = f"{path}.drafted[{index}]"
        if not -1 <= token.parent < index:
            raise refusal(
                f"{where}.parent",
                message("format.between", low="-1", high=str(index - 1), found=str(token.parent)),
            )
        if token.outcome is Outcome.ACCEPTED:
            if token.parent != last:
                raise refusal(f"{where}.outcome", message("format.off_path"))
            last = index
            accepted.append(token.id)
    _check_emitted(round_, accepted, _next_source(round_.drafted, last), path)


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


def _check_emitted(round_: Round, accepted: list[int], following: Source | None, path: str) -> None:
    emitted = round_.emitted
    for index, (token_id, token) in enumerate(zip(accepted, emitted, strict=False)):
        if token.id != token_id or token.source is not Source.DRAFT:
            raise refusal(
                f"{path}.emitted[{index}]", message("format.accepted_token", token=str(token_id))
            )
    if not emitted or not len(accepted) <= len(emitted) <= len(accepted) + 1:
        raise refusal(
            f"{path}.emitted",
            message("format.num_emitted", accepted=len(accepted), found=len(emitted)),
        )
    if len(emitted) > len(accepted) and emitted[-1].source is not following:
        raise refusal(
            f"{path}.emitted[{len(accepted)}].source", _wrong_source(following, emitted[-1].source)
        )


def _wrong_source(following: Source | None, found: Source) -> Message:
    if following is None:
        return message("format.not_judged", found=found.value)
    return message("format.must_be", wanted=following.value, found=found.value)
