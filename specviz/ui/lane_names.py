"""What lanes are called: by what they run, and by what tells them apart where that is the same.

A trace holds names in English. Here a name becomes a message again, which speaks the reader's
language; a name that somebody gave stays as it is.
"""

import re
from collections.abc import Sequence
from pathlib import PurePath

from specviz.trace.values import LaneSpec, Method
from specviz.ui.strings import Message, Text, in_english, message

METHOD_NAMES: dict[Method, Message] = {
    method: message(f"lane.{method.value.replace('-', '_')}") for method in Method
}
"""What a lane is called that is the only one to run this method."""
_COMPARED = {
    in_english(name): name for name in (message("waiting.before"), message("waiting.after"))
}
"""Names that the Compare tab gives."""


def lane_names(specs: Sequence[LaneSpec]) -> list[Text]:
    """Name the lanes of a race in the reader's language."""
    return [_named(spec, name) for spec, name in zip(specs, telling_names(specs), strict=True)]


def telling_names(specs: Sequence[LaneSpec]) -> list[Message]:
    """Name each lane by its method, and where several have it, by what they differ in."""
    names = []
    for place, spec in enumerate(specs):
        alike = [other for other in specs if other.method is spec.method]
        before = [other for other in specs[:place] if _choices(other) == _choices(spec)]
        name = METHOD_NAMES[spec.method]
        if len(alike) > 1:
            name = message("lane.with_detail", lane=name, detail=_detail(spec, alike, len(before)))
        names.append(name)
    return names


def default_name(method: Method) -> str:
    """Return the name of the only lane that runs a method, in English, as a trace has it."""
    return in_english(METHOD_NAMES[method])


def short_name(model: str) -> str:
    """Give a local folder by its last name; shipped names and hub ids stay as they are."""
    return PurePath(model).name if PurePath(model).is_absolute() else model


def _named(spec: LaneSpec, telling: Message) -> Text:
    """A name from the page or the command line becomes a message; any other is somebody's own."""
    by_command_line = re.fullmatch(rf"{spec.method.value}( \d+)?", spec.name)
    if by_command_line or spec.name in (in_english(telling), default_name(spec.method)):
        return telling
    return _COMPARED.get(spec.name, spec.name)


def _choices(spec: LaneSpec) -> tuple[Method, str | None, int | None, int, int]:
    return spec.method, spec.draft, spec.exit_layer, spec.max_ngram, spec.gamma


def _detail(spec: LaneSpec, alike: Sequence[LaneSpec], num_before: int) -> Text:
    """Say in what a lane differs from those of its method; equal ones are numbered."""

    def differ(field: str) -> bool:
        return len({getattr(other, field) for other in alike}) > 1

    parts: list[Text] = []
    if differ("draft"):
        parts.append(short_name(spec.draft or "?"))
    if differ("exit_layer"):
        parts.append(message("lane.detail_layer", layer=spec.exit_layer or "?"))
    if differ("max_ngram"):
        parts.append(message("lane.detail_match", n=spec.max_ngram))
    if differ("gamma"):
        parts.append(f"γ {spec.gamma}")
    if sum(_choices(other) == _choices(spec) for other in alike) > 1:
        parts.append(f"#{num_before + 1}")
    told = parts[0]
    for part in parts[1:]:
        told = message("lane.details", first=told, second=part)
    return told
