"""Gives the page the catalogue of hub pairs, and the way to look at one before its download."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from specviz.models.hub_catalogue import HubCatalogue, HubHead, HubModel, HubPair, read_catalogue
from specviz.ui.hub_offer import (
    HubAccess,
    HubOffer,
    HubPairOption,
    PairAsked,
    PairLook,
    PublishedFigure,
)

if TYPE_CHECKING:
    from specviz.models.hub_door import HubDoor

LoadedBytes = Callable[[str], int]
"""Memory that a model takes already; 0 where it is not loaded."""


def make_hub_offer(
    access: HubAccess,
    device: str,
    dtype: str,
    quantize: str | None,
    loaded_bytes: LoadedBytes,
    door: "HubDoor | None" = None,
) -> HubOffer:
    """Make what the page offers of the hub; nothing asks the hub before a pair is looked at.

    With a `door` visitors may sign in, and have of the gated models what it lets them in to.
    """

    def look(asked: PairAsked) -> PairLook:
        # torch and transformers come with it, and the page answers before they are read.
        from specviz.host.pair_look import look_at_pair
        from specviz.models.head_facts import NamedHeads
        from specviz.models.model_facts import NamedSource

        sources = NamedSource(door=door), NamedHeads(door=door)
        return look_at_pair(asked, device, dtype, quantize, loaded_bytes, *sources)

    catalogue = read_catalogue()
    pairs = tuple(_option(catalogue, pair) for pair in catalogue.pairs)
    return HubOffer(pairs, access, look, takes_sign_in=door is not None)


def _option(catalogue: HubCatalogue, pair: HubPair) -> HubPairOption:
    names = [name for name in (pair.target, pair.draft) if name is not None]
    stored: list[HubModel | HubHead] = [catalogue.models[name] for name in names]
    stored += [] if pair.head is None else [catalogue.heads[pair.head]]
    counted = [each.num_parameters for each in stored if each.num_parameters is not None]
    return HubPairOption(
        target=pair.target,
        draft=pair.draft,
        exits=pair.exit_layers,
        num_parameters=tuple(counted),
        stored_bytes=catalogue.stored_bytes(pair),
        licences=tuple(dict.fromkeys(each.licence for each in stored)),
        is_gated=any(each.is_gated for each in stored),
        story=pair.story,
        published=tuple(
            PublishedFigure(each.figure.value, each.value, each.setting, each.source)
            for each in pair.published
        ),
        is_checked=pair.checked and all(each.checked for each in stored),
        head=pair.head,
    )
