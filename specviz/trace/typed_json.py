"""Reads JSON into typed values and writes them, by their type hints alone.

A dataclass is an object with its fields under their own names, a NamedTuple a list of its entries,
`tuple[X, ...]` a list, `dict[str, X]` an object with any keys, a StrEnum its value, `X | None` also
null; int, float, str and bool are themselves. Nothing is converted, but for whole numbers where a
float is wanted. A number lies in the `Range` that its hint is annotated with, or is 0 or more; none
is NaN or infinite. Standard library only.

A message names the path of what does not fit: "lanes[1].rounds[3].drafted[0].draw must be …".
"""

import json
import math
import types
from collections.abc import Container
from dataclasses import MISSING, fields, is_dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from specviz.errors import FormatError
from specviz.texts import Message, Text, message
from specviz.trace.values import Range

HIGHEST_INT = 2**64 - 1
MAX_QUOTED = 40
_KINDS: dict[type, str] = {
    dict: "format.object",
    list: "format.list",
    str: "format.text",
    int: "format.integer",
    float: "format.number",
    bool: "format.true_or_false",
    type(None): "format.null",
}


def read_json(path: str | Path, max_bytes: int) -> object:
    """Read and parse a file. Raises: FormatError, which does not name the file."""
    try:
        with open(path, "rb") as file:
            text = file.read(max_bytes + 1)
    except OSError as error:
        raise FormatError(message("format.unreadable", reason=str(error.strerror))) from error
    return parse_json(text, max_bytes)


