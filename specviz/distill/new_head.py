"""Makes an EAGLE-3 head that does not exist yet, for one target and its most frequent tokens."""

from typing import Any

import torch

from specviz.decoding.eagle3_head import Eagle3Head
from specviz.models.eagle_form import PLAIN_ROPE, HeadForm, default_taps

SHARPNESS = 2.0
"""Of the first queries and keys beside those that torch begins with."""


def new_head(model: Any, draft_ids: torch.Tensor, seed: int) -> Eagle3Head:
    """Make a head of one layer, as wide as the target, that begins near the target's last states.

    Its output layer and last norm begin as the target's own, and each slot looks at itself.
    """
    config = model.config.get_text_config()
    num_heads = config.num_attention_heads
    output: torch.Tensor = model.get_output_embeddings().weight
    form = HeadForm(
        hidden_size=config.hidden_size,
        target_hidden_size=config.hidden_size,
        num_heads=num_heads,
        num_kv_heads=getattr(config, "num_key_value_heads", None) or num_heads,
        head_dim=getattr(config, "head_dim", None) or config.hidden_size // num_heads,
        intermediate_size=getattr(config, "intermediate_size", None) or 4 * config.hidden_size,
        num_layers=1,
        vocab_size=len(output),
        draft_vocab_size=len(draft_ids),
        taps=default_taps(config.num_hidden_layers),
        rope=dict(PLAIN_ROPE),
        max_positions=config.max_position_embeddings,
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        head = Eagle3Head(form, model)
    width = form.hidden_size
    with torch.no_grad():
        _look_at_itself(head, form)
        head.fc.weight.mul_(0.1)
        head.fc.weight[:, -width:] += torch.eye(width)
        head.lm_head.weight.copy_(output[draft_ids.to(output.device)].float())
        norm = getattr(model.base_model, "norm", None)
        if norm is not None and isinstance(getattr(norm, "weight", None), torch.Tensor):
            head.norm.weight.copy_(norm.weight.float())
    head.draft_ids = draft_ids
    return head.to(model.device)


def _look_at_itself(head: Eagle3Head, form: HeadForm) -> None:
    """Let each slot attend to itself at first, whose token says most about the next one: its key
    is its query, and both are long."""
    attention: Any = head.layers[0].self_attn
    heads = attention.q_proj.weight.view(form.num_kv_heads, -1, form.head_dim, 2 * form.hidden_size)
    heads.copy_(SHARPNESS * heads[:, :1].expand_as(heads))
    attention.k_proj.weight.copy_(heads[:, 0].reshape(attention.k_proj.weight.shape))
