"""Whether a target and a draft belong together, and whether a model's cache can be rolled back."""

from typing import Any

from transformers import DynamicCache

from specviz.errors import IncompatibleModelError
from specviz.models.loading import LoadedModel

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
    pair = f"{draft.name} cannot draft for {target.name}"
    differing = [piece for piece, number in ours.items() if theirs.get(piece, number) != number]
    missing = len(ours.keys() ^ theirs.keys())
    if differing:
        piece = differing[0]
        raise IncompatibleModelError(
            f"{pair}: their vocabularies differ, {piece!r} is {ours[piece]} for the target and "
            f"{theirs[piece]} for the draft; choose a draft of the same family"
        )
    if missing > 0.01 * len(ours):
        raise IncompatibleModelError(
            f"{pair}: their vocabularies share only {len(ours.keys() & theirs.keys())} of "
            f"{len(ours)} entries; choose a draft of the same family"
        )
    for probe in PROBES:
        if target.tokenizer.encode(probe) != draft.tokenizer.encode(probe):
            raise IncompatibleModelError(
                f"{pair}: they cut {probe!r} into different tokens; "
                "choose a draft of the same family"
            )


def check_rollback(loaded: LoadedModel) -> None:
    """Refuse models whose state cannot be put back to an earlier token.

    Raises:
        IncompatibleModelError: The model is an encoder-decoder, recurrent or hybrid.
    """
    model = loaded.model
    config = model.config.get_text_config()
    if getattr(model.config, "is_encoder_decoder", False):
        raise IncompatibleModelError(
            f"{loaded.name} is an encoder-decoder; specviz needs a decoder-only model"
        )
    reason = _recurrent_part(model, config)
    if reason:
        raise IncompatibleModelError(
            f"{loaded.name} ({type(model).__name__}) keeps a recurrent state ({reason}) that "
            "cannot be rolled back after a rejected draft; choose a model with attention in every "
            "layer"
        )


def _recurrent_part(model: Any, config: Any) -> str | None:
    if getattr(model, "_is_stateful", False):
        return "the whole model is stateful"
    kinds = {kind for kind in getattr(config, "layer_types", None) or () if "attention" not in kind}
    kinds |= {kind for kind in getattr(config, "layer_types", None) or () if "linear" in kind}
    if kinds:
        return f"layers of type {', '.join(sorted(kinds))}"
    for layer in DynamicCache(config=config).layers:
        if not getattr(layer, "is_croppable", True) and not getattr(layer, "is_sliding", False):
            return type(layer).__name__
    return None
