"""The loss of distillation_loss.py on ready logits, for models without a plain output layer."""

import torch
from torch.nn.functional import cross_entropy, kl_div

from specviz.distill.distillation_loss import HYBRID_SHARPNESS

LOWEST_LOG = -80.0
"""Stands for minus infinity, which some models put on ids they never write."""


def logit_distillation_loss(
    logits: torch.Tensor,
    target_logits: torch.Tensor,
    labels: torch.Tensor,
    divergence_weight: float,
    *,
    hybrid: bool,
) -> torch.Tensor:
    """Mean loss in nats: divergence_weight * D + (1 - divergence_weight) * cross-entropy.

    D is KL(p || q) of the target's law p and the draft's q, or lambda * KL + (1 - lambda) * TV.

    Args:
        logits: `[num_tokens, vocab]`.
        target_logits: `[num_tokens, vocab]`, needs no gradient.
        labels: `[num_tokens]` int64.
    """
    log_draft = logits.log_softmax(-1).clamp(min=LOWEST_LOG)
    log_target = target_logits.log_softmax(-1).clamp(min=LOWEST_LOG)
    divergence = kl_div(log_draft, log_target, log_target=True, reduction="batchmean")
    if hybrid:
        alpha = torch.minimum(log_draft, log_target).exp().sum(-1).mean()
        share = torch.exp(-HYBRID_SHARPNESS * alpha.detach())
        divergence = share * divergence + (1.0 - share) * (1.0 - alpha)
    return divergence_weight * divergence + (1.0 - divergence_weight) * cross_entropy(
        logits, labels
    )
