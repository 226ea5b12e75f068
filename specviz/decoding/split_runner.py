"""A causal LM run in two parts that share one KV cache: its first layers, and the rest.

The first E layers with the model's own norm and output layer are a draft model that costs E / N of
the target and caches its keys and values where the target wants them (self-speculation, LayerSkip,
arXiv:2404.16710). What they computed for a drafted token is kept, so verification runs only the
other layers.

Both parts are shallow views: they share every weight with the model, own a config of their own, and
leave the model and its config as they were.
"""

import copy
from collections.abc import Sequence
from typing import Any

import torch
from torch import nn
from transformers import PreTrainedModel

from specviz.decoding.model_runner import ModelRunner, shared_prefix
from specviz.errors import IncompatibleModelError

PROBE_TOLERANCE = 1e-3
SUPPORTED_LAYER_TYPES = {"full_attention", "sliding_attention"}


class SplitRunner(ModelRunner):
    """A `ModelRunner` that can also predict after its first `exit_layer` layers."""

    def __init__(self, model: PreTrainedModel, exit_layer: int) -> None:
        layers = _layers_of(model)
        if not 1 <= exit_layer < len(layers):
            raise IncompatibleModelError(
                f"exit_layer must be 1 to {len(layers) - 1} for a model of {len(layers)} layers, "
                f"got {exit_layer}"
            )
        self.exit_layer = exit_layer
        self._window: int | None = getattr(model.base_model.config, "sliding_window", None)
        self._norm = model.base_model.norm
        self._front = _view(model.base_model, 0, exit_layer, norm=nn.Identity())
        self._back = _view(model.base_model, exit_layer, len(layers), norm=self._norm)
        super().__init__(model)
        self._probe()

    def reset(self) -> None:
        """Forget everything."""
        super().reset()
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
        raise IncompatibleModelError("early exit drafts chains, not trees")

    def _truncate(self, num_tokens: int) -> None:
        """Forget all but the first tokens, each part up to where it has read."""
        num_front, num_back = len(self._front_ids), len(self._ids)
        if num_tokens >= num_front:
            return
        for layer in self._cache.layers:
            layer.truncate(num_tokens)
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
        if self._lean is not None:
            hidden = self._lean.run_layers(
                self._lean.embed(missing), 0, self.exit_layer, range(start, end), self._cache
            )
        else:
            hidden = self._front(
                input_ids=torch.tensor([missing], device=self.device),
                position_ids=self._places(start, end),
                past_key_values=self._cache,
                use_cache=True,
            ).last_hidden_state
        self._pending += list(hidden[0].unbind(0))
        self._front_ids += missing

    @torch.inference_mode()
    def _run_back(self, ids: list[int], num_logits: int) -> torch.Tensor:
        start, end = len(self._ids), len(ids)
        pending = torch.stack(self._pending)[None]
        if self._lean is not None:
            hidden = self._lean.run_layers(
                pending, self.exit_layer, None, range(start, end), self._cache
            )
            hidden = self._norm(hidden[:, -num_logits:])
        else:
            hidden = self._back(
                inputs_embeds=pending,
                position_ids=self._places(start, end),
                past_key_values=self._cache,
                attention_mask=self._back_masks(start, end),
                use_cache=True,
            ).last_hidden_state
        self._ids = ids
        self._pending = []
        return self._project(hidden[0, -num_logits:])

    def _back_masks(self, start: int, end: int) -> torch.Tensor | dict[str, torch.Tensor]:
        """Masks `[1, 1, num_new, end]` for the tokens `start` to `end`, by layer type where types
        are mixed.

        The model cannot make them: it asks the first layer's cache how much was read, and the front
        is ahead of the back.
        """
        dtype = self.model.dtype
        hidden = torch.full((end - start, end), torch.finfo(dtype).min, dtype=dtype)
        future = hidden.triu(start + 1)[None, None].to(self.device)
        if self._window is None:
            return future
        outside = future + hidden.tril(start - self._window)[None, None].to(self.device)
        types = set(getattr(self._back.config, "layer_types", None) or ["sliding_attention"])
        if len(types) == 1:
            return outside if types == {"sliding_attention"} else future
        return {"full_attention": future, "sliding_attention": outside}

    @torch.inference_mode()
    def _predict_from_exit(self) -> torch.Tensor:
        return self._project(self._norm(self._pending[-1][None]))

    def _project(self, hidden: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.model.get_output_embeddings()(hidden)
        return logits

    def _places(self, start: int, end: int) -> torch.Tensor:
        return torch.arange(start, end, device=self.device)[None]

    def _probe(self) -> None:
        """Compare both parts with the whole model on a few tokens.

        Raises:
            IncompatibleModelError: They differ (scaled embeddings, soft-capped logits, a window,
            …).
        """
        ids = [i % self.vocab_size for i in (1, 5, 3, 7, 2, 9)]
        name = type(self.model).__name__
        try:
            self.exit_logits(ids[:4])
            halves = self.forward(ids, 3)
            whole = ModelRunner(self.model).forward(ids, 3)
        except (TypeError, AttributeError, RuntimeError, ValueError, IndexError) as error:
            raise IncompatibleModelError(
                f"early exit cannot run the layers of {name} in part: {error}"
            ) from error
        scale = float(whole.abs().max().clamp_min(1.0))
        tolerance = max(PROBE_TOLERANCE, 8 * torch.finfo(self.model.dtype).eps) * scale
        if not float((halves - whole).abs().max()) <= tolerance:
            raise IncompatibleModelError(
                f"early exit is not supported for {name}: its layers run in two parts do not "
                "give the logits of the whole model"
            )
        self.reset()


def _layers_of(model: PreTrainedModel) -> nn.ModuleList:
    name = type(model).__name__
    config = model.config.get_text_config()
    if getattr(config, "final_logit_softcapping", None) is not None:
        raise IncompatibleModelError(
            f"early exit is not supported for {name}: it caps its logits after the output layer"
        )
    foreign = set(getattr(config, "layer_types", None) or ()) - SUPPORTED_LAYER_TYPES
    if foreign:
        raise IncompatibleModelError(
            f"early exit is not supported for {name}: layers of type {', '.join(sorted(foreign))}"
        )
    layers = getattr(model.base_model, "layers", None)
    has_norm = isinstance(getattr(model.base_model, "norm", None), nn.Module)
    if not isinstance(layers, nn.ModuleList) or not has_norm:
        raise IncompatibleModelError(
            f"early exit needs a model with `layers` and a final `norm` (Llama, Qwen, Mistral, …); "
            f"{name} is built otherwise"
        )
    return layers


def _view(base: Any, start: int, end: int, norm: nn.Module) -> Any:
    """A shallow copy of the inner model that runs the layers `start` to `end` only."""
    view = copy.copy(base)
    view._modules = dict(base._modules)
    view.layers = base.layers[start:end]
    view.norm = norm
    config = copy.deepcopy(base.config)
    config.num_hidden_layers = end - start
    types = getattr(base.config, "layer_types", None)
    if types is not None:
        config.layer_types = list(types)[start:end]
    view.config = config
    return view
