"""Serves the page with a made-up race: `python tests/fake_page.py PORT [bare] [hasty]`.

With `bare` no draft was ever fitted; with `hasty` a held race is run out after two seconds.
"""

import os
import sys
from dataclasses import replace

os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"

from fake_fit import make_fake_fit
from fake_proof import FakeProof, short_race
from fake_race import FIT, HOSTILE, OPTIONS, WORDS, FakeRace, check_request

from specviz.bench.plan import read_gallery
from specviz.bench.sweep_record import ModelSize
from specviz.host.proofs import ProofParts, make_read_proof
from specviz.host.sweep_work import make_sweep_work
from specviz.ui.assets import PROMPTS_FOLDER
from specviz.ui.http_guard import HttpGuard
from specviz.ui.page import build_page, launch_settings
from specviz.ui.sessions import fetch_nothing

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
    race = FakeRace(WORDS + HOSTILE, pause=0.01)
    page = build_page(race, options, check_request, work=work)
    guard = HttpGuard(page, options.limits, takes_sign_in=options.takes_sign_in)
    page.launch(server_port=int(sys.argv[1]), quiet=True, **launch_settings(guard))
