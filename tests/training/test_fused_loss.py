"""The blocked losses are what autograd makes of the plain formulas."""

import pytest
import torch

from specviz.distill import distillation_loss as distillation
from specviz.distill.distillation_loss import distillation_loss
from specviz.training.fused_loss import BLOCK_ROWS, fused_cross_entropy

VOCAB = 37


def _inputs(num_rows: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(3)
    hidden = torch.randn(num_rows, 8, generator=generator, dtype=torch.float64)
    weight = torch.randn(VOCAB, 8, generator=generator, dtype=torch.float64)
    labels = torch.randint(VOCAB, (num_rows,), generator=generator)
    return hidden.requires_grad_(), weight.requires_grad_(), labels


def test_cross_entropy_equals_torch_in_value_and_gradient() -> None:
    hidden, weight, labels = _inputs(BLOCK_ROWS + 5)
    loss = 2.5 * fused_cross_entropy(hidden, weight, labels)
    found = torch.autograd.grad(loss, (hidden, weight))
    plain = 2.5 * torch.nn.functional.cross_entropy(hidden @ weight.T, labels)
    wanted = torch.autograd.grad(plain, (hidden, weight))
    torch.testing.assert_close(loss.double(), plain, rtol=1e-5, atol=1e-6)
    for ours, theirs in zip(found, wanted, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-7)


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
    hidden, weight, labels = _inputs(40)
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
    hidden, weight, labels = _inputs(40)
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
