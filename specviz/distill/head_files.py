"""Writes an EAGLE-3 head as other programs read it: SpecForge's files, and speculators' beside."""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from specviz.decoding.eagle3_head import Eagle3Head
from specviz.models.eagle_form import TARGET_KEY

SPECULATORS = "speculators"
NUM_GUESSES = 5
"""What the second dialect's config says of a round; engines take it where nobody says otherwise."""


def write_head(head: Eagle3Head, target: str, dtype: torch.dtype, folder: Path) -> None:
    """Write a head into a folder, in the second dialect into a folder inside it.

    SpecForge's dialect is that of SafeAILab in safetensors. Speculators' files hold the target's
    embedding too.

    Args:
        target: What the target is called, for whoever reads the files; the page offers the head
            for the target of that name.
    """
    weights = {key: value.detach().to(dtype) for key, value in head.state_dict().items()}
    form = head.form
    mask = torch.zeros(form.vocab_size, dtype=torch.bool)
    mask[head.draft_ids] = True
    table = {"d2t": head.draft_ids - torch.arange(len(head.draft_ids)), "t2d": mask}
    first = {key.replace("layers.0.", "midlayer."): value for key, value in weights.items()}
    layers = _layers(head)
    flat = {"architectures": ["LlamaForCausalLMEagle3"], "model_type": "llama", **layers}
    flat |= {"target_hidden_size": form.target_hidden_size, **_shared(head), TARGET_KEY: target}
    _write(folder, flat, first | table)
    embedding = {"embed_tokens.weight": head.embedding_weight.detach().to(dtype)}
    nested = {
        "speculators_model_type": "eagle3",
        "architectures": ["Eagle3Speculator"],
        "speculators_config": {
            "algorithm": "eagle3",
            "proposal_methods": [
                {
                    "proposal_type": "greedy",
                    "speculative_tokens": NUM_GUESSES,
                    "verifier_accept_k": 1,
                    "accept_tolerance": 0.0,
                }
            ],
            "default_proposal_method": "greedy",
            "verifier": {"name_or_path": target, "architectures": []},
        },
        "transformer_layer_config": {"model_type": "llama", **layers},
        "norm_before_residual": form.norm_before_residual,
        "target_hidden_size": form.target_hidden_size,
        **_shared(head),
    }
    _write(folder / SPECULATORS, nested, weights | embedding | table)


def _layers(head: Eagle3Head) -> dict[str, Any]:
    form = head.form
    return {
        "hidden_size": form.hidden_size,
        "intermediate_size": form.intermediate_size,
        "num_attention_heads": form.num_heads,
        "num_key_value_heads": form.num_kv_heads,
        "head_dim": form.head_dim,
        "num_hidden_layers": form.num_layers,
        "hidden_act": "silu",
        "rms_norm_eps": form.rms_eps,
        "max_position_embeddings": form.max_positions,
        "vocab_size": form.vocab_size,
        "attention_bias": form.has_biases,
        "rope_theta": form.rope["rope_theta"],
        "rope_scaling": None,
    }


def _shared(head: Eagle3Head) -> dict[str, Any]:
    return {
        "draft_vocab_size": head.form.draft_vocab_size,
        "eagle_aux_hidden_state_layer_ids": list(head.form.taps),
    }


def _write(folder: Path, config: dict[str, Any], tensors: dict[str, torch.Tensor]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    stored = {key: value.cpu().contiguous() for key, value in tensors.items()}
    save_file(stored, folder / "model.safetensors")
    text = json.dumps(config, indent=1)
    (folder / "config.json").write_text(f"{text}\n", encoding="utf-8")
