"""A causal LM run in two parts, each with the KV cache of its own layers: the first, and the rest.

The first E layers with the model's own norm and output layer are a draft model that costs E / N of
the target and keeps the keys and values that the target needs of those layers (self-speculation,
LayerSkip, arXiv:2404.16710). What they computed for a drafted token is kept, so verification runs
only the other layers.

Both parts are views that leave the model and its config as they were. Each makes its masks itself,
so that a window is applied where the model's class applies one.
"""

from collections.abc import Sequence

import torch
from torch import nn
from transformers import PreTrainedModel

from specviz.decoding.lean_cache import DEFAULT_ROOM, LeanCache
from specviz.decoding.model_parts import layers_of, view_of_layers
from specviz.decoding.model_runner import ModelRunner, shared_prefix
from specviz.decoding.probes import is_same_but_for_rounding
from specviz.errors import IncompatibleModelError
from specviz.texts import message

PROBE_TEXT = (1, 5, 3, 7, 2, 9)
NUM_PROBED = 3
PROBE_WINDOW = 2


class SplitRunner(ModelRunner):
    """A `ModelRunner` that can also predict after its first `exit_layer` layers."""

    def __init__(self, model: PreTrainedModel, exit_layer: int, room: int = DEFAULT_ROOM) -> None:
        """Cut `model` in two; `room` as in a `ModelRunner`.

        Raises:
            IncompatibleModelError: It has no such layer, or cannot be run in part.
        """
        layers = layers_of(model)
        if not 1 <= exit_layer < len(layers):
            raise IncompatibleModelError(
                message(
                    "refusal.exit_range",
                    high=len(layers) - 1,
                    layers=len(layers),
                    found=str(exit_layer),
                )
            )
        self.exit_layer = exit_layer
        self._norm = model.base_model.norm
        self._front = view_of_layers(model.base_model, 0, exit_layer, norm=nn.Identity())
        self._back = view_of_layers(model.base_model, exit_layer, len(layers), norm=self._norm)
        super().__init__(model, room)
        self._probe()

    def reset(self) -> None:
        """Forget everything."""
        super().reset()
        self._cache = self._new_cache(0, self.exit_layer)
        self._back_cache = self._new_cache(self.exit_layer, None)
        # Hidden states of tokens that the front has read and the back has not, [num_pending,
        # hidden].
        self._pending: list[torch.Tensor] = []
        self._front_ids: list[int] = []

    def exit_logits(self, ids: Sequence[int]) -> torch.Tensor:
        """Logits `[1, vocab]` of the token after `ids`, as the first layers see it."""
        self._sync_front(list(ids))
        return self._predict_from_exit()

    def forward(self, ids: Sequence[int], num_logits: int) -> torch.Tensor:
        """Read `ids` with all layers, the front only where it has not been yet."""
        ids = list(ids)
        num_kept = min(shared_prefix(self._ids, ids), len(ids) - num_logits)
        if num_kept < len(self._ids):
            self._truncate(num_kept)
        self._sync_front(ids)
        return self._run_back(ids, num_logits)

    def forward_tree(
        self, ids: Sequence[int], token_ids: Sequence[int], parents: Sequence[int]
    ) -> torch.Tensor:
        """Refused: early exit drafts chains."""
        raise IncompatibleModelError(message("refusal.exit_no_trees"))

    def _truncate(self, num_tokens: int) -> None:
        """Forget all but the first tokens, each part up to where it has read."""
        num_front, num_back = len(self._front_ids), len(self._ids)
        if num_tokens >= num_front:
            return
        for cache in (self._cache, self._back_cache):
            cache.truncate(num_tokens)
        del self._front_ids[num_tokens:]
        del self._pending[max(0, num_tokens - num_back) :]
        del self._ids[num_tokens:]

    def _sync_front(self, ids: list[int]) -> None:
        """Let the front hold exactly `ids`, its newest token pending."""
        num_kept = shared_prefix(self._front_ids, ids)
        if num_kept == len(ids) <= len(self._ids):
            num_kept -= 1
        self._truncate(num_kept)
        if num_kept < len(ids):
            self._run_front(ids[num_kept:])

    @torch.inference_mode()
    def _run_front(self, missing: list[int]) -> None:
        start, end = len(self._front_ids), len(self._front_ids) + len(missing)
        if self._lean is not None and isinstance(self._cache, LeanCache):
            hidden = self._lean.run_layers(
                self._lean.embed(missing), 0, self.exit_layer, range(start, end), self._cache
            )
        else:
            hidden = self._front(
                input_ids=torch.tensor([missing], device=self.device),
                position_ids=self._position_ids(start, end),
                past_key_values=self._cache,
                use_cache=True,
            ).last_hidden_state[0]
        self._pending += list(hidden.unbind(0))
        self._front_ids += missing

    @torch.inference_mode()
    def _run_back(self, ids: list[int], num_logits: int) -> torch.Tensor:
        start, end = len(self._ids), len(ids)
        pending = torch.stack(self._pending)
        if self._lean is not None and isinstance(self._back_cache, LeanCache):
            hidden = self._lean.run_layers(
                pending, self.exit_layer, None, range(start, end), self._back_cache
            )
            logits = self._lean.predict(hidden[-num_logits:])
        else:
            hidden = self._back(
                inputs_embeds=pending[None],
                position_ids=self._position_ids(start, end),
                past_key_values=self._back_cache,
                use_cache=True,
            ).last_hidden_state[0]
            logits = self._project(hidden[-num_logits:])
        self._ids = ids
        self._pending = []
        return logits

    @torch.inference_mode()
    def _predict_from_exit(self) -> torch.Tensor:
        newest = self._pending[-1][None]
        if self._lean is not None:
            return self._lean.predict(newest)
        return self._project(self._norm(newest))

    def _project(self, hidden: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.model.get_output_embeddings()(hidden)
        return logits

    def _position_ids(self, start: int, end: int) -> torch.Tensor:
        return torch.arange(start, end, device=self.device)[None]

    def _probe(self) -> None:
        """Compare both parts with the whole model on a few tokens.

        Raises:
            IncompatibleModelError: They differ (scaled embeddings, soft-capped logits, a window,
            …).
        """
        name = type(self.model).__name__
        try:
            whole = ModelRunner(self.model).forward(self._probe_ids, NUM_PROBED)
            is_same = is_same_but_for_rounding(self._read_in_parts(), whole)
            is_same = is_same and (self._lean is not None or self._keeps_windows())
        except (TypeError, AttributeError, RuntimeError, ValueError, IndexError) as error:
            raise IncompatibleModelError(
                message("refusal.exit_fails", model=name, reason=str(error))
            ) from error
        if not is_same:
            raise IncompatibleModelError(message("refusal.exit_other_logits", model=name))
        self.reset()

    @torch.inference_mode()
    def _keeps_windows(self) -> bool:
        """Whether parts and whole agree on a text longer than the window.

        Real windows are longer than any text that is worth trying, so the configs of the views are
        lent a short one.
        """
        window = getattr(self.model.base_model.config, "sliding_window", None)
        if window is None:
            return True
        whole = view_of_layers(self.model.base_model, 0, None, norm=self._norm)
        parts = (self._front, self._back)
        try:
            for view in (whole, *parts):
                view.config.sliding_window = PROBE_WINDOW
            ids = torch.tensor([self._probe_ids], device=self.device)
            hidden = whole(input_ids=ids, use_cache=False).last_hidden_state
            expected = self._project(hidden[0, -NUM_PROBED:])
            return is_same_but_for_rounding(self._read_in_parts(), expected)
        finally:
            for view in parts:
                view.config.sliding_window = window

    @property
    def _probe_ids(self) -> list[int]:
        return [token_id % self.vocab_size for token_id in PROBE_TEXT]

    def _read_in_parts(self) -> torch.Tensor:
        """Logits `[NUM_PROBED, vocab]` of the last tokens, the front ahead of the back."""
        self.reset()
        self.exit_logits(self._probe_ids[: -NUM_PROBED + 1])
        return self.forward(self._probe_ids, NUM_PROBED)
