"""Gathers what the page offers: the models that ship, that were named, and that were fitted."""

from pathlib import Path

from specviz.errors import ModelLoadError
from specviz.models.catalogue import (
    DEFAULT_DRAFT,
    fitted_models,
    listed_models,
    shipped_folder,
    shipped_models,
)
from specviz.models.chat import folder_has_chat
from specviz.models.description import describe_model
from specviz.trace.fits import find_fitted
from specviz.trace.reading import read_reading
from specviz.trace.values import Method
from specviz.ui.hub_offer import HubOffer
from specviz.ui.options import PageOptions
from specviz.ui.page_limits import LOCAL, PageLimits
from specviz.ui.pair_option import PairOption


def page_options(
    target: str | None,
    draft: str | None,
    device: str,
    dtype: str,
    *,
    folder: Path | None = None,
    hub: HubOffer | None = None,
    opening: PairOption | None = None,
    limits: PageLimits = LOCAL,
) -> PageOptions:
    """Gather what the page offers: the target that was named, or else all that ship.

    Drafts that were fitted to an offered target are offered too, with what they were before. The
    page opens with `opening`, if it is given. `folder` is that of a named target from the hub.

    Raises:
        ModelLoadError: no target was named and none ships.
    """
    known = (*shipped_models(), *fitted_models())
    fitted, problems = find_fitted({model.name: model.folder for model in known})
    offers = {target: [draft] if draft else []} if target else _shipped_offers()
    pairs = [opening] if opening else []
    for name, drafts in offers.items():
        fits = [each for each in fitted if each.fit.target == name]
        more = [each for fit in fits for each in (fit.before, fit.name) if each]
        pairs.append(_pair(name, tuple(dict.fromkeys([*drafts, *more])), folder))
    return PageOptions(
        tuple(pairs), device, dtype, limits, fitted=fitted, fit_problems=problems, hub=hub
    )


def _shipped_offers() -> dict[str, list[str]]:
    """The shipped targets, each with the drafts that are listed, the default one first."""
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


def _pair(target: str, drafts: tuple[str, ...], of_hub: Path | None = None) -> PairOption:
    folder = of_hub or shipped_folder(target) or _local_folder(target)
    about = describe_model(target, "target", folder) if folder else None
    methods = (Method.DRAFT_MODEL, Method.PROMPT_LOOKUP, Method.EARLY_EXIT)
    return PairOption(
        target,
        drafts,
        methods if drafts else methods[1:],
        exits=about.exit_layers if about else (),
        num_parameters=about.num_parameters if about else None,
        reading=read_reading(folder) if folder else None,
        has_chat=folder is not None and folder_has_chat(folder),
        is_hub=of_hub is not None,
    )


def _local_folder(target: str) -> Path | None:
    """The folder that a target is named by, where it holds a model; None for a hub id."""
    folder = Path(target).expanduser()
    return folder if (folder / "config.json").is_file() else None
