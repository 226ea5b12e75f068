"""Runs a proof: the lane's own decoder writes, the tally counts, and what was counted is judged."""

import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass

from specviz.decoding.forms import RaceForm
from specviz.decoding.model_runner import ModelRunner
from specviz.decoding.positions import context_of
from specviz.decoding.sampling import SeededChance
from specviz.errors import RequestError
from specviz.models.detokenizer import IncrementalDetokenizer
from specviz.models.source import ModelSource
from specviz.models.threads import choose_threads
from specviz.proof.repeating import OneStream, RewindingRunner
from specviz.proof.statistics import joined
from specviz.proof.tally import CountedCell, Tally
from specviz.proof.text_scores import Text, TextScores
from specviz.race.lanes import build_decoder, build_proposer, encode_prompt
from specviz.race.own_thread import on_own_thread
from specviz.race.validation import check_request
from specviz.race.wiring import load_heads, load_models
from specviz.texts import message
from specviz.trace.proofs import (
    LEVEL,
    MAX_SAMPLES,
    MIN_SAMPLES,
    ContinuationBar,
    Finding,
    Proof,
    ProofEvent,
    ProofProgress,
    ProofRequest,
    StartProof,
    TokenBar,
)
from specviz.trace.values import NUM_TOP, LaneSpec, Method, RaceRequest

NUM_REPORTS = 50
"""Events while a proof runs, where none takes long."""
MAX_SILENT_SECONDS = 0.7
"""After which there is an event in any case: whoever shares the device takes turns between two."""
ALONE = 2**62
"""What the seed of the target's own draws differs by from the lane's."""


def _never() -> bool:
    return False


def make_start_proof(pool: ModelSource) -> StartProof:
    """Make what runs proofs with one pool of models.

    Each runs on a thread of its own. The iterator raises before the first continuation:
        RequestError: The lane cannot be raced as it stands, or there is nothing to draw.
        ModelLoadError: A model cannot be loaded.
        IncompatibleModelError: A model or pair cannot do what the lane asks.
    """

    def start_proof(
        request: ProofRequest, should_stop: Callable[[], bool] = _never
    ) -> Iterator[ProofEvent]:
        return on_own_thread(_prove(pool, request, should_stop))

    return start_proof


