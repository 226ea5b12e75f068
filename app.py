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
    from specviz.ui.options import PageOptions
    from specviz.ui.page import build_page, launch_settings

    try:
        pairs = _named_pair(chosen.target, chosen.draft) if chosen.target else _shipped_pairs()
        options = PageOptions(pairs=pairs, device=chosen.device, dtype=chosen.dtype)
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


def load_start_race(options: "PageOptions", *, allow_hub: bool) -> "StartRace":
    """Load every model that the page offers and make the callable that races them.

    Raises:
        ModelLoadError: a model cannot be loaded.
    """
    from specviz.models.loading import ModelPool
    from specviz.start import make_start_race

    pool = ModelPool(options.device, options.dtype, allow_hub=allow_hub)
    for pair in options.pairs:
        for name in (pair.target, *pair.drafts):
            pool.get(name)
    return make_start_race(pool)


def _once_loaded(models: "Future[StartRace]") -> "StartRace":
    """Make a `start_race` that waits for the models at its first step."""

    def start_race(
        request: "RaceRequest", should_stop: Callable[[], bool] = bool
    ) -> "Iterator[Event]":
        yield from models.result()(request, should_stop)

    return start_race


def _shipped_pairs() -> "tuple[PairOption, ...]":
    from specviz.errors import ModelLoadError
    from specviz.models.catalogue import shipped_models

    models = shipped_models()
    drafts = tuple(model.name for model in models if model.role == "draft")
    targets = [model.name for model in models if model.role == "target"]
    if not targets:
        raise ModelLoadError(
            "no model ships with this copy: its folder assets/models holds no target; "
            "get the repository again, or name one with --target"
        )
    return tuple(_pair(target, drafts) for target in targets)


def _named_pair(target: str, draft: str | None) -> "tuple[PairOption, ...]":
    return (_pair(target, (draft,) if draft else ()),)


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
