"""What of the hub a page uses, by what was set and where it runs."""

from collections.abc import Mapping
from pathlib import Path

from specviz.host.opening import download_named
from specviz.host.settings import HostSettings
from specviz.models.catalogue import DEFAULT_TARGET
from specviz.models.dtype_choice import AUTO, large_dtype, pick_dtype
from specviz.models.hub_door import HubDoor
from specviz.ui.hub_offer import HubAccess


def hub_access(settings: HostSettings, environment: Mapping[str, str]) -> HubAccess:
    """What of the hub the page may use; on Spaces it is the catalogue if nothing else was said."""
    if settings.allow_hub:
        return HubAccess.ANY
    if settings.hub_catalogue or "SPACE_ID" in environment:
        return HubAccess.CATALOGUE
    return HubAccess.OFF


def hub_door(access: HubAccess, environment: Mapping[str, str]) -> HubDoor | None:
    """What lets visitors in to gated models: on Spaces, where signing in was switched on."""
    if access is HubAccess.OFF or not {"SPACE_ID", "OAUTH_CLIENT_ID"} <= environment.keys():
        return None
    return HubDoor()


def page_dtype(settings: HostSettings, device: str, access: HubAccess) -> str:
    """What all models of the page are computed in. With a graphics card and the hub visitors race
    large models, which is what counts then."""
    opens_large = access is not HubAccess.OFF and not settings.target
    if settings.dtype == AUTO and opens_large and device.startswith("cuda"):
        return large_dtype(device)
    return pick_dtype(settings.dtype, device, settings.target or DEFAULT_TARGET)


def named_folder(settings: HostSettings) -> Path | None:
    """Download the models that were named, where that is allowed; the target's folder, if it comes
    from the hub.

    Raises:
        ModelLoadError: A name is none, or the model cannot be had.
    """
    if not settings.target or not settings.allow_hub:
        return None
    return download_named(settings.target, settings.draft)
