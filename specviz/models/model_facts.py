"""What is known of a model before its weights are read: config, tokenizer, sizes.

A `ModelSource` gives it, from a folder here or from the hub, of which only the small files are
downloaded.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from transformers import AutoTokenizer, PreTrainedModel

from specviz.models.hub_catalogue import known_revision
from specviz.models.hub_files import INDEX_FILE, fetch_files, list_model
from specviz.models.location import find_folder
from specviz.models.mtp_form import tensor_names
from specviz.models.shapes import SAFE, in_one_sentence, read_shapes

if TYPE_CHECKING:
    from specviz.models.hub_door import HubDoor


@dataclass(frozen=True, slots=True, eq=False)
class ModelFacts:
    """One model without its weights."""

    name: str
    shapes: PreTrainedModel
    """The model on the meta device."""
    tokenizer: Any
    has_safetensors: bool
    missing_bytes: int
    """What would have to be downloaded."""
    is_gated: bool
    tensor_names: tuple[str, ...] | None = None
    """What its weight files hold; None where they are not here, nor a list of them."""

    @property
    def config(self) -> Any:
        """The config of the text model."""
        return self.shapes.config.get_text_config()

    @property
    def num_parameters(self) -> int:
        """Parameters, those that two layers share counted once."""
        return sum(parameter.numel() for parameter in self.shapes.parameters())

    @property
    def vocab_rows(self) -> int:
        """Rows of the output layer, padding included."""
        output = self.shapes.get_output_embeddings()
        return int(self.config.vocab_size if output is None else output.weight.shape[0])

    @property
    def context(self) -> int | None:
        """Most tokens that the config says it reads; None where it does not say."""
        context: int | None = getattr(self.config, "max_position_embeddings", None)
        return context

    @property
    def state_types(self) -> tuple[str, ...]:
        """Types of the layers that keep a state of their own instead of keys and values."""
        types = set(getattr(self.config, "layer_types", None) or ())
        return tuple(sorted(each for each in types if not _keeps_keys(each)))

    @property
    def is_mixture(self) -> bool:
        """Whether only some experts work on a token."""
        names = ("num_experts", "num_local_experts", "n_routed_experts")
        return any((getattr(self.config, name, None) or 0) > 1 for name in names)

    def kv_elements(self, num_tokens: int) -> int:
        """Numbers in the keys and values of `num_tokens` tokens, window by window."""
        config = self.config
        num_heads = getattr(config, "num_attention_heads", None)
        if not num_heads:
            return 0
        heads = getattr(config, "num_key_value_heads", None) or num_heads
        size = getattr(config, "head_dim", None) or config.hidden_size // num_heads
        window = getattr(config, "sliding_window", None) or num_tokens
        types = (
            getattr(config, "layer_types", None) or ["full_attention"] * config.num_hidden_layers
        )
        kept = (min(window, num_tokens) if "sliding" in each else num_tokens for each in types)
        rows = sum(rows for rows, each in zip(kept, types, strict=True) if _keeps_keys(each))
        return int(2 * rows * heads * size)


class ModelSource(Protocol):
    """Where facts come from; tests have one that serves tiny models."""

    def read(self, name: str) -> ModelFacts:
        """Read what is known of a model.

        Raises:
            ModelLoadError: It cannot be had, or its files cannot be read.
        """


class NamedSource:
    """Facts of everything that a race can name: shipped models, folders, hub models.

    Reading a hub model asks the hub and downloads some small files; nothing else does.
    """

    def __init__(self, *, allow_hub: bool = True, door: "HubDoor | None" = None) -> None:
        """Read for a visitor whom `door` lets in, or for the host."""
        self._allow_hub = allow_hub
        self._door = door

    def read(self, name: str) -> ModelFacts:
        """Read what is known of a model."""
        folder = find_folder(name, allow_hub=self._allow_hub)
        if folder is not None:
            has_safetensors = any(folder.glob("*.safetensors"))
            return read_folder(name, folder, has_safetensors=has_safetensors)
        listing = list_model(name, known_revision(name))
        key = None
        if self._door is not None and listing.is_gated:
            self._door.note_gated(name)
            key = self._door.let_in(name)
        index = [file for file in listing.weight_files if file == INDEX_FILE]
        return read_folder(
            name,
            fetch_files(listing, (*listing.small_files, *index), key=key),
            has_safetensors=any(x.endswith(".safetensors") for x in listing.weight_files),
            missing_bytes=listing.missing_bytes(),
            is_gated=listing.is_gated,
        )


def read_folder(
    name: str,
    folder: Path,
    *,
    has_safetensors: bool,
    missing_bytes: int = 0,
    is_gated: bool = False,
) -> ModelFacts:
    """Read config and tokenizer of a folder and build the model as shapes.

    Raises:
        ModelLoadError: A file cannot be read, or the config asks for what cannot be built.
    """
    return ModelFacts(
        name=name,
        shapes=read_shapes(name, folder),
        tokenizer=in_one_sentence(name, lambda: AutoTokenizer.from_pretrained(folder, **SAFE)),
        has_safetensors=has_safetensors,
        missing_bytes=missing_bytes,
        is_gated=is_gated,
        tensor_names=tensor_names(folder),
    )


def _keeps_keys(layer_type: str) -> bool:
    return "attention" in layer_type and "linear" not in layer_type
