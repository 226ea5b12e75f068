"""Whether a target and a draft belong together, and whether a model's cache can be rolled back."""

from typing import Any

from transformers import DynamicCache
from transformers.cache_utils import CacheLayerMixin, LinearAttentionCacheLayerMixin

from specviz.errors import IncompatibleModelError
from specviz.models.loading import LoadedModel
from specviz.texts import Text, message

PROBES = (
    "Once upon a time there was a fox.",
    "def add(a, b):\n    return a + b\n",
    "  two  spaces\tand a tab",
    "naïve café, Übermut, 東京, 🦊",
    "3.14159 + 2,718 = ?",
)


def check_pair(target: LoadedModel, draft: LoadedModel) -> None:
    """Refuse a draft whose ids do not mean what the target's ids mean.

    Vocabularies of equal size can differ, and equal ones can stand in output layers of different
    size, so the maps themselves are compared, and how probe texts are cut.

    Raises:
        IncompatibleModelError: Names the first thing that differs.
    """
    ours, theirs = target.tokenizer.get_vocab(), draft.tokenizer.get_vocab()
    pair = {"draft": draft.name, "target": target.name}
    differing = [piece for piece, number in ours.items() if theirs.get(piece, number) != number]
    missing = len(ours.keys() ^ theirs.keys())
    if differing:
        piece = differing[0]
        raise IncompatibleModelError(
            message(
                "refusal.pair_ids",
                **pair,
                piece=repr(piece),
                ours=str(ours[piece]),
                theirs=str(theirs[piece]),
            )
        )
    if missing > 0.01 * len(ours):
        raise IncompatibleModelError(
            message(
                "refusal.pair_entries",
                **pair,
                shared=len(ours.keys() & theirs.keys()),
                all=len(ours),
            )
        )
    for probe in PROBES:
        if target.tokenizer.encode(probe) != draft.tokenizer.encode(probe):
            raise IncompatibleModelError(message("refusal.pair_cuts", **pair, text=repr(probe)))


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
