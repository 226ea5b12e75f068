"""Proofs through the whole decoder: tiny models, a few seeds, the right rule and the wrong ones."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache

import pytest
import torch
from tiny_models import CONFIGS, byte_tokenizer, random_model

from specviz.errors import RequestError
from specviz.models.loading import LoadedModel
from specviz.proof.proving import NUM_REPORTS, make_start_proof
from specviz.trace.proofs import CheckName, Finding, Proof, ProofEvent, ProofProgress, ProofRequest
from specviz.trace.values import LaneSpec, Method, Rule, Sampling

LANE = LaneSpec(None, Method.DRAFT_MODEL, "target", "draft", gamma=2)
REQUEST = ProofRequest("the fox and the fox", LANE, Sampling(0.4), num_samples=200)
WRONG = [rule for rule in Rule if rule is not Rule.RIGHT]


class TwoModels:
    """A random target, and a draft that is the target, shaken."""

    device, dtype = torch.device("cpu"), "float32"

    def hold(self, target: str, drafts: Iterable[str] = ()) -> None:
        """Nothing is ever let go."""

    def has(self, name: str) -> bool:
        return True

    @cache  # noqa: B019
    def get(self, name: str) -> LoadedModel:
        tokenizer, config = byte_tokenizer(), CONFIGS["llama"]()
        config.vocab_size, config.num_hidden_layers = len(tokenizer), 2
        noise = 0.0 if name == "target" else 0.1
        model = random_model(config, 6, noise=noise, dtype=torch.float32)
        return LoadedModel(name, model, tokenizer, frozenset())


POOL = TwoModels()


def events(request: ProofRequest, stop_after: int | None = None) -> Iterator[ProofEvent]:
    num_asked = 0

    def should_stop() -> bool:
        nonlocal num_asked
        num_asked += 1
        return stop_after is not None and num_asked > stop_after

    return make_start_proof(POOL)(request, should_stop)  # type: ignore[arg-type]


def proved(request: ProofRequest, stop_after: int | None = None) -> Proof:
    *_, last = events(request, stop_after)
    assert isinstance(last, Proof)
    return last


@pytest.mark.parametrize("seed", range(2))
def test_the_right_rule_is_consistent(seed: int) -> None:
    found = proved(replace(REQUEST, sampling=Sampling(0.4, seed=seed)))
    assert found.finding is Finding.CONSISTENT
    assert found.last.total_variation < found.last.bound
    assert [check.name for check in found.checks] == list(CheckName)
    assert sum(check.degrees > 0 for check in found.checks) >= 3


@pytest.mark.parametrize("rule", WRONG)
def test_every_wrong_rule_is_different(rule: Rule) -> None:
    found = proved(replace(REQUEST, lane=replace(LANE, rule=rule)))
    assert found.finding is Finding.DIFFERENT
    assert found.p_value < 1e-4


@pytest.mark.parametrize(
    "lane",
    [
        LaneSpec(None, Method.PROMPT_LOOKUP, "target", gamma=2),
        LaneSpec(None, Method.EARLY_EXIT, "target", gamma=2, exit_layer=1),
    ],
    ids=lambda lane: lane.method,
)
def test_other_methods_are_proved_too(lane: LaneSpec) -> None:
    assert proved(replace(REQUEST, lane=lane)).finding is Finding.CONSISTENT


def test_an_early_exit_can_be_wrong_too() -> None:
    lane = LaneSpec(None, Method.EARLY_EXIT, "target", gamma=2, exit_layer=1)
    lane = replace(lane, rule=Rule.NO_RENORMALISE)
    assert proved(replace(REQUEST, lane=lane)).p_value < 1e-4


def test_a_proof_tells_how_far_it_is() -> None:
    *progress, last = events(replace(REQUEST, num_samples=100))
    assert isinstance(last, Proof)
    assert all(isinstance(event, ProofProgress) for event in progress)
    # A slow machine tells more often, never more seldom.
    assert len(progress) >= NUM_REPORTS
    assert last.last == progress[-1]
    assert last.last.num_done == 100
    for bars in (last.last.bars, last.last.continuations):
        assert 0 < sum(bar.num_lane for bar in bars) <= 100
        assert 0 < sum(bar.num_alone for bar in bars) <= 100
        assert sum(bar.target_prob for bar in bars) <= 1 + 1e-9
    assert last.last.joint_variation < last.last.joint_bound
    assert last.num_tokens == LANE.gamma + 2


def test_the_same_seed_gives_the_same_proof() -> None:
    request = replace(REQUEST, num_samples=100)
    first, second = proved(request), proved(request)
    assert replace(first, seconds=0.0) == replace(second, seconds=0.0)
    other = proved(replace(request, sampling=Sampling(0.4, seed=1)))
    assert other.last.bars != first.last.bars


def test_a_proof_that_is_stopped_judges_what_it_has() -> None:
    found = proved(REQUEST, stop_after=7)
    assert found.last.num_done == 7
    assert found.finding is Finding.CONSISTENT
    assert proved(REQUEST, stop_after=0).p_value == 1.0


@pytest.mark.parametrize(
    ("request_", "problem"),
    [
        (replace(REQUEST, sampling=Sampling()), "at temperature 0 nothing is drawn"),
        (replace(REQUEST, num_samples=99), "samples must be 100 to 100000, got 99"),
        (replace(REQUEST, lane=LaneSpec(None, Method.BASELINE, "target")), "a lane that drafts"),
        (replace(REQUEST, lane=replace(LANE, gamma=0)), "gamma of lane"),
    ],
)
def test_what_cannot_be_proved_is_refused(request_: ProofRequest, problem: str) -> None:
    with pytest.raises(RequestError, match=problem):
        list(events(request_))
