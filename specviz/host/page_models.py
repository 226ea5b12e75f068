"""Holds the models of the page while they are loaded, and what races them once they are.

The page answers before its models are there; a race or proof asked for in between waits for them.
torch and transformers are imported by what loads them, after the page has answered.
"""

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import Future, TimeoutError
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from specviz.errors import SpecvizError
from specviz.trace.proofs import ProofEvent, ProofRequest, StartProof
from specviz.trace.values import (
    Event,
    FetchModels,
    ModelDownloading,
    ModelLoading,
    RaceRequest,
    StartRace,
)
from specviz.ui.options import PageOptions

if TYPE_CHECKING:
    from specviz.models.eagle_head import LoadedHead
    from specviz.models.hub_door import HubDoor
    from specviz.models.loading import LoadedModel, ModelPool

LOADING_POLL_SECONDS = 0.1
_log = logging.getLogger(__name__)


@dataclass
class PageModels:
    """The models of the page while they are loaded, and what races them once they are."""

    ready: Future[StartRace] = field(default_factory=Future)
    start_proof: StartProof | None = None
    """Runs proofs; None before the models are there."""
    loading: ModelLoading | None = None
    """The one that is being read now."""
    check_loaded: Callable[[RaceRequest], None] | None = None
    """Refuses what the loaded models cannot race; None before they are there."""
    pool: "ModelPool | None" = None
    """Where models are loaded to; None before it is there."""
    fetch_lacking: FetchModels | None = None
    """Downloads what a race lacks; None before the pool is there."""
    door: "HubDoor | None" = None
    """Who may have gated models; None where nobody signs in."""

    def check(self, request: RaceRequest) -> None:
        """Refuse a request as soon as the models can tell."""
        if self.check_loaded is not None:
            self.check_loaded(request)

    def fetch(
        self, request: RaceRequest, should_stop: Callable[[], bool] = bool
    ) -> Iterator[ModelDownloading]:
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

    def health(self) -> dict[str, Any]:
        """Say whether races can run, and which model is being read where they cannot yet."""
        is_ready = self.ready.done()
        loading = None if is_ready or self.loading is None else self.loading.model
        return {"is_ready": is_ready, "models": "loaded" if is_ready else "loading"} | (
            {"loading": loading} if loading else {}
        )


def load_page_models(
    models: PageModels,
    options: PageOptions,
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
            _log.warning("%s", error)
    most = options.limits.max_prompt_tokens
    models.check_loaded = make_check_request(pool, most)
    models.start_proof = make_start_proof(pool)
    models.ready.set_result(make_start_race(pool, max_prompt_tokens=most))


def race_once_loaded(models: PageModels) -> StartRace:
    """Make a `start_race` that waits for the models, and says which one it waits for."""

    def start_race(request: RaceRequest, should_stop: Callable[[], bool] = bool) -> Iterator[Event]:
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


def proof_once_loaded(models: PageModels) -> StartProof:
    """Make a `start_proof` that waits for the models."""

    def start_proof(
        request: ProofRequest, should_stop: Callable[[], bool] = bool
    ) -> Iterator[ProofEvent]:
        while not models.ready.done():
            if should_stop():
                return
            with suppress(TimeoutError):
                models.ready.result(timeout=LOADING_POLL_SECONDS)
        assert models.start_proof is not None
        yield from models.start_proof(request, should_stop)

    return start_proof
