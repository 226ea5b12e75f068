"""Checks what is sent to the page's addresses before the web framework reads it.

Gradio answers some malformed bodies with its own failure and a traceback. Here each is refused in a
sentence first: one that is too long, no JSON, nested too deeply, holds numbers that are none, or
does not have the form that its address takes. What the values mean is checked by who uses them.
"""

import inspect
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gradio as gr

from specviz.ui.http_routes import Body
from specviz.ui.page_limits import PageLimits

MAX_DEPTH = 32
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class BadBody(Exception):
    """A body that is refused: `status` says how, as HTTP counts."""

    def __init__(self, sentence: str, status: int = 400) -> None:
        super().__init__(sentence)
        self.status = status


class BodyChecks:
    """The forms of the bodies that one page takes."""

    def __init__(self, page: gr.Blocks, limits: PageLimits) -> None:
        # What only runs a script in the browser has no function here: Gradio fails at its number.
        called = {number: each for number, each in page.fns.items() if each.fn is not None}
        self._inputs = {number: tuple(each.inputs) for number, each in called.items()}
        programs = [number for number, each in page.fns.items() if each.api_name == "race"]
        self._program = programs[0] if programs else None
        self._needed = _without_default(page.fns[programs[0]].fn) if programs else frozenset()
        self._components = frozenset(page.blocks)
        # A letter of a file takes two bytes at most where it is escaped, in nearly every file.
        self._longest_event = limits.max_body_bytes
        self._longest_call = 2 * max(limits.max_trace_chars, limits.max_sweep_chars)

    def most_bytes(self, kind: Body) -> int:
        """The longest body of a kind."""
        return self._longest_call if kind is Body.CALL else self._longest_event

    def check(self, kind: Body, content: bytes) -> None:
        """Refuse a body that has not the form of its kind. Raises: BadBody."""
        if len(content) > self.most_bytes(kind):
            raise too_long(self.most_bytes(kind))
        fields = _read(content)
        if kind is Body.EVENT:
            self._check_event(fields)
        elif kind is Body.PROGRAM:
            self._check_values(self._program, fields.get("data"))
        elif kind is Body.CALL:
            self._check_call(fields)
        elif kind is Body.END:
            _check_end(fields)
        elif kind is Body.NAMED:
            self._check_named(fields)

    def _check_event(self, fields: Mapping[str, Any]) -> None:
        _check_name(fields, "session_hash")
        number = fields.get("fn_index")
        if type(number) is not int or number not in self._inputs:
            raise BadBody("fn_index must be the number of a function of this page")
        if type(fields.get("trigger_id")) not in (int, type(None)):
            raise BadBody("trigger_id must be a whole number or null")
        _check_absent(fields)
        self._check_values(number, fields.get("data"))

    def _check_values(self, number: int | None, values: object) -> None:
        inputs = () if number is None else self._inputs[number]
        if not isinstance(values, list) or number is None:
            raise BadBody("data must be a list of the function's inputs")
        if len(values) != len(inputs):
            raise BadBody(f"data must hold {len(inputs)} inputs, got {len(values)}")
        for value, component in zip(values, inputs, strict=True):
            _check_value(value, component)

    def _check_named(self, fields: Mapping[str, Any]) -> None:
        if self._program is None:
            raise BadBody("this page has no door for programs", 404)
        inputs = [each.label for each in self._inputs[self._program]]
        unknown = sorted(set(fields) - set(inputs))
        if unknown:
            raise BadBody(f"a race takes {', '.join(map(str, inputs))}, got {unknown[0][:60]!r}")
        missing = sorted(self._needed - set(fields))
        if missing:
            raise BadBody(f"{missing[0]} is missing")
        for component in self._inputs[self._program]:
            if component.label in fields:
                _check_value(fields[component.label], component)

    def _check_call(self, fields: Mapping[str, Any]) -> None:
        _check_name(fields, "session_hash")
        number = fields.get("component_id")
        if type(number) is not int or number not in self._components:
            raise BadBody("component_id must be the number of a component of this page")
        if not isinstance(fields.get("fn_name"), str) or not _NAME.fullmatch(fields["fn_name"]):
            raise BadBody("fn_name must be the name of a function")
        if "data" not in fields:
            raise BadBody("data is missing: the list of what the function takes")


def too_long(most: int) -> BadBody:
    """Refuse a body that is longer than that."""
    return BadBody(f"the body is longer than the {most:,} bytes that are read here", 413)


def _without_default(function: Callable[..., Any]) -> frozenset[str]:
    parameters = inspect.signature(function).parameters.values()
    return frozenset(each.name for each in parameters if each.default is each.empty)


def _read(content: bytes) -> Mapping[str, Any]:
    try:
        fields = json.loads(content, parse_constant=_no_number)
        # Halves of letters can be written in JSON, and fail wherever they are sent on.
        json.dumps(fields, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        raise BadBody("the body must be JSON in UTF-8, with finite numbers") from error
    if not isinstance(fields, dict):
        raise BadBody("the body must be a JSON object")
    if _depth(fields) > MAX_DEPTH:
        raise BadBody(f"the body is nested more than {MAX_DEPTH} levels deep")
    return fields


def _no_number(text: str) -> float:
    raise ValueError(text)


def _depth(value: object) -> int:
    """How deeply a value is nested, counted level by level."""
    level: Sequence[object] = [value]
    depth = 0
    while level and depth <= MAX_DEPTH:
        below: list[object] = []
        for each in level:
            if isinstance(each, dict):
                below.extend(each.values())
            elif isinstance(each, list):
                below.extend(each)
        level, depth = below, depth + 1
    return depth


def _check_name(fields: Mapping[str, Any], key: str) -> None:
    value = fields.get(key)
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise BadBody(f"{key} must be 1 to 64 letters, digits, _ or -")


def _check_absent(fields: Mapping[str, Any]) -> None:
    """Refuse what Gradio takes and no part of this page sends."""
    for key in ("batched", "simple_format", "oauth_token"):
        if fields.get(key):
            raise BadBody(f"{key} is not taken here")
    if not isinstance(fields.get("event_id"), str | None):
        raise BadBody("event_id must be a text or null")


def _check_end(fields: Mapping[str, Any]) -> None:
    for key in ("session_hash", "event_id"):
        if key in fields:
            _check_name(fields, key)
    if type(fields.get("fn_index", 0)) is not int:
        raise BadBody("fn_index must be a whole number")


def _check_value(value: object, component: Any) -> None:
    """Refuse a value that its component would fail at; what it means is checked later."""
    if isinstance(component, gr.Slider | gr.Number):
        _check_number(value, component)
    elif isinstance(component, gr.Checkbox):
        if not isinstance(value, bool | None):
            raise BadBody("a switch must be true, false or null")
    elif isinstance(component, gr.Textbox | gr.HTML) and not isinstance(value, str | None):
        raise BadBody("a text field must be a text or null")


def _check_number(value: object, component: Any) -> None:
    if value is None and isinstance(component, gr.Number):
        return
    low, high = component.minimum, component.maximum
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    if not is_whole and not (isinstance(value, float) and math.isfinite(value)):
        raise BadBody("a number field must be a finite number")
    if (low is not None and value < low) or (high is not None and value > high):
        raise BadBody(f"a number field must be {low} to {high}")
