"""Wires models, lanes and race into the one callable that command line and page are given."""

import gc
from collections.abc import Callable, Iterable, Iterator

from specviz.decoding.noise import measure_logit_noise
from specviz.models.environment import describe_environment
from specviz.models.loading import ModelPool
from specviz.models.threads import choose_threads
from specviz.race.lanes import build_decoder, encode_prompt
from specviz.race.race import run_race
from specviz.race.validation import check_request
from specviz.trace.values import Event, ModelLoading, RaceRequest, StartRace, TraceRequest


def _never() -> bool:
    return False


def make_start_race(pool: ModelPool) -> StartRace:
    """Make the `start_race` of one pool of models.

    Models that are not loaded yet are announced one by one. The iterator it returns raises before
    the race has begun:
        RequestError: The request cannot be raced as it stands.
        ModelLoadError: A model cannot be loaded.
        IncompatibleModelError: A model or pair cannot do what a lane asks.
    """
    noise: dict[str, float] = {}

    def start_race(
        request: RaceRequest, should_stop: Callable[[], bool] = _never
    ) -> Iterator[Event]:
        check_request(request)
        names = [name for spec in request.lanes for name in (spec.target, spec.draft) if name]
        names = list(dict.fromkeys(names))
        yield from load_models(pool, names)
        target = pool.get(request.lanes[0].target)
        prompt_ids = encode_prompt(request, target)
        if pool.device.type == "cpu":
            choose_threads([pool.get(name).model for name in names])
        decoders = [build_decoder(spec, pool, request) for spec in request.lanes]
        if target.name not in noise:
            noise[target.name] = measure_logit_noise(target.model)
            # Loaded modules and weights live as long as the process: keep the collector off them.
            gc.collect()
            gc.freeze()
        yield from run_race(
            request.lanes,
            decoders,
            TraceRequest(request.prompt, prompt_ids, request.max_new_tokens, request.sampling),
            describe_environment(pool.device, pool.dtype, noise[target.name]),
            should_stop,
        )

    return start_race


def load_models(pool: ModelPool, names: Iterable[str]) -> Iterator[ModelLoading]:
    """Load those of the models that are not loaded yet, and announce each before it is read.

    Raises:
        ModelLoadError: A model cannot be loaded.
    """
    missing = [name for name in names if not pool.has(name)]
    for number, name in enumerate(missing, 1):
        yield ModelLoading(name, number, len(missing))
        pool.get(name)
