"""Builds the models of the family, all of the Llama architecture, and loads them as they ship."""

from pathlib import Path
from typing import Any, Protocol

import torch
from tokenizers import Tokenizer
from transformers import LlamaConfig, LlamaForCausalLM

from specviz.training.corpus import special_ids
from specviz.training.settings import FamilySettings, find_draft

TARGET = "target"
STORED_DTYPE = torch.bfloat16


class Shape(Protocol):
    """The sizes in which the models of the family differ."""

    @property
    def num_layers(self) -> int: ...
    @property
    def hidden_size(self) -> int: ...
    @property
    def intermediate_size(self) -> int: ...
    @property
    def num_heads(self) -> int: ...


def build_model(
    settings: FamilySettings, name: str, tokenizer: Tokenizer, num_layers: int = 0
) -> Any:
    """Build the untrained `LlamaForCausalLM` called `name`: "target", or a draft of the settings.

    The target's config carries `exit_layers`, the layers that were trained to predict on their own.

    Args:
        num_layers: As deep as this; 0: as the settings say.
    """
    shape: Shape = settings.target if name == TARGET else find_draft(settings, name)
    begin, end = special_ids(tokenizer)
    config = LlamaConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=shape.hidden_size,
        intermediate_size=shape.intermediate_size,
        num_hidden_layers=num_layers or shape.num_layers,
        num_attention_heads=shape.num_heads,
        num_key_value_heads=shape.num_heads,
        max_position_embeddings=settings.target.context,
        rope_parameters={"rope_type": "default", "rope_theta": settings.target.rope_theta},
        tie_word_embeddings=True,
        bos_token_id=begin,
        eos_token_id=end,
        initializer_range=0.02,
    )
    if name == TARGET:
        config.exit_layers = list(settings.target.exit_layers)
    return LlamaForCausalLM(config)


def load_trained(
    settings: FamilySettings, name: str, build: Path, tokenizer: Tokenizer, device: torch.device
) -> Any:
    """Load the newest checkpoint of a model for inference, its float32 weights rounded as on disk.

    Raises:
        FileNotFoundError: The model was not trained in this build folder.
    """
    path = build / name / "checkpoint.pt"
    if not path.exists():
        raise FileNotFoundError(f"{path} is missing: train {name!r} first")
    stored = torch.load(path, weights_only=True, map_location="cpu")["model"]
    num_layers = 1 + max(int(key.split(".")[2]) for key in stored if ".layers." in key)
    model = build_model(settings, name, tokenizer, num_layers)
    rounded = {key: value.to(STORED_DTYPE).float() for key, value in stored.items()}
    model.load_state_dict(rounded)
    return model.eval().requires_grad_(False).to(device)
