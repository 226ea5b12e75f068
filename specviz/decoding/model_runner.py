"""A causal LM and its KV cache, addressed by token ids.

`forward(ids, n)` makes the cache hold exactly `ids` and returns the logits of the last n positions:
it forgets what differs, feeds what is missing, and so no caller ever counts positions. Example:
with "a b c d" cached, forward("a b x", 1) forgets "c d", feeds "x" and returns one row, the
logits of the token after "a b x".

Of a tree below a text it remembers the parents: the next `forward` finds the branch that its ids
follow, and keeps that.
"""

from collections.abc import Sequence

import torch
from transformers import PreTrainedModel

from specviz.decoding.lean_cache import DEFAULT_ROOM, LeanCache
from specviz.decoding.lean_forward import LeanForward
from specviz.decoding.positions import context_of
from specviz.decoding.probes import check_states, check_trees
from specviz.decoding.proposal import ROOT, ancestor_mask, depths
from specviz.decoding.rollback_cache import PartCache, rollback_cache
from specviz.decoding.spread import device_of
from specviz.decoding.state_cache import MAX_READ_AGAIN, StateCache, layer_makers
from specviz.decoding.taps import Tapped, call_tapped, check_taps, num_layers_of
from specviz.errors import IncompatibleModelError
from specviz.texts import message

_WINDOWS = ("sliding_window", "window_size", "attention_chunk_size")
"""Names under which configs limit how far a layer sees."""


