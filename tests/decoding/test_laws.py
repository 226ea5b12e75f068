"""Properties of to_probs, residual_probs, verify and the draws, for any input."""

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from transformers import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

from specviz.decoding import verify as verify_module
from specviz.decoding.proposal import Proposal, ancestor_mask, chain, depths
from specviz.decoding.sampling import SeededChance, check_finite, to_probs
from specviz.decoding.verify import residual_probs, verify, verify_greedy
from specviz.errors import DecodingError
from specviz.trace.values import Sampling, Source

MANY = settings(max_examples=150, deadline=None)


@st.composite
def logit_rows(draw: st.DrawFn, num_rows: int | None = None) -> torch.Tensor:
    rows = draw(st.integers(1, 3)) if num_rows is None else num_rows
    size = draw(st.integers(2, 12))
    seed = draw(st.integers(0, 2**31))
    scale = draw(st.sampled_from([0.0, 0.1, 1.0, 8.0, 60.0]))
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(rows, size, generator=generator, dtype=torch.float64) * scale
    if draw(st.booleans()):
        logits[torch.rand(rows, size, generator=generator) < 0.3] = -torch.inf
        logits[:, 0] = 0.0
    return logits


samplings = st.builds(
    Sampling,
    temperature=st.sampled_from([0.01, 0.3, 0.7, 1.0, 1.5, 5.0]),
    top_k=st.integers(0, 14),
    top_p=st.sampled_from([1e-6, 0.1, 0.5, 0.9, 0.999, 1.0]),
)


@MANY
@given(logit_rows(), samplings)
def test_laws_are_laws_and_inputs_stay_as_they_were(
    logits: torch.Tensor, sampling: Sampling
) -> None:
    before = logits.clone()
    probs = to_probs(logits, sampling)
    assert torch.equal(logits, before)
    assert bool((probs >= 0).all())
    assert torch.allclose(probs.sum(-1), torch.ones(len(probs), dtype=torch.float64), atol=1e-12)
    assert bool((probs.gather(1, logits.argmax(-1, keepdim=True)) > 0).all())


@MANY
@given(logit_rows(), samplings)
def test_warpers_agree_with_those_of_transformers(logits: torch.Tensor, sampling: Sampling) -> None:
    warped = TemperatureLogitsWarper(sampling.temperature)(None, logits)
    if sampling.top_k:
        warped = TopKLogitsWarper(sampling.top_k)(None, warped)
    before_top_p = warped.softmax(-1)
    if sampling.top_p < 1:
        # Where rounding or a tie decides what the last token inside is, both readings are right.
        ordered = before_top_p.sort(dim=-1, descending=True).values
        masses = ordered.cumsum(-1)
        assume(bool(((masses - sampling.top_p).abs() > 1e-9).all()))
        kept = masses - ordered < sampling.top_p
        last_in = kept.sum(-1, keepdim=True) - 1
        first_out = (last_in + 1).clamp_max(ordered.shape[-1] - 1)
        gap = ordered.gather(1, last_in) - ordered.gather(1, first_out)
        assume(bool(((gap > 1e-9) | (first_out == last_in)).all()))
        warped = TopPLogitsWarper(sampling.top_p)(None, warped)
    assert torch.allclose(to_probs(logits, sampling), warped.softmax(-1), atol=1e-12)


def test_temperature_zero_is_a_point_mass_at_the_lowest_id_of_equals() -> None:
    law = to_probs(torch.tensor([[1.0, 3.0, 3.0]]), Sampling(temperature=0.0))
    assert law.tolist() == [[0.0, 1.0, 0.0]]


def test_ties_at_the_kth_place_are_all_kept() -> None:
    law = to_probs(torch.tensor([[2.0, 1.0, 1.0, 0.0]]), Sampling(temperature=1.0, top_k=2))
    assert (law > 0).tolist() == [[True, True, True, False]]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_logits_become_single_precision_laws(dtype: torch.dtype) -> None:
    law = to_probs(torch.randn(2, 50).to(dtype), Sampling(temperature=0.7))
    assert law.dtype == torch.float32
    assert torch.allclose(law.sum(-1), torch.ones(2), atol=1e-6)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_logits_that_are_not_numbers_are_refused(bad: float) -> None:
    logits = torch.zeros(3, 4)
    logits[1, 2] = bad
    with pytest.raises(DecodingError, match="not numbers"):
        check_finite(logits)
    check_finite(torch.tensor([[0.0, -torch.inf]]))
    with pytest.raises(DecodingError, match="not numbers"):
        check_finite(torch.full((1, 4), -torch.inf))


def laws(num_rows: int) -> st.SearchStrategy[torch.Tensor]:
    return logit_rows(num_rows).map(lambda logits: logits.softmax(-1))


@MANY
@given(laws(2), st.integers(0, 100))
def test_residuals_are_laws(rows: torch.Tensor, pick: int) -> None:
    target, draft = rows
    before = rows.clone()
    left = residual_probs(target, draft, pick % len(target))
    point = residual_probs(target, None, int(target.argmin()))
    assert torch.equal(rows, before)
    for law in (left, point):
        assert bool((law >= 0).all())
        assert float(law.sum()) == pytest.approx(1.0, abs=1e-12)
    if not torch.equal(target, draft):
        assert not bool((left[target <= draft] > 0).any()) or float((target - draft).max()) <= 0


def test_a_residual_that_underflows_is_the_target_itself() -> None:
    law = torch.tensor([0.25, 0.75])
    assert torch.equal(residual_probs(law, law.clone(), 0), law)
    tiny = torch.tensor([1.0, 1e-45])
    assert bool(residual_probs(tiny, torch.tensor([1.0, 0.0]), 0).isfinite().all())


