"""A seeded proof without a model: draws from a law by hand, by the right rule or a crooked one."""

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace

from fake_race import FakeRace

from specviz.trace.proofs import (
    CheckName,
    CheckResult,
    ContinuationBar,
    Finding,
    Proof,
    ProofEvent,
    ProofProgress,
    ProofRequest,
    TokenBar,
)
from specviz.trace.values import Event, RaceRequest, Rule

WORDS = (" fox", " ${6*7}", " <b>hen</b>")
LAW = (0.6, 0.3, 0.1)
CROOKED = (0.3, 0.6, 0.1)
NUM_REPORTS = 4
SHORT = 6
"""Tokens of the texts that are compared here at temperature 0."""


class FakeProof:
    """A `StartProof`; a lane with a wrong rule draws from another law."""

    def __init__(self, pause: float = 0.0) -> None:
        self._pause = pause

    def __call__(
        self, request: ProofRequest, should_stop: Callable[[], bool] = bool
    ) -> Iterator[ProofEvent]:
        coin = random.Random(request.sampling.seed)
        law = LAW if request.lane.rule is Rule.RIGHT else CROOKED
        alone: Counter[int] = Counter()
        lane: Counter[int] = Counter()
        progress = _progress(request, alone, lane)
        for _ in range(NUM_REPORTS):
            if should_stop():
                break
            time.sleep(self._pause)
            num_draws = request.num_samples // NUM_REPORTS
            alone.update(coin.choices(range(3), LAW, k=num_draws))
            lane.update(coin.choices(range(3), law, k=num_draws))
            progress = _progress(request, alone, lane)
            yield progress
        p_value = 0.5 if law is LAW else 1e-9
        finding = Finding.CONSISTENT if law is LAW else Finding.DIFFERENT
        yield Proof(request, finding, p_value, request.lane.gamma + 2, progress, 1.0)


def short_race(request: RaceRequest, should_stop: Callable[[], bool] = bool) -> Iterator[Event]:
    """Race as `FakeRace`, but no long texts."""
    return FakeRace(WORDS)(replace(request, max_new_tokens=SHORT), should_stop)


def _progress(request: ProofRequest, alone: Counter[int], lane: Counter[int]) -> ProofProgress:
    done = lane.total()
    off = sum(abs(lane[word] / max(1, done) - prob) for word, prob in enumerate(LAW)) / 2
    rows = list(zip(range(3), WORDS, LAW, strict=True))
    return ProofProgress(
        done,
        request.num_samples,
        off,
        1 / max(1, done) ** 0.5,
        tuple(TokenBar(word, text, prob, alone[word], lane[word]) for word, text, prob in rows),
        off,
        1 / max(1, done) ** 0.5,
        tuple(
            ContinuationBar((word,), text, word > 1, prob, alone[word], lane[word])
            for word, text, prob in rows
        ),
        tuple(CheckResult(name, 1.5, 2, 0.5) for name in CheckName),
    )
