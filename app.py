"""Opens the web app: hands `start_race` to the page, launches it and loads the models.

`python app.py` serves the shipped pair on this machine, and is what Hugging Face Spaces runs. The
heavy imports stand inside functions, because Gradio and the hub read the environment when imported.
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from specviz.trace import Event, RaceRequest, StartRace
    from specviz.ui.options import PageOptions, PairOption


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line and serve the page until it is interrupted.

    The page answers first and the models are loaded next; a race asked for in between waits.
    """
    chosen = _parser().parse_args(arguments)
    keep_offline(allow_hub=chosen.allow_hub)

    from specviz.errors import SpecvizError
    from specviz.ui.page import build_page, launch_settings

    try:
        options = page_options(chosen.target, chosen.draft, chosen.device, chosen.dtype)
        models: Future[StartRace] = Future()
        page = build_page(_once_loaded(models), options)
        page.launch(server_port=chosen.port, prevent_thread_lock=True, **launch_settings())
        models.set_result(load_start_race(options, allow_hub=chosen.allow_hub))
    except SpecvizError as error:
        sys.exit(str(error))
    page.block_thread()


def keep_offline(*, allow_hub: bool) -> None:
    """Switch off what would call other machines; runs before Gradio and the hub are imported."""
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
    if not allow_hub:
        os.environ["HF_HUB_OFFLINE"] = "1"


def page_options(target: str | None, draft: str | None, device: str, dtype: str) -> "PageOptions":
    """Gather what the page offers: the target that was named, or else all that ship.

    Drafts that were fitted to an offered target are offered too, with what they were before.

    Raises:
        ModelLoadError: no target was named and none ships.
    """
    from specviz.fit_io import find_fitted
    from specviz.models.catalogue import fitted_models, shipped_models
    from specviz.ui.options import PageOptions

    known = (*shipped_models(), *fitted_models())
    fitted, problems = find_fitted({model.name: model.folder for model in known})
    offers = {target: [draft] if draft else []} if target else _shipped_offers()
    pairs = []
    for name, drafts in offers.items():
        fits = [each for each in fitted if each.fit.target == name]
        more = [each for fit in fits for each in (fit.before, fit.name) if each]
        pairs.append(_pair(name, tuple(dict.fromkeys([*drafts, *more]))))
    return PageOptions(tuple(pairs), device, dtype, fitted=fitted, fit_problems=problems)


def load_start_race(options: "PageOptions", *, allow_hub: bool) -> "StartRace":
    """Load every model that the page offers and make the callable that races them.

    Drafts fitted here are loaded when they are first raced, so that a bad one holds nobody up.

    Raises:
        ModelLoadError: a model cannot be loaded.
    """
    from specviz.models.catalogue import is_fitted
    from specviz.models.loading import ModelPool
    from specviz.start import make_start_race

    pool = ModelPool(options.device, options.dtype, allow_hub=allow_hub)
    for pair in options.pairs:
        for name in (pair.target, *pair.drafts):
            if not is_fitted(name):
                pool.get(name)
    return make_start_race(pool)


def _once_loaded(models: "Future[StartRace]") -> "StartRace":
    """Make a `start_race` that waits for the models at its first step."""

    def start_race(
        request: "RaceRequest", should_stop: Callable[[], bool] = bool
    ) -> "Iterator[Event]":
        yield from models.result()(request, should_stop)

    return start_race


def _shipped_offers() -> dict[str, list[str]]:
    """The shipped targets, each with the drafts that are listed, the default one first."""
    from specviz.errors import ModelLoadError
    from specviz.models.catalogue import DEFAULT_DRAFT, listed_models

    models = listed_models()
    names = [model.name for model in models if model.role == "draft"]
    drafts = sorted(names, key=lambda name: name != DEFAULT_DRAFT)
    offers = {model.name: drafts for model in models if model.role == "target"}
    if not offers:
        raise ModelLoadError(
            "no model ships with this copy: its folder assets/models holds no target; "
            "get the repository again, or name one with --target"
        )
    return offers


def _pair(target: str, drafts: tuple[str, ...]) -> "PairOption":
    from specviz.trace import Method
    from specviz.ui.options import PairOption

    methods = (Method.DRAFT_MODEL, Method.PROMPT_LOOKUP, Method.EARLY_EXIT)
    return PairOption(target, drafts, methods if drafts else methods[1:])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="app.py", description="Serve the specviz page.")
    parser.add_argument("--target", help="model to check with; the shipped one if left out")
    parser.add_argument("--draft", help="model to guess with, beside --target")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--port", type=int, help="port to serve on; the first free one from 7860")
    parser.add_argument("--allow-hub", action="store_true", help="let --target name a hub model")
    return parser


if __name__ == "__main__":
    main()
