"""The shipped family: light, complete, and lossless in a real race."""

import pytest
import torch

from specviz.distill.head_files import SPECULATORS
from specviz.distill.head_report import read_head_fit
from specviz.models.catalogue import (
    DEFAULT_DRAFT,
    DEFAULT_TARGET,
    MODELS_FOLDER,
    KnownHead,
    known_heads,
    shipped_models,
)
from specviz.models.loading import ModelPool
from specviz.race.eagle_heads import read_head
from specviz.race.wiring import make_start_race
from specviz.trace.fits import FIT_FILE, read_fit
from specviz.trace.metrics import race_metrics
from specviz.trace.values import LaneSpec, Method, RaceFinished, RaceRequest, Sampling, Trace
from specviz.trace.verdict import Agreement, race_verdicts

METHODS = (Method.DRAFT_MODEL, Method.PROMPT_LOOKUP, Method.EARLY_EXIT)


def race(temperature: float) -> Trace:
    lanes = []
    for method in METHODS:
        draft = DEFAULT_DRAFT if method is Method.DRAFT_MODEL else None
        lanes.append(LaneSpec(str(method), method, DEFAULT_TARGET, draft, gamma=4))
    return raced(temperature, *lanes)


def raced(temperature: float, *lanes: LaneSpec) -> Trace:
    baseline = LaneSpec("baseline", Method.BASELINE, DEFAULT_TARGET)
    request = RaceRequest(
        "Once upon a time", (baseline, *lanes), Sampling(temperature, seed=1), max_new_tokens=64
    )
    *_, last = make_start_race(ModelPool(allow_hub=False))(request)
    assert isinstance(last, RaceFinished)
    return last.trace


def test_family_is_complete_and_light() -> None:
    roles = {model.name: model.role for model in shipped_models()}
    drafts = {f"specviz-{name}" for name in ("tiny", "small", "large", "misfit", "refit")}
    assert roles == {DEFAULT_TARGET: "target", **dict.fromkeys(drafts, "draft")}
    assert DEFAULT_DRAFT in drafts
    size = sum(file.stat().st_size for file in MODELS_FOLDER.rglob("*") if file.is_file())
    assert size < 36e6


def test_the_refit_draft_agrees_more_than_the_misfit_it_was() -> None:
    fit = read_fit(MODELS_FOLDER / "refit" / FIT_FILE)
    assert (fit.target, fit.draft_before) == (DEFAULT_TARGET, "specviz-misfit")
    assert fit.after.alpha > fit.before.alpha


HEADS = [head for head in known_heads() if head.folder.parent == MODELS_FOLDER]


@pytest.mark.parametrize("head", HEADS, ids=lambda head: head.name)
def test_a_shipped_head_is_light_and_as_good_as_its_report_says(head: KnownHead) -> None:
    """Also for other engines: in the dialect of speculators the weights are the same."""
    assert head.target == DEFAULT_TARGET
    size = sum(file.stat().st_size for file in head.folder.rglob("*") if file.is_file())
    assert size < 4e6
    fit = read_head_fit(head.folder)
    assert fit.target == DEFAULT_TARGET
    assert fit.agreement[0] == max(fit.agreement), "further ahead is harder"
    pool = ModelPool(allow_hub=False)
    target = pool.get(DEFAULT_TARGET)
    diagnosis = read_head(pool.get_head(head.name), target).diagnosis
    assert diagnosis is not None
    assert diagnosis.is_as_stated
    other = pool.get_head(str(head.folder / SPECULATORS)).files.tensors
    for name, weight in pool.get_head(head.name).files.tensors.items():
        assert torch.equal(weight, other[name])


@pytest.mark.parametrize("head", HEADS, ids=lambda head: head.name)
def test_a_shipped_head_races_and_brings_about_what_its_report_says(head: KnownHead) -> None:
    """One prompt is no mean of many: half of the gain is asked for."""
    lane = LaneSpec("head", Method.EAGLE3, DEFAULT_TARGET, gamma=5, head=head.name)
    trace = raced(0.0, lane)
    (verdict,) = race_verdicts(trace)[1:]
    assert verdict is not None
    assert verdict.agreement is Agreement.IDENTICAL
    tau = race_metrics(trace)[1].tau
    assert tau is not None
    assert tau - 1 > (read_head_fit(head.folder).tau - 1) / 2


def test_every_method_writes_the_targets_own_greedy_text() -> None:
    trace = race(temperature=0.0)
    assert [lane.error for lane in trace.lanes] == [None] * 4
    for verdict in race_verdicts(trace)[1:]:
        assert verdict is not None
        assert verdict.agreement is Agreement.IDENTICAL
    draft_lane = race_metrics(trace)[1]
    assert draft_lane.alpha is not None
    assert draft_lane.alpha > 0.5


def test_sampled_race_repeats_with_its_seed() -> None:
    first, second = race(temperature=0.8), race(temperature=0.8)
    for one, other in zip(first.lanes, second.lanes, strict=True):
        assert [token.id for token in one.emitted] == [token.id for token in other.emitted]
