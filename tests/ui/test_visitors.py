"""Nobody takes the place of others: not by one page, by many pages, nor by starting often."""

from dataclasses import replace

import pytest

from specviz.ui.page_limits import PUBLIC
from specviz.ui.strings import PageError
from specviz.ui.visitors import Visitor, VisitorBook, served_address, serving_address

LIMITS = replace(
    PUBLIC, max_visitor_races=2, max_visitor_starts=3, max_address_races=4, max_address_starts=6
)
NEVER = bool


class Clock:
    """Time that passes when it is told to."""

    seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def book(clock: Clock) -> VisitorBook:
    return VisitorBook(LIMITS, clock)


def refused(book: VisitorBook, visitor: Visitor) -> dict[str, object]:
    with pytest.raises(PageError) as caught:
        book.enter(visitor, NEVER)
    text = caught.value.text
    assert isinstance(text, dict)
    return text


def test_one_race_runs_and_one_waits(book: VisitorBook) -> None:
    ann = Visitor("ann", "1.1.1.1")
    book.enter(ann, NEVER)
    book.enter(ann, NEVER)
    assert refused(book, ann) == {"id": "status.visitor_waits", "most": 2}
    book.enter(Visitor("bob", "2.2.2.2"), NEVER)


def test_who_leaves_frees_the_place(book: VisitorBook) -> None:
    ann, gone = Visitor("ann", "1.1.1.1"), False
    book.enter(ann, lambda: gone)
    book.enter(ann, NEVER)
    assert refused(book, ann)["id"] == "status.visitor_waits"
    gone = True
    book.enter(ann, NEVER)


def test_new_names_at_one_address_are_counted_together(book: VisitorBook) -> None:
    for number in range(4):
        book.enter(Visitor(f"made-up-{number}", "1.1.1.1"), NEVER)
    late = Visitor("made-up-4", "1.1.1.1")
    assert refused(book, late) == {"id": "status.address_waits", "most": 4}
    book.enter(replace(late, address="2.2.2.2"), NEVER)


def test_so_many_starts_a_minute(book: VisitorBook, clock: Clock) -> None:
    ann = Visitor("ann", "1.1.1.1")
    for _ in range(3):
        book.enter(ann, lambda: True)
        clock.seconds += 10
    told = refused(book, ann)
    assert told == {"id": "status.visitor_starts", "most": 3, "seconds": 30}
    clock.seconds += 30
    book.enter(ann, lambda: True)
    assert refused(book, ann)["seconds"] == 10, "the second of the four is a minute old then"


def test_so_many_starts_a_minute_of_one_address(book: VisitorBook) -> None:
    for number in range(6):
        book.enter(Visitor(f"page-{number}", "1.1.1.1"), lambda: True)
    assert refused(book, Visitor("page-6", "1.1.1.1"))["id"] == "status.address_starts"


def test_a_start_that_was_refused_does_not_count(book: VisitorBook, clock: Clock) -> None:
    ann = Visitor("ann", "1.1.1.1")
    for _ in range(3):
        book.enter(ann, lambda: True)
    for _ in range(5):
        refused(book, ann)
    clock.seconds += 60
    book.enter(ann, lambda: True)


def test_who_is_known_by_nothing_is_not_counted(book: VisitorBook) -> None:
    for _ in range(20):
        book.enter(Visitor(""), NEVER)


def test_the_address_is_that_of_the_call_alone() -> None:
    with serving_address("1.1.1.1"):
        assert served_address() == "1.1.1.1"
    assert served_address() == ""
