"""How far a model's position embedding lets a cached text grow."""

from collections.abc import Iterator, Mapping
from typing import Any

from transformers import PreTrainedModel


def context_of(model: PreTrainedModel) -> int | None:
    """Most tokens of one text that the model reads with a cache; None where nothing limits it.

    LongRoPE turns every key by other angles once the text is longer than the context that the model
    was first trained with, keys of earlier tokens included; those are cached as they were, so the
    text ends there. Embeddings of the type `dynamic` change past `max_position_embeddings`, where
    every text ends anyway.
    """
    declared = declared_context(model)
    limits = [declared] if declared is not None else []
    for rope in _rotary_parameters(model.config.get_text_config()):
        if rope.get("rope_type") == "longrope":
            limits.append(rope["original_max_position_embeddings"])
    return min(limits, default=None)


def declared_context(model: PreTrainedModel) -> int | None:
    """Most tokens that the model's config says it can read; None where it does not say."""
    context: int | None = getattr(model.config.get_text_config(), "max_position_embeddings", None)
    return context


def _rotary_parameters(config: Any) -> Iterator[Mapping[str, Any]]:
    """The parameters of the rotary embedding, or of each where layers of two types differ."""
    parameters = getattr(config, "rope_parameters", None) or {}
    nested = [value for value in parameters.values() if isinstance(value, Mapping)]
    yield from nested or [parameters]
