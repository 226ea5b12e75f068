"""The blocked cross-entropy is what autograd makes of the plain formula."""

import torch

from specviz.training.fused_loss import BLOCK_ROWS, fused_cross_entropy

VOCAB = 37


def test_cross_entropy_equals_torch_in_value_and_gradient() -> None:
    num_rows = BLOCK_ROWS + 5
    generator = torch.Generator().manual_seed(3)
    hidden = torch.randn(num_rows, 8, generator=generator, dtype=torch.float64).requires_grad_()
    weight = torch.randn(VOCAB, 8, generator=generator, dtype=torch.float64).requires_grad_()
    labels = torch.randint(VOCAB, (num_rows,), generator=generator)
    loss = 2.5 * fused_cross_entropy(hidden, weight, labels)
    found = torch.autograd.grad(loss, (hidden, weight))
    plain = 2.5 * torch.nn.functional.cross_entropy(hidden @ weight.T, labels)
    wanted = torch.autograd.grad(plain, (hidden, weight))
    torch.testing.assert_close(loss.double(), plain, rtol=1e-5, atol=1e-6)
    for ours, theirs in zip(found, wanted, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-7)
