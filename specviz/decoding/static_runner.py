"""A `ModelRunner` in static form: a few widths of blocks, each computed by one fixed step."""

from collections.abc import Iterable, Sequence

import torch
from transformers import PreTrainedModel

from specviz.decoding.capture import Capture, uncaptured
from specviz.decoding.lean_cache import DEFAULT_ROOM
from specviz.decoding.model_runner import ModelRunner, shared_prefix
from specviz.decoding.static_chain import FIRST_WIDTH, ChainKind, StaticChain
from specviz.decoding.static_judge import StaticJudge
from specviz.decoding.static_pass import Block, StaticPass, rounded_room, static_pass
from specviz.decoding.taps import Tapped

WIDTHS = (1, 2, 4, 8)


class StaticRunner(ModelRunner):
    """Runs one causal LM over texts of a known greatest length."""

    def __init__(
        self,
        model: PreTrainedModel,
        room: int = DEFAULT_ROOM,
        widths: Iterable[int] = WIDTHS,
        capture: Capture = uncaptured,
        num_grown: int = 0,
    ) -> None:
        """Serve one text after another.

        Args:
            room: Most tokens of a text. Longer ones are read too, in larger buffers, whose steps
                are recorded anew.
            widths: Widths of the blocks that are recorded; a narrower one is filled up, a wider one
                is computed as it is.
            num_grown: Most nodes of a tree that are read before others of it: what a block of a
                recorded width may tell apart beside itself.
        """
        self._widths = tuple(sorted(set(widths)))
        self._capture = capture
        self._steps: dict[int, StaticStep] = {}
        self._chain: tuple[StaticChain, StaticJudge] | None = None
        self._num_grown = num_grown
        self._pass = static_pass(model, rounded_room(room + self._widths[-1] + num_grown))
        super().__init__(model, room)

    @property
    def capacity(self) -> int:
        """Slots of the buffers."""
        return self._pass.capacity

    def reset(self) -> None:
        """Forget everything; buffers and recorded steps stay."""
        self._ids: list[int] = []
        self._parents: list[int] = []
        self._tapped: Tapped = ()

    def tap(self, taps: Sequence[int]) -> None:
        """From now on keep the states at these boundaries; steps that were recorded are anew."""
        if self._taps == tuple(taps):
            return
        super().tap(taps)
        was_ready = bool(self._steps)
        self._steps.clear()
        self._pass.taps = self._taps
        if was_ready:
            self.prepare()

    @property
    def is_tapped(self) -> bool:
        """Whether its steps return more than logits."""
        return bool(self._taps)

    @torch.inference_mode()
    def prepare(self) -> None:
        """Record the steps of all widths, so that none is recorded while a text is read."""
        for width in self._widths:
            self._step(width, width)
        self.reset()

    @torch.inference_mode()
    def record_chain(self, kind: ChainKind, dtype: torch.dtype) -> tuple[StaticChain, StaticJudge]:
        """Return the chain of a kind that this model drafts and what judges it.

        One kind is recorded at a time. Where it is not this one, the text that was read is
        forgotten.

        Args:
            dtype: Of the logits of the target, which judge it.
        """
        if self._chain is None or self._chain[0].kind != kind:
            self.drop_chain()
            own = self.model.dtype
            drafted = StaticChain(self._pass, self.vocab_size, own, kind, self._capture)
            self._chain = drafted, StaticJudge(drafted, dtype, self._capture)
            self.reset()
        return self._chain

    def drop_chain(self) -> None:
        """Let go of the chain that is recorded."""
        self._chain = None

    def has_read(self, ids: Sequence[int]) -> bool:
        """Whether `ids` is what is read and kept, no more and no less."""
        return self._ids == list(ids)

    def has_chain(self, drafted: StaticChain) -> bool:
        """Whether this chain still runs over the buffers that hold the text."""
        return self._chain is not None and self._chain[0] is drafted

    @torch.inference_mode()
    def read_up_to_chain(self, ids: Sequence[int]) -> None:
        """Read what a chain behind `ids` takes for read: all but the last two tokens, which it
        reads by itself."""
        num_before = len(ids) - FIRST_WIDTH
        if shared_prefix(self._ids, list(ids)) < num_before:
            self.forward(ids[:num_before], 1)

    @torch.inference_mode()
    def read_block(self, block: torch.Tensor, start: torch.Tensor) -> torch.Tensor:
        """Read tokens that only the device knows, behind a text that is read.

        Nothing is waited for. The host must be told by `note` what they were.

        Args:
            block: Ids `[width]` int64, of a width that is recorded.
            start: Slot of the first, `[]` int64: as many as the host knows to be read.

        Returns:
            Logits `[width, vocab]`, which the next step of this width writes over.
        """
        width = len(block)
        step = self._steps.get(width) or self._step(width, width)
        step.fill_from_device(block, start, len(self._ids))
        return step.run()

    def note(self, ids: Sequence[int]) -> None:
        """Take `ids` for what was read."""
        self._ids = list(ids)

    @torch.inference_mode()
    def keep(self, num_committed: int, path: Sequence[int]) -> None:
        """Keep the first `num_committed` tokens and the nodes of `path`."""
        self._parents = []
        if any(node != index for index, node in enumerate(path)):
            self._pass.keep_rows(num_committed, torch.tensor(path))
        self._keep_tapped(num_committed, path)
        self._ids = self._ids[:num_committed] + [self._ids[num_committed + node] for node in path]

    def _truncate(self, num_tokens: int) -> None:
        if num_tokens < len(self._ids):
            self._drop_tapped(num_tokens)
            del self._ids[num_tokens:]

    def _call(
        self,
        token_ids: Sequence[int],
        position_ids: Sequence[int],
        num_logits: int,
        visible: torch.Tensor | None = None,
    ) -> torch.Tensor:
        num_past, num_new = len(self._ids), len(token_ids)
        first = num_past - len(self._parents)
        width = next((width for width in self._widths if width >= num_new), num_new)
        own = None if visible is None else visible[:, first:]
        is_grown_far = num_past - first > self._num_grown
        span = num_past - first + num_new if is_grown_far else width + self._num_grown
        self._make_room(first + span)
        if is_grown_far:
            step = StaticStep(self._pass, num_new, span, num_logits, uncaptured)
        else:
            step = self._steps.get(width) or self._step(width, num_logits)
        step.fill(token_ids, position_ids, num_past, first, own)
        logits = step.run()
        if self._taps:
            logits = self._part_from_tapped(logits, num_new)
        if len(logits) > num_logits:
            logits = logits[num_new - num_logits : num_new]
        # The next replay writes over what this one returned.
        return logits if self._capture is uncaptured else logits.clone()

    def _part_from_tapped(self, rows: torch.Tensor, num_new: int) -> torch.Tensor:
        """Keep the states at the taps that a step of `num_new` tokens came to; return its logits.

        Args:
            rows: Logits and behind them, of a step with logits for all it reads, the states:
                `[width, vocab + taps * hidden]`. Those of another step lie with the pass.
        """
        logits = rows[:, : self.vocab_size]
        if rows.shape[1] == self.vocab_size:
            self._tapped = self._pass.tapped
        else:
            states = rows[:num_new, self.vocab_size :].clone()
            width = states.shape[-1] // len(self._taps)
            self._tapped = tuple(torch.split(states, width, dim=-1))
        return logits

    def _step(self, width: int, num_logits: int) -> "StaticStep":
        """Make the step of a width: recorded with all its logits and kept, or used this once."""
        span = width + self._num_grown
        if width not in self._widths:
            return StaticStep(self._pass, width, span, num_logits, uncaptured)
        self._steps[width] = StaticStep(self._pass, width, span, width, self._capture)
        return self._steps[width]

    def _make_room(self, num_tokens: int) -> None:
        if num_tokens > self._pass.capacity:
            self._steps.clear()
            self.drop_chain()
            self._pass = self._pass.grown(rounded_room(2 * num_tokens))


