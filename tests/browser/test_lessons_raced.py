"""All eight lessons in order, by races of the shipped models and by recorded ones: who does what
each says, and nothing else, completes them."""

from collections.abc import Callable, Iterator

import pytest
from lesson_visitor import do_all
from playwright.sync_api import Page
from serving import free_port, serving

pytestmark = [pytest.mark.browser, pytest.mark.slow]
OpenPage = Callable[..., Page]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    port = free_port()
    with serving("app.py", "--port", str(port), port=port) as address:
        yield address


def test_the_shipped_models_take_all_lessons(open_page: OpenPage, address: str) -> None:
    do_all(open_page(address, reduced_motion="reduce"))


def test_recorded_races_complete_all_lessons(open_page: OpenPage, address: str) -> None:
    do_all(open_page(address, reduced_motion="reduce"), start="Watch a recording")
