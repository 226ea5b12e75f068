"""JSON is read by type hints alone, and what does not fit is named by its path."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, NamedTuple

import pytest

from specviz.errors import FormatError
from specviz.trace.typed_json import decode, encode
from specviz.trace.values import Range


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Point(NamedTuple):
    x: int
    label: str


@dataclass(frozen=True)
class Leaf:
    share: Annotated[float, Range(highest=1, rounding=0.01)]
    colour: Colour | None = None
    depth: Annotated[int, Range(-1, 3)] = 2


@dataclass(frozen=True)
class Tree:
    name: str
    leaves: tuple[Leaf, ...]
    weights: dict[str, float]
    points: tuple[Point, ...] = ()
    is_tall: bool = False


LEAF = {"share": 0.5, "colour": "red", "depth": -1}
CONTENT: dict[str, Any] = {
    "name": "é",
    "leaves": [LEAF, {"share": 1.005, "colour": None, "depth": 3}],
    "weights": {"a b": 2, "c": 0.5},
    "points": [[3, "p"]],
    "is_tall": True,
}
TREE = Tree(
    "é",
    (Leaf(0.5, Colour.RED, -1), Leaf(1.005, None, 3)),
    {"a b": 2.0, "c": 0.5},
    (Point(3, "p"),),
    True,
)


def test_every_kind_of_type_is_read_and_written() -> None:
    assert decode(Tree, CONTENT) == TREE
    assert encode(TREE) == CONTENT
    assert type(encode(TREE)["leaves"][0]["colour"]) is str


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"name": None}, "name must be a text, is null"),
        ({"leaves": [LEAF, 7]}, "leaves[1] must be an object, is an integer"),
        ({"leaves": [LEAF | {"share": 1.02}]}, "leaves[0].share must be 0 to 1, is 1.02"),
        ({"leaves": [LEAF | {"share": -0.001}]}, "leaves[0].share must be 0 to 1, is -0.001"),
        ({"leaves": [LEAF | {"depth": 4}]}, "leaves[0].depth must be -1 to 3, is 4"),
        ({"leaves": [LEAF | {"depth": -2}]}, "leaves[0].depth must be -1 to 3, is -2"),
        ({"leaves": [LEAF | {"depth": 1.0}]}, "leaves[0].depth must be an integer, is a number"),
        ({"leaves": [LEAF | {"colour": "green"}]}, "must be one of red, blue, is 'green'"),
        ({"leaves": [LEAF | {"size": 1}]}, "leaves[0].size is not a key of this format"),
        ({"weights": {"a": "x"}}, "weights.a must be a number, is a text"),
        ({"weights": {"a": -1}}, "weights.a must be 0 or more, is -1.0"),
        ({"weights": {"a": float("nan")}}, "weights.a must be a finite number, is nan"),
        ({"points": [[3]]}, "points[0] must hold 2 entries (x, label)"),
        ({"points": [[2**64, "p"]]}, f"points[0][0] must be 0 to {2**64 - 1}, is an integer"),
        ({"is_tall": 1}, "is_tall must be true or false, is an integer"),
    ],
)
def test_what_does_not_fit_is_named_by_its_path(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(FormatError) as refusal:
        decode(Tree, CONTENT | changes)
    assert sentence in str(refusal.value)


def test_the_path_begins_where_the_caller_says() -> None:
    with pytest.raises(FormatError, match=r"^it must be an object, is a list$"):
        decode(Leaf, [])
    with pytest.raises(FormatError, match=r"^lines\[3\] must be an object, is a list$"):
        decode(Leaf, [], "lines[3]")
    with pytest.raises(FormatError, match=r"^lines\[3\]\.share is missing$"):
        decode(Leaf, {"colour": None, "depth": 0}, "lines[3]")


def test_only_a_named_field_with_a_default_may_be_absent() -> None:
    without = {"share": 0.5, "colour": None}
    with pytest.raises(FormatError, match="depth is missing"):
        decode(Leaf, without)
    assert decode(Leaf, without, may_be_absent={"depth"}) == Leaf(0.5, None, 2)
    with pytest.raises(FormatError, match="share is missing"):
        decode(Leaf, {"colour": None}, may_be_absent={"depth", "share"})
    with pytest.raises(FormatError, match="deepness is not a key"):
        decode(Leaf, without | {"deepness": 1}, may_be_absent={"depth", "deepness"})
