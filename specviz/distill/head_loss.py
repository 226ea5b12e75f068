"""The training-time test of an EAGLE-3 head: it learns from its own states, as it drafts from them.

Slot s is given the target's true state of position s and the token at s + 1, and predicts what the
target says behind that token. Step k then goes k slots further from the head's own states, as a
draft of k + 1 tokens does: it sees the true slots up to s and what it guessed itself from there on
(Li et al. 2025, arXiv:2503.01840, section 3.2).
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch.nn.functional import silu

from specviz.decoding.eagle3_head import Eagle3Head, turned

STEP_WEIGHT = 0.8
"""Of a step's loss beside that of the step before (SafeAILab's and SpecForge's)."""


@dataclass(frozen=True, slots=True)
class HeadBatch:
    """Texts that the target wrote and what it made of them."""

    ids: torch.Tensor
    """`[rows, length]` int64, padded at the end."""
    features: torch.Tensor
    """`[rows, length, taps * hidden]`."""
    law: torch.Tensor
    """The target's, over the draft vocabulary alone: `[rows, length, draft_vocab]`."""
    choices: torch.Tensor
    """The target's first choices of all its tokens, `[rows, length]` int64."""
    is_known: torch.Tensor
    """`[rows, length]` bool, true where the draft vocabulary holds that choice."""
    wanted: torch.Tensor
    """`[rows, length]` bool, true where the target wrote the token behind."""


@dataclass(frozen=True, slots=True)
class HeadScore:
    """What came of one batch, step by step."""

    loss: torch.Tensor
    """`[]`, nats, weighted over the steps."""
    num_same: torch.Tensor
    """Slots at which head and target have one first choice, `[num_steps]`."""
    num_slots: torch.Tensor
    """`[num_steps]`."""
    num_kept: torch.Tensor
    """`[]`: guesses that a round of `num_steps` would keep at temperature 0, over all rounds that
    could begin with the target still writing at their end."""
    num_rounds: torch.Tensor
    """`[]`: how many those are."""


class Rounds:
    """Counts what rounds keep that begin at each slot and guess so many tokens, greedily: guesses
    up to the first wrong one.

    Example: of three rounds of two guesses, right and right, right and wrong, wrong and right, two,
    one and none are kept.
    """

    def __init__(self, wanted: torch.Tensor, num_steps: int) -> None:
        """Begin at slots from which the target writes `num_steps` tokens.

        Args:
            wanted: `[rows, slots]` bool, true in one stretch of each row.
        """
        self._alive = torch.zeros_like(wanted)
        num_first = max(0, wanted.shape[1] - num_steps + 1)
        self._alive[:, :num_first] = wanted[:, :num_first] & wanted[:, num_steps - 1 :]
        self.num = self._alive.sum()
        self.num_kept = torch.zeros_like(self.num)

    def note(self, wanted: torch.Tensor, hits: torch.Tensor) -> None:
        """Note the next guess of all: whether it is right, `[num_wanted]` bool, at the slots of
        `wanted`, `[rows, slots - step]` bool."""
        found = torch.zeros_like(self._alive)
        found[:, : wanted.shape[1]][wanted] = hits
        self._alive &= found
        self.num_kept = self.num_kept + self._alive.sum()


def score_head(head: Eagle3Head, batch: HeadBatch, num_steps: int) -> HeadScore:
    """Unroll a head of one layer over a batch.

    The loss of a slot is the cross-entropy from the target's law over the draft vocabulary; slots
    whose first choice lies outside it teach nothing and count as wrong. Under autocast the large
    products alone are of its dtype.
    """
    num_slots = batch.ids.shape[1] - 1
    cos, sin = head.rotations(num_slots + num_steps)
    states = head.fuse(batch.features[:, :num_slots]).float()
    keys: list[torch.Tensor] = []
    values: list[torch.Tensor] = []
    losses, same, counts = [], [], []
    rounds = Rounds(batch.wanted[:, 1:], num_steps)
    for step in range(num_steps):
        left = num_slots - step
        tokens = torch.zeros_like(batch.ids[:, :num_slots])
        tokens[:, :left] = batch.ids[:, 1 + step :]
        inner, residual = head.first_input(states, tokens)
        span = slice(step, step + num_slots)
        seen = _attend(head, inner, (cos[span], sin[span]), keys, values)
        layer: Any = head.layers[0]
        states = residual + layer.self_attn.o_proj(seen)
        normal = layer.post_attention_layernorm(states)
        gated = silu(layer.mlp.gate_proj(normal)) * layer.mlp.up_proj(normal)
        states = states + layer.mlp.down_proj(gated)
        wanted = batch.wanted[:, 1 + step :]
        own = head.predict(states[:, :left][wanted]).float()
        known = batch.is_known[:, 1 + step :][wanted]
        law = batch.law[:, 1 + step :][wanted][known]
        losses.append(-(law * own[known].log_softmax(dim=-1)).sum() / max(1, len(law)))
        hits = head.draft_ids[own.argmax(dim=-1)] == batch.choices[:, 1 + step :][wanted]
        same.append(hits.sum())
        counts.append(torch.tensor(len(hits), device=own.device))
        rounds.note(wanted, hits)
        states = head.carried(states)
    weights = torch.tensor([STEP_WEIGHT**step for step in range(num_steps)])
    loss = (torch.stack(losses) * weights.to(losses[0])).sum() / weights.sum()
    return HeadScore(loss, torch.stack(same), torch.stack(counts), rounds.num_kept, rounds.num)


def _attend(
    head: Eagle3Head,
    inner: torch.Tensor,
    rotation: tuple[torch.Tensor, torch.Tensor],
    keys: list[torch.Tensor],
    values: list[torch.Tensor],
) -> torch.Tensor:
    """Let each place see the true slots up to its own and its guesses: `[rows, slots, width]`.

    Args:
        inner: `[rows, slots, 2 * hidden]`.
        keys: Of the steps before, `[rows, heads, slots, head_dim]` each; this step's is added.
    """
    form = head.form
    layer: Any = head.layers[0]
    attention = layer.self_attn

    def split(states: torch.Tensor, num_heads: int) -> torch.Tensor:
        return states.view(*states.shape[:2], num_heads, form.head_dim).transpose(1, 2)

    query = split(attention.q_proj(inner), form.num_heads)
    key = split(attention.k_proj(inner), form.num_kv_heads)
    value = split(attention.v_proj(inner), form.num_kv_heads)
    if form.has_head_norms:
        query, key = attention.q_norm(query.float()), attention.k_norm(key.float())
    query, key = turned(query, *rotation), turned(key, *rotation)
    groups = form.num_heads // form.num_kv_heads
    keys.append(key.repeat_interleave(groups, dim=1))
    values.append(value.repeat_interleave(groups, dim=1))
    num_slots = inner.shape[1]
    causal = torch.ones(num_slots, num_slots, dtype=torch.bool, device=inner.device).tril()
    scores = (query @ keys[0].mT).float().masked_fill(~causal, -torch.inf)
    guessed = [(query * each).sum(dim=-1, keepdim=True).float() for each in keys[1:]]
    weights = (torch.cat([scores, *guessed], dim=-1) * form.head_dim**-0.5).softmax(dim=-1)
    seen = weights[..., :num_slots] @ values[0]
    for index, each in enumerate(values[1:]):
        seen = seen + weights[..., num_slots + index, None] * each
    joined: torch.Tensor = seen.transpose(1, 2).reshape(*inner.shape[:2], -1)
    return joined
