"""Where the browser is that tests and measurements drive."""

import os
import shutil

NAMES = ("chromium-headless-shell", "chromium")
"""The first has no window to draw, so that a page opens in half the time."""


def find_chromium() -> str | None:
    """Return the one that SPECVIZ_CHROMIUM names, else one on the path, else None."""
    named = os.environ.get("SPECVIZ_CHROMIUM")
    return named or next(filter(None, map(shutil.which, NAMES)), None)
