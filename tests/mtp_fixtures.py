"""Tiny targets with layers that draft, written to folders as the hub's repositories hold them.

The drafting layer of a family is cut from a model with more layers than the target has, so its
tensors are named and shaped by the family's own class; nothing of what loads it is used here. The
same larger model runs the reference: one pass over all rows, without a cache.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from tiny_models import _DEEP, _MIXED, VOCAB, byte_tokenizer, random_model
from transformers import (
    DeepseekV3Config,
    Glm4MoeConfig,
    Glm4MoeLiteConfig,
    MellumConfig,
    PretrainedConfig,
    PreTrainedModel,
    Qwen3_5MoeTextConfig,
    Qwen3_5TextConfig,
    Qwen3NextConfig,
)
from transformers.modeling_layers import MtpModel

from specviz.models.loading import LoadedModel, ModelPool
from specviz.models.mtp_weights import counting_view

NUM_LAYERS = 4
_GLM = {
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 16,
    "n_shared_experts": 1,
    "n_group": 1,
    "topk_group": 1,
}
_LATENT = {
    "num_key_value_heads": 4,
    "q_lora_rank": 16,
    "kv_lora_rank": 16,
    "qk_rope_head_dim": 4,
    "qk_nope_head_dim": 8,
    "v_head_dim": 8,
}
_LINEAR = {
    "head_dim": 8,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
}
_EXPERTS = {
    "num_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 16,
    "shared_expert_intermediate_size": 16,
}


def _plain(more: int) -> dict[str, Any]:
    return {**_DEEP, "pad_token_id": 0, "num_hidden_layers": NUM_LAYERS + more}


def _hybrid(more: int) -> dict[str, Any]:
    turns = ["linear_attention", "full_attention"] * 2 + ["full_attention"] * more
    return {**_MIXED, **_LINEAR, "num_hidden_layers": NUM_LAYERS + more, "layer_types": turns}


def _windowed(more: int) -> dict[str, Any]:
    turns = ["full_attention", "sliding_attention"] * 2 + ["sliding_attention"] * more
    return {**_plain(more), "head_dim": 8, "layer_types": turns, "sliding_window": 6}


BEHIND: dict[str, Callable[[int], PretrainedConfig]] = {
    "glm4_moe": lambda more: Glm4MoeConfig(
        **_plain(more), **_GLM, head_dim=8, first_k_dense_replace=1
    ),
    "deepseek_v3": lambda more: DeepseekV3Config(
        **{**_plain(more), **_LATENT}, **_GLM, first_k_dense_replace=1
    ),
    "glm4_moe_lite": lambda more: Glm4MoeLiteConfig(**{**_plain(more), **_LATENT}, **_GLM),
}
APART: dict[str, Callable[[int], PretrainedConfig]] = {
    "mellum": lambda more: MellumConfig(
        **_windowed(more), num_experts=4, num_experts_per_tok=2, moe_intermediate_size=16
    ),
    "qwen3_5": lambda more: Qwen3_5TextConfig(**_hybrid(more)),
    "qwen3_5_moe": lambda more: Qwen3_5MoeTextConfig(**_hybrid(more), **_EXPERTS),
    "qwen3_next": lambda more: Qwen3NextConfig(**_hybrid(more), **_EXPERTS),
}
MAKERS = BEHIND | APART
FAMILIES = tuple(MAKERS)


@dataclass(frozen=True)
class Drafting:
    """What stands around the block of one drafting layer, by the names of this file."""

    embedding_norm: torch.Tensor
    state_norm: torch.Tensor
    joint: torch.Tensor
    last_norm: torch.Tensor


@dataclass(frozen=True)
class Family:
    """A target in a folder, and all that the reference needs."""

    folder: Path
    whole: PreTrainedModel
    """The target's layers and, behind them, the blocks of those that draft."""
    drafting: tuple[Drafting, ...]