def _prove(
    pool: ModelSource, request: ProofRequest, should_stop: Callable[[], bool]
) -> Generator[ProofEvent]:
    _check(request)
    spec = request.lane
    names = [name for name in (spec.target, spec.draft) if name]
    heads = [spec.head] if spec.head else []
    pool.hold(names[0], names[1:] + heads)
    yield from load_models(pool, names, should_stop)
    yield from load_heads(pool, heads, should_stop)
    if pool.device.type == "cpu":
        choose_threads([pool.get(name).model for name in names])
    begun = time.perf_counter()
    setup = _Setup.built(pool, request)
    seed = request.sampling.seed
    lane = build_decoder(
        spec,
        pool,
        setup.race,
        RaceForm(make_runner=RewindingRunner),
        len(setup.prompt_ids),
        OneStream(seed),
    )
    alone = SeededChance(seed ^ ALONE)
    every = max(1, request.num_samples // NUM_REPORTS)
    told_at = begun
    while setup.tally.num_texts < request.num_samples and not should_stop():
        lane.prefill(setup.prompt_ids)
        while lane.stop_reason is None:
            lane.step()
        setup.tally.add(lane.output_ids, setup.draw_alone(alone))
        is_due = time.perf_counter() - told_at > MAX_SILENT_SECONDS
        if is_due or setup.tally.num_texts % every == 0:
            yield setup.progress(request.num_samples)
            told_at = time.perf_counter()
    last = setup.progress(request.num_samples)
    p_value = joined([check.p_value for check in last.checks])
    yield Proof(
        request,
        Finding.DIFFERENT if p_value < LEVEL else Finding.CONSISTENT,
        p_value,
        setup.race.max_new_tokens,
        last,
        time.perf_counter() - begun,
    )


def _check(request: ProofRequest) -> None:
    if request.sampling.temperature == 0:
        raise RequestError(message("refusal.proof_greedy"))
    if request.lane.method is Method.BASELINE:
        raise RequestError(message("refusal.proof_baseline"))
    if not MIN_SAMPLES <= request.num_samples <= MAX_SAMPLES:
        found = str(request.num_samples)
        span = {"low": str(MIN_SAMPLES), "high": str(MAX_SAMPLES)}
        raise RequestError(message("refusal.range", name="samples", **span, found=found))
    check_request(_race_of(request, request.lane.gamma + 2))


def _race_of(request: ProofRequest, num_tokens: int) -> RaceRequest:
    alone = LaneSpec(None, Method.BASELINE, request.lane.target)
    return RaceRequest(
        request.prompt,
        (alone, request.lane),
        request.sampling,
        num_tokens,
        request.uses_chat,
        record_top=False,
    )


@dataclass(slots=True, eq=False)
class _Setup:
    """What stands beside the lane's decoder in a proof."""

    race: RaceRequest
    prompt_ids: tuple[int, ...]
    tally: Tally
    eos_ids: frozenset[int]
    detokenizer: IncrementalDetokenizer

    @classmethod
    def built(cls, pool: ModelSource, request: ProofRequest) -> "_Setup":
        """Encode the prompt and build what measures.

        A shorter text than γ + 2 tokens, which begins a second round whatever was accepted, would
        miss rules that are wrong about the bonus or the caches behind it.
        """
        spec = request.lane
        target = pool.get(spec.target)
        prompt_ids = encode_prompt(_race_of(request, 1), target)
        context = context_of(target.model)
        room = spec.gamma + 2 if context is None else context - len(prompt_ids)
        race = _race_of(request, min(spec.gamma + 2, room))
        form = RaceForm(make_runner=RewindingRunner)
        scores = TextScores(
            ModelRunner(target.model, len(prompt_ids) + race.max_new_tokens),
            build_proposer(spec, pool, race, form, len(prompt_ids)),
            prompt_ids,
            request.sampling,
        )
        tally = Tally(scores, target.eos_ids, race.max_new_tokens)
        detokenizer = IncrementalDetokenizer(target.tokenizer)
        return cls(race, prompt_ids, tally, target.eos_ids, detokenizer)

    def draw_alone(self, chance: SeededChance) -> Text:
        """Let the target alone write a continuation."""
        return self.tally.laws.draw(self.race.max_new_tokens, self.eos_ids, chance)

    def progress(self, num_samples: int) -> ProofProgress:
        """Say how far it is."""
        tally, cells = self.tally, self.tally.cells()
        return ProofProgress(
            tally.num_texts,
            num_samples,
            *tally.total_variation(),
            self._bars(),
            *tally.joint_variation(cells),
            self._continuations(cells),
            tally.check(),
        )

    def _bars(self) -> tuple[TokenBar, ...]:
        law, first = self.tally.next_law, self.tally.first
        likely = law.topk(min(NUM_TOP, len(law))).indices.tolist()
        written = [token for token, _ in first.most_common(NUM_TOP)]
        ids = list(dict.fromkeys([*likely, *written]))
        num_done = max(1, self.tally.num_texts)
        ids.sort(key=lambda token: -max(float(law[token]), first[token] / num_done))
        return tuple(
            TokenBar(
                token,
                self.detokenizer.token_text(token),
                float(law[token]),
                self.tally.first_alone[token],
                first[token],
            )
            for token in ids[:NUM_TOP]
        )

    def _continuations(self, cells: tuple[CountedCell, ...]) -> tuple[ContinuationBar, ...]:
        num_done = max(1, self.tally.num_texts)
        ordered = sorted(cells, key=lambda each: -max(each.prob, each.num_lane / num_done))
        return tuple(
            ContinuationBar(
                each.cell.text,
                self._text_of(each.cell.text),
                each.cell.is_rest,
                each.prob,
                each.num_alone,
                each.num_lane,
            )
            for each in ordered[:NUM_TOP]
        )

    def _text_of(self, ids: Text) -> str:
        """The text of a continuation; a mark that ends it is shown as it is written."""
        self.detokenizer.reset(self.prompt_ids)
        text = "".join(map(self.detokenizer.append, ids))
        ends = ids[-1:] if not self.eos_ids.isdisjoint(ids[-1:]) else ()
        return text + "".join(map(self.detokenizer.token_text, ends))