class StaticStep:
    """The computation of a block of one width, from inputs that keep their place."""

    def __init__(
        self, forward: StaticPass, width: int, span: int, num_logits: int, capture: Capture
    ) -> None:
        """Make the step, recorded if `capture` records.

        Args:
            span: Slots from the first that not all of the block may see to its end, at most.
        """
        device = forward.device
        self._forward = forward
        self._width = width
        self._num_logits = num_logits
        # Ids, positions, the slot of the first, and that from which `own` tells who sees whom: one
        # copy to the device.
        self._given = torch.zeros(2 * width + 2, dtype=torch.int64, device=device)
        self._inputs = torch.split(self._given, [width, width, 1, 1])
        # A recording computes, and writes: past the end of any text.
        self._given[-2:] = forward.capacity - span
        self._offsets = torch.arange(span, device=device)
        self._columns = torch.arange(forward.capacity, device=device)
        self._causal = torch.ones(width, span, dtype=torch.bool, device=device).tril()
        self._own = self._causal.clone()
        self._is_causal = True
        self._is_bounded = capture is uncaptured
        self._start: int | None = None
        self.run = capture(self._compute)

    def fill(
        self,
        token_ids: Sequence[int],
        position_ids: Sequence[int],
        start: int,
        first: int,
        own: torch.Tensor | None,
    ) -> None:
        """Put in a block that begins at slot `start`, filled up to the width by what is not read.

        Args:
            first: Where the tree begins that the block is of, `start` at the latest.
            own: `[num_new, start - first + num_new]` bool, who of the block sees what from slot
                `first` on; None: what comes before it.
        """
        rest = self._width - len(token_ids)
        ids = [*token_ids, *[0] * rest]
        positions = [*position_ids, *[position_ids[-1]] * rest]
        self._given.copy_(torch.tensor([*ids, *positions, start, first]))
        self._bound(start if own is None else None)
        if own is not None:
            # What fills up sees as little as can be, and nobody sees it.
            self._own.zero_()
            self._own[:, 0] = True
            self._own[: len(own), : own.shape[1]] = own
        elif not self._is_causal:
            self._own.copy_(self._causal)
        self._is_causal = own is None

    def fill_from_device(self, ids: torch.Tensor, start: torch.Tensor, num_past: int) -> None:
        """Put in a block `[width]` of this very width, each token behind the other.

        Args:
            num_past: What `start` `[]` holds, as the host knows it.
        """
        self._given[: self._width] = ids
        self._given[self._width : -2] = start + self._offsets[: self._width]
        self._given[-2:] = start
        if not self._is_causal:
            self._own.copy_(self._causal)
            self._is_causal = True
        self._bound(num_past)

    def _bound(self, start: int | None) -> None:
        """Look no further than a block from `start` on, where nothing is recorded."""
        self._start = start if self._is_bounded else None

    def _compute(self) -> torch.Tensor:
        logits = self._read()
        if not self._forward.taps or self._num_logits < self._width:
            return logits
        # A recording has one place for all that it returns.
        return torch.cat([logits, *self._forward.tapped], dim=-1)

    def _read(self) -> torch.Tensor:
        ids, positions, start, first = self._inputs
        if self._start is not None:
            return self._forward(Block(ids, positions, None, None, self._start), self._num_logits)
        slots = start + self._offsets[: self._width]
        visible = (self._columns < first).expand(self._width, -1)
        visible = visible.index_copy(1, first + self._offsets, self._own)
        return self._forward(Block(ids, positions, slots, visible), self._num_logits)