@MANY
@given(laws(4), st.integers(0, 2**31))
def test_identical_laws_never_reject(rows: torch.Tensor, seed: int) -> None:
    chance = SeededChance(seed)
    drafts = [chance.choose(row) for row in rows[:3]]
    result = verify(chain(drafts, draft_probs=rows[:3].clone()), rows, chance)
    assert result.path == (0, 1, 2)
    assert result.source is Source.BONUS
    assert [judgement.accept_prob for judgement in result.judgements] == [1.0] * 3


@MANY
@given(laws(4), laws(3), st.integers(0, 2**31))
def test_every_walk_is_consistent(target: torch.Tensor, draft: torch.Tensor, seed: int) -> None:
    size = min(target.shape[1], draft.shape[1])
    target, draft = target[:, :size] + 1e-12, draft[:, :size] + 1e-12
    target, draft = target / target.sum(-1, keepdim=True), draft / draft.sum(-1, keepdim=True)
    kept = target.clone(), draft.clone()
    chance = SeededChance(seed)
    result = verify(chain([chance.choose(row) for row in draft], draft_probs=draft), target, chance)
    assert torch.equal(target, kept[0])
    assert torch.equal(draft, kept[1])
    assert result.path == tuple(range(len(result.path)))
    assert 0 <= result.next_token < size
    num_judged = min(len(result.path) + 1, 3)
    assert [judgement.node for judgement in result.judgements] == list(range(num_judged))
    for judgement in result.judgements:
        assert judgement.is_accepted == (judgement.draw < judgement.accept_prob)
        assert judgement.is_accepted == (judgement.node in result.path)
    expected = Source.BONUS if len(result.path) == 3 else Source.CORRECTION
    assert result.source is expected
    assert (result.residual is None) == (expected is Source.BONUS)


@MANY
@given(laws(2), st.integers(0, 2**31))
def test_an_impossible_token_is_always_rejected_and_never_drawn(
    target: torch.Tensor, seed: int
) -> None:
    token = int(target[0].argmin())
    target[0, token] = 0.0
    assume(float(target[0].sum()) > 0)
    target[0] /= target[0].sum()
    draft = torch.full((1, target.shape[1]), 1.0 / target.shape[1], dtype=torch.float64)
    for proposal in (chain([token]), chain([token], draft_probs=draft)):
        result = verify(proposal, target, SeededChance(seed))
        assert result.path == ()
        assert result.next_token != token


@MANY
@given(st.lists(st.integers(0, 2), min_size=0, max_size=6), st.data())
def test_greedy_is_rejection_sampling_with_one_hot_laws(
    tokens: list[int], data: st.DataObject
) -> None:
    parents = [data.draw(st.integers(-1, node - 1)) for node in range(len(tokens))]
    siblings = list(zip(parents, tokens, strict=True))
    assume(len(set(siblings)) == len(siblings))
    wanted = data.draw(
        st.lists(st.integers(0, 2), min_size=len(tokens) + 1, max_size=len(tokens) + 1)
    )
    proposal = Proposal(tuple(tokens), tuple(parents))
    laws_ = torch.eye(3, dtype=torch.float64)[wanted]
    walked, greedy = verify(proposal, laws_, SeededChance(0)), verify_greedy(proposal, wanted)
    assert walked.path == greedy.path
    assert walked.next_token == greedy.next_token
    assert walked.source is greedy.source
    assert [j.is_accepted for j in walked.judgements] == [j.is_accepted for j in greedy.judgements]


def test_rounding_never_lets_a_zero_token_through() -> None:
    class AlmostOne(SeededChance):
        def uniform(self) -> float:
            return 1.0 - 2**-53

    class Zero(SeededChance):
        def uniform(self) -> float:
            return 0.0

    law = torch.tensor([0.0, 0.1, 0.2, 0.7, 0.0])
    assert AlmostOne(0).choose(law) == 3
    assert Zero(0).choose(law) == 1
    assert AlmostOne(0).choose(law * 1e-30) == 3


def test_a_proposal_with_children_before_parents_is_refused() -> None:
    with pytest.raises(ValueError, match="parent of node 0"):
        Proposal((1, 2), (1, -1))
    with pytest.raises(ValueError, match="2 tokens but 1 parents"):
        Proposal((1, 2), (-1,))


def test_tree_geometry() -> None:
    parents = (-1, 0, 0, 2, -1)
    assert depths(parents) == [0, 1, 1, 2, 0]
    assert ancestor_mask(parents).int().tolist() == [
        [1, 0, 0, 0, 0],
        [1, 1, 0, 0, 0],
        [1, 0, 1, 0, 0],
        [1, 0, 1, 1, 0],
        [0, 0, 0, 0, 1],
    ]


@pytest.mark.parametrize("num_siblings", [1, 3])
def test_no_sibling_is_prepared_for_that_nobody_tries(
    num_siblings: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a chain a rejection needs the residual alone; of three siblings two are taken out of q."""
    taken: list[int] = []
    without = verify_module._without

    def counted(probs: torch.Tensor, token: int) -> torch.Tensor:
        taken.append(token)
        return without(probs, token)

    monkeypatch.setattr(verify_module, "_without", counted)
    drawn = torch.tensor([0.3, 0.4, 0.3, 0.0], dtype=torch.float64)
    target = torch.tensor([0.0, 0.0, 0.0, 1.0], dtype=torch.float64)
    tokens = range(num_siblings)
    proposal = Proposal(
        tuple(tokens), (-1,) * num_siblings, draft_probs=drawn.repeat(num_siblings, 1)
    )
    result = verify(proposal, target.repeat(num_siblings + 1, 1), SeededChance(0))
    assert result.next_token == 3
    assert taken == list(tokens)[:-1]
