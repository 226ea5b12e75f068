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
    from specviz.models.eagle_head import LoadedHead
    from specviz.models.hub_door import HubDoor
    from specviz.models.loading import LoadedModel, ModelPool
    from specviz.trace.proofs import ProofEvent, ProofRequest, StartProof
    from specviz.trace.values import (
        Event,
        FetchModels,
        ModelDownloading,
        ModelLoading,
        RaceRequest,
        StartRace,
    )
    from specviz.ui.hub_offer import HubOffer
    from specviz.ui.options import PageLimits, PageOptions
    from specviz.ui.page_tasks import ReadWork
    from specviz.ui.pair_option import PairOption

LOADING_POLL_SECONDS = 0.1


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line and serve the page until it is interrupted.

    The page answers first and the models are loaded next; a race asked for in between waits.
    """
    chosen = _parser().parse_args(arguments)
    access = _hub_access(chosen)
    keep_offline(allow_hub=access != "off")

    from specviz.errors import SpecvizError
    from specviz.host.hub_pairs import make_hub_offer
    from specviz.models.devices import pick_device
    from specviz.models.dtypes import precision_label
    from specviz.ui.hub_offer import HubAccess
    from specviz.ui.page import build_page, launch_settings

    try:
        device = pick_device(chosen.device)
        models = _Models()
        dtype = _dtype(chosen, device, is_hub_open=access != "off")
        held = (device, dtype, chosen.quantize)
        models.door = _hub_door(access)
        hub = make_hub_offer(HubAccess(access), *held, models.loaded_bytes, models.door)
        opening = None if chosen.target or access == "off" else _opening(device, dtype)
        options = page_options(
            chosen.target,
            chosen.draft,
            device,
            precision_label(dtype, chosen.quantize),
            named_heads=chosen.head or (),
            folder=_named_folder(chosen),
            hub=hub,
            opening=opening,
        )
        start_race = _once_loaded(models)
        work = _work(start_race, options, models, dtype, chosen.quantize)
        page = build_page(start_race, options, models.check, models.fetch, work)
        page.launch(server_port=chosen.port, prevent_thread_lock=True, **launch_settings())
        _load(models, options, dtype=dtype, quantize=chosen.quantize, allow_hub=access != "off")
    except SpecvizError as error:
        sys.exit(str(error))
    page.block_thread()


def keep_offline(*, allow_hub: bool) -> None:
    """Switch off what would call other machines; runs before Gradio and the hub are imported."""
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
    if not allow_hub:
        os.environ["HF_HUB_OFFLINE"] = "1"


def page_options(
    target: str | None,
    draft: str | None,
    device: str,
    dtype: str,
    *,
    named_heads: Sequence[str] = (),
    folder: Path | None = None,
    hub: "HubOffer | None" = None,
    opening: "PairOption | None" = None,
) -> "PageOptions":
    """Gather what the page offers: the target that was named, or else all that ship.

    Drafts that were fitted to an offered target are offered too, with what they were before. The
    page opens with `opening`, if it is given. `folder` is that of a named target from the hub.
    EAGLE-3 heads are offered for the targets that they were trained for, `named_heads` first.

    Raises:
        ModelLoadError: no target was named and none ships.
    """
    from specviz.host.page_heads import heads_of_targets
    from specviz.models.catalogue import fitted_models, shipped_models
    from specviz.trace.fits import find_fitted
    from specviz.ui.options import PageOptions

    known = (*shipped_models(), *fitted_models())
    fitted, problems = find_fitted({model.name: model.folder for model in known})
    offers = {target: [draft] if draft else []} if target else _shipped_offers()
    pairs = [opening] if opening else []
    heads = heads_of_targets(tuple(offers), named_heads)
    for name, drafts in offers.items():
        fits = [each for each in fitted if each.fit.target == name]
        more = [each for fit in fits for each in (fit.before, fit.name) if each]
        pairs.append(_pair(name, tuple(dict.fromkeys([*drafts, *more])), heads[name], folder))
    return PageOptions(
        tuple(pairs), device, dtype, _limits(), fitted=fitted, fit_problems=problems, hub=hub
    )


@dataclass
class _Models:
    """The models of the page while they are loaded, and what races them once they are."""

    ready: "Future[StartRace]" = field(default_factory=Future)
    start_proof: "StartProof | None" = None
    """Runs proofs; None before the models are there."""
    loading: "ModelLoading | None" = None
    """The one that is being read now."""
    check_loaded: "Callable[[RaceRequest], None] | None" = None
    """Refuses what the loaded models cannot race; None before they are there."""
    pool: "ModelPool | None" = None
    """Where models are loaded to; None before it is there."""
    fetch_lacking: "FetchModels | None" = None
    """Downloads what a race lacks; None before the pool is there."""
    door: "HubDoor | None" = None
    """Who may have gated models; None where nobody signs in."""

    def check(self, request: "RaceRequest") -> None:
        """Refuse a request as soon as the models can tell."""
        if self.check_loaded is not None:
            self.check_loaded(request)

    def fetch(
        self, request: "RaceRequest", should_stop: Callable[[], bool] = bool
    ) -> "Iterator[ModelDownloading]":
        """Download what a race lacks, before it waits for its turn."""
        return iter(()) if self.fetch_lacking is None else self.fetch_lacking(request, should_stop)

    def loaded(self, name: str) -> "LoadedModel":
        """Give a model as races have it, once they can run."""
        self.ready.result()
        assert self.pool is not None
        if self.door is not None:
            self.door.let_in(name)
        return self.pool.get(name)

    def loaded_head(self, name: str) -> "LoadedHead":
        """Give an EAGLE-3 head as races have it, once they can run."""
        self.ready.result()
        assert self.pool is not None
        if self.door is not None:
            self.door.let_in(name)
        return self.pool.get_head(name)

    def loaded_bytes(self, name: str) -> int:
        """Memory that the weights of a model take; 0 where it is not loaded."""
        if self.pool is None or not self.pool.has(name):
            return 0
        return sum(each.nbytes for each in self.pool.get(name).model.parameters())


def _load(
    models: _Models,
    options: "PageOptions",
    *,
    dtype: str = "float32",
    quantize: str | None = None,
    allow_hub: bool,
) -> None:
    """Load every model that the page offers.

    Drafts fitted here are loaded when they are first raced, so that a bad one holds nobody up; a
    pair of the hub that does not load is told here and whoever races it.

    Raises:
        ModelLoadError: a model cannot be loaded.
    """
    from specviz.errors import SpecvizError
    from specviz.models.catalogue import is_fitted
    from specviz.models.eagle_files import fetch_head
    from specviz.models.hub_downloads import HubDownloads
    from specviz.models.loading import ModelPool
    from specviz.proof.proving import make_start_proof
    from specviz.race.downloads import make_fetch_models
    from specviz.race.wiring import load_models, make_check_request, make_start_race

    models.pool = pool = ModelPool(options.device, dtype, quantize=quantize, allow_hub=allow_hub)
    if allow_hub:
        models.fetch_lacking = make_fetch_models(
            lambda name: pool.has(name) or pool.has_head(name),
            HubDownloads(),
            models.door,
            HubDownloads(fetch_head),
        )
    for is_hub in (True, False):
        pairs = [pair for pair in options.pairs if pair.is_hub is is_hub]
        offered = [name for pair in pairs for name in (pair.target, *pair.drafts)]
        names = [name for name in dict.fromkeys(offered) if not is_fitted(name)]
        try:
            for models.loading in load_models(pool, names):
                continue
        except SpecvizError as error:
            if not is_hub:
                raise
            sys.stderr.write(f"{error}\n")
    models.check_loaded = make_check_request(pool)
    models.start_proof = make_start_proof(pool)
    models.ready.set_result(make_start_race(pool))


def _work(
    start_race: "StartRace",
    options: "PageOptions",
    models: _Models,
    dtype: str,
    quantize: str | None,
) -> "dict[str, ReadWork]":
    """What the page offers beside races, by its kind."""
    from specviz.bench.plan import read_gallery
    from specviz.host.cost_work import make_cost_reader
    from specviz.host.fit_work import make_fit_reader
    from specviz.host.head_work import make_doctor_reader
    from specviz.host.proofs import ProofParts, make_read_proof
    from specviz.host.sweep_costs import model_sizes
    from specviz.host.sweep_work import make_sweep_work
    from specviz.ui.assets import PROMPTS_FOLDER

    parts = ProofParts(start_race, _proofs_once_loaded(models), models.fetch)
    sweeps = make_sweep_work(
        start_race,
        options,
        read_gallery(PROMPTS_FOLDER),
        models.fetch,
        lambda names: model_sizes(names, dtype, quantize),
    )
    return sweeps | {
        "proof": make_read_proof(parts, options),
        "fit": make_fit_reader(options, models.loaded),
        "costs": make_cost_reader(options, models.loaded),
        "doctor": make_doctor_reader(options, models.loaded, models.loaded_head),
    }


def _limits() -> "PageLimits":
    """What visitors may ask for: on Spaces the device is shared with strangers, and what one of
    them fits would be lost with the next start."""
    from specviz.ui.options import PageLimits

    if "SPACE_ID" in os.environ:
        return PageLimits(max_sweep_minutes=2.0, takes_own_prompts=False, allows_fits=False)
    return PageLimits()


def _hub_access(chosen: argparse.Namespace) -> str:
    """What of the hub the page may use, as a `HubAccess`; on Spaces it is the catalogue if nothing
    else was said."""
    if chosen.allow_hub:
        return "any"
    return "catalogue" if chosen.hub_catalogue or "SPACE_ID" in os.environ else "off"


def _hub_door(access: str) -> "HubDoor | None":
    """What lets visitors in to gated models: on Spaces, where signing in was switched on."""
    if access == "off" or not {"SPACE_ID", "OAUTH_CLIENT_ID"} <= os.environ.keys():
        return None
    from specviz.models.hub_door import HubDoor

    return HubDoor()


def _dtype(chosen: argparse.Namespace, device: str, *, is_hub_open: bool) -> str:
    """What all models of the page are computed in. With a graphics card and the hub visitors race
    large models, which is what counts then."""
    from specviz.models.catalogue import DEFAULT_TARGET
    from specviz.models.dtype_choice import AUTO, large_dtype, pick_dtype

    if chosen.dtype == AUTO and is_hub_open and not chosen.target and device.startswith("cuda"):
        return large_dtype(device)
    return pick_dtype(chosen.dtype, device, chosen.target or DEFAULT_TARGET)


def _opening(device: str, dtype: str) -> "PairOption | None":
    """The pair of the hub that the page opens with, downloaded; None for the shipped family."""
    if not device.startswith("cuda"):
        return None
    from specviz.host.opening import opening_pair

    return opening_pair(device, dtype)


def _named_folder(chosen: argparse.Namespace) -> Path | None:
    """Download the models that were named, where that is allowed; the target's folder, if it comes
    from the hub."""
    if not chosen.target or not chosen.allow_hub:
        return None
    from specviz.host.opening import download_named

    return download_named(chosen.target, chosen.draft)


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


def _proofs_once_loaded(models: _Models) -> "StartProof":
    """Make a `start_proof` that waits for the models."""

    def start_proof(
        request: "ProofRequest", should_stop: Callable[[], bool] = bool
    ) -> "Iterator[ProofEvent]":
        while not models.ready.done():
            if should_stop():
                return
            with suppress(TimeoutError):
                models.ready.result(timeout=LOADING_POLL_SECONDS)
        assert models.start_proof is not None
        yield from models.start_proof(request, should_stop)

    return start_proof


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


def _pair(
    target: str, drafts: tuple[str, ...], heads: tuple[str, ...], of_hub: Path | None = None
) -> "PairOption":
    from specviz.models.catalogue import shipped_folder
    from specviz.models.chat import folder_has_chat
    from specviz.models.description import describe_model
    from specviz.models.mtp_form import folder_drafts_itself
    from specviz.trace.reading import read_reading
    from specviz.trace.values import Method
    from specviz.ui.pair_option import PairOption

    folder = of_hub or shipped_folder(target) or _local_folder(target)
    about = describe_model(target, "target", folder) if folder else None
    methods = [Method.DRAFT_MODEL] if drafts else []
    methods += [Method.PROMPT_LOOKUP, Method.EARLY_EXIT]
    methods += [Method.EAGLE3] if heads else []
    methods += [Method.MTP] if folder is not None and folder_drafts_itself(folder) else []
    return PairOption(
        target,
        drafts,
        tuple(methods),
        exits=about.exit_layers if about else (),
        num_parameters=about.num_parameters if about else None,
        reading=read_reading(folder) if folder else None,
        has_chat=folder is not None and folder_has_chat(folder),
        is_hub=of_hub is not None,
        heads=heads,
        translated=_translated(folder, drafts),
    )


def _translated(folder: Path | None, drafts: tuple[str, ...]) -> tuple[str, ...]:
    """Drafts in folders of their own whose tokenizer is another than that of the target's folder;
    what ships, or was fitted, has its target's."""
    from specviz.models.catalogue import has_other_vocabulary

    folders = {name: _local_folder(name) for name in drafts}
    return tuple(
        name
        for name, of_draft in folders.items()
        if folder is not None and of_draft is not None and has_other_vocabulary(folder, of_draft)
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
    head = "EAGLE-3 head to offer, a folder or with --allow-hub a hub id; may be said again"
    parser.add_argument("--head", action="append", metavar="ID", help=head)
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
    allow_hub = "let --target and the page's visitors name any model of the hub"
    parser.add_argument("--allow-hub", action="store_true", help=allow_hub)
    hub_catalogue = "let visitors race the catalogue's pairs, and nothing else of the hub"
    parser.add_argument("--hub-catalogue", action="store_true", help=hub_catalogue)
    return parser


if __name__ == "__main__":
    main()
