"""EAGLE-3 heads written in each dialect, and a plain implementation of what they compute.

Nothing here calls the code under test: the reference is methods' formulas with loops over positions
and heads, no cache, numbers in float64.
"""

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from transformers import PreTrainedModel

WIDTH, HEADS, KV_HEADS, INNER = 32, 4, 2, 40
EPS = 1e-5
DRAFT_IDS = (1, 2, 5, 7, 8, 11, 14, 15, 19, 21, 22, 26, 30, 33, 34, 37, 40, 41, 44, 47)
"""Of 48 target ids."""
Tensors = dict[str, torch.Tensor]


@dataclass
class PlainHead:
    """One head: its tensors by plain names, and what no tensor says."""

    tensors: Tensors
    taps: tuple[int, ...] = (2, 3, 3)
    theta: float = 10_000.0
    yarn_factor: float = 0.0
    norm_before_residual: bool = False
    feeds_norm: bool = False
    doubles_norm: bool = False
    head_dim: int = 8
    draft_ids: tuple[int, ...] = DRAFT_IDS
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def num_layers(self) -> int:
        return 1 + max(int(key.split(".")[1]) for key in self.tensors if key.startswith("layers."))


def make_head(seed: int = 0, *, num_layers: int = 1, **settings: Any) -> PlainHead:
    """Random weights; norms too are far from ones, so that a wrong place of one shows."""
    generator = torch.Generator().manual_seed(seed)
    head_dim = settings.pop("head_dim", 8)
    taps = settings.pop("taps", (2, 3, 3))
    features = settings.pop("features", ())

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator) * 0.3

    def norm(size: int) -> torch.Tensor:
        return 1 + 0.4 * torch.randn(size, generator=generator)

    tensors: Tensors = {"fc.weight": normal(WIDTH, len(taps) * WIDTH)}
    for number in range(num_layers):
        p = f"layers.{number}."
        read = 2 * WIDTH if number == 0 else WIDTH
        tensors[p + "input_layernorm.weight"] = norm(WIDTH)
        if number == 0:
            tensors[p + "hidden_norm.weight"] = norm(WIDTH)
        tensors[p + "self_attn.q_proj.weight"] = normal(HEADS * head_dim, read)
        tensors[p + "self_attn.k_proj.weight"] = normal(KV_HEADS * head_dim, read)
        tensors[p + "self_attn.v_proj.weight"] = normal(KV_HEADS * head_dim, read)
        tensors[p + "self_attn.o_proj.weight"] = normal(WIDTH, HEADS * head_dim)
        if "biases" in features:
            for name, size in (("q", HEADS), ("k", KV_HEADS), ("v", KV_HEADS)):
                tensors[f"{p}self_attn.{name}_proj.bias"] = normal(size * head_dim)
            tensors[f"{p}self_attn.o_proj.bias"] = normal(WIDTH)
        if "head norms" in features:
            tensors[p + "self_attn.q_norm.weight"] = norm(head_dim)
            tensors[p + "self_attn.k_norm.weight"] = norm(head_dim)
        tensors[p + "post_attention_layernorm.weight"] = norm(WIDTH)
        tensors[p + "mlp.gate_proj.weight"] = normal(INNER, WIDTH)
        tensors[p + "mlp.up_proj.weight"] = normal(INNER, WIDTH)
        tensors[p + "mlp.down_proj.weight"] = normal(WIDTH, INNER)
    if "tap norms" in features:
        tensors |= {f"fc_norm.{tap}.weight": norm(WIDTH) for tap in range(len(taps))}
    if "joint norm" in features:
        tensors["input_norm.weight"] = norm(len(taps) * WIDTH)
    if "no fuse" in features:
        del tensors["fc.weight"]
    tensors["norm.weight"] = norm(WIDTH)
    tensors["lm_head.weight"] = normal(len(settings.get("draft_ids", DRAFT_IDS)), WIDTH) / 10
    if "own embedding" in features:
        tensors["embed_tokens.weight"] = normal(48, WIDTH)
    return PlainHead(tensors, taps, head_dim=head_dim, **settings)


def target_states(model: PreTrainedModel, ids: list[int]) -> tuple[list[torch.Tensor], Any]:
    """States `[len(ids), hidden]` at each boundary, the last before the norm; and logits."""
    caught: list[torch.Tensor] = []
    hooks = [
        layer.register_forward_hook(
            lambda _, args, out: caught.append(out[0] if isinstance(out, tuple) else out)
        )
        for layer in model.model.layers
    ]
    with torch.inference_mode():
        output = model(input_ids=torch.tensor([ids]), use_cache=False)
    for hook in hooks:
        hook.remove()
    first = model.get_input_embeddings()(torch.tensor([ids]))
    return [states[0] for states in (first, *caught)], output.logits[0]


