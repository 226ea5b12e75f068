"""Runs the modules of a Llama model one after the other, without what transformers wraps around
them.

For a small model the wrappers (config look-ups, mask making, output classes, hooks) take as long as
a layer or two, in every single step. Same modules, same weights, same numbers; every lane of such a
target runs this way, the baseline included.
"""

from collections.abc import Sequence
from typing import Any

import torch
from transformers import Cache, LlamaForCausalLM, PreTrainedModel

FIRST_TABLE_LENGTH = 512


class LeanLlama:
    """A forward pass over one text at batch size 1."""

    def __init__(self, model: LlamaForCausalLM) -> None:
        self._base: Any = model.model
        self._head: Any = model.lm_head
        self._device = model.device
        self._cos, self._sin = self._rotations(FIRST_TABLE_LENGTH)

    @staticmethod
    def fits(model: PreTrainedModel) -> bool:
        """Whether the model is a plain Llama: SDPA attention, rotations that depend on the
        position alone."""
        return (
            type(model) is LlamaForCausalLM
            and model.config._attn_implementation == "sdpa"
            and model.config.rope_parameters.get("rope_type") == "default"
        )

    def __call__(
        self,
        token_ids: Sequence[int],
        position_ids: Sequence[int],
        cache: Cache,
        num_logits: int,
        visible: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Read `token_ids` at `position_ids`; return the last ones' logits `[num_logits, vocab]`.

        Args:
            visible: `[num_new, num_past + num_new]` bool, true where a token may look; None: each
                token sees the cache and what stands before it.
        """
        hidden = self.run_layers(self.embed(token_ids), 0, None, position_ids, cache, visible)
        logits: torch.Tensor = self._head(self._base.norm(hidden[:, -num_logits:]))[0]
        return logits

    def embed(self, token_ids: Sequence[int]) -> torch.Tensor:
        """The embeddings `[1, num_new, hidden]` of the tokens."""
        embeddings: torch.Tensor = self._base.embed_tokens(
            torch.tensor([token_ids], device=self._device)
        )
        return embeddings

    def run_layers(
        self,
        hidden: torch.Tensor,
        first: int,
        end: int | None,
        position_ids: Sequence[int],
        cache: Cache,
        visible: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Run the layers `first` to `end` (None: to the last) on `hidden` `[1, num_new, hidden]`.

        Args:
            visible: As in a call of the whole.
        """
        last = max(position_ids)
        if last >= len(self._cos):
            self._cos, self._sin = self._rotations(2 * (last + 1))
        if visible is None and len(position_ids) > 1 and position_ids[0] > 0:
            visible = torch.ones(len(position_ids), last + 1, dtype=torch.bool)
            visible = visible.tril(position_ids[0])
        mask = None if visible is None else self._additive(visible)
        index = torch.tensor(position_ids, device=self._device)
        rotation = (self._cos[index][None], self._sin[index][None])
        for layer in self._base.layers[first:end]:
            hidden = layer(
                hidden,
                attention_mask=mask,
                position_ids=index[None],
                past_key_values=cache,
                use_cache=True,
                position_embeddings=rotation,
            )
        return hidden

    def _additive(self, visible: torch.Tensor) -> torch.Tensor:
        """The mask as numbers to add, `[1, 1, num_new, num_all]`.

        Attention takes a bool mask too, but turns it into numbers anew in every layer.
        """
        mask = torch.zeros(visible.shape, dtype=self._head.weight.dtype)
        return mask.masked_fill_(~visible, -torch.inf)[None, None].to(self._device)

    @torch.inference_mode()
    def _rotations(self, length: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Cosines and sines `[length, head_dim]` of the rotary embedding, from the model's own."""
        states = self._base.embed_tokens.weight[:1, None]
        cos, sin = self._base.rotary_emb(states, torch.arange(length, device=self._device)[None])
        return cos[0], sin[0]
