"""Brings the files of hub models here that a race lacks, before the race waits for its turn."""

from collections.abc import Callable, Iterator

from specviz.models.hub_catalogue import known_revision
from specviz.models.hub_downloads import HubDownloads
from specviz.models.location import find_folder
from specviz.trace.values import FetchModels, ModelDownloading, RaceRequest


def make_fetch_models(is_loaded: Callable[[str], bool], downloads: HubDownloads) -> FetchModels:
    """Make what downloads the models of a race; those that `is_loaded` or lie here cost nothing.

    The iterator it returns raises ModelLoadError where a model cannot be had.
    """

    def fetch_models(
        request: RaceRequest, should_stop: Callable[[], bool] = bool
    ) -> Iterator[ModelDownloading]:
        names = dict.fromkeys(
            name for spec in request.lanes for name in (spec.target, spec.draft) if name
        )
        lacking = [name for name in names if not is_loaded(name) and find_folder(name) is None]
        for number, name in enumerate(lacking, 1):
            for progress in downloads.follow(name, known_revision(name), should_stop):
                yield ModelDownloading(name, number, len(lacking), *progress)
            if should_stop():
                return

    return fetch_models
