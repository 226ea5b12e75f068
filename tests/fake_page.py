"""Serves the page with a made-up race: `python tests/fake_page.py PORT [bare] [hasty] [routes]`.

With `bare` no draft was ever fitted; with `hasty` a held race is run out after two seconds. With
`routes` it prints the addresses that the web framework would answer at, and ends.
"""

import json
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"

from fake_fit import make_fake_fit
from fake_proof import FakeProof, short_race
from fake_race import FIT, HOSTILE, OPTIONS, WORDS, FakeRace, check_request
from gradio.routes import App

from specviz.bench.plan import read_gallery
from specviz.bench.sweep_record import ModelSize
from specviz.host.proofs import ProofParts, make_read_proof
from specviz.host.sweep_work import make_sweep_work
from specviz.ui.assets import PROMPTS_FOLDER
from specviz.ui.http_guard import HttpGuard
from specviz.ui.page import build_page, launch_settings
from specviz.ui.sessions import fetch_nothing


def all_routes(routes: Iterable[Any]) -> Iterator[tuple[str, str]]:
    """Yield method and path of every route, those of included routers too."""
    for route in routes:
        inner = getattr(route, "original_router", None)
        if inner is not None:
            yield from all_routes(inner.routes)
        yield from (
            (method, route.path) for method in sorted(getattr(route, "methods", None) or ())
        )


if __name__ == "__main__":
    options = replace(OPTIONS, fitted=(), fit_problems=()) if "bare" in sys.argv else OPTIONS
    if "hasty" in sys.argv:
        options = replace(options, limits=replace(options.limits, queued_pause_seconds=2.0))
    sweeps = make_sweep_work(
        FakeRace(pause=0.0),
        options,
        read_gallery(PROMPTS_FOLDER),
        fetch_nothing,
        lambda names: tuple(ModelSize(name, 1_000_000, 4_000_000) for name in names),
    )
    parts = ProofParts(short_race, FakeProof(pause=0.1), fetch_nothing)
    work = sweeps | {"proof": make_read_proof(parts, options), "fit": make_fake_fit(options, FIT)}
    race = FakeRace(WORDS + HOSTILE, pause=0.003)
    page = build_page(race, options, check_request, work=work)
    if "routes" in sys.argv:
        sys.stdout.write(json.dumps(list(all_routes(App.create_app(page).routes))))
        sys.exit()
    guard = HttpGuard(page, options.limits, takes_sign_in=options.takes_sign_in)
    page.launch(server_port=int(sys.argv[1]), quiet=True, **launch_settings(guard))
