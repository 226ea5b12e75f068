"""Serves the page with a made-up race: `python tests/fake_page.py PORT [bare]`.

With `bare` no draft was ever fitted.
"""

import os
import sys
from dataclasses import replace

os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"

from fake_race import HOSTILE, OPTIONS, WORDS, FakeRace, check_request

from specviz.ui.page import build_page, launch_settings

if __name__ == "__main__":
    options = replace(OPTIONS, fitted=(), fit_problems=()) if "bare" in sys.argv else OPTIONS
    page = build_page(FakeRace(WORDS + HOSTILE, pause=0.01), options, check_request)
    page.launch(server_port=int(sys.argv[1]), quiet=True, **launch_settings())
