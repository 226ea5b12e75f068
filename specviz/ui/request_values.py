"""Reads single values that came from outside; each fault is one clear sentence."""

from collections.abc import Mapping, Sequence

from specviz.ui.strings import PageError

_LONGEST_SHOWN = 60


def read_mapping(value: object, field: str, keys: set[str]) -> Mapping[str, object]:
    """Take an object whose fields are all among `keys`.

    Raises:
        PageError: it is no object, or has another field.
    """
    if not isinstance(value, Mapping):
        raise PageError("error.not_named_fields", field=field, found=shown(value))
    unknown = sorted(str(key) for key in value if key not in keys)
    if unknown:
        allowed = ", ".join(sorted(keys))
        raise PageError(
            "error.unknown_field", field=field, found=shown(unknown[0]), allowed=allowed
        )
    return value


def read_sequence(value: object) -> Sequence[object]:
    """Take a list.

    Raises:
        PageError: it is none.
    """
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return value
    raise PageError("error.not_a_list", found=shown(value))


def read_choice(value: object, field: str) -> bool:
    """Take yes or no.

    Raises:
        PageError: it is neither.
    """
    if isinstance(value, bool):
        return value
    raise PageError("error.not_yes_or_no", field=field, found=shown(value))


def read_number(value: object, field: str, low: float, high: float) -> float:
    """Take a number from `low` to `high`.

    Raises:
        PageError: it is none, or beyond them.
    """
    if isinstance(value, (int, float)) and not isinstance(value, bool) and low <= value <= high:
        return float(value)
    raise PageError("error.out_of_range", field=field, low=low, high=high, found=shown(value))


def read_integer(value: object, field: str, low: int, high: int) -> int:
    """Take a whole number from `low` to `high`; 5.0 is one, since sliders send such.

    Raises:
        PageError: it is none, or beyond them.
    """
    number = value if isinstance(value, (int, float)) and not isinstance(value, bool) else None
    if number is not None and low <= number <= high and int(number) == number:
        return int(number)
    raise PageError("error.not_whole", field=field, low=low, high=high, found=shown(value))


def shown(value: object) -> str:
    """Quote a value from outside, cut to a readable length."""
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 3]}…"
