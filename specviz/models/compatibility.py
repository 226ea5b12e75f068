"""Whether a target and a draft belong together, and whether a model's cache can be rolled back."""

from typing import Any

from transformers import DynamicCache
from transformers.cache_utils import CacheLayerMixin, LinearAttentionCacheLayerMixin

from specviz.errors import IncompatibleModelError
from specviz.models.loading import LoadedModel
from specviz.models.shared_tokens import are_cut_alike
from specviz.models.vocabulary import compare_vocabularies
from specviz.texts import Text, message
from specviz.trace.values import Translation


def translation_for(
    target: LoadedModel, draft: LoadedModel, temperature: float
) -> Translation | None:
    """Choose how a draft's tokens become the target's; None where they are the same.

    Greedy drafts go by their text: the draft then writes with all of its vocabulary, and the target
    has its own way of cutting that. With a temperature a draft that cuts most of an ordinary text
    as the target does drafts the tokens that both have: its law over them is judged, and two laws
    that are alike agree more often than a law with one token. Where they cut otherwise, most of
    what the target wants would be missing among the shared tokens, and text serves again.
    """
    shared = compare_vocabularies(target.name, target.tokenizer, draft.name, draft.tokenizer)
    if shared.problem is None:
        return None
    if temperature > 0 and are_cut_alike(target.tokenizer, draft.tokenizer):
        return Translation.SHARED
    return Translation.TEXT


def check_pair(target: LoadedModel, draft: LoadedModel) -> None:
    """Refuse a draft whose ids do not mean what the target's ids mean.

    Races translate such a draft; fitting one does not, for it learns from the target's laws.

    Raises:
        IncompatibleModelError: Names the first thing that differs.
    """
    shared = compare_vocabularies(target.name, target.tokenizer, draft.name, draft.tokenizer)
    if shared.problem is not None:
        raise IncompatibleModelError(shared.problem)


def check_rollback(loaded: LoadedModel) -> None:
    """Refuse models whose state cannot be put back to an earlier token.

    Hybrids, whose states lie in the cache beside the keys of attention, pass here: whether theirs
    can be put back is tried out by the `ModelRunner` that is made for them.

    Raises:
        IncompatibleModelError: The model is an encoder-decoder or recurrent in all its layers.
    """
    model = loaded.model
    config = model.config.get_text_config()
    if getattr(model.config, "is_encoder_decoder", False):
        raise IncompatibleModelError(message("refusal.encoder_decoder", model=loaded.name))
    reason = _recurrent_part(model, config)
    if reason:
        raise IncompatibleModelError(
            message("refusal.recurrent", model=loaded.name, kind=type(model).__name__, part=reason)
        )


def _recurrent_part(model: Any, config: Any) -> Text | None:
    if not _is_hybrid(config):
        if getattr(model, "_is_stateful", False):
            return message("refusal.stateful")
        kinds = set(getattr(config, "layer_types", None) or ())
        kinds = {kind for kind in kinds if "attention" not in kind or "linear" in kind}
        if kinds:
            return message("refusal.layer_types", types=", ".join(sorted(kinds)))
    for layer in DynamicCache(config=config).layers:
        is_put_back = isinstance(layer, LinearAttentionCacheLayerMixin)
        is_cut = getattr(layer, "is_croppable", True) or getattr(layer, "is_sliding", False)
        if not is_put_back and not is_cut:
            return type(layer).__name__
    return None


def _is_hybrid(config: Any) -> bool:
    """Whether states and keys lie side by side in a cache that transformers can make."""
    try:
        layers = DynamicCache(config=config).layers
    except KeyError:
        return False
    has_states = any(isinstance(layer, LinearAttentionCacheLayerMixin) for layer in layers)
    return has_states and any(isinstance(layer, CacheLayerMixin) for layer in layers)
