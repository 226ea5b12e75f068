"""A seeded race without a model: plausible events with real shapes, for tests of the page."""

import math
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from specviz.errors import PromptError
from specviz.texts import message
from specviz.trace.fits import FittedDraft, read_fit
from specviz.trace.reading import Beginnings, Reading
from specviz.trace.values import (
    DraftToken,
    EmittedToken,
    Environment,
    Event,
    LaneFinished,
    LaneSpec,
    LaneTrace,
    Method,
    Outcome,
    RaceFinished,
    RaceRequest,
    RaceStarted,
    Round,
    RoundFinished,
    Source,
    StopReason,
    TopToken,
    Trace,
    TraceRequest,
    Tree,
)
from specviz.ui.hub_offer import (
    HubAccess,
    HubOffer,
    HubPairOption,
    PairAsked,
    PairLook,
    PublishedFigure,
)
from specviz.ui.options import PageOptions
from specviz.ui.page_limits import LOCAL
from specviz.ui.pair_option import PairOption, hub_option
from specviz.ui.race_queue import Place, RaceQueue

WORDS = (
    " the", " fox", " ran", " over", " a", " hill", ",", " and", " it", " saw", " one", " bird",
    ".", "\n", " She", " said", ' "', "Hello", '"', " to", " her", " small", " friend", " who",
)  # fmt: skip
SLOWER = {"slow": 16, "steady": 60, "endless": 250}
"""How much longer the pauses are where the prompt has one of these words."""
NUM_QUICK = 20
"""The rounds with which an endless race begins are as quick as any: no test waits for them."""
MISFIT = 0.45
"""How much more seldom the draft "fake-misfit" is right."""
HOSTILE = (' <img src=x onerror="window.hacked=1">', " ${6*7}", " {{7*7}}", " </span><b>", " &amp;")

ENVIRONMENT = Environment(
    device="cpu",
    device_name="a processor of the tests",
    dtype="float32",
    num_threads=2,
    torch="0",
    transformers="0",
    specviz="0",
    recorded_at="2026-01-01T00:00:00Z",
    logit_noise=1e-5,
)
READING = Reading(("stories",), ("en",), (0.01, 0.5), (Beginnings(1, 300, (-6.0, -1.0)),))
FIT = read_fit(Path(__file__).parent / "fixtures" / "fit_v1.json")
HUB_PAIR = HubPairOption(
    target="fake/target-7B",
    draft="fake/draft-0.5B",
    exits=(),
    num_parameters=(7_600_000_000, 494_000_000),
    stored_bytes=16_200_000_000,
    licences=("Apache-2.0",),
    is_gated=False,
    story={"en": "A pair that many run.", "es": "Una pareja que muchos usan."},
    published=(PublishedFigure("speedup", 1.72, "one graphics card", "a paper"),),
    is_checked=False,
)


def look_at_pair(asked: PairAsked) -> PairLook:
    """Find one thing of each kind; a target called "unfit" is refused."""
    short = {"model": asked.target, "reason": "it is unfit"}
    findings = [
        ("ok", message("pair.special_equal")),
        ("warn", message("pair.mixture", target=asked.target)),
    ]
    if "unfit" in asked.target:
        problem = message("pair.refused", problem=message("refusal.not_loaded", **short))
        return PairLook((*findings, ("refuse", problem)), 0, None)
    option = hub_option(asked.target, asked.draft, (), 7_600_000_000, has_chat=True)
    return PairLook(tuple(findings), 16_200_000_000, option)


OPTIONS = PageOptions(
    pairs=(
        PairOption(
            "fake-target",
            ("fake-draft", "fake-draft-small", "fake-misfit", "fake-refit"),
            (Method.DRAFT_MODEL, Method.PROMPT_LOOKUP, Method.EARLY_EXIT),
            (4, 8),
            num_parameters=5_600_000,
            reading=Reading(
                ("stories",), ("en",), (0.01, 0.5), (Beginnings(1, 300, (-6.0, -1.0)),)
            ),
        ),
    ),
    device=ENVIRONMENT.device_name,
    dtype=ENVIRONMENT.dtype,
    fitted=(FittedDraft("fake-refit", "fake-misfit", FIT),),
    fit_problems=("fitted/broken: fit.json: target is missing.",),
    hub=HubOffer((HUB_PAIR,), HubAccess.ANY, look_at_pair),
    limits=replace(LOCAL, max_prompt_chars=2_000, max_new_tokens=192),
)


