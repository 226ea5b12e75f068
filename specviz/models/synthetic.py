"""Pairs of models of real size without real weights, for measuring a device with no network.

The target is randomly initialised, and what its later layers add is made small; its first layers,
with its own embedding, norm and output layer, are the draft. So sizes and costs are those of a real
pair, how often the two agree can be set, and losslessness is as exact as ever. The text is noise.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers import AutoModelForCausalLM, LlamaConfig, PreTrainedModel

from specviz.errors import ModelLoadError
from specviz.models.eagle_head import LoadedHead
from specviz.models.hub_files import OnProgress
from specviz.models.loading import LoadedModel
from specviz.models.precision import DTYPES
from specviz.texts import message

SHAPES: dict[str, dict[str, int]] = {
    "tiny": {
        "vocab_size": 512,
        "hidden_size": 64,
        "intermediate_size": 160,
        "num_hidden_layers": 8,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
    },
    "1B": {
        "vocab_size": 128256,
        "hidden_size": 2048,
        "intermediate_size": 8192,
        "num_hidden_layers": 16,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
    },
    "3B": {
        "vocab_size": 128256,
        "hidden_size": 3072,
        "intermediate_size": 8192,
        "num_hidden_layers": 28,
        "num_attention_heads": 24,
        "num_key_value_heads": 8,
    },
    "8B": {
        "vocab_size": 128256,
        "hidden_size": 4096,
        "intermediate_size": 14336,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
    },
}
"""The sizes of Llama 3.2 1B, 3.2 3B and 3.1 8B, and one for tests."""
NUM_BISECTIONS = 12
LARGEST_SCALE = 64.0
"""Of what the later layers add."""
NUM_COMPARED = 256
TARGET, DRAFT = "synthetic-target", "synthetic-draft"


class NumberTokenizer:
    """A tokenizer of random text: every token is written as its number."""

    def __init__(self, vocab_size: int) -> None:
        self._vocab_size = vocab_size

    def __call__(self, text: str) -> dict[str, list[int]]:
        """Return the ids of a text of numbers; anything else reads as its characters' codes."""
        return {"input_ids": self.encode(text)}

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text."""
        numbers = [int(word) if word.isdecimal() else ord(word[0]) for word in text.split()]
        return [number % self._vocab_size for number in numbers]

    def decode(self, ids: Sequence[int], **options: Any) -> str:
        """Write ids out."""
        return "".join(f" {number}" for number in ids)

    def convert_ids_to_tokens(self, number: int) -> str:
        """Write one id."""
        return str(number)

    def get_vocab(self) -> dict[str, int]:
        """Return every token."""
        return {str(number): number for number in range(self._vocab_size)}

    @property
    def all_special_ids(self) -> list[int]:
        """There are none."""
        return []


@dataclass(frozen=True, slots=True, eq=False)
class SyntheticPool:
    """One synthetic pair, in the place of a `ModelPool`."""

    device: torch.device
    dtype: str
    agreement: float
    """Share of random places at which draft and target have one first choice."""
    _models: dict[str, LoadedModel]

    def get(
        self,
        name: str,
        on_progress: OnProgress | None = None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> LoadedModel:
        """Return the target or the draft."""
        return self._models[name]

    def hold(self, target: str, drafts: Iterable[str] = ()) -> None:
        """Both stay."""

    def let_go(self, names: Iterable[str]) -> None:
        """Both stay."""

    def has(self, name: str) -> bool:
        """Whether this is one of the two."""
        return name in self._models

    def get_head(self, name: str, should_stop: Callable[[], bool] = lambda: False) -> LoadedHead:
        """Refused: random targets have no heads."""
        raise ModelLoadError(message("refusal.no_config", path=name))

    def has_head(self, name: str) -> bool:
        """There are none."""
        return False


@torch.inference_mode()
def synthetic_pool(
    shape: str,
    *,
    device: str = "cpu",
    dtype: str = "float32",
    draft_layers: int = 2,
    agreement: float = 0.8,
    context: int = 4096,
    seed: int = 0,
) -> SyntheticPool:
    """Make a pair of one of the `SHAPES`.

    Args:
        agreement: Wanted share of places at which the two have one first choice; it is met as
            nearly as a dozen bisections allow.
    """
    config = LlamaConfig(
        **SHAPES[shape],
        max_position_embeddings=context,
        rope_parameters={"rope_type": "default", "rope_theta": 500_000.0},
        bos_token_id=None,
        eos_token_id=None,
        pad_token_id=None,
        tie_word_embeddings=True,
    )
    place = torch.device(device)
    with torch.random.fork_rng(), place:
        torch.manual_seed(seed)
        target = AutoModelForCausalLM.from_config(config, dtype=DTYPES[dtype])
    target = target.eval().requires_grad_(False)
    draft = _first_layers(target, draft_layers)
    found = _fit_tail(target, draft, draft_layers, agreement)
    tokenizer = NumberTokenizer(config.vocab_size)
    models = {
        name: LoadedModel(name, model, tokenizer, frozenset())
        for name, model in ((TARGET, target), (DRAFT, draft))
    }
    return SyntheticPool(place, dtype, found, models)


def _first_layers(target: Any, num_layers: int) -> PreTrainedModel:
    """A model of the target's first layers: its very modules, so nothing is held twice."""
    config = type(target.config)(**target.config.to_dict() | {"num_hidden_layers": num_layers})
    with torch.device("meta"):
        draft = AutoModelForCausalLM.from_config(config, dtype=target.dtype)
    draft.model.embed_tokens = target.model.embed_tokens
    draft.model.layers = target.model.layers[:num_layers]
    draft.model.norm = target.model.norm
    draft.model.rotary_emb = target.model.rotary_emb
    draft.lm_head = target.lm_head
    return draft.eval().requires_grad_(False)


def _fit_tail(target: Any, draft: Any, num_first: int, wanted: float) -> float:
    """Scale what the later layers add until both agree as often as wanted; return how often."""
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(target.config.vocab_size, (1, NUM_COMPARED), generator=generator)
    ids = ids.to(target.device)
    first_choice = draft(input_ids=ids, use_cache=False).logits.argmax(-1)
    low, high, scale, found = 0.0, LARGEST_SCALE, 1.0, 0.0
    for _ in range(NUM_BISECTIONS):
        middle = (low + high) / 2
        for layer in target.model.layers[num_first:]:
            for module in (layer.self_attn.o_proj, layer.mlp.down_proj):
                module.weight.mul_(middle / scale)
        scale = middle
        own = target(input_ids=ids, use_cache=False).logits.argmax(-1)
        found = float((own == first_choice).double().mean())
        low, high = (middle, high) if found > wanted else (low, middle)
    return found
