"""Runs our lanes and transformers' `generate()` in turn: same process, models, ids and threads.

Ours is timed by the lane's own clock, which every race reports, and once more by the clock on the
wall, with the recording of the trace. On both sides the first output is not counted, since on their
side it holds the reading of the prompt.
"""

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from specviz.bench.repeats import Comparison, quartiles, take_turns
from specviz.errors import RequestError
from specviz.trace.names import METHOD_NAMES
from specviz.trace.values import LaneSpec, Method, RaceRequest

if TYPE_CHECKING:
    from specviz.decoding.decoder import Decoder
    from specviz.models.loading import ModelPool

MIN_TIMED_TOKENS = 8


@dataclass(frozen=True, slots=True)
class LaneRun:
    """One run of one contender."""

    ids: tuple[int, ...]
    num_timed: int
    """Tokens after the first output."""
    clock_ms: float
    """What they took by the lane's own clock."""
    wall_ms: float


def compare_with_transformers(
    request: RaceRequest, device: str, dtype: str, num_turns: int, quantize: str | None = None
) -> tuple[Comparison, ...]:
    """Hold the baseline against plain `generate()`, the draft-model lane against the assisted one.

    Raises: RequestError for sampling, for a race without a draft model or with one of another
    tokenizer, for too short a text.
    """
    if request.sampling.temperature != 0:
        raise RequestError("--against compares greedy decoding; leave out --temperature")
    drafting = [lane for lane in request.lanes if lane.method is Method.DRAFT_MODEL]
    if not drafting:
        raise RequestError("--against needs a lane with the method draft-model")
    baseline, speculative = request.lanes[0], drafting[0]
    pool = partial(_open_pool, device, dtype, quantize)
    turns = take_turns(_runs(request, baseline, speculative, pool), num_turns)
    return (
        _comparison(baseline, "generate()", turns["baseline"], turns["plain"]),
        _comparison(
            speculative, "generate(assistant_model=…)", turns["drafting"], turns["assisted"]
        ),
    )


def _open_pool(device: str, dtype: str, quantize: str | None) -> "ModelPool":
    # Imported here, so that help and refusals do not wait for torch.
    from specviz.models.loading import ModelPool

    return ModelPool(device, dtype, quantize=quantize)


def _runs(
    request: RaceRequest,
    baseline: LaneSpec,
    speculative: LaneSpec,
    open_pool: Callable[[], "ModelPool"],
) -> dict[str, Callable[[], LaneRun]]:
    # Imported here, so that help and refusals do not wait for torch.
    from transformers.utils import logging

    from specviz.models.reference import run_generate
    from specviz.models.threads import choose_threads
    from specviz.race.lanes import build_decoder, encode_prompt
    from specviz.race.translations import translation_of
    from specviz.race.validation import check_request

    check_request(request)
    # The assisted generate() warns about how it calls itself.
    logging.set_verbosity_error()
    if not sys.stderr.isatty():
        logging.disable_progress_bar()
    pool = open_pool()
    assert speculative.draft is not None
    target, draft = pool.get(baseline.target), pool.get(speculative.draft)
    if pool.device.type == "cpu":
        # As every race does: with a thread too many generate() would lose more than our lanes.
        choose_threads([target.model, draft.model])
    if translation_of(speculative, target, draft, request.sampling) is not None:
        raise RequestError(
            f"--against compares drafts that have their target's tokenizer; {draft.name} has "
            f"another than {target.name}"
        )
    prompt_ids = encode_prompt(request, target)
    decoders = [build_decoder(spec, pool, request) for spec in (baseline, speculative)]

    def theirs(is_assisted: bool) -> LaneRun:
        options = (draft, speculative.gamma) if is_assisted else ()
        run = run_generate(target, prompt_ids, request.max_new_tokens, *options)
        return LaneRun(run.ids, run.num_timed, run.timed_ms, run.timed_ms)

    return {
        "plain": lambda: theirs(is_assisted=False),
        "baseline": lambda: run_lane(decoders[0], prompt_ids),
        "assisted": lambda: theirs(is_assisted=True),
        "drafting": lambda: run_lane(decoders[1], prompt_ids),
    }


def run_lane(decoder: "Decoder", prompt_ids: Sequence[int]) -> LaneRun:
    """Run one lane by itself to its end; its first round is not timed."""
    decoder.prefill(prompt_ids)
    decoder.step()
    num_first = len(decoder.output_ids)
    clock_ms, begun = 0.0, time.perf_counter()
    while decoder.stop_reason is None:
        clock_ms += decoder.step().ms
    wall_ms = (time.perf_counter() - begun) * 1000.0
    return LaneRun(decoder.output_ids, len(decoder.output_ids) - num_first, clock_ms, wall_ms)


def _comparison(
    lane: LaneSpec, reference: str, ours: list[LaneRun], theirs: list[LaneRun]
) -> Comparison:
    num_tokens = min(run.num_timed for run in [*ours, *theirs])
    if num_tokens < MIN_TIMED_TOKENS:
        raise RequestError(
            f"the text ends too early to be timed ({num_tokens} tokens after the first output, at "
            f"least {MIN_TIMED_TOKENS} are needed); take another prompt or more --max-new-tokens"
        )
    our_rates = [_rate(run.num_timed, run.clock_ms) for run in ours]
    their_rates = [_rate(run.num_timed, run.wall_ms) for run in theirs]
    wall_rates = [_rate(run.num_timed, run.wall_ms) for run in ours]
    ratios = [mine / other for mine, other in zip(our_rates, their_rates, strict=True)]
    return Comparison(
        name=METHOD_NAMES[lane.method],
        reference=reference,
        gamma=lane.gamma,
        num_tokens=num_tokens,
        is_same_text=all(run.ids == ours[0].ids for run in [*ours, *theirs]),
        ours=quartiles(our_rates),
        ours_with_recording=quartiles(wall_rates),
        theirs=quartiles(their_rates),
        ratio=quartiles(ratios),
    )


def _rate(num_tokens: int, milliseconds: float) -> float:
    """Tokens a second; 0 where nothing was timed."""
    return 1000.0 * num_tokens / milliseconds if milliseconds else 0.0
