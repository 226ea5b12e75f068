"""All lessons are completed by recorded races."""

from collections.abc import Callable

import pytest
from lesson_visitor import do_all
from playwright.sync_api import Page
from serving import free_port, serving

pytestmark = [pytest.mark.browser, pytest.mark.slow]
OpenPage = Callable[..., Page]


def test_recorded_races_complete_all_lessons(open_page: OpenPage) -> None:
    port = free_port()
    with serving("app.py", "--port", str(port), port=port) as address:
        do_all(open_page(address, reduced_motion="reduce"), start="Watch a recording")