def write_family(
    kind: str,
    folder: Path,
    num_drafting: int = 1,
    dtype: torch.dtype = torch.float64,
    vocab_size: int = VOCAB,
) -> Family:
    """Write a target with layers that draft; its tokenizer too, which has 300 tokens."""
    config = MAKERS[kind](num_drafting)
    config.vocab_size = vocab_size
    whole = random_model(config, 3, dtype=dtype)
    whole.set_experts_implementation("eager")
    _bend_norms(whole)
    whole.save_pretrained(folder)
    tensors = load_file(folder / "model.safetensors")
    width = whole.config.hidden_size
    generator = torch.Generator().manual_seed(9)

    def weight(*shape: int) -> torch.Tensor:
        return 0.3 * torch.randn(*shape, generator=generator, dtype=dtype)

    drafting = tuple(
        Drafting(weight(width), weight(width), weight(width, 2 * width), weight(width))
        for _ in range(num_drafting)
    )
    for number, each in enumerate(drafting):
        block = f"model.layers.{NUM_LAYERS + number}."
        if kind in BEHIND:
            names = ("enorm", "hnorm", "eh_proj", "shared_head.norm")
            own = {f"{block}{name}.weight": x for name, x in zip(names, _parts(each), strict=True)}
            own[f"{block}embed_tokens.weight"] = tensors["model.embed_tokens.weight"].clone()
            own[f"{block}shared_head.head.weight"] = tensors["lm_head.weight"].clone()
        else:
            moved = [key for key in tensors if key.startswith(block)]
            own = {key.replace(block, f"mtp.layers.{number}."): tensors.pop(key) for key in moved}
            names = ("pre_fc_norm_embedding", "pre_fc_norm_hidden", "fc", "norm")
            own |= {f"mtp.{name}.weight": x for name, x in zip(names, _parts(each), strict=True)}
        tensors |= own
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    _write_config(kind, folder, num_drafting)
    byte_tokenizer().save_pretrained(folder)
    return Family(folder, whole, drafting)


def drop_drafting(folder: Path) -> None:
    """Take the drafting tensors out of a folder, and leave what declares them."""
    tensors = load_file(folder / "model.safetensors")
    gone = ("mtp.", f"model.layers.{NUM_LAYERS}.")
    kept = {key: value for key, value in tensors.items() if not key.startswith(gone)}
    save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})


def change_config(folder: Path, **changes: Any) -> None:
    """Change fields of a folder's config; None drops one."""
    path = folder / "config.json"
    config = json.loads(path.read_text()) | changes
    path.write_text(json.dumps({key: value for key, value in config.items() if value is not None}))


def load(family: Family, dtype: str = "float64") -> LoadedModel:
    """The target as a race loads it; its experts as those of the reference, which take float64."""
    loaded = ModelPool(dtype=dtype).get(str(family.folder))
    loaded.model.set_experts_implementation("eager")
    return loaded


def random_layers(model: PreTrainedModel, num_layers: int = 1, seed: int = 4) -> MtpModel:
    """Untrained drafting layers beside any target whose layers can be built by their class."""
    layers = MtpModel(counting_view(model, num_layers), num_layers).to(model.dtype)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in layers.layers.parameters():
            weight.normal_(0.0, 0.35, generator=generator)
    return layers.eval().requires_grad_(False)


