"""Gathers what the page offers: the models that ship, that were named, and that were fitted."""

from collections.abc import Sequence
from pathlib import Path

from specviz.errors import ModelLoadError
from specviz.host.page_heads import heads_of_targets
from specviz.models.catalogue import (
    DEFAULT_DRAFT,
    fitted_models,
    has_other_vocabulary,
    listed_models,
    shipped_folder,
    shipped_models,
)
from specviz.models.chat import folder_has_chat
from specviz.models.description import describe_model
from specviz.models.mtp_form import folder_drafts_itself
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
    named_heads: Sequence[str] = (),
    folder: Path | None = None,
    hub: HubOffer | None = None,
    opening: PairOption | None = None,
    limits: PageLimits = LOCAL,
) -> PageOptions:
    """Gather what the page offers: the target that was named, or else all that ship.

    Drafts that were fitted to an offered target are offered too, with what they were before. The
    page opens with `opening`, if it is given. `folder` is that of a named target from the hub.
    EAGLE-3 heads are offered for the targets that they were trained for, `named_heads` first.

    Raises:
        ModelLoadError: no target was named and none ships.
    """
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


def _pair(
    target: str, drafts: tuple[str, ...], heads: tuple[str, ...], of_hub: Path | None = None
) -> PairOption:
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
