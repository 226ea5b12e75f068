"""Forward passes whose tensors keep their place and shape: what a device can record and replay.

Keys and values lie in buffers of a text's full length from the start. New tokens go to the slots
that a tensor names, masks hide all other places, and nothing is read back to the host. Going back
in the text needs no operation: what lies past its end is hidden, and written over later.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import torch
from transformers import PreTrainedModel
from transformers.cache_utils import DynamicCache, DynamicLayer

from specviz.decoding.attention import Seen
from specviz.decoding.lean_cache import BlockViews
from specviz.decoding.lean_forward import LeanForward, RunLayers
from specviz.decoding.state_cache import layer_makers
from specviz.decoding.taps import Tapped, call_tapped
from specviz.errors import IncompatibleModelError
from specviz.texts import message

STEP = 64
"""Buffers are a multiple of this long: fast attention kernels ask for it."""
_FULL, _SLIDING = "full_attention", "sliding_attention"


def rounded_room(num_tokens: int) -> int:
    """Slots of a buffer for so many tokens."""
    return -(-num_tokens // STEP) * STEP


@dataclass(frozen=True, slots=True)
class Block:
    """Tokens that are read together, as tensors on the device."""

    ids: torch.Tensor
    """`[width]` int64."""
    positions: torch.Tensor
    """Places in the text, `[width]` int64."""
    given_slots: torch.Tensor | None
    """Places in the cache, `[width]` int64; None: those from `start` on."""
    visible: torch.Tensor | None
    """`[width, capacity]` bool, true where a token may look; None: each token sees what stands
    before it, from `start` on one behind the other."""
    start: int | None = None
    """What the first slot is, where nothing is recorded: then nobody looks past the block."""

    @property
    def reach(self) -> int | None:
        """Places that may be seen; None: all."""
        return None if self.start is None else self.start + len(self.ids)

    @property
    def slots(self) -> torch.Tensor:
        """Places in the cache, `[width]` int64, made where none are given."""
        if self.given_slots is not None:
            return self.given_slots
        assert self.start is not None
        return self.start + torch.arange(len(self.ids), device=self.ids.device)

    def mask(self) -> torch.Tensor:
        """`visible`, made where it is None, `[width, reach]`."""
        if self.visible is not None:
            return self.visible
        slots = self.slots
        return torch.arange(self.reach or 0, device=slots.device) <= slots[:, None]


class StaticPass(Protocol):
    """One model over one text of at most `capacity` tokens."""

    capacity: int
    device: torch.device
    taps: tuple[int, ...]
    """Boundaries whose states are wanted."""
    tapped: Tapped
    """Those of the block that was computed last, which the next one may write over."""

    def __call__(self, block: Block, num_logits: int) -> torch.Tensor:
        """Read a block and return the logits `[num_logits, vocab]` of its last places."""

    def keep_rows(self, start: int, rows: torch.Tensor) -> None:
        """Move the tokens at `start + rows` to the places from `start` on."""

    def grown(self, capacity: int) -> "StaticPass":
        """Return the same with more room, and what it has read."""


def static_pass(model: PreTrainedModel, capacity: int) -> StaticPass:
    """Make the static pass of a model.

    Raises:
        IncompatibleModelError: It keeps states, or only its class knows where its window applies.
    """
    if LeanForward.fits(model):
        return LeanStaticPass(model, capacity)
    return WrappedStaticPass(model, capacity)


class LeanStaticPass:
    """The lean pass, over one buffer for all layers."""

    def __init__(self, model: PreTrainedModel, capacity: int) -> None:
        self._model = model
        self._lean = LeanForward(model)
        self.capacity = capacity
        self.device = model.device
        self.taps: tuple[int, ...] = ()
        self.tapped: Tapped = ()
        self._cos, self._sin = self._lean.rotations_for(capacity)
        num_kv_heads, head_dim = self._lean.head_shape
        shape = (self._lean.num_layers, capacity, 2 * num_kv_heads, head_dim)
        # Views of other tensors, and what is written to them, are watched in every operation.
        with torch.inference_mode():
            self._buffer = torch.zeros(shape, dtype=model.dtype, device=model.device)

    def __call__(self, block: Block, num_logits: int) -> torch.Tensor:
        """Read a block and return the logits `[num_logits, vocab]` of its last places."""
        hidden = self._lean.embed_ids(block.ids)
        run = self._runner_of(block)
        if self.taps:
            hidden, self.tapped = self._lean.run_tapped(hidden, self.taps, run)
        else:
            hidden = run(hidden, 0, None)
        return self._lean.predict(hidden[-num_logits:])

    def _runner_of(self, block: Block) -> RunLayers:
        """What runs layers on the states of a block."""
        start, end = block.start, block.reach
        if start is None or end is None:
            self._slots = block.slots
            sight = StaticSight(block, self._buffer.dtype)
            turned = (self._cos[block.positions, None], self._sin[block.positions, None])
            return partial(self._lean.run, rotation=turned, cache=self, sight=sight)
        rotation = (self._cos[start:end, None], self._sin[start:end, None])
        views = BlockViews(self._buffer, start, end)
        return partial(self._lean.run_block, rotation=rotation, views=views, num_past=start)

    def write(self, layer: int, fresh: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Put a block's keys and values into their slots; return all that there are."""
        own = self._buffer[layer].index_copy_(0, self._slots, fresh)
        keys, values = own.transpose(0, 1)[None].chunk(2, 1)
        return keys, values

    def keep_rows(self, start: int, rows: torch.Tensor) -> None:
        """Move the tokens at `start + rows` to the places from `start` on."""
        index = rows.to(self._buffer.device) + start
        self._buffer[:, start : start + len(rows)] = self._buffer[:, index]

    def grown(self, capacity: int) -> "LeanStaticPass":
        """Return the same with more room, and what it has read."""
        grown = LeanStaticPass(self._model, capacity)
        grown._buffer[:, : self.capacity] = self._buffer
        grown.taps = self.taps
        return grown


