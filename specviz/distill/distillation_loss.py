"""How far a draft's distribution is from the target's, with its gradient, in blocks of rows.

With p the target's and q the draft's probabilities of one position and y the next token, the loss
is

    divergence_weight * D(p, q) + (1 - divergence_weight) * -log q(y)

where D is the forward divergence KL(p || q), or the hybrid lambda * KL + (1 - lambda) * TV. TV is
the total variation distance 1 - alpha, and alpha = sum min(p, q) the chance that speculative
sampling accepts a token drafted from q (Leviathan et al. 2023, arXiv:2211.17192). lambda is
exp(-3 alpha), measured on each block: TV alone hardly has a gradient while p and q are apart, and
KL alone does not aim at alpha.
"""

from typing import Any

import torch

BLOCK_ROWS = 256
HYBRID_SHARPNESS = 3.0


class _Distillation(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        hidden: torch.Tensor,
        weight: torch.Tensor,
        target_hidden: torch.Tensor,
        target_weight: torch.Tensor,
        labels: torch.Tensor,
        divergence_weight: float,
        hybrid: bool,
    ) -> Any:
        num_rows = hidden.shape[0]
        grad_hidden, grad_weight = torch.empty_like(hidden), torch.zeros_like(weight)
        total, alpha = hidden.new_zeros(()), hidden.new_zeros(())
        for start in range(0, num_rows, BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            loss, overlap, grad_logits = _block(
                hidden[rows] @ weight.T,
                target_hidden[rows] @ target_weight.T,
                labels[rows, None],
                divergence_weight,
                hybrid,
            )
            total += loss
            alpha += overlap
            grad_logits /= num_rows
            grad_hidden[rows] = grad_logits @ weight
            grad_weight.addmm_(grad_logits.T, hidden[rows])
        ctx.save_for_backward(grad_hidden, grad_weight)
        alpha /= num_rows
        ctx.mark_non_differentiable(alpha)
        return total / num_rows, alpha

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        grad_hidden, grad_weight = ctx.saved_tensors
        scale = grad_outputs[0]
        return grad_hidden * scale, grad_weight * scale, None, None, None, None, None


def _block(
    logits: torch.Tensor,
    target_logits: torch.Tensor,
    wanted: torch.Tensor,
    divergence_weight: float,
    hybrid: bool,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Loss and alpha summed over the rows `[block, vocab]`, and the loss's gradient in `logits`."""
    log_draft = logits.log_softmax(-1)
    log_target = target_logits.log_softmax(-1)
    draft, target = log_draft.exp(), log_target.exp()
    overlaps = torch.minimum(draft, target).sum(-1)
    alpha = overlaps.sum()
    divergence = (target * (log_target - log_draft)).sum()
    cross_entropy = -log_draft.gather(1, wanted).sum()
    share = float(torch.exp(-HYBRID_SHARPNESS * overlaps.mean())) if hybrid else 1.0
    kl_weight = divergence_weight * share
    tv_weight = divergence_weight - kl_weight
    entropy_weight = 1.0 - divergence_weight
    loss = kl_weight * divergence + tv_weight * (len(logits) - alpha)
    loss = loss + entropy_weight * cross_entropy
    grad = (kl_weight + entropy_weight) * draft - kl_weight * target
    grad.scatter_add_(1, wanted, torch.full_like(wanted, -entropy_weight, dtype=grad.dtype))
    if tv_weight:
        # d alpha / d logit_j = q_j (m_j - sum_i m_i q_i) with m = 1 where q < p.
        below = torch.where(draft < target, draft, 0.0)
        grad -= tv_weight * (below - draft * below.sum(-1, keepdim=True))
    return loss, alpha, grad


def distillation_loss(
    hidden: torch.Tensor,
    weight: torch.Tensor,
    target_hidden: torch.Tensor,
    target_weight: torch.Tensor,
    labels: torch.Tensor,
    divergence_weight: float,
    *,
    hybrid: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean loss in nats (see the module), and alpha, which carries no gradient.

    Args:
        hidden: `[num_tokens, draft_hidden]`.
        weight: `[vocab, draft_hidden]`, the draft's output layer.
        target_hidden: `[num_tokens, target_hidden]`, needs no gradient.
        target_weight: `[vocab, target_hidden]`.
        labels: `[num_tokens]` int64.
    """
    loss, alpha = _Distillation.apply(  # type: ignore[no-untyped-call]
        hidden, weight, target_hidden, target_weight, labels, divergence_weight, hybrid
    )
    return loss, alpha
