"""Whether a target and a draft belong together, and whether a model's cache can be rolled back."""

from typing import Any

from transformers import DynamicCache

from specviz.errors import IncompatibleModelError
from specviz.models.loading import LoadedModel
from specviz.models.vocabulary import compare_vocabularies
from specviz.texts import Text, message


def check_pair(target: LoadedModel, draft: LoadedModel) -> None:
    """Refuse a draft whose ids do not mean what the target's ids mean.

    Raises:
        IncompatibleModelError: Names the first thing that differs.
    """
    shared = compare_vocabularies(target.name, target.tokenizer, draft.name, draft.tokenizer)
    if shared.problem is not None:
        raise IncompatibleModelError(shared.problem)


def check_rollback(loaded: LoadedModel) -> None:
    """Refuse models whose state cannot be put back to an earlier token.

    Raises:
        IncompatibleModelError: The model is an encoder-decoder, recurrent or hybrid.
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
    if getattr(model, "_is_stateful", False):
        return message("refusal.stateful")
    kinds = {kind for kind in getattr(config, "layer_types", None) or () if "attention" not in kind}
    kinds |= {kind for kind in getattr(config, "layer_types", None) or () if "linear" in kind}
    if kinds:
        return message("refusal.layer_types", types=", ".join(sorted(kinds)))
    for layer in DynamicCache(config=config).layers:
        if not getattr(layer, "is_croppable", True) and not getattr(layer, "is_sliding", False):
            return type(layer).__name__
    return None
