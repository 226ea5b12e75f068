"""All lessons are completed by races of the shipped models."""

from collections.abc import Callable

import pytest
from lesson_visitor import do_all
from playwright.sync_api import Page
from serving import free_port, serving

pytestmark = [pytest.mark.browser, pytest.mark.slow]
OpenPage = Callable[..., Page]


def test_the_shipped_models_take_all_lessons(open_page: OpenPage) -> None:
    port = free_port()
    with serving("app.py", "--port", str(port), port=port) as address:
        do_all(open_page(address, reduced_motion="reduce"))
