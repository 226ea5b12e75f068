"""The weights of an EAGLE-3 head, and the parts of its step that inference and training share.

One step (Li et al. 2025, arXiv:2503.01840): a state g of position i and the embedding e of the
token at i + 1 stand side by side before the first layer, which is twice as wide as the state that
it is added to. g is fused from the target's tapped states where those are known, else it is what
the head's own last layer gave one position before, without a norm.

    x = [norm(e), norm(g)]; g = g + attention(x); g = g + mlp(norm(g)); logits = W norm(g)

The embedding is the target's own, frozen, unless the head has one. Names of weights are those of
SpecForge's files, with `layers.0` for `midlayer`.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn
from torch.nn.functional import embedding, linear, rms_norm
from transformers import LlamaConfig, PreTrainedModel
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

from specviz.decoding.lean_weights import Norm
from specviz.models.eagle_form import HeadForm


class RmsNorm(nn.Module):
    """A root-mean-square norm over the last dimension."""

    def __init__(self, width: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self._eps = eps

    @property
    def lean(self) -> Norm:
        """The same as a lean pass reads it."""
        return Norm(self.weight, self._eps)

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """Normalise `[…, width]`."""
        # The lean norm works in place, which nothing can be learned through.
        return rms_norm(states, self.weight.shape, self.weight, self._eps)


class HeadAttention(nn.Module):
    """Projections of one layer."""

    def __init__(self, form: HeadForm, width: int) -> None:
        super().__init__()
        num_q, num_kv = form.num_heads * form.head_dim, form.num_kv_heads * form.head_dim
        self.q_proj = nn.Linear(width, num_q, bias=form.has_biases)
        self.k_proj = nn.Linear(width, num_kv, bias=form.has_biases)
        self.v_proj = nn.Linear(width, num_kv, bias=form.has_biases)
        self.o_proj = nn.Linear(num_q, form.hidden_size, bias=form.has_output_bias)
        if form.has_head_norms:
            self.q_norm = RmsNorm(form.head_dim, form.rms_eps)
            self.k_norm = RmsNorm(form.head_dim, form.rms_eps)


class HeadMlp(nn.Module):
    """SwiGLU of one layer."""

    def __init__(self, form: HeadForm) -> None:
        super().__init__()
        width, inner = form.hidden_size, form.intermediate_size
        self.gate_proj = nn.Linear(width, inner, bias=False)
        self.up_proj = nn.Linear(width, inner, bias=False)
        self.down_proj = nn.Linear(inner, width, bias=False)


class HeadLayer(nn.Module):
    """One layer; only the first takes embeddings, and is twice as wide."""

    def __init__(self, form: HeadForm, *, is_first: bool) -> None:
        super().__init__()
        width, eps = form.hidden_size, form.rms_eps
        if not is_first or form.has_embedding_norm:
            self.input_layernorm = RmsNorm(width, eps)
        if is_first:
            self.hidden_norm = RmsNorm(width, eps)
        self.self_attn = HeadAttention(form, 2 * width if is_first else width)
        self.mlp = HeadMlp(form)
        self.post_attention_layernorm = RmsNorm(width, eps)


class Eagle3Head(nn.Module):
    """A head for one target, whose embedding and, where it has no own one, output layer it uses."""

    draft_ids: torch.Tensor

    def __init__(self, form: HeadForm, target: PreTrainedModel) -> None:
        """Make a head with untrained weights, on the CPU and in float32."""
        super().__init__()
        self.form = form
        width, theirs = form.hidden_size, form.target_hidden_size
        num_taps = len(form.taps)
        if form.fuses:
            self.fc = nn.Linear(num_taps * theirs, width, bias=False)
        if form.has_tap_norms:
            self.fc_norm = nn.ModuleList(RmsNorm(theirs, form.rms_eps) for _ in form.taps)
        if form.has_joint_norm:
            self.input_norm = RmsNorm(num_taps * theirs, form.rms_eps)
        self.layers = nn.ModuleList(
            HeadLayer(form, is_first=index == 0) for index in range(form.num_layers)
        )
        if form.has_last_norm:
            self.norm = RmsNorm(width, form.rms_eps)
        if form.owns_embedding:
            self.embed_tokens = nn.Embedding(form.vocab_size, width)
        if form.owns_output:
            self.lm_head = nn.Linear(width, form.draft_vocab_size, bias=False)
        self.register_buffer("draft_ids", torch.arange(form.draft_vocab_size), persistent=False)
        self._target: tuple[Any, ...] = (target,)  # In a tuple, so that it is no part of this.

    @classmethod
    def of_weights(
        cls,
        form: HeadForm,
        target: PreTrainedModel,
        weights: Mapping[str, torch.Tensor],
        draft_ids: torch.Tensor,
    ) -> "Eagle3Head":
        """Make a trained head, of the target's dtype and on its device.

        Args:
            draft_ids: The target's id of each token of the draft vocabulary, `[draft_vocab]` int64.

        Raises:
            RuntimeError: Weights are missing, too many or of other shapes.
        """
        with torch.device("meta"):
            head = cls(form, target)
        head.load_state_dict(dict(weights), assign=True)
        head.draft_ids = draft_ids
        theirs: Any = target.get_input_embeddings().weight
        head.to(device=theirs.device, dtype=theirs.dtype)
        return head.requires_grad_(False)

    @property
    def embedding_weight(self) -> torch.Tensor:
        """`[vocab, hidden]`, the target's own unless the head has one."""
        if self.form.owns_embedding:
            return self.embed_tokens.weight
        weight: torch.Tensor = self._target[0].get_input_embeddings().weight
        return weight

    @property
    def output_weight(self) -> torch.Tensor:
        """`[draft_vocab, hidden]`."""
        if self.form.owns_output:
            return self.lm_head.weight
        weight: torch.Tensor = self._target[0].get_output_embeddings().weight
        return weight[self.draft_ids]

    def embed(self, ids: torch.Tensor) -> torch.Tensor:
        """Embed ids `[…]` to `[…, hidden]`, without any factor of the target's class."""
        return embedding(ids.clamp(max=len(self.embedding_weight) - 1), self.embedding_weight)

    def fuse(self, features: torch.Tensor) -> torch.Tensor:
        """Make states `[…, hidden]` of tapped ones `[…, taps * target_hidden]`."""
        if self.form.has_tap_norms:
            parts = torch.split(features, self.form.target_hidden_size, dim=-1)
            normal = [norm(part) for norm, part in zip(self.fc_norm, parts, strict=True)]
            features = torch.cat(normal, dim=-1)
        if self.form.has_joint_norm:
            features = self.input_norm(features)
        return self.fc(features) if self.form.fuses else features

    def first_input(
        self, states: torch.Tensor, ids: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Put states `[…, hidden]` and the tokens that follow them, `[…]`, before the first layer.

        Returns:
            What attention reads, `[…, 2 * hidden]`, the embedding first, and the residual.
        """
        layer: Any = self.layers[0]
        token = self.embed(ids)
        if self.form.has_embedding_norm:
            token = layer.input_layernorm(token)
        inner = layer.input_layernorm(states) if self.form.doubles_norm else states
        normal = layer.hidden_norm(inner)
        residual = normal if self.form.norm_before_residual else states
        return torch.cat((token, normal), dim=-1), residual

    def ready(self, states: torch.Tensor) -> torch.Tensor:
        """What the output layer reads of the last layer's states `[…, hidden]`."""
        normal: torch.Tensor = self.norm(states) if self.form.has_last_norm else states
        return normal

    def predict(self, states: torch.Tensor) -> torch.Tensor:
        """Logits `[…, draft_vocab]` after the last layer's states `[…, hidden]`."""
        return linear(self.ready(states), self.output_weight)

    def carried(self, states: torch.Tensor) -> torch.Tensor:
        """What the next step is given in place of a fused state."""
        return self.ready(states) if self.form.feeds_norm else states

    def rotations(self, length: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Cosines and sines `[length, head_dim]` of the positions, the sines of the first half
        with their sign, as `turned` takes them."""
        form = self.form
        config = LlamaConfig(
            hidden_size=form.num_heads * form.head_dim,
            num_attention_heads=form.num_heads,
            head_dim=form.head_dim,
            max_position_embeddings=form.max_positions,
            rope_parameters=dict(form.rope),
        )
        weight = self.embedding_weight
        rotary = LlamaRotaryEmbedding(config).to(weight.device)
        cos, sin = rotary(weight[:1, None], torch.arange(length, device=weight.device)[None])
        half = form.head_dim // 2
        return cos[0], torch.cat((-sin[0, :, :half], sin[0, :, half:]), dim=-1)


def turned(states: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Turn states `[…, head_dim]` by their positions: x cos + (-x2, x1) sin."""
    return states * cos + states.roll(states.shape[-1] // 2, -1) * sin
