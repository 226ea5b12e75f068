"""What belongs to which time of a round."""

from collections.abc import Sequence

import torch
from fakes import FakeClock, MarkovRunner, make_decoder, random_table

from specviz.decoding.proposers.draft_model import DraftModel
from specviz.decoding.proposers.prompt_lookup import PromptLookup
from specviz.decoding.sampling import Flip, SeededChance
from specviz.trace.values import Outcome, Sampling

NO_EOS: frozenset[int] = frozenset()
PROMPT = (1, 0)
SAMPLED = Sampling(temperature=1.0, top_p=0.95, seed=11)
TARGET, DRAFT = random_table(12, 1), random_table(12, 2) + 0.6 * random_table(12, 1)


class SlowRunner(MarkovRunner):
    """Takes 50 ms for a pass."""

    def __init__(self, table: torch.Tensor, clock: FakeClock) -> None:
        super().__init__(table)
        self._clock = clock

    def forward(self, ids: Sequence[int], num_logits: int) -> torch.Tensor:
        self._clock.ms += 50.0
        return super().forward(ids, num_logits)


class SlowChance(SeededChance):
    """Takes 7 ms for a coin and 11 ms for a token."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__(11)
        self._clock = clock

    def flip(self, prob: float) -> Flip:
        self._clock.ms += 7.0
        return super().flip(prob)

    def choose(self, probs: torch.Tensor) -> int:
        self._clock.ms += 11.0
        return super().choose(probs)


def test_the_draws_of_a_verification_are_no_part_of_the_targets_time() -> None:
    """`verify_ms` is the price of a forward pass: what is drawn from it counts apart."""
    clock = FakeClock()
    target = SlowRunner(TARGET, clock)
    decoder = make_decoder(
        target,
        DraftModel(MarkovRunner(DRAFT), SAMPLED, 12, NO_EOS),  # type: ignore[arg-type]
        gamma=4,
        sampling=SAMPLED,
        max_new_tokens=30,
        chance=SlowChance(clock),
        clock=clock,
    )
    decoder.prefill(PROMPT)
    while decoder.stop_reason is None:
        finished = decoder.step()
        num_judged = sum(token.outcome is not Outcome.DISCARDED for token in finished.drafted)
        assert finished.draft_ms == 11.0 * len(finished.drafted)
        assert finished.verify_ms == 50.0
        assert finished.other_ms == 7.0 * num_judged + 11.0


def test_the_time_of_a_prompt_is_counted_from_its_own_begin() -> None:
    clock = FakeClock()
    target = SlowRunner(TARGET, clock)
    decoder = make_decoder(target, PromptLookup(2, NO_EOS), gamma=2, clock=clock)
    for start in (1000.0, 5000.0):
        clock.ms = start
        assert decoder.prefill(PROMPT) == 50.0