def parse_json(text: str | bytes, max_bytes: int) -> object:
    """Parse JSON text. Raises: FormatError for text that is too long or no JSON."""
    if len(text) > max_bytes:
        raise FormatError(message("format.too_big", allowed=max_bytes // 10**6))
    try:
        content: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(_no_json(text, error)) from error
    return content


def decode(
    hint: Any, content: object, path: str = "", *, may_be_absent: Container[str] = ()
) -> Any:
    """Build a value of the type `hint` from parsed JSON.

    Args:
        path: Where `content` stands in a larger value, for messages.
        may_be_absent: Names of fields that take their default where an object lacks them. Every
            other field must be there, and no key may be there that is no field.

    Raises:
        FormatError: Names the first path that does not fit.
    """
    return _Decoder(may_be_absent).decode(hint, content, path)


def encode(value: Any) -> Any:
    """Return a value that `json` can write and that `decode` reads back."""
    if is_dataclass(value):
        return {field.name: encode(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple):
        return [encode(item) for item in value]
    if isinstance(value, dict):
        return {key: encode(item) for key, item in value.items()}
    # A plain str of every kind of str: of the enums, and of versions that compare in their own way.
    return str(value) if isinstance(value, str) else value


def refusal(path: str, problem: Message) -> FormatError:
    """Say what is wrong at a path: "must be 1 to 4, is 7"; the path is empty for the whole."""
    return FormatError(
        message("format.at", path=path, problem=problem)
        if path
        else message("format.whole", problem=problem)
    )


def kind_of(content: object) -> Text:
    """What a visitor would call a piece of parsed JSON: "an object", "a list", …"""
    kind = _KINDS.get(type(content))
    return message(kind) if kind else type(content).__name__


def quoted(content: object) -> Text:
    """A value as a message may quote it, however long it is."""
    if not isinstance(content, str | float) and not _is_small_int(content):
        return kind_of(content)
    text = repr(content)
    return text if len(text) <= MAX_QUOTED else f"{text[:MAX_QUOTED]}…"


def _no_json(text: str | bytes, error: Exception) -> Message:
    """Say why a text is no JSON: its end is missing, or something else stands somewhere."""
    if isinstance(error, RecursionError):
        return message("format.too_deep")
    if not isinstance(error, json.JSONDecodeError):
        return message("format.not_json")
    if not text.strip():
        return message("format.nothing")
    if error.pos >= len(error.doc.rstrip()) or error.msg.startswith("Unterminated string"):
        return message("format.cut_short")
    return message("format.not_json_at", line=str(error.lineno), column=str(error.colno))


def _outside(low: float, high: float, found: float) -> Message:
    """Say which numbers are allowed."""
    if low == -math.inf:
        return message("format.most", high=str(high), found=quoted(found))
    if high == math.inf:
        return message("format.least", low=str(low), found=quoted(found))
    return message("format.between", low=str(low), high=str(high), found=quoted(found))


@cache
def _hints(cls: Any) -> dict[str, Any]:
    """Field names and types of a dataclass or NamedTuple, in order."""
    return get_type_hints(cls, include_extras=True)


@cache
def _fields_with_default(cls: Any) -> frozenset[str]:
    return frozenset(
        field.name
        for field in fields(cls)
        if field.default is not MISSING or field.default_factory is not MISSING
    )


class _Decoder:
    """Walks a type hint and parsed JSON together."""

    def __init__(self, may_be_absent: Container[str]) -> None:
        self._may_be_absent = may_be_absent

    def decode(self, hint: Any, content: object, path: str) -> Any:
        """Build a value of the type `hint`."""
        origin, arguments = get_origin(hint), get_args(hint)
        if origin in (Union, types.UnionType):
            (inner,) = (each for each in arguments if each is not type(None))
            return None if content is None else self.decode(inner, content, path)
        if origin is tuple:
            return tuple(
                self.decode(arguments[0], item, f"{path}[{index}]")
                for index, item in enumerate(_expect(list, content, path))
            )
        if origin is dict:
            return {
                name: self.decode(arguments[1], item, _joined(path, name))
                for name, item in _expect(dict, content, path).items()
            }
        if origin is Annotated:
            return _decode_number(arguments[0], content, path, arguments[1])
        if is_dataclass(hint):
            return self._decode_object(hint, content, path)
        if issubclass(hint, tuple):
            return self._decode_row(hint, content, path)
        return _decode_scalar(hint, content, path)

    def _decode_object(self, cls: Any, content: object, path: str) -> Any:
        given, hints = _expect(dict, content, path), _hints(cls)
        for name in given:
            if name not in hints:
                raise refusal(_joined(path, name), message("format.unknown_key"))
        for name in hints:
            if name not in given and not self._fills(cls, name):
                raise refusal(_joined(path, name), message("format.missing"))
        return cls(
            **{
                name: self.decode(hint, given[name], _joined(path, name))
                for name, hint in hints.items()
                if name in given
            }
        )

    def _fills(self, cls: Any, name: str) -> bool:
        return name in self._may_be_absent and name in _fields_with_default(cls)

    def _decode_row(self, cls: Any, content: object, path: str) -> Any:
        """A NamedTuple, written as a list."""
        items, hints = _expect(list, content, path), _hints(cls)
        if len(items) != len(hints):
            raise refusal(path, message("format.entries", n=len(hints), names=", ".join(hints)))
        return cls(
            *(
                self.decode(hint, item, f"{path}[{index}]")
                for index, (item, hint) in enumerate(zip(items, hints.values(), strict=True))
            )
        )


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _decode_scalar(hint: Any, content: object, path: str) -> Any:
    if hint in (int, float):
        return _decode_number(hint, content, path, Range())
    if hint is bool:
        return _expect(bool, content, path)
    if hint is str:
        return _decode_text(content, path)
    if issubclass(hint, StrEnum):
        return _decode_choice(hint, content, path)
    raise ValueError(f"{path}: typed JSON has no {hint}")


def _decode_number(hint: type, content: Any, path: str, allowed: Range) -> Any:
    number = float(content) if hint is float and _is_small_int(content) else content
    _expect(hint, number, path)
    if hint is float and not math.isfinite(number):
        raise refusal(path, message("format.not_finite", found=str(number)))
    highest = min(allowed.highest, HIGHEST_INT) if hint is int else allowed.highest
    # The difference is taken, since a sum with a float would round a large integer.
    if number < allowed.lowest or number - highest > allowed.rounding:
        raise refusal(path, _outside(allowed.lowest, highest, number))
    return number


def _decode_text(content: object, path: str) -> str:
    text: str = _expect(str, content, path)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise refusal(path, message("format.half_character")) from None
    return text


def _decode_choice(cls: type[StrEnum], content: object, path: str) -> StrEnum:
    choices = [member.value for member in cls]
    if content not in choices:
        raise refusal(
            path, message("format.choice", allowed=", ".join(choices), found=quoted(content))
        )
    return cls(content)


def _expect(kind: type, content: object, path: str) -> Any:
    if type(content) is not kind:
        raise refusal(
            path, message("format.must_be", wanted=message(_KINDS[kind]), found=kind_of(content))
        )
    return content


def _is_small_int(content: object) -> bool:
    return type(content) is int and abs(content) <= HIGHEST_INT
