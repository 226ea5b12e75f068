"""Drafts with the target's own extra layers, trained to predict further ahead than one token.

Of a text of n tokens the target has read n - 1 before a round, so the first layer has n - 1 true
rows, and the last of them predicts the token behind the text; a layer deeper, one row fewer is
true. Drafts beyond the number of layers come from the last one, which reads its own newest state
again. Rows that stand on guesses are dropped at the next round, which reads the target's states in
their place, whether the guesses were kept or not.
"""

from collections.abc import Sequence
from typing import Protocol

import torch

from specviz.decoding.mtp_pass import MtpPass
from specviz.decoding.proposal import NOTHING, Proposal
from specviz.decoding.proposers.autoregressive import draft_chain
from specviz.decoding.sampling import Chance
from specviz.models.eagle_form import FINAL
from specviz.trace.values import Sampling


class TappedTarget(Protocol):
    """What is needed of the runner that verifies."""

    def tap(self, taps: Sequence[int]) -> None:
        """As `ModelRunner.tap`."""

    def features(self, ids: Sequence[int], first: int) -> torch.Tensor:
        """As `ModelRunner.features`."""


class Mtp:
    """A chain of tokens from the target's drafting layers. `target` must be the runner that
    verifies: what it has read is not read again here."""

    def __init__(
        self,
        layers: MtpPass,
        target: TappedTarget,
        sampling: Sampling,
        eos_ids: frozenset[int],
        room: int,
        gamma: int,
        least_confidence: float = 0.0,
    ) -> None:
        """Draft for one lane.

        Args:
            room: Most tokens that will follow a prompt.
            gamma: Most tokens that a round will draft: layers beyond it are not run.
            least_confidence: As in `draft_chain`.
        """
        target.tap((FINAL,))
        self._layers, self._target = layers, target
        self._num_layers = min(layers.num_layers, gamma)
        self._sampling, self._eos_ids, self._room = sampling, eos_ids, room
        self._least_confidence = least_confidence
        self._forget()

    def _forget(self) -> None:
        self._cache = self._layers.new_cache(self._room)
        self._num_true = [0] * self._num_layers
        # The target's states from row `_first` on, which some layer has not read truly yet.
        self._first = 0
        self._states: torch.Tensor | None = None

    @torch.inference_mode()
    def reset(self, prompt_ids: Sequence[int]) -> None:
        """Read the prompt with every layer, all but its last row, which the first round fills."""
        self._forget()
        ids = list(prompt_ids)[:-1]
        if len(ids) < 2:
            return
        states = self._take(ids)
        for layer in range(self._num_layers):
            tokens = ids[layer + 1 :]
            if not tokens:
                break
            states = self._layers.read(layer, states[: len(tokens)], tokens, self._cache)
            self._num_true[layer] = len(tokens)
        self._drop_read()

    @torch.inference_mode()
    def propose(self, committed_ids: Sequence[int], gamma: int, chance: Chance) -> Proposal:
        """Draft up to `gamma` tokens; none behind a text of one token, of which no state is known.

        Raises:
            DecodingError: A layer returned logits that are not numbers.
        """
        ids = list(committed_ids)
        if gamma <= 0 or len(ids) < 2:
            return NOTHING
        states = self._take(ids)

        def next_logits(so_far: list[int]) -> torch.Tensor:
            nonlocal states
            num_drafted = len(so_far) - len(ids)
            states = self._step(states, so_far, num_drafted)
            return self._layers.predict(states[-1:])

        proposal = draft_chain(
            next_logits,
            ids,
            gamma,
            self._sampling,
            self._eos_ids,
            chance,
            self._least_confidence,
        )
        for layer in range(min(len(proposal), self._num_layers)):
            self._num_true[layer] = max(0, len(ids) - 1 - layer)
        self._drop_read()
        return proposal

    def _step(self, states: torch.Tensor, so_far: list[int], num_drafted: int) -> torch.Tensor:
        """Read what predicts the token behind `so_far`, whose last `num_drafted` are drafts.

        Example: of 3 layers, with rows from 4 on and the text 0 … 7, layer 0 reads the tokens 5, 6
        and 7, layer 1 then 6, 7 and the first draft, layer 2 then 7 and two drafts; after that it
        reads a draft at a time.
        """
        if num_drafted < self._num_layers:
            tokens = so_far[self._first + 1 + num_drafted :]
            self._cache.truncate(num_drafted, self._first)
            return self._layers.read(num_drafted, states, tokens, self._cache)
        return self._layers.read(self._num_layers - 1, states[-1:], so_far[-1:], self._cache)

    def _take(self, ids: list[int]) -> torch.Tensor:
        """The target's states of all rows that some layer has not read truly, `[num_rows,
        hidden]`; the last of them stands for the last token but one."""
        num_held = 0 if self._states is None else len(self._states)
        num_known = min(self._first + num_held, len(ids) - 2)
        self._first = min(self._first, num_known)
        fresh = self._target.features(ids[:-1], num_known)
        if self._states is None or num_known == self._first:
            self._states = fresh
        else:
            self._states = torch.cat([self._states[: num_known - self._first], fresh])
        return self._states

    def _drop_read(self) -> None:
        """Let go of the states that every layer has read."""
        assert self._states is not None
        first = min(self._num_true)
        self._states = self._states[first - self._first :]
        self._first = first