class Reference:
    """The drafting layers over whole texts: every row anew, no cache, no code of the package."""

    def __init__(self, family: Family) -> None:
        self._whole, self._drafting = family.whole, family.drafting
        self._base: Any = family.whole.base_model
        self._layers = self._base.layers

    @torch.inference_mode()
    def target_states(self, ids: Sequence[int]) -> torch.Tensor:
        """States of the target behind its last norm, `[num_tokens, hidden]`."""
        states = self._base.embed_tokens(torch.tensor([list(ids)]))
        for number in range(NUM_LAYERS):
            states = self._run(number, states, 0)
        found: torch.Tensor = self._base.norm(states)[0]
        return found

    @torch.inference_mode()
    def layer(
        self, number: int, states: torch.Tensor, ids: Sequence[int], first: int
    ) -> torch.Tensor:
        """What drafting layer `number` gives for states `[num_rows, hidden]` with a token each,
        the first of them at position `first`."""
        own = self._drafting[number]
        tokens = self._base.embed_tokens(torch.tensor([list(ids)]))
        pair = (self._norm(tokens, own.embedding_norm), self._norm(states[None], own.state_norm))
        inner = torch.cat(pair, dim=-1) @ own.joint.T
        found = self._run(NUM_LAYERS + number, inner, first)
        return self._norm(found, own.last_norm)[0]

    def predict(self, states: torch.Tensor) -> torch.Tensor:
        """Logits after states."""
        return states @ self._whole.lm_head.weight.T

    def drafts(self, ids: Sequence[int], gamma: int) -> tuple[list[int], torch.Tensor]:
        """Greedy drafts behind a text and their logits `[gamma, vocab]`.

        Each deeper layer reads what the one before gave for the same rows, one token further; past
        the last layer, its own newest state stands behind its rows with the newest draft.
        """
        text, logits = list(ids), []
        inputs = self.target_states(text)[:-1]
        for depth in range(gamma):
            number = min(depth, len(self._drafting) - 1)
            tokens = text[number + 1 :]
            outputs = self.layer(number, inputs, tokens, number + 1)
            logits.append(self.predict(outputs[-1:]))
            text.append(int(logits[-1].argmax()))
            is_last = number == len(self._drafting) - 1
            inputs = torch.cat([inputs, outputs[-1:]]) if is_last else outputs
        return text[len(ids) :], torch.cat(logits)

    def _norm(self, states: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        # Families write a norm's weight as it is, or as what is added to one.
        is_centred = "qwen3" in self._whole.config.model_type
        # In float32, as all families do it.
        single, eps = states.float(), self._whole.config.rms_norm_eps
        normal = single * torch.rsqrt(single.pow(2).mean(-1, keepdim=True) + eps)
        if is_centred:
            return (normal * (weight.float() + 1)).to(states.dtype)
        return normal.to(states.dtype) * weight

    def _run(self, number: int, states: torch.Tensor, first: int) -> torch.Tensor:
        """Run one block over all rows, each of which sees those before it."""
        config, num_rows = self._whole.config, states.shape[1]
        kind = (getattr(config, "layer_types", None) or ["full_attention"] * 99)[number]
        index = torch.arange(first, first + num_rows)[None]
        by_kind = {"layer_type": kind} if config.model_type == "mellum" else {}
        turned = self._base.rotary_emb(states, position_ids=index, **by_kind)
        rows = torch.arange(num_rows)
        seen = rows[:, None] >= rows[None]
        if kind == "sliding_attention":
            seen &= rows[:, None] - rows[None] < config.sliding_window
        mask = torch.zeros(seen.shape, dtype=states.dtype).masked_fill(~seen, -torch.inf)
        found = self._layers[number](
            states,
            attention_mask=None if kind == "linear_attention" else mask[None, None],
            position_embeddings=turned,
            position_ids=index,
            past_key_values=None,
        )
        return found[0] if isinstance(found, tuple) else found


def _parts(each: Drafting) -> tuple[torch.Tensor, ...]:
    return each.embedding_norm, each.state_norm, each.joint, each.last_norm


def _bend_norms(model: PreTrainedModel) -> None:
    """Let no norm be the plain one, which hides where a norm is missing."""
    generator = torch.Generator().manual_seed(8)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter += 0.3 * torch.randn(
                    parameter.shape, generator=generator, dtype=parameter.dtype
                )


def _write_config(kind: str, folder: Path, num_drafting: int) -> None:
    path = folder / "config.json"
    config = json.loads(path.read_text())
    config["num_hidden_layers"] = NUM_LAYERS
    for kinds in ("layer_types", "mlp_layer_types"):
        if config.get(kinds):
            config[kinds] = config[kinds][:NUM_LAYERS]
    config.pop("num_mtp_layers", None)
    if kind == "mellum":
        config["num_nextn_predict_layers"] = num_drafting
        config["mtp_layer_types"] = ["sliding_attention"]
    elif kind in ("glm4_moe", "deepseek_v3"):
        config["num_nextn_predict_layers"] = num_drafting
    elif kind == "qwen3_5":
        config["mtp_num_hidden_layers"] = num_drafting
    # The others say nothing of it: their tensors do.
    path.write_text(json.dumps(config))
