"""The blocked distillation loss is what autograd makes of the plain formula."""

import pytest
import torch

from specviz.distill import distillation_loss as distillation
from specviz.distill.distillation_loss import distillation_loss
from specviz.distill.logit_distillation import logit_distillation_loss

VOCAB, NUM_ROWS = 37, 40


def _inputs() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(3)
    hidden = torch.randn(NUM_ROWS, 8, generator=generator, dtype=torch.float64)
    weight = torch.randn(VOCAB, 8, generator=generator, dtype=torch.float64)
    labels = torch.randint(VOCAB, (NUM_ROWS,), generator=generator)
    return hidden.requires_grad_(), weight.requires_grad_(), labels


def _plain_distillation(
    logits: torch.Tensor, target_logits: torch.Tensor, labels: torch.Tensor, hybrid: bool
) -> torch.Tensor:
    draft, target = logits.softmax(-1), target_logits.softmax(-1)
    divergence = torch.nn.functional.kl_div(draft.log(), target, reduction="batchmean")
    alpha = torch.minimum(draft, target).sum(-1).mean()
    share = torch.exp(-3 * alpha).detach() if hybrid else 1.0
    cross_entropy = torch.nn.functional.cross_entropy(logits, labels)
    return 0.7 * (share * divergence + (1 - share) * (1 - alpha)) + 0.3 * cross_entropy


@pytest.mark.parametrize("hybrid", [False, True])
def test_distillation_equals_autograd_in_value_and_gradient(hybrid: bool) -> None:
    hidden, weight, labels = _inputs()
    target_hidden, target_weight = hidden.detach().roll(1, 0)[:, :5], weight.detach()[:, :5]
    loss, alpha = distillation_loss(
        hidden, weight, target_hidden, target_weight, labels, 0.7, hybrid=hybrid
    )
    found = torch.autograd.grad(loss, (hidden, weight))
    logits = hidden @ weight.T
    plain = _plain_distillation(logits, target_hidden @ target_weight.T, labels, hybrid)
    wanted = torch.autograd.grad(plain, (hidden, weight))
    torch.testing.assert_close(loss, plain)
    for ours, theirs in zip(found, wanted, strict=True):
        torch.testing.assert_close(ours, theirs)
    overlap = torch.minimum(logits.softmax(-1), (target_hidden @ target_weight.T).softmax(-1)).sum(
        -1
    )
    torch.testing.assert_close(alpha, overlap.mean().detach())


def test_distillation_in_blocks_equals_one_block(monkeypatch: pytest.MonkeyPatch) -> None:
    hidden, weight, labels = _inputs()
    target = hidden.detach().roll(1, 0)

    def gradients() -> tuple[torch.Tensor, ...]:
        loss, _ = distillation_loss(
            hidden, weight, target, weight.detach(), labels, 0.7, hybrid=False
        )
        return (loss.detach(), *torch.autograd.grad(loss, (hidden, weight)))

    whole = gradients()
    monkeypatch.setattr(distillation, "BLOCK_ROWS", 12)
    for ours, theirs in zip(gradients(), whole, strict=True):
        torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("hybrid", [False, True])
def test_both_ways_to_the_loss_have_one_value_and_gradient(hybrid: bool) -> None:
    generator = torch.Generator().manual_seed(0)
    hidden, weight, target_hidden, target_weight = (
        torch.randn(shape, generator=generator, dtype=torch.float64)
        for shape in ((20, 8), (VOCAB, 8), (20, 12), (VOCAB, 12))
    )
    labels = torch.randint(0, VOCAB, (20,), generator=generator)
    hidden.requires_grad_(True)
    fused, _ = distillation_loss(
        hidden, weight, target_hidden, target_weight, labels, 0.7, hybrid=hybrid
    )
    plain = logit_distillation_loss(
        hidden @ weight.T, target_hidden @ target_weight.T, labels, 0.7, hybrid=hybrid
    )
    assert torch.allclose(fused, plain, rtol=1e-9)
    gradients = [torch.autograd.grad(loss, hidden)[0] for loss in (fused, plain)]
    assert torch.allclose(*gradients, atol=1e-10)


def test_logits_of_minus_infinity_do_no_harm() -> None:
    logits = torch.zeros(3, 5, requires_grad=True)
    masked = torch.zeros(3, 5)
    masked[:, 4] = -torch.inf
    loss = logit_distillation_loss(logits, masked, torch.tensor([0, 1, 2]), 0.7, hybrid=True)
    loss.backward()  # type: ignore[no-untyped-call]
    assert bool(torch.isfinite(loss))
    assert bool(torch.isfinite(logits.grad).all())  # type: ignore[arg-type]