class Reference:
    """The head beside its target, one text at a time, everything anew at every call."""

    def __init__(self, head: PlainHead, model: PreTrainedModel) -> None:
        self.head, self.model = head, model
        self.w = {key: value.double() for key, value in head.tensors.items()}

    def features(self, ids: list[int]) -> torch.Tensor:
        """`[len(ids), taps * hidden]`."""
        states, _ = target_states(self.model, ids)
        if "fc.weight" not in self.w:
            return self.model.model.norm(states[-1]).double()
        return torch.cat([states[tap] for tap in self.head.taps], dim=-1).double()

    def fuse(self, features: torch.Tensor) -> torch.Tensor:
        if "fc_norm.0.weight" in self.w:
            parts = features.chunk(len(self.head.taps), dim=-1)
            normal = [self._norm(x, f"fc_norm.{i}") for i, x in enumerate(parts)]
            features = torch.cat(normal, dim=-1)
        if "input_norm.weight" in self.w:
            features = self._norm(features, "input_norm")
        return features @ self.w["fc.weight"].T if "fc.weight" in self.w else features

    def run(self, states: torch.Tensor, ids: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
        """From states `[n, hidden]` and the tokens behind them to the last layer's states and
        logits `[n, draft_vocab]`."""
        own = self.w.get("embed_tokens.weight")
        table = self.model.get_input_embeddings().weight.double() if own is None else own
        for number in range(self.head.num_layers):
            p = f"layers.{number}."
            if number == 0:
                token = self._norm(table[torch.tensor(ids)], p + "input_layernorm")
                inner = states
                if self.head.doubles_norm:
                    inner = self._norm(inner, p + "input_layernorm")
                normal = self._norm(inner, p + "hidden_norm")
                x = torch.cat([token, normal], dim=-1)
                residual = normal if self.head.norm_before_residual else states
            else:
                x, residual = self._norm(states, p + "input_layernorm"), states
            states = residual + self._attention(x, p + "self_attn.")
            x = self._norm(states, p + "post_attention_layernorm")
            gate, up = self._times(x, p + "mlp.gate_proj"), self._times(x, p + "mlp.up_proj")
            states = states + self._times(gate * torch.sigmoid(gate) * up, p + "mlp.down_proj")
        return states, self._norm(states, "norm") @ self.w["lm_head.weight"].T

    def true_logits(self, ids: list[int]) -> torch.Tensor:
        """Logits `[len(ids) - 1, draft_vocab]` where every slot is true."""
        return self.run(self.fuse(self.features(ids[:-1])), ids[1:])[1]

    def drafts(self, ids: list[int], gamma: int) -> tuple[list[int], torch.Tensor]:
        """Greedy drafts behind `ids`, and the logits `[gamma, draft_vocab]` they come from."""
        states, text, rows = self.fuse(self.features(ids[:-1])), list(ids), []
        for _ in range(gamma):
            out, logits = self.run(states, text[1:])
            rows.append(logits[-1])
            text.append(self.head.draft_ids[int(logits[-1].argmax())])
            last = self._norm(out, "norm") if self.head.feeds_norm else out
            states = torch.cat([states, last[-1:]])
        return text[len(ids) :], torch.stack(rows)

    def _norm(self, x: torch.Tensor, name: str) -> torch.Tensor:
        return x / (x.square().mean(-1, keepdim=True) + EPS).sqrt() * self.w[name + ".weight"]

    def _times(self, x: torch.Tensor, name: str) -> torch.Tensor:
        return x @ self.w[name + ".weight"].T + self.w.get(name + ".bias", torch.zeros(1))

    def _attention(self, x: torch.Tensor, p: str) -> torch.Tensor:
        d, n = self.head.head_dim, len(x)
        q, k, v = (self._times(x, p + f"{name}_proj").view(n, -1, d) for name in "qkv")
        if p + "q_norm.weight" in self.w:
            q, k = self._norm(q, p + "q_norm"), self._norm(k, p + "k_norm")
        q, k = self._turn(q), self._turn(k)
        rows = []
        for i in range(n):
            heads = []
            for h in range(q.shape[1]):
                g = h // (q.shape[1] // k.shape[1])
                weights = (k[: i + 1, g] @ q[i, h] / math.sqrt(d)).softmax(0)
                heads.append(weights @ v[: i + 1, g])
            rows.append(torch.cat(heads))
        return self._times(torch.stack(rows), p + "o_proj")

    def _turn(self, x: torch.Tensor) -> torch.Tensor:
        """RoPE, each pair (i, i + d / 2) turned by position * theta ** (-2 i / d)."""
        d = x.shape[-1]
        rates = torch.tensor([self.head.theta ** (-2 * i / d) for i in range(d // 2)]).double()
        scale = 1.0
        if self.head.yarn_factor:
            rates, scale = self._yarn(rates), 0.1 * math.log(self.head.yarn_factor) + 1
        angle = torch.arange(len(x)).double()[:, None, None] * rates
        a, b = x[..., : d // 2], x[..., d // 2 :]
        cos, sin = angle.cos() * scale, angle.sin() * scale
        return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)

    def _yarn(self, rates: torch.Tensor) -> torch.Tensor:
        """Peng et al. 2023, arXiv:2309.00071, beta 32 and 1, trained on 2048 positions."""
        d, original = 2 * len(rates), 2048

        def place(turns: float) -> float:
            whole = original / (turns * 2 * math.pi)
            return d * math.log(whole) / (2 * math.log(self.head.theta))

        low, high = max(math.floor(place(32)), 0), min(math.ceil(place(1)), d - 1)
        span = max(high - low, 0.001)
        ramp = ((torch.arange(len(rates)).double() - low) / span).clamp(0, 1)
        return rates / self.head.yarn_factor * ramp + rates * (1 - ramp)


def table_of(head: PlainHead, vocab_size: int = 48) -> Tensors:
    """`d2t` and `t2d` as files hold them."""
    ids = torch.tensor(head.draft_ids)
    mask = torch.zeros(vocab_size, dtype=torch.bool)
    mask[ids] = True
    return {"d2t": ids - torch.arange(len(ids)), "t2d": mask}


def flat_config(head: PlainHead, **more: Any) -> dict[str, Any]:
    return {
        "hidden_size": WIDTH,
        "intermediate_size": INNER,
        "num_attention_heads": HEADS,
        "num_key_value_heads": KV_HEADS,
        "num_hidden_layers": 1,
        "rms_norm_eps": EPS,
        "max_position_embeddings": 2048,
        "vocab_size": 48,
        "draft_vocab_size": len(head.draft_ids),
        **more,
    }


def _renamed(tensors: Tensors, first: str) -> Tensors:
    return {
        first + key.removeprefix("layers.0.") if key.startswith("layers.0.") else key: value
        for key, value in tensors.items()
    }


def write_safeailab(head: PlainHead, folder: Path) -> Path:
    """A pickle, `midlayer`, no theta; the size of a head's heads is wrong, as on the hub."""
    torch.save(_renamed(head.tensors, "midlayer.") | table_of(head), folder / "pytorch_model.bin")
    config = flat_config(head, architectures=["LlamaForCausalLM"], head_dim=5)
    return _write_config(folder, config | {"num_hidden_layers": 36} | head.extra)


def write_specforge(head: PlainHead, folder: Path) -> Path:
    """Safetensors, prefixes, a theta of its own."""
    tensors = _renamed(head.tensors, "model.midlayer.")
    save_file(tensors | table_of(head), folder / "model.safetensors")
    config = flat_config(head, architectures=["LlamaForCausalLMEagle3"], rope_theta=head.theta)
    return _write_config(folder, config | head.extra)


def write_speculators(head: PlainHead, folder: Path) -> Path:
    """A config in parts; boundaries at its top level."""
    rope = {"rope_type": "default", "rope_theta": head.theta}
    tensors = head.tensors | table_of(head) | {"verifier_norm.weight": torch.ones(3)}
    save_file(tensors, folder / "model.safetensors")
    config = {
        "speculators_model_type": "eagle3",
        "architectures": ["Eagle3DraftModel"],
        "transformer_layer_config": flat_config(head, rope_parameters=rope),
        "draft_vocab_size": len(head.draft_ids),
        "norm_before_residual": head.norm_before_residual,
        "norm_output": head.feeds_norm,
        "eagle_aux_hidden_state_layer_ids": list(head.taps),
    }
    return _write_config(folder, config | head.extra)


def write_modelopt(head: PlainHead, folder: Path) -> Path:
    """Layer ids one lower than boundaries, YaRN injected, no mask."""
    tensors = head.tensors | {"d2t": table_of(head)["d2t"]}
    save_file(tensors, folder / "model.safetensors")
    rope = {"rope_type": "yarn", "factor": 32.0, "original_max_position_embeddings": 2048}
    eagle = {"eagle_aux_hidden_state_layer_ids": [tap - 1 for tap in head.taps]}
    config = flat_config(head, rope_theta=head.theta, rope_scaling=rope, eagle_config=eagle)
    return _write_config(folder, config | head.extra)


WRITERS = {
    "safeailab": write_safeailab,
    "specforge": write_specforge,
    "speculators": write_speculators,
    "modelopt": write_modelopt,
}


def _write_config(folder: Path, config: dict[str, Any]) -> Path:
    (folder / "config.json").write_text(json.dumps(config))
    return folder
