"""States between layers: those of a fresh pass, whatever was accepted and rejected before."""

import random
from collections.abc import Callable

import pytest
import torch
from eagle_fixtures import target_states
from static_fakes import FakeGraphs
from tiny_models import CONTEXT, VOCAB, tiny_model
from transformers import PreTrainedModel

from specviz.decoding import taps as taps_module
from specviz.decoding.lean_forward import LeanForward
from specviz.decoding.model_runner import ModelRunner
from specviz.decoding.static_runner import StaticRunner
from specviz.errors import IncompatibleModelError
from specviz.models.eagle_form import FINAL
from specviz.proof.repeating import RewindingRunner

EXACT = 1e-9
TAPS = (2, 0, 4, FINAL)


def growing(model: PreTrainedModel) -> ModelRunner:
    return ModelRunner(model)


def rewinding(model: PreTrainedModel) -> ModelRunner:
    return RewindingRunner(model)


def static(model: PreTrainedModel) -> StaticRunner:
    """Its steps are recorded before a text is read, and none after."""
    graphs = FakeGraphs()
    runner = StaticRunner(model, CONTEXT, (1, 2, 5), graphs)
    runner.prepare()
    runner.tap(TAPS)
    graphs.may_capture = False
    return runner


def unrecorded(model: PreTrainedModel) -> StaticRunner:
    """Blocks of chains reach no further than they stand."""
    runner = StaticRunner(model, 8, (1, 2, 5))
    runner.tap(TAPS)
    return runner


@pytest.fixture(params=["lean", "wrapped"])
def either_pass(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "wrapped":
        monkeypatch.setattr(LeanForward, "fits", staticmethod(lambda model: False))


def expected(model: PreTrainedModel, ids: list[int], first: int) -> torch.Tensor:
    states, _ = target_states(model, ids)
    with torch.inference_mode():
        last = model.model.norm(states[-1])
    return torch.cat([last if tap == FINAL else states[tap] for tap in TAPS], dim=-1)[first:]


@pytest.mark.usefixtures("either_pass")
@pytest.mark.parametrize("make_runner", [growing, static, unrecorded, rewinding])
@pytest.mark.parametrize("shape", ["llama", "qwen3"])
def test_states_of_rounds_of_random_fate(
    shape: str, make_runner: Callable[[PreTrainedModel], ModelRunner]
) -> None:
    model, rng = tiny_model(shape), random.Random(1)
    runner = make_runner(model)
    runner.tap(TAPS)
    ids = [rng.randrange(VOCAB) for _ in range(4)]
    for round_ in range(16):
        first = len(ids) - 1
        drafts = [rng.randrange(VOCAB) for _ in range(rng.randint(0, 4))]
        if round_ % 3 == 2 and drafts:
            parents = [-1, *(rng.randint(-1, node - 1) for node in range(1, len(drafts)))]
            runner.forward_tree(ids, drafts, parents)
            path = [len(drafts) - 1]
            while parents[path[0]] >= 0:
                path.insert(0, parents[path[0]])
        else:
            runner.forward([*ids, *drafts], len(drafts) + 1)
            path = list(range(rng.randint(0, len(drafts))))
        runner.keep(len(ids), path)
        ids += [drafts[node] for node in path]
        read_before = list(runner._ids)
        found = runner.features(ids, first)
        assert runner._ids == read_before == ids
        assert float((found - expected(model, ids, first)).abs().max()) < EXACT
        ids.append(rng.randrange(VOCAB))


def test_states_that_are_not_at_hand_are_read_again() -> None:
    model, ids = tiny_model("llama"), [3, 1, 4, 1, 5, 9]
    runner = ModelRunner(model)
    runner.tap(TAPS)
    runner.forward(ids[:4], 1)
    runner.forward(ids, 1)
    for text, first in ((ids, 0), (ids[:3], 1), ([7, *ids], 0), ([7, *ids], 6)):
        found = runner.features(text, first)
        assert float((found - expected(model, text, first)).abs().max()) < EXACT


def test_a_hybrid_keeps_its_states_too() -> None:
    model = tiny_model("qwen3_5", dtype=torch.float32)
    runner, fresh = ModelRunner(model), ModelRunner(model)
    for each in (runner, fresh):
        each.tap((1, 3))
    ids = [5, 6, 7]
    runner.forward(ids[:2], 1)
    for kept in (2, 0, 3):
        first = len(ids) - 1
        runner.forward([*ids, 8, 9, 10], 4)
        runner.keep(len(ids), range(kept))
        ids += [8, 9, 10][:kept]
        fresh.reset()
        difference = runner.features(ids, first) - fresh.features(ids, 0)[first:]
        assert float(difference.abs().max()) < 1e-2 * float(fresh.features(ids, 0).abs().max())
        ids.append(11)


def test_boundaries_that_a_model_lacks_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for taps in ((1, 5), (-2, 1)):
        with pytest.raises(IncompatibleModelError, match="4 layers"):
            ModelRunner(tiny_model("llama")).tap(taps)
    runner = ModelRunner(tiny_model("gpt2"))
    runner.tap((1, 3))
    runner.forward([1, 2], 1)
    monkeypatch.setattr(taps_module, "LAST_NORMS", ())
    with pytest.raises(IncompatibleModelError, match="GPT2LMHeadModel"):
        runner.forward([1, 2, 3], 1)


def test_a_lane_that_taps_nothing_keeps_nothing() -> None:
    runner = ModelRunner(tiny_model("llama"))
    runner.forward([1, 2, 3], 1)
    assert runner._tapped == ()