class ModelRunner:
    """Runs one causal LM over one text at batch size 1 and remembers what it has read."""

    def __init__(self, model: PreTrainedModel, room: int = DEFAULT_ROOM) -> None:
        """Serve one text after another.

        Args:
            room: Most tokens that will follow a text's first `forward`. More are read too, but
                whoever reads them pays for a larger cache.

        Raises:
            IncompatibleModelError: It keeps states that cannot be put back after a rejection.
        """
        self.model = model
        self.vocab_size: int = model.get_output_embeddings().weight.shape[0]
        self.context = context_of(model)
        self._room = room if self.context is None else min(room, self.context)
        self.device = device_of(model)
        self._lean = LeanForward(model) if LeanForward.fits(model) else None
        self._reads_trees = False
        self._taps: tuple[int, ...] = ()
        self._layer_makers = layer_makers(model.config.get_text_config())
        self.reset()
        if self._layer_makers is not None:
            check_states(type(model).__name__, self)
            self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self._cache = self._new_cache(0, None)
        self._ids: list[int] = []
        self._parents: list[int] = []
        self._tapped: Tapped = ()
        self._return_point: int | None = None

    def tap(self, taps: Sequence[int]) -> None:
        """From now on keep the states at these boundaries of what is read last.

        Raises:
            IncompatibleModelError: The model has no such boundary.
        """
        if self._taps != tuple(taps):
            check_taps(type(self.model).__name__, num_layers_of(self.model), taps)
            self._taps = tuple(taps)
            self.reset()

    @torch.inference_mode()
    def features(self, ids: Sequence[int], first: int) -> torch.Tensor:
        """The tapped states of `ids[first:]`, side by side: `[len(ids) - first, taps * hidden]`.

        Those of the tokens that were read last and are still cached are at hand; all others are
        read for this.
        """
        ids = list(ids)
        if self._parents:
            self._keep_branch(ids)
        if self._ids[: len(ids)] != ids or self._first_tapped > first:
            self._truncate(min(first, shared_prefix(self._ids, ids)))
            self._run(ids[len(self._ids) :], 1)
        rows = slice(first - self._first_tapped, len(ids) - self._first_tapped)
        return torch.cat([states[rows] for states in self._tapped], dim=-1)

    @property
    def _first_tapped(self) -> int:
        """Index of the first token whose tapped states are at hand."""
        return len(self._ids) - (len(self._tapped[0]) if self._tapped else 0)

    def expect_return_to(self, num_tokens: int) -> None:
        """Say that tokens past the first `num_tokens` may be taken back, though they are read one
        by one; a hybrid model then copies its states before the first of them."""
        self._return_point = num_tokens

    def _new_cache(self, first: int, end: int | None) -> LeanCache | PartCache:
        """Make an empty cache for the layers `first` to `end` (None: to the last)."""
        if self._layer_makers is not None:
            return StateCache(self._room, self._layer_makers)
        if self._lean is None:
            return rollback_cache(self._room, first)
        end = self._lean.num_layers if end is None else end
        return LeanCache(self._room, end - first, first)

    def forward(self, ids: Sequence[int], num_logits: int) -> torch.Tensor:
        """Read `ids` and return the logits `[num_logits, vocab]` of its last positions.

        Row i is for the token that follows `ids[len(ids) - num_logits + i]`.
        """
        missing = self._sync(ids, num_logits)
        if self._layer_makers is not None:
            assert isinstance(self._cache, StateCache)
            missing = self._save_states(self._cache, missing, num_logits)
        return self._run(missing, num_logits)

    def forward_tree(
        self, ids: Sequence[int], token_ids: Sequence[int], parents: Sequence[int]
    ) -> torch.Tensor:
        """Read `ids` and below it the tree of `token_ids`, in one pass.

        Returns:
            `[num_nodes + 1, vocab]`: row 0 follows `ids`, row i + 1 follows node i. Call `keep`
            afterwards.

        Raises:
            IncompatibleModelError: The model cannot read trees, or none of this size.
        """
        self.check_reads_trees()
        return self.read_tree(ids, token_ids, parents)

    def check_reads_trees(self, num_tokens: int = 0) -> None:
        """Make sure that this model reads trees, tried out once.

        Args:
            num_tokens: Of the longest text and the tree below it.

        Raises:
            IncompatibleModelError: It cannot, or not behind so long a text.
        """
        if self._layer_makers is not None:
            raise IncompatibleModelError(
                message("refusal.tree_through_states", model=type(self.model).__name__)
            )
        self._refuse_tree_past_window(num_tokens)
        if not self._reads_trees:
            runners = ModelRunner(self.model), ModelRunner(self.model)
            check_trees(type(self.model).__name__, *runners, self._window)
            self._reads_trees = True

    @torch.inference_mode()
    def read_tree(
        self, ids: Sequence[int], token_ids: Sequence[int], parents: Sequence[int]
    ) -> torch.Tensor:
        """Do what `forward_tree` does, for a model that is known to read trees."""
        missing = self._sync(ids, 1)
        # What is missing of the text is the trunk of the tree.
        trunk = range(-1, len(missing) - 1)
        below = [*trunk, *(len(missing) + parent for parent in parents)]
        logits = self._read_branches([*missing, *token_ids], below, len(token_ids) + 1)
        self._parents = list(parents)
        return logits

    @torch.inference_mode()
    def grow_tree(self, token_ids: Sequence[int], parents: Sequence[int]) -> torch.Tensor:
        """Read more nodes of the tree below the text that `forward` has read, and none twice.

        Args:
            parents: Nodes of that tree, counted in the order in which they are read over all calls,
                or -1. None of this call.

        Returns:
            `[num_new, vocab]`: row i follows new node i. The next `forward` keeps the branch that
            its ids follow.
        """
        below = [*self._parents, *parents]
        logits = self._read_branches(list(token_ids), below, len(token_ids))
        self._parents = below
        return logits

    def _read_branches(
        self, token_ids: list[int], parents: Sequence[int], num_logits: int
    ) -> torch.Tensor:
        """Read the last nodes of a tree of which the others are cached.

        Args:
            parents: Of all its nodes, cached or new.
        """
        num_new, num_text = len(token_ids), len(self._ids) - len(self._parents)
        self._refuse_tree_past_window(num_text + len(parents))
        visible = torch.ones(num_new, num_text + len(parents), dtype=torch.bool)
        visible[:, num_text:] = ancestor_mask(parents)[-num_new:]
        positions = [num_text + depth for depth in depths(parents)[-num_new:]]
        logits = self._call(token_ids, positions, num_logits, visible)
        self._ids = [*self._ids, *token_ids]
        return logits

    @torch.inference_mode()
    def keep(self, num_committed: int, path: Sequence[int]) -> None:
        """Keep the first `num_committed` tokens and the nodes of `path` of the tree that follows
        them."""
        self._parents = []
        if all(node == index for index, node in enumerate(path)):
            self._truncate(num_committed + len(path))
            return
        self._cache.keep_rows(num_committed, torch.tensor(path))
        self._keep_tapped(num_committed, path)
        self._ids = self._ids[:num_committed] + [self._ids[num_committed + node] for node in path]

    def _sync(self, ids: Sequence[int], num_logits: int) -> list[int]:
        """Forget what differs from `ids`; return what is still to be read, at least `num_logits`
        tokens."""
        ids = list(ids)
        if self._parents:
            self._keep_branch(ids)
        num_shared = shared_prefix(self._ids, ids)
        self._truncate(min(num_shared, len(ids) - num_logits))
        return ids[len(self._ids) :]

    def _keep_branch(self, ids: list[int]) -> None:
        """Keep of a tree the branch that `ids` follow: what stands in it one behind the other is no
        text."""
        num_text = len(self._ids) - len(self._parents)
        path: list[int] = []
        if self._ids[:num_text] == ids[:num_text]:
            children = {
                (parent, self._ids[num_text + node]): node
                for node, parent in enumerate(self._parents)
            }
            for token in ids[num_text:]:
                node = children.get((path[-1] if path else ROOT, token))
                if node is None:
                    break
                path.append(node)
        self.keep(num_text, path)

    def _truncate(self, num_tokens: int) -> None:
        if num_tokens < len(self._ids):
            if isinstance(self._cache, StateCache):
                num_tokens = self._cache.return_point(num_tokens)
            self._cache.truncate(num_tokens)
            self._drop_tapped(num_tokens)
            del self._ids[num_tokens:]

    def _drop_tapped(self, num_tokens: int) -> None:
        """Forget the states of all but the first tokens."""
        if self._tapped:
            num_kept = max(0, num_tokens - self._first_tapped)
            self._tapped = tuple(states[:num_kept] for states in self._tapped)

    def _keep_tapped(self, num_committed: int, path: Sequence[int]) -> None:
        """Of the tokens past the first `num_committed` keep the states of those at `path`."""
        if self._tapped:
            num_before = num_committed - self._first_tapped
            rows = [*range(num_before), *(num_before + node for node in path)]
            self._tapped = tuple(states[rows] for states in self._tapped)

    def _save_states(self, cache: StateCache, missing: list[int], num_logits: int) -> list[int]:
        """Copy the states if some of `missing` may be taken back; return what is still to be read.

        Rows of several logits judge drafts, so what stands behind the first of them is one; other
        tokens stay, unless `expect_return_to` has said where they do not.
        """
        num_certain = len(missing) - num_logits + 1
        if self._return_point is not None:
            num_certain = min(num_certain, self._return_point - len(self._ids))
        if not 0 <= num_certain < len(missing):
            return missing
        num_apart = min(num_certain, len(missing) - num_logits)
        if num_apart > MAX_READ_AGAIN:
            self._run(missing[:num_apart], 1)
            missing = missing[num_apart:]
        cache.save(len(self._ids))
        return missing

    @torch.inference_mode()
    def _run(self, missing: list[int], num_logits: int) -> torch.Tensor:
        num_past = len(self._ids)
        logits = self._call(missing, range(num_past, num_past + len(missing)), num_logits)
        self._ids += missing
        return logits

    def _call(
        self,
        token_ids: Sequence[int],
        position_ids: Sequence[int],
        num_logits: int,
        visible: torch.Tensor | None = None,
    ) -> torch.Tensor:
        if isinstance(self._cache, LeanCache):
            assert self._lean is not None
            given = (token_ids, position_ids, self._cache, num_logits, visible)
            if not self._taps:
                return self._lean(*given)
            logits, self._tapped = self._lean.call_tapped(*given, self._taps)
            return logits
        kwargs = {} if visible is None else {"attention_mask": self._additive(visible)}
        logits, self._tapped = call_tapped(
            self.model,
            self._taps,
            input_ids=torch.tensor([token_ids], device=self.device),
            position_ids=torch.tensor([list(position_ids)], device=self.device),
            past_key_values=self._cache,
            use_cache=True,
            logits_to_keep=num_logits,
            **kwargs,
        )
        if self._cache.get_seq_length() != len(self._ids) + len(token_ids):
            raise IncompatibleModelError(
                message("refusal.no_cache", model=type(self.model).__name__)
            )
        return logits

    def _additive(self, visible: torch.Tensor) -> torch.Tensor:
        """The mask `[1, 1, num_new, num_all]` that every attention implementation takes."""
        dtype = self.model.dtype
        mask = torch.zeros(visible.shape, dtype=dtype).masked_fill(~visible, torch.finfo(dtype).min)
        return mask[None, None].to(self.device)

    @property
    def _window(self) -> int | None:
        """Tokens that the narrowest layer sees at most; None where every layer sees all."""
        config = self.model.config.get_text_config()
        sizes = [getattr(config, name, None) for name in _WINDOWS]
        return min((size for size in sizes if size), default=None)

    def _refuse_tree_past_window(self, num_tokens: int) -> None:
        if self._window is not None and num_tokens > self._window:
            raise IncompatibleModelError(message("refusal.tree_in_window", window=self._window))


def shared_prefix(cached: list[int], ids: list[int]) -> int:
    """Length of the longest common prefix."""
    if ids[: len(cached)] == cached:
        return len(cached)
    return next(
        (i for i, (a, b) in enumerate(zip(cached, ids, strict=False)) if a != b),
        min(len(cached), len(ids)),
    )
