"""Opens the web app: reads what was set, hands races to the page, launches it and loads the models.

`python app.py` serves the shipped pair on this machine, and is what Hugging Face Spaces runs. The
heavy imports stand inside functions, because Gradio and the hub read the environment when imported.
"""

import os
import sys
from collections.abc import Sequence

from specviz.errors import SpecvizError
from specviz.host.settings import HostSettings, is_public, read_settings


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the settings and serve the page until it is interrupted or asked to end.

    The page answers first and the models are loaded next; a race asked for in between waits.
    """
    try:
        settings, is_about_limits = read_settings(arguments, os.environ)
        serves_hub = settings.allow_hub or settings.hub_catalogue or "SPACE_ID" in os.environ
        keep_offline(allow_hub=serves_hub)
        if _log_kind(settings) == "json":
            # Read when the hub's library is imported: a bar is no line of JSON.
            os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
        if is_about_limits:
            _print_limits(settings)
        else:
            _serve(settings)
    except SpecvizError as error:
        sys.exit(str(error))


def keep_offline(*, allow_hub: bool) -> None:
    """Switch off what would call other machines; runs before Gradio and the hub are imported."""
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
    if not allow_hub:
        os.environ["HF_HUB_OFFLINE"] = "1"


def _log_kind(settings: HostSettings) -> str:
    return settings.logs or ("json" if is_public(settings, os.environ) else "text")


def _print_limits(settings: HostSettings) -> None:
    from specviz.models.devices import pick_device
    from specviz.ui.page_limits import limits_table

    in_force = "public" if is_public(settings, os.environ) else "local"
    table = limits_table(pick_device(settings.device))
    sys.stdout.write(f"Limits of both profiles; here {in_force} holds.\n\n{table}\n")


def _serve(settings: HostSettings) -> None:
    from specviz.host.hub_choice import hub_access, hub_door, named_folder, page_dtype
    from specviz.host.hub_pairs import make_hub_offer
    from specviz.host.logs import set_up_logs
    from specviz.host.offers import page_options
    from specviz.host.opening import opening_pair
    from specviz.host.page_models import (
        PageModels,
        load_page_models,
        proof_once_loaded,
        race_once_loaded,
    )
    from specviz.host.page_work import make_page_work
    from specviz.host.proofs import ProofParts
    from specviz.host.serving import PageServer
    from specviz.models.devices import pick_device
    from specviz.models.dtypes import precision_label
    from specviz.ui.hub_offer import HubAccess
    from specviz.ui.page import build_page
    from specviz.ui.page_limits import limits_of

    for_strangers = is_public(settings, os.environ)
    set_up_logs(_log_kind(settings))
    access = hub_access(settings, os.environ)
    allow_hub = access is not HubAccess.OFF
    device = pick_device(settings.device)
    dtype = page_dtype(settings, device, access)
    models = PageModels(door=hub_door(access, os.environ))
    held = (device, dtype, settings.quantize)
    hub = make_hub_offer(access, *held, models.loaded_bytes, models.door)
    opens_with_hub = allow_hub and not settings.target
    options = page_options(
        settings.target,
        settings.draft,
        device,
        precision_label(dtype, settings.quantize),
        named_heads=settings.head,
        folder=named_folder(settings),
        hub=hub,
        opening=opening_pair(device, dtype) if opens_with_hub else None,
        limits=limits_of(is_public=for_strangers, device=device),
    )
    start_race = race_once_loaded(models)
    parts = ProofParts(start_race, proof_once_loaded(models), models.fetch)
    held_models = (models.loaded, models.loaded_head)
    work = make_page_work(parts, options, *held_models, dtype, settings.quantize)
    server = PageServer(
        models.health,
        settings.port,
        settings.address,
        settings.frames,
        is_behind_proxy=settings.behind_proxy or "SPACE_ID" in os.environ,
    )
    page = build_page(start_race, options, models.check, models.fetch, work, server.ending)
    server.serve(
        page,
        options,
        lambda: load_page_models(
            models, options, dtype=dtype, quantize=settings.quantize, allow_hub=allow_hub
        ),
    )


if __name__ == "__main__":
    main()
