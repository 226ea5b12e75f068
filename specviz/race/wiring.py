"""Wires models, lanes and race into the one callable that command line and page are given."""

import gc
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import replace
from functools import cache

from specviz.decoding.forms import Compile, Forms, RaceForm
from specviz.decoding.noise import LogitNoise
from specviz.decoding.prompt_score import mean_log_prob
from specviz.errors import FullMemoryError
from specviz.models.chat import has_chat_template
from specviz.models.environment import describe_environment
from specviz.models.loading import LoadedModel
from specviz.models.source import ModelSource
from specviz.models.threads import choose_threads
from specviz.race.eagle_heads import read_head
from specviz.race.full_memory import GuardedDecoder, MemoryGuard
from specviz.race.lanes import build_decoder, encode_prompt
from specviz.race.own_thread import on_own_thread
from specviz.race.race import run_race
from specviz.race.translations import translation_of
from specviz.race.validation import check_request
from specviz.trace.values import (
    Event,
    Form,
    LaneSpec,
    ModelLoading,
    RaceRequest,
    Sampling,
    StartRace,
    TraceRequest,
)


def _never() -> bool:
    return False


def make_start_race(
    pool: ModelSource, wish: Compile = Compile.AUTO, max_prompt_tokens: int | None = None
) -> StartRace:
    """Make the `start_race` of one pool of models, in the form that `wish` and the device allow.

    `max_prompt_tokens` refuses longer prompts; None allows what the target reads.

    Models that are not loaded yet are announced one by one. Each race runs on a thread of its own,
    `should_stop` included, one event at a time as they are asked for. The iterator it returns
    raises before the race has begun:
        RequestError: The request cannot be raced as it stands, or not in the memory that is free.
        ModelLoadError: A model cannot be loaded.
        IncompatibleModelError: A model or pair cannot do what a lane asks.
    """
    noise, forms = _MeasuredNoise(), Forms.on(pool.device, wish)

    def start_race(
        request: RaceRequest, should_stop: Callable[[], bool] = _never
    ) -> Iterator[Event]:
        return on_own_thread(_race(pool, noise, forms, request, should_stop, max_prompt_tokens))

    return start_race


def make_check_request(
    pool: ModelSource, max_prompt_tokens: int | None = None
) -> Callable[[RaceRequest], None]:
    """Make what says before a race waits for its turn that its prompt cannot be raced.

    It only looks at models that are loaded, and raises:
        PromptError: The prompt holds no token or an unknown one, or is too long for the target.
    """

    def check(request: RaceRequest) -> None:
        name = request.lanes[0].target
        if pool.has(name):
            encode_prompt(request, pool.get(name), max_prompt_tokens)

    return check


def _race(
    pool: ModelSource,
    noise: "_MeasuredNoise",
    forms: Forms,
    request: RaceRequest,
    should_stop: Callable[[], bool],
    max_prompt_tokens: int | None,
) -> Generator[Event]:
    check_request(request)
    names = [name for spec in request.lanes for name in (spec.target, spec.draft) if name]
    names = list(dict.fromkeys(names))
    heads = list(dict.fromkeys(spec.head for spec in request.lanes if spec.head))
    pool.hold(names[0], names[1:] + heads)
    noise.forget(lambda name: not pool.has(name))
    loaded_before = [name for name in names if pool.has(name)]
    try:
        yield from load_models(pool, names, should_stop)
        yield from load_heads(pool, heads, should_stop)
    except FullMemoryError:
        pool.let_go(name for name in names if name not in loaded_before)
        raise
    target = pool.get(request.lanes[0].target)
    prompt_ids = encode_prompt(request, target, max_prompt_tokens)
    models = [pool.get(name).model for name in names]
    num_threads = choose_threads(models) if pool.device.type == "cpu" else None
    guard = MemoryGuard(pool, len(request.lanes), len(prompt_ids) + request.max_new_tokens)
    with guard.guarding():
        lanes = tuple(_as_read(spec, pool, target, request.sampling) for spec in request.lanes)
        form = forms.of_race(models, lanes)
        decoders = [
            GuardedDecoder(build_decoder(spec, pool, request, form, len(prompt_ids)), guard)
            for spec in lanes
        ]
        logit_noise = noise.of(target, lanes, num_threads, form)
        prompt_log_prob = mean_log_prob(target.model, prompt_ids)
    shared = TraceRequest(
        request.prompt,
        prompt_ids,
        request.max_new_tokens,
        request.sampling,
        prompt_log_prob,
        request.uses_chat and has_chat_template(target.tokenizer),
    )
    place = describe_environment(pool.device, pool.dtype, logit_noise, form.form, form.reason)
    try:
        yield from run_race(lanes, decoders, shared, place, should_stop)
    finally:
        form.give_back()


def _as_read(
    spec: LaneSpec, pool: ModelSource, target: LoadedModel, sampling: Sampling
) -> LaneSpec:
    """Note with a lane how its head is read where that is not as its files state, and how its draft
    is translated where that has another tokenizer."""
    if spec.draft is not None:
        translation = translation_of(spec, target, pool.get(spec.draft), sampling)
        return replace(spec, translation=translation)
    if spec.head is None or spec.head_reading is not None:
        return spec
    diagnosis = read_head(pool.get_head(spec.head), target).diagnosis
    if diagnosis is None or diagnosis.is_as_stated:
        return spec
    return replace(spec, head_reading=diagnosis.used.text)


class _MeasuredNoise:
    """The rounding noise of targets, measured once for each form and number of threads."""

    def __init__(self) -> None:
        self._measured: dict[tuple[str, int | None, Form], LogitNoise] = {}

    def forget(self, is_gone: Callable[[str], bool]) -> None:
        """Let go of targets that the pool has let go: what measures them holds their models."""
        self._measured = {key: each for key, each in self._measured.items() if not is_gone(key[0])}

    def of(
        self,
        target: LoadedModel,
        lanes: Iterable[LaneSpec],
        num_threads: int | None,
        form: RaceForm,
    ) -> float:
        """Return the largest noise of the blocks that these lanes verify, in their race's form."""
        key = (target.name, num_threads, form.form)
        if key not in self._measured:
            self._measured[key] = LogitNoise(target.model)
            # Loaded modules and weights live as long as the process: keep the collector off them.
            gc.collect()
            gc.freeze()
        noise = self._measured[key]
        make_runner = cache(form.make_runner)
        # Of a tree the target reads all nodes at once.
        lengths = {1 + (spec.budget or spec.gamma) for spec in lanes if spec.gamma}
        return max(noise.of_blocks(length, make_runner) for length in lengths)


def load_models(
    pool: ModelSource, names: Iterable[str], should_stop: Callable[[], bool] = _never
) -> Iterator[ModelLoading]:
    """Load those of the models that are not loaded yet, and announce each before it is read.

    Raises:
        ModelLoadError: A model cannot be loaded, or `should_stop` ended its download.
    """
    missing = [name for name in names if not pool.has(name)]
    for number, name in enumerate(missing, 1):
        yield ModelLoading(name, number, len(missing))
        pool.get(name, should_stop=should_stop)


def load_heads(
    pool: ModelSource, names: Iterable[str], should_stop: Callable[[], bool] = _never
) -> Iterator[ModelLoading]:
    """Read those of the EAGLE-3 heads that are not read yet, and announce each before.

    Raises:
        ModelLoadError: One cannot be read, or `should_stop` ended its download.
    """
    missing = [name for name in names if not pool.has_head(name)]
    for number, name in enumerate(missing, 1):
        yield ModelLoading(name, number, len(missing))
        pool.get_head(name, should_stop=should_stop)