def alone() -> Place:
    """Give the place of a race behind which nobody waits."""
    lanes = (LaneSpec(None, Method.BASELINE, "fake-target"),) * 2
    place = RaceQueue(0).join(RaceRequest("", lanes))
    assert place is not None
    return place


@dataclass
class _Lane:
    """A lane that is being made up."""

    spec: LaneSpec
    rounds: list[Round] = field(default_factory=list)
    num_emitted: int = 0
    ms: float = 0.0
    stop_reason: StopReason | None = None


def check_request(request: RaceRequest) -> None:
    """Refuse the prompt "refuse", as loaded models would."""
    if request.prompt == "refuse":
        values = {"tokens": 900, "target": "fake-target", "context": 512}
        raise PromptError(message("refusal.prompt_too_long", **values))


class FakeRace:
    """A `start_race` whose every lane writes the same words, and guesses right by a fair coin."""

    def __init__(
        self, words: tuple[str, ...] = WORDS, hit: float = 0.72, pause: float = 0.004
    ) -> None:
        self._words = words
        self._hit = hit
        self._pause = pause
        self.num_closed = 0

    def __call__(
        self, request: RaceRequest, should_stop: Callable[[], bool] = lambda: False
    ) -> Iterator[Event]:
        """Yield the events of a made-up race; the prompt "refuse" is refused, one with "far" is
        improbable."""
        check_request(request)
        log_prob = -9.0 if "far" in request.prompt else -1.0
        asked = (request.max_new_tokens, request.sampling)
        shared = TraceRequest(request.prompt, (1, 2, 3, 4, 5), *asked, log_prob)
        lanes = [_Lane(spec) for spec in request.lanes]
        coin = random.Random(request.sampling.seed)
        try:
            yield RaceStarted(shared, ENVIRONMENT, request.lanes, tuple(5.0 for _ in lanes))
            yield from self._run(request, lanes, coin, should_stop)
            traces = tuple(
                LaneTrace(x.spec, 5.0, tuple(x.rounds), x.stop_reason, None)
                for x in lanes
                if x.stop_reason
            )
            yield RaceFinished(Trace(shared, ENVIRONMENT, traces))
        finally:
            self.num_closed += 1

    def _run(
        self,
        request: RaceRequest,
        lanes: list[_Lane],
        coin: random.Random,
        should_stop: Callable[[], bool],
    ) -> Iterator[Event]:
        slower = max((SLOWER[word] for word in SLOWER if word in request.prompt), default=1)
        num_quick = NUM_QUICK if "endless" in request.prompt else 0
        while running := [lane for lane in lanes if lane.stop_reason is None]:
            lane = min(running, key=lambda each: each.ms)
            index = lanes.index(lane)
            if should_stop():
                lane.stop_reason = StopReason.CANCELLED
                yield LaneFinished(index, lane.stop_reason, None)
                continue
            round_ = self._round(lane, request, coin)
            lane.rounds.append(round_)
            lane.num_emitted += len(round_.emitted)
            lane.ms += round_.ms
            is_quick = sum(len(each.rounds) for each in lanes) <= num_quick
            time.sleep(self._pause * (1 if is_quick else slower))
            yield RoundFinished(index, round_)
            if lane.num_emitted >= request.max_new_tokens:
                lane.stop_reason = StopReason.LENGTH
                yield LaneFinished(index, lane.stop_reason, None)

    def _round(self, lane: _Lane, request: RaceRequest, coin: random.Random) -> Round:
        rest = request.max_new_tokens - lane.num_emitted
        gamma = 0 if lane.spec.method is Method.BASELINE else min(lane.spec.gamma, rest - 1)
        greedy = request.sampling.temperature == 0.0
        drafted = self._drafts(lane, gamma, coin, greedy)
        emitted: list[EmittedToken] = []
        for token in drafted:
            if token.outcome is Outcome.ACCEPTED:
                word = self._word(lane.num_emitted + len(emitted))
                emitted.append(_emit(word, Source.DRAFT, greedy, token.target_prob))
        source = _source_after(drafted)
        last = _emit(self._word(lane.num_emitted + len(emitted)), source, greedy, 0.61)
        if source is not Source.CORRECTION:
            last = EmittedToken(*_fields(last), top_target=self._top(last.text, 0.61, coin))
        emitted.append(last)
        return Round(
            index=len(lane.rounds),
            position=lane.num_emitted,
            gamma=gamma,
            drafted=tuple(drafted),
            emitted=tuple(emitted),
            draft_ms=1.1 * gamma + coin.random() * 0.2,
            verify_ms=(9.0 if gamma else 8.0) + coin.random(),
            other_ms=0.1,
        )

    def _drafts(
        self, lane: _Lane, gamma: int, coin: random.Random, greedy: bool
    ) -> list[DraftToken]:
        """Guess a chain, or a tree that branches below what was kept and goes on below one more."""
        hit = self._hit * (MISFIT if lane.spec.draft == "fake-misfit" else 1)
        is_tree = lane.spec.tree is not Tree.NONE
        branches, budget = (lane.spec.branches, lane.spec.budget) if is_tree else (1, gamma)
        drafted: list[DraftToken] = []
        kept: int | None = -1
        parents = [-1]
        for level in range(gamma):
            word, below = self._word(lane.num_emitted + level), []
            grown, kept = kept, None
            for parent in parents:
                is_reached = parent == grown
                width = branches if is_reached or parent == parents[0] else 1
                turn = 0 if not is_tree else min(coin.randrange(width), coin.randrange(width))
                right = turn if is_reached and coin.random() <= hit else None
                for rank in range(min(width, budget - len(drafted))):
                    outcome = Outcome.DISCARDED
                    if is_reached and kept is None:
                        outcome = Outcome.ACCEPTED if rank == right else Outcome.REJECTED
                    shown = word if rank == right else self._word(coin.randrange(90) + 1)
                    drafted.append(self._draft(shown, parent, outcome, coin, greedy))
                    below.append(len(drafted) - 1)
                    if outcome is Outcome.ACCEPTED:
                        kept = below[-1]
            parents = ([below[0]] if below else []) + ([] if kept in (None, *below[:1]) else [kept])
        return drafted

    def _draft(
        self, word: str, parent: int, outcome: Outcome, coin: random.Random, greedy: bool
    ) -> DraftToken:
        judged = outcome is not Outcome.DISCARDED
        draft_prob = 0.35 + 0.5 * coin.random()
        target_prob = draft_prob * (0.4 + coin.random()) if outcome is Outcome.ACCEPTED else 0.12
        target_prob = min(0.97, target_prob)
        accept = min(1.0, target_prob / draft_prob)
        low, high = (0.0, accept) if outcome is Outcome.ACCEPTED else (accept, 1.0)
        draw = low + (high - low) * coin.random()
        if greedy:
            accept = float(outcome is Outcome.ACCEPTED)
        return DraftToken(
            id=_id_of(word),
            text=word,
            parent=parent,
            outcome=outcome,
            draft_prob=draft_prob,
            target_prob=target_prob if judged else None,
            accept_prob=accept if judged else None,
            draw=draw if judged and not greedy else None,
            overlap=0.7 if judged and not greedy else None,
            top_draft=self._top(word, draft_prob, coin) if judged else (),
            top_target=self._top(word, target_prob, coin) if judged else (),
            top_residual=(
                self._top(self._word(3), 0.5, coin)
                if outcome is Outcome.REJECTED and not greedy
                else ()
            ),
        )

    def _top(self, word: str, prob: float, coin: random.Random) -> tuple[TopToken, ...]:
        others = [each for each in dict.fromkeys(self._words) if each != word]
        coin.shuffle(others)
        rest = (1.0 - prob) * 0.9
        tops = [TopToken(_id_of(word), word, prob)]
        for rank, other in enumerate(others[:9]):
            tops.append(TopToken(_id_of(other), other, rest * math.pow(0.5, rank + 1)))
        # As many digits as a real race records of its float32 probabilities.
        tops = [top._replace(prob=float(f"{top.prob:.8g}")) for top in tops]
        return tuple(sorted(tops, key=lambda top: -top.prob))

    def _word(self, position: int) -> str:
        return self._words[(position * 7 + position // 5) % len(self._words)]


def _source_after(drafted: list[DraftToken]) -> Source:
    """Where the token after the kept ones comes from."""
    if not drafted:
        return Source.TARGET
    kept = [index for index, token in enumerate(drafted) if token.outcome is Outcome.ACCEPTED]
    end = kept[-1] if kept else -1
    return Source.CORRECTION if any(token.parent == end for token in drafted) else Source.BONUS


def _emit(word: str, source: Source, greedy: bool, prob: float | None) -> EmittedToken:
    return EmittedToken(_id_of(word), word, source, prob, 2.5 if greedy else None)


def _fields(token: EmittedToken) -> tuple[int, str, Source, float | None, float | None]:
    return token.id, token.text, token.source, token.target_prob, token.margin


def _id_of(word: str) -> int:
    return sum(ord(char) * (index + 1) for index, char in enumerate(word))
