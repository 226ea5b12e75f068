"""All eight lessons in order: who does what each says, and nothing else, completes them."""

from collections.abc import Callable

import pytest
from lesson_visitor import do_all
from playwright.sync_api import Page

pytestmark = pytest.mark.browser
OpenPage = Callable[..., Page]


def test_all_eight_lessons_in_order(open_page: OpenPage, fake_address: str) -> None:
    do_all(open_page(fake_address, reduced_motion="reduce"))
