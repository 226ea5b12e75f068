"""How probable a prompt is under the target: apart from every lane and its clock."""

import math
from collections.abc import Sequence

import torch
from transformers import PreTrainedModel

from specviz.decoding.model_runner import ModelRunner

CHUNK = 64
"""Tokens whose logits are held at once: 64 rows of 150,000 entries are 38 MB in float32."""


@torch.inference_mode()
def token_log_probs(model: PreTrainedModel, ids: Sequence[int]) -> torch.Tensor:
    """Return `[len(ids) - 1]` float32: the natural log-probability of each token after the first.

    The law is the softmax at temperature 1, whatever a race samples by. The text is read in chunks
    by a runner of its own, whose cache is gone afterwards.
    """
    runner = ModelRunner(model, room=len(ids))
    found = [torch.empty(0)]
    for start in range(0, len(ids) - 1, CHUNK):
        end = min(start + CHUNK, len(ids) - 1)
        logits = runner.forward(ids[:end], end - start).float()
        following = torch.tensor(ids[start + 1 : end + 1], device=logits.device)
        chosen = logits.gather(1, following[:, None])[:, 0]
        found.append((chosen - logits.logsumexp(dim=-1)).cpu())
    return torch.cat(found)


def mean_log_prob(model: PreTrainedModel, ids: Sequence[int]) -> float | None:
    """Return the mean of `token_log_probs`, in nats a token.

    None where nothing is predicted (a single token) or the model's logits are not numbers.
    """
    if len(ids) < 2:
        return None
    mean = float(token_log_probs(model, ids).mean())
    return min(mean, 0.0) if math.isfinite(mean) else None
