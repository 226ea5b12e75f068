"""The fused output layer and cross-entropy of `fused_loss`, for states of bfloat16 and compiled.

Logits are normalised and the weight's gradient is summed in float32; only the large products take
rounded numbers.
"""

from collections.abc import Callable
from typing import Any

import torch

BLOCK_ROWS = 512

BlockParts = tuple[torch.Tensor, torch.Tensor, torch.Tensor]
Block = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], BlockParts]


def block_parts(hidden: torch.Tensor, weight: torch.Tensor, labels: torch.Tensor) -> BlockParts:
    """The summed loss of some rows, and its gradients for states and weight."""
    logits = (hidden @ weight.T).float()
    log_normaliser = logits.logsumexp(-1, keepdim=True)
    loss = (log_normaliser - logits.gather(1, labels[:, None])).sum()
    is_label = torch.arange(logits.shape[1], device=logits.device) == labels[:, None]
    rounded = ((logits - log_normaliser).exp() - is_label.float()).to(hidden.dtype)
    return loss, rounded @ weight, rounded.T @ hidden


class _BlockwiseCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, hidden: torch.Tensor, weight: torch.Tensor, labels: torch.Tensor, block: Block
    ) -> Any:
        num_rows = hidden.shape[0]
        rounded = weight.to(hidden.dtype)
        grad_hidden = torch.empty_like(hidden)
        grad_weight = torch.zeros_like(weight)
        total = hidden.new_zeros((), dtype=torch.float32)
        for start in range(0, num_rows, BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            loss, part_hidden, part_weight = block(hidden[rows], rounded, labels[rows])
            total += loss
            grad_hidden[rows] = part_hidden
            grad_weight += part_weight
        ctx.save_for_backward(grad_hidden.div_(num_rows), grad_weight.div_(num_rows))
        return total / num_rows

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        grad_hidden, grad_weight = ctx.saved_tensors
        return grad_hidden * grad_outputs[0], grad_weight * grad_outputs[0], None, None


class FastLoss:
    """Mean cross-entropy of `hidden @ weight.T` against labels, in nats, block by block."""

    def __init__(self, *, compiled: bool) -> None:
        self._block: Block = torch.compile(block_parts, dynamic=False) if compiled else block_parts

    def __call__(
        self, hidden: torch.Tensor, weight: torch.Tensor, labels: torch.Tensor
    ) -> torch.Tensor:
        """The loss.

        Args:
            hidden: `[num_tokens, hidden_size]`, of the dtype of the large products.
            weight: `[vocab, hidden_size]` float32, the output layer.
            labels: `[num_tokens]` int64.
        """
        loss: torch.Tensor = _BlockwiseCrossEntropy.apply(  # type: ignore[no-untyped-call]
            hidden, weight, labels, self._block
        )
        return loss
