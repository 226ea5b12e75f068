"""Brings the files of hub models here that a race lacks, before the race waits for its turn."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from specviz.models.hub_catalogue import known_revision
from specviz.models.hub_downloads import HubDownloads
from specviz.models.location import find_folder
from specviz.trace.values import FetchModels, ModelDownloading, RaceRequest

if TYPE_CHECKING:
    from specviz.models.hub_door import HubDoor


def make_fetch_models(
    is_loaded: Callable[[str], bool],
    downloads: HubDownloads,
    door: "HubDoor | None" = None,
    heads: HubDownloads | None = None,
) -> FetchModels:
    """Make what downloads the models of a race; those that `is_loaded` or lie here cost nothing.

    EAGLE-3 heads, whose files are others, are fetched by `heads`.

    Where visitors sign in, `door` is asked first about every model, also about those that are here.

    The iterator it returns raises ModelLoadError where a model cannot be had.
    """

    def fetch_models(
        request: RaceRequest, should_stop: Callable[[], bool] = bool
    ) -> Iterator[ModelDownloading]:
        models = [name for spec in request.lanes for name in (spec.target, spec.draft) if name]
        own = [spec.head for spec in request.lanes if spec.head and heads is not None]
        names = dict.fromkeys((*models, *own))
        keys = {} if door is None else {name: door.let_in(name) for name in names}
        lacking = [name for name in names if not is_loaded(name) and find_folder(name) is None]
        for number, name in enumerate(lacking, 1):
            fetching = heads if heads is not None and name in own else downloads
            for progress in fetching.follow(
                name, known_revision(name), should_stop, keys.get(name)
            ):
                yield ModelDownloading(name, number, len(lacking), *progress)
            if should_stop():
                return

    return fetch_models
