"""A draft model's whole chain of tokens as one computation that a device can record.

Each step reads a token, makes its law, and inverts the law at a uniform number that was drawn
beforehand; the token goes into the next step without passing the host. The first step is two tokens
wide: after full acceptance the draft has not read its own last token, otherwise reading one again
writes what was there, so that no round needs a pass of its own for it.

A chain cannot end early. What was drafted behind an end token is left out by its length, and the
uniform numbers that it used are still to be drawn: the random stream of a seed is that of drafting
token by token.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from specviz.decoding.capture import Capture, uncaptured
from specviz.decoding.sampling import are_finite, invert, over_vocab, to_probs
from specviz.decoding.static_pass import Block, StaticPass
from specviz.trace.values import Sampling

FIRST_WIDTH = 2


@dataclass(frozen=True, slots=True)
class ChainKind:
    """What a chain is recorded for."""

    gamma: int
    sampling: Sampling
    """Its seed says nothing here."""
    vocab_size: int
    """Ids of the target, over which the laws range."""
    eos_ids: frozenset[int]
    """Any of these ends a draft."""

    @property
    def is_greedy(self) -> bool:
        """Whether drafts are argmaxes and nothing is drawn."""
        return self.sampling.temperature == 0

    @property
    def num_draws(self) -> int:
        """Most uniform numbers of a round: for each draft, for each coin, for the last token."""
        return 2 * self.gamma + 1


class StaticChain:
    """The computation of one kind of chain, from inputs that keep their place."""

    def __init__(
        self,
        forward: StaticPass,
        num_rows: int,
        dtype: torch.dtype,
        kind: ChainKind,
        capture: Capture,
    ) -> None:
        """Record the chain; what the first places of the pass held is lost.

        Args:
            num_rows: Ids that the draft knows.
            dtype: Of its logits.
        """
        device, gamma = forward.device, kind.gamma
        self.kind = kind
        self._forward = forward
        self._last_id = min(num_rows, kind.vocab_size) - 1
        # Two ids to read, the slot of the first, the newest id as the target knows it, and all the
        # uniform numbers: one copy to the device.
        num_given = FIRST_WIDTH + 2 + kind.num_draws
        self._given = torch.zeros(num_given, dtype=torch.float64, device=device)
        self._sent = torch.zeros(num_given, dtype=torch.float64, pin_memory=device.type == "cuda")
        self._offsets = torch.arange(FIRST_WIDTH, device=device)
        self._columns = torch.arange(forward.capacity, device=device)
        self._is_bounded = capture is uncaptured
        self._start: int | None = None
        self._eos_ids = torch.tensor(sorted(kind.eos_ids), dtype=torch.int64, device=device)
        is_law_single = not kind.is_greedy and dtype != torch.float64
        row_dtype = torch.float32 if is_law_single else dtype
        self.rows = torch.zeros(gamma, kind.vocab_size, dtype=row_dtype, device=device)
        """`[gamma, vocab]`: the laws that the tokens were drawn from; at temperature 0 logits."""
        self.ids = torch.zeros(gamma, dtype=torch.int64, device=device)
        """`[gamma]`, those behind an end token included."""
        self.length = torch.zeros((), dtype=torch.int64, device=device)
        """`[]`: tokens up to the first end token, which is one of them."""
        self.are_sound = torch.zeros(gamma, dtype=torch.bool, device=device)
        """`[gamma]`: whether each step's logits were numbers."""
        self.run = capture(self._compute)
        """Draft from what was filled in last, and return `rows`."""

    @property
    def draws(self) -> torch.Tensor:
        """`[num_draws]` float64: the uniform numbers of the round, in the order of the stream."""
        return self._given[FIRST_WIDTH + 2 :]

    @property
    def block(self) -> tuple[torch.Tensor, torch.Tensor]:
        """What the target is to read: the newest token and the drafts `[gamma + 1]` int64, and the
        slot of the first `[]` int64."""
        newest = self._given[FIRST_WIDTH + 1 : FIRST_WIDTH + 2].long()
        return torch.cat([newest, self.ids]), self._given[FIRST_WIDTH].long() + 1

    def fill(self, ids: Sequence[int], newest: int, draws: Sequence[float]) -> None:
        """Put in a text and the numbers to be drawn.

        A read-back must lie between two calls: the copy to the device is not waited for.

        Args:
            ids: The text as the draft can read it.
            newest: Its last id as the target reads it.
        """
        values = [*ids[-FIRST_WIDTH:], len(ids) - FIRST_WIDTH, newest, *draws]
        self._sent[: len(values)] = torch.tensor(values, dtype=torch.float64)
        self._given.copy_(self._sent, non_blocking=True)
        if self._is_bounded:
            self._start = len(ids) - FIRST_WIDTH

    def _compute(self) -> torch.Tensor:
        ids = self._given[:FIRST_WIDTH].long()
        slots = self._given[FIRST_WIDTH].long() + self._offsets
        for step in range(self.kind.gamma):
            logits = self._forward(self._block(ids, slots, step), 1)
            self.are_sound[step] = are_finite(logits)[0]
            row, token = self._draw(over_vocab(logits, self.kind.vocab_size), step)
            self.rows[step] = row
            self.ids[step] = token
            ids, slots = self.ids[step : step + 1], slots[-1:] + 1
        is_end = (self.ids[:, None] == self._eos_ids).any(dim=-1)
        # The tokens before the first end token, and it or the last token.
        num_before = (~is_end).long().cumprod(dim=0).sum()
        self.length.copy_((num_before + 1).clamp(max=self.kind.gamma))
        return self.rows

    def _block(self, ids: torch.Tensor, slots: torch.Tensor, step: int) -> Block:
        if self._start is None:
            return Block(ids, slots, slots, self._columns <= slots[:, None])
        # The first step reads two tokens.
        start = self._start if step == 0 else self._start + step + 1
        return Block(ids, slots, slots, None, start)

    def _draw(self, logits: torch.Tensor, step: int) -> tuple[torch.Tensor, torch.Tensor]:
        """The row to keep `[vocab]` and the token `[]` of logits `[1, vocab]`."""
        if self.kind.is_greedy:
            return logits[0], logits[0].argmax()
        law = to_probs(logits, self.kind.sampling)[0]
        # Of what is no number any id may come, but the next step must be able to read it.
        return law, invert(law, self.draws[step]).clamp(max=self._last_id)
