"""Makes a draft that does not exist yet, small beside its target and for its tokenizer."""

import copy
from typing import Any

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from specviz.errors import IncompatibleModelError
from specviz.models.loading import LoadedModel

HEAD_SIZE = 64
WIDEST = 1024


def build_new_draft(target: LoadedModel, size: str, seed: int) -> LoadedModel:
    """Build an untrained Llama with the target's vocabulary and context.

    *tiny* is one layer half as wide as the target, *small* one layer (two under a target of 32 or
    more) and *large* four to six layers, both as wide as the target; none is wider than 1024. As
    wide as a Llama, it begins with the target's embeddings, last norm and first layers; as wide as
    another target, with its embeddings.

    Args:
        size: tiny, small or large.

    Raises:
        IncompatibleModelError: The target's config does not say how wide or deep it is.
    """
    config = target.model.config.get_text_config()
    wide, deep = getattr(config, "hidden_size", None), getattr(config, "num_hidden_layers", None)
    if wide is None or deep is None:
        raise IncompatibleModelError(
            f"{target.name} does not say how wide and deep it is, so no new draft can be sized for "
            "it; give one with --draft"
        )
    num_layers, width = _shape(size, wide, deep)
    is_cut = width == wide and isinstance(target.model, LlamaForCausalLM)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = LlamaForCausalLM(
            _cut(config, num_layers) if is_cut else _fresh(target, config, num_layers, width)
        )
    if is_cut:
        begin_from_target(model, target.model)
    else:
        _take_embeddings(model, target.model)
    model = model.float().to(target.model.device).eval()
    return LoadedModel(f"new {size}", model, target.tokenizer, target.eos_ids)


def begin_from_target(draft: Any, target: Any) -> bool:
    """Copy the target's embeddings, last norm and first layers, where both are equally wide.

    A target trained with early exits already predicts after its first layers.
    """
    if draft.config.hidden_size != target.config.hidden_size:
        return False
    wanted = draft.state_dict()
    fitting = {
        name: value
        for name, value in target.state_dict().items()
        if name in wanted and value.shape == wanted[name].shape
    }
    draft.load_state_dict(fitting, strict=False)
    return True


def _shape(size: str, wide: int, deep: int) -> tuple[int, int]:
    """Layers and width of a draft for a target of `deep` layers, `wide`."""
    if size == "tiny":
        half = wide // 2 // HEAD_SIZE * HEAD_SIZE
        return 1, min(max(half, HEAD_SIZE), wide, WIDEST // 2)
    width = min(wide, WIDEST)
    if size == "small":
        return (1 if deep < 32 else 2), width
    return min(max(4, deep // 4), 6), width


def _cut(config: LlamaConfig, num_layers: int) -> LlamaConfig:
    """The target's config with fewer layers."""
    cut = copy.deepcopy(config)
    cut.num_hidden_layers = num_layers
    if hasattr(cut, "exit_layers"):
        del cut.exit_layers
    return cut


def _fresh(target: LoadedModel, config: Any, num_layers: int, width: int) -> LlamaConfig:
    num_heads = _num_heads(width)
    return LlamaConfig(
        vocab_size=target.model.get_input_embeddings().weight.shape[0],
        hidden_size=width,
        intermediate_size=max(16, width * 11 // 4 // 16 * 16),
        num_hidden_layers=num_layers,
        num_attention_heads=num_heads,
        num_key_value_heads=num_heads,
        max_position_embeddings=getattr(config, "max_position_embeddings", None) or 2048,
        tie_word_embeddings=True,
        bos_token_id=getattr(config, "bos_token_id", None),
        eos_token_id=sorted(target.eos_ids) or None,
        pad_token_id=None,
    )


def _num_heads(width: int) -> int:
    """The largest number of heads of at least 64 and an even size, one if there is none."""
    for count in range(width // HEAD_SIZE, 1, -1):
        if width % count == 0 and width // count % 2 == 0:
            return count
    return 1


def _take_embeddings(draft: Any, target: Any) -> None:
    ours, theirs = draft.get_input_embeddings().weight, target.get_input_embeddings().weight
    if ours.shape == theirs.shape:
        with torch.no_grad():
            ours.copy_(theirs)
