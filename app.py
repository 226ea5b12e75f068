"""Opens the web app: hands `start_race` to the page, launches it and loads the models.

`python app.py` serves the shipped pair on this machine, and is what Hugging Face Spaces runs. The
heavy imports stand inside functions, because Gradio and the hub read the environment when imported.
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, TimeoutError
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from specviz.trace.values import Event, ModelLoading, RaceRequest, StartRace
    from specviz.ui.options import PageOptions, PairOption

LOADING_POLL_SECONDS = 0.1


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line and serve the page until it is interrupted.

    The page answers first and the models are loaded next; a race asked for in between waits.
    """
    chosen = _parser().parse_args(arguments)
    keep_offline(allow_hub=chosen.allow_hub)

    from specviz.errors import SpecvizError
    from specviz.models.catalogue import DEFAULT_TARGET
    from specviz.models.devices import pick_device
    from specviz.models.dtype_choice import pick_dtype
    from specviz.models.dtypes import precision_label
    from specviz.ui.page import build_page, launch_settings

    try:
        device = pick_device(chosen.device)
        dtype = pick_dtype(chosen.dtype, device, chosen.target or DEFAULT_TARGET)
        label = precision_label(dtype, chosen.quantize)
        options = page_options(chosen.target, chosen.draft, device, label)
        models = _Models()
        page = build_page(_once_loaded(models), options, models.check)
        page.launch(server_port=chosen.port, prevent_thread_lock=True, **launch_settings())
        _load(
            models,
            options,
            dtype=dtype,
            quantize=chosen.quantize,
            allow_hub=chosen.allow_hub,
        )
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
    from specviz.models.catalogue import fitted_models, shipped_models
    from specviz.trace.fits import find_fitted
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


@dataclass
class _Models:
    """The models of the page while they are loaded, and what races them once they are."""

    ready: "Future[StartRace]" = field(default_factory=Future)
    loading: "ModelLoading | None" = None
    """The one that is being read now."""
    check_loaded: "Callable[[RaceRequest], None] | None" = None
    """Refuses what the loaded models cannot race; None before they are there."""

    def check(self, request: "RaceRequest") -> None:
        """Refuse a request as soon as the models can tell."""
        if self.check_loaded is not None:
            self.check_loaded(request)


def _load(
    models: _Models,
    options: "PageOptions",
    *,
    dtype: str = "float32",
    quantize: str | None = None,
    allow_hub: bool,
) -> None:
    """Load every model that the page offers.

    Drafts fitted here are loaded when they are first raced, so that a bad one holds nobody up.

    Raises:
        ModelLoadError: a model cannot be loaded.
    """
    from specviz.models.catalogue import is_fitted
    from specviz.models.loading import ModelPool
    from specviz.race.wiring import load_models, make_check_request, make_start_race

    pool = ModelPool(options.device, dtype, quantize=quantize, allow_hub=allow_hub)
    offered = [name for pair in options.pairs for name in (pair.target, *pair.drafts)]
    names = [name for name in dict.fromkeys(offered) if not is_fitted(name)]
    for models.loading in load_models(pool, names):
        continue
    models.check_loaded = make_check_request(pool)
    models.ready.set_result(make_start_race(pool))


def _once_loaded(models: _Models) -> "StartRace":
    """Make a `start_race` that waits for the models, and says which one it waits for."""

    def start_race(
        request: "RaceRequest", should_stop: Callable[[], bool] = bool
    ) -> "Iterator[Event]":
        told = None
        while not models.ready.done():
            if should_stop():
                return
            if models.loading is not None and models.loading != told:
                told = models.loading
                yield told
            with suppress(TimeoutError):
                models.ready.result(timeout=LOADING_POLL_SECONDS)
        yield from models.ready.result()(request, should_stop)

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
    from specviz.models.catalogue import shipped_folder
    from specviz.models.description import describe_model
    from specviz.trace.reading import read_reading
    from specviz.trace.values import Method
    from specviz.ui.options import PairOption

    folder = shipped_folder(target) or _local_folder(target)
    about = describe_model(target, "target", folder) if folder else None
    methods = (Method.DRAFT_MODEL, Method.PROMPT_LOOKUP, Method.EARLY_EXIT)
    return PairOption(
        target,
        drafts,
        methods if drafts else methods[1:],
        exits=about.exit_layers if about else (),
        num_parameters=about.num_parameters if about else None,
        reading=read_reading(folder) if folder else None,
    )


def _local_folder(target: str) -> Path | None:
    """The folder that a target is named by, where it holds a model; None for a hub id."""
    folder = Path(target).expanduser()
    return folder if (folder / "config.json").is_file() else None


def _parser() -> argparse.ArgumentParser:
    from specviz.models.dtypes import QUANTIZED_BYTES

    parser = argparse.ArgumentParser(prog="app.py", description="Serve the specviz page.")
    parser.add_argument("--target", help="model to check with; the shipped one if left out")
    parser.add_argument("--draft", help="model to guess with, beside --target")
    parser.add_argument(
        "--device",
        default="auto",
        help="cpu, cuda, cuda:1, mps, or auto, the default: the fastest there is",
    )
    parser.add_argument(
        "--dtype",
        default="auto",
        help="float32, bfloat16, float16, float64 or auto, the default: by size and device",
    )
    parser.add_argument(
        "--quantize",
        choices=tuple(QUANTIZED_BYTES),
        help="hold weights in so many bits (needs the library bitsandbytes); --dtype computes",
    )
    parser.add_argument("--port", type=int, help="port to serve on; the first free one from 7860")
    parser.add_argument("--allow-hub", action="store_true", help="let --target name a hub model")
    return parser


if __name__ == "__main__":
    main()