class StaticSight:
    """Masks of a block over all that it reaches, made once for each window."""

    def __init__(self, block: Block, dtype: torch.dtype) -> None:
        self._visible, self._slots, self._dtype = block.mask(), block.slots, dtype
        self._masks: dict[int | None, torch.Tensor] = {}

    def of(self, window: int | None, keys: torch.Tensor, values: torch.Tensor) -> Seen:
        """Return what a layer looks at."""
        return keys, values, self.mask(window), False

    def mask(self, window: int | None) -> torch.Tensor:
        """Numbers to add, `[width, reach]`; a text past a window has no trees in it."""
        if window not in self._masks:
            visible = self._visible
            if window is not None:
                column = torch.arange(visible.shape[1], device=visible.device)
                visible = visible & (column > self._slots[:, None] - window)
            mask = torch.zeros(visible.shape, dtype=self._dtype, device=visible.device)
            self._masks[window] = mask.masked_fill_(~visible, torch.finfo(self._dtype).min)
        return self._masks[window]


class WrappedStaticPass:
    """A model's own modules, over a cache whose layers write where they are told."""

    def __init__(self, model: PreTrainedModel, capacity: int) -> None:
        self._model = model
        self.capacity = capacity
        self.device = model.device
        self.taps: tuple[int, ...] = ()
        self.tapped: Tapped = ()
        config = model.config.get_text_config()
        kinds = set(getattr(config, "layer_types", None) or ())
        self._window: int | None = getattr(config, "sliding_window", None)
        self._has_kinds = _SLIDING in kinds
        is_windowed = self._window is not None and not kinds
        if is_windowed or not kinds <= {_FULL, _SLIDING} or layer_makers(config) is not None:
            raise IncompatibleModelError(
                message("refusal.static_unfit", model=type(model).__name__)
            )
        self._cache = DynamicCache()
        self._place = Place()
        self._cache.layer_class_to_replicate = lambda: SlotLayer(capacity, self._place)

    def __call__(self, block: Block, num_logits: int) -> torch.Tensor:
        """Read a block and return the logits `[num_logits, vocab]` of its last places."""
        sight = StaticSight(block, self._model.dtype)
        masks: Any = sight.mask(None)[None, None]
        if self._has_kinds:
            masks = {_FULL: masks, _SLIDING: sight.mask(self._window)[None, None]}
        self._place.slots, self._place.reach = block.slots, block.reach
        logits, self.tapped = call_tapped(
            self._model,
            self.taps,
            input_ids=block.ids[None],
            position_ids=block.positions[None],
            past_key_values=self._cache,
            attention_mask=masks,
            use_cache=True,
            logits_to_keep=num_logits,
        )
        return logits

    def keep_rows(self, start: int, rows: torch.Tensor) -> None:
        """Move the tokens at `start + rows` to the places from `start` on."""
        for layer in self._cache.layers:
            index = rows.to(layer.keys.device) + start
            for states in (layer.keys, layer.values):
                states[:, :, start : start + len(rows)] = states[:, :, index]

    def grown(self, capacity: int) -> "WrappedStaticPass":
        """Return the same with more room, and what it has read."""
        grown = WrappedStaticPass(self._model, capacity)
        for layer in self._cache.layers:
            grown._cache.layers.append(layer.grown(capacity, grown._place))
        grown.taps = self.taps
        return grown


class Place:
    """Where the block that is being read goes, the same for all layers of a pass."""

    slots: torch.Tensor
    """`[width]` int64."""
    reach: int | None
    """Places that may be seen; None: all."""


class SlotLayer(DynamicLayer):  # type: ignore[misc]
    """One layer's keys and values at full length."""

    def __init__(self, capacity: int, place: Place) -> None:
        super().__init__()
        self._capacity = capacity
        self._place = place

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        """Allocate `[1, num_kv_heads, capacity, head_dim]`, all zeros."""
        self.dtype, self.device = key_states.dtype, key_states.device
        self.keys, self.values = (
            states.new_zeros(*states.shape[:2], self._capacity, states.shape[-1])
            for states in (key_states, value_states)
        )
        self.is_initialized = True

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Write `[1, num_kv_heads, width, head_dim]` to the slots; return all that may be seen."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        self.keys.index_copy_(2, self._place.slots, key_states)
        self.values.index_copy_(2, self._place.slots, value_states)
        reach = self._place.reach
        return self.keys[:, :, :reach], self.values[:, :, :reach]

    def get_seq_length(self) -> int:
        """Nothing counts by this: positions and masks are given."""
        return 0

    def grown(self, capacity: int, place: Place) -> "SlotLayer":
        """Return a longer layer that holds the same."""
        longer = SlotLayer(capacity, place)
        longer.lazy_initialization(self.keys, self.values)
        longer.keys[:, :, : self._capacity] = self.keys
        longer.values[:, :, : self._capacity] = self.values
        return longer
