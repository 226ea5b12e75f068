"""The wrong rules are wrong in the way they say, by the exact law of whole decodes."""

from collections.abc import Sequence
from itertools import pairwise

import pytest
import torch
from fakes import (
    FakeClock,
    Law,
    MarkovRunner,
    distance,
    enumerate_law,
    make_decoder,
    random_table,
    run_to_end,
    text_law,
)
from static_fakes import FakeGraphs
from tiny_models import tiny_model

from specviz.decoding.model_runner import ModelRunner
from specviz.decoding.proposal import Proposer
from specviz.decoding.proposers.draft_model import DraftModel
from specviz.decoding.proposers.prompt_lookup import PromptLookup
from specviz.decoding.sampling import Chance, SeededChance
from specviz.decoding.static_runner import StaticRunner
from specviz.decoding.wrong_rules import WrongRounds
from specviz.trace.values import Outcome, Round, Rule, Sampling, Source

PROMPT = (1, 0)
SAMPLING = Sampling(temperature=1.0)
WRONG = [rule for rule in Rule if rule is not Rule.RIGHT]


def flat(*probs: float) -> torch.Tensor:
    """Logits of a law that is the same after any two tokens."""
    size = len(probs)
    return torch.tensor(probs, dtype=torch.float64).log().expand(size, size, size)


def law_under(
    rule: Rule,
    target: torch.Tensor,
    draft: torch.Tensor | None,
    *,
    gamma: int,
    num_tokens: int,
    prompt: Sequence[int] = PROMPT,
) -> Law:
    runner = MarkovRunner(target)

    def run(chance: Chance) -> tuple[int, ...]:
        proposer: Proposer = (
            PromptLookup(2, frozenset())
            if draft is None
            else DraftModel(MarkovRunner(draft), SAMPLING, len(target), frozenset())  # type: ignore[arg-type]
        )
        clock = FakeClock()
        decoder = make_decoder(
            runner,
            proposer,
            gamma=gamma,
            sampling=SAMPLING,
            max_new_tokens=num_tokens,
            chance=chance,
            clock=clock,
            recorded=WrongRounds(rule, proposer, runner, SAMPLING, chance, clock),  # type: ignore[arg-type]
        )
        return run_to_end(decoder, prompt)

    return enumerate_law(run)


@pytest.mark.parametrize(
    ("rule", "draft", "expected"),
    [
        (Rule.TARGET_RESAMPLE, (0.2, 0.5, 0.3), (0.35, 0.39, 0.26)),
        (Rule.ARGMAX_SOFTMAX, (0.6, 0.3, 0.1), (5 / 6, 0.0, 1 / 6)),
        # Rejected with .1, when c is drawn with .1 and id 0 with .9.
        (Rule.NO_RENORMALISE, (0.5, 0.4, 0.1), (0.5 + 0.1 * 0.9, 0.3, 0.1 + 0.1 * 0.1)),
    ],
)
def test_first_tokens_by_hand(
    rule: Rule, draft: tuple[float, ...], expected: tuple[float, ...]
) -> None:
    """The target's law is (.5, .3, .2); one draft, of which two tokens make a round."""
    law = law_under(rule, flat(0.5, 0.3, 0.2), flat(*draft), gamma=1, num_tokens=2)
    found = [sum(prob for text, prob in law.items() if text[0] == x) for x in range(3)]  # type: ignore[index]
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("rule", WRONG)
def test_no_wrong_rule_follows_the_target(rule: Rule) -> None:
    target, draft = random_table(2, 1), random_table(2, 2)
    law = law_under(rule, target, draft, gamma=2, num_tokens=4)
    assert distance(law, text_law(target, SAMPLING, PROMPT, 4)) > 1e-3


@pytest.mark.parametrize("rule", [Rule.TARGET_RESAMPLE, Rule.NO_RENORMALISE])
def test_copied_drafts_can_be_corrected_wrongly_too(rule: Rule) -> None:
    target, prompt = random_table(3, 3), (1, 2, 0, 1, 2)
    law = law_under(rule, target, None, gamma=2, num_tokens=3, prompt=prompt)
    assert distance(law, text_law(target, SAMPLING, prompt, 3)) > 1e-3


def test_a_draft_that_is_the_target_hides_what_rejections_do() -> None:
    target = random_table(2, 1)
    for rule in (Rule.TARGET_RESAMPLE, Rule.NO_RENORMALISE, Rule.KEEP_AFTER_REJECTION):
        law = law_under(rule, target, target, gamma=2, num_tokens=4)
        assert distance(law, text_law(target, SAMPLING, PROMPT, 4)) < 1e-12


def rounds_that_keep(runner: object, draft: object, sampling: Sampling) -> list[Round]:
    proposer = DraftModel(draft, sampling, 48, frozenset())  # type: ignore[arg-type]
    chance, clock = SeededChance(5), FakeClock()
    wrong = WrongRounds(Rule.KEEP_AFTER_REJECTION, proposer, runner, sampling, chance, clock)  # type: ignore[arg-type]
    decoder = make_decoder(
        runner,
        proposer,
        gamma=4,
        sampling=sampling,
        max_new_tokens=48,
        chance=chance,
        clock=clock,
        recorded=wrong,
    )
    decoder.prefill([1, 2, 3])
    rounds = []
    while decoder.stop_reason is None:
        rounds.append(decoder.step())
    return rounds


@pytest.mark.parametrize("temperature", [0.0, 1.5])
def test_kept_drafts_are_a_round_of_their_own(temperature: float) -> None:
    """They are those behind the rejected one, and the text goes on behind its correction."""
    sampling = Sampling(temperature=temperature)
    target = tiny_model("llama")
    rounds = rounds_that_keep(
        ModelRunner(target), ModelRunner(tiny_model("llama", noise=0.05)), sampling
    )
    kept = 0
    for before, after in pairwise(rounds):
        behind = [each.id for each in before.drafted if each.outcome is Outcome.DISCARDED]
        if before.emitted[-1].source is Source.CORRECTION and behind:
            assert [each.id for each in after.drafted] == behind
            kept += sum(each.outcome is Outcome.ACCEPTED for each in after.drafted)
    assert kept > 0
    assert sum(len(each.emitted) for each in rounds) == 48


def test_kept_drafts_are_judged_by_what_a_device_would_write_over() -> None:
    sampling = Sampling(temperature=1.5)
    models = tiny_model("llama"), tiny_model("llama", noise=0.05)
    growing = rounds_that_keep(*(ModelRunner(model) for model in models), sampling)
    static = [StaticRunner(model, 64, (1, 2, 4, 5), FakeGraphs()) for model in models]
    assert rounds_that_keep(*static, sampling)[-1].emitted == growing[-1].emitted


def test_the_right_rule_is_not_played_here() -> None:
    with pytest.raises(ValueError, match="decoder's own"):
        WrongRounds(Rule.RIGHT, None, None, SAMPLING, SeededChance(0), FakeClock())  # type: ignore[arg-type]
