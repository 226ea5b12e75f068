"""What is known of an EAGLE-3 head before its weights are read, and what it means for a target."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from specviz.models.eagle_files import (
    HEAD_SMALL_FILES,
    QUANTISER_FILE,
    head_weight_files,
    read_head_config,
)
from specviz.models.eagle_form import FINAL
from specviz.models.eagle_head import layer_config, other_kind
from specviz.models.hub_catalogue import DTYPE_BYTES, known_revision
from specviz.models.hub_files import fetch_files, list_model
from specviz.models.location import find_folder
from specviz.models.model_facts import ModelFacts
from specviz.models.pair_findings import Finding, Level, PairRequest, refusal, short_name
from specviz.models.pair_sizes import ModelNumbers
from specviz.texts import message

if TYPE_CHECKING:
    from specviz.models.hub_door import HubDoor

STORED_BYTES = 2
"""Of a weight where the config names no dtype; such heads are stored in 16 bits."""


@dataclass(frozen=True, slots=True)
class HeadFacts:
    """One head without its weights."""

    name: str
    config: Mapping[str, Any]
    weight_bytes: int
    """Of its files; 0 where there are none that can be read."""
    missing_bytes: int
    """What would have to be downloaded."""
    is_gated: bool
    is_quantised: bool

    @property
    def width(self) -> int | None:
        """Width of the target's states that it reads; None where the config does not say."""
        config = self.config
        found = config.get("target_hidden_size") or layer_config(config).get("hidden_size")
        return found if isinstance(found, int) else None

    @property
    def num_drafted(self) -> int | None:
        """Size of its draft vocabulary; None where the config does not say."""
        found = self.config.get("draft_vocab_size")
        return found if isinstance(found, int) else None

    @property
    def num_parameters(self) -> int:
        """Weights, by the size of the files and the dtype that the config names."""
        config = self.config
        named = config.get("torch_dtype") or config.get("dtype")
        return self.weight_bytes // DTYPE_BYTES.get(str(named), STORED_BYTES)

    def numbers(self, request: PairRequest) -> ModelNumbers:
        """Compute its sizes for a request. It runs in the dtype of the models, never quantised."""
        inner, num_bytes = layer_config(self.config), DTYPE_BYTES[request.dtype]
        width, layers = self.width or 0, inner.get("num_hidden_layers") or 1
        return ModelNumbers(
            num_parameters=self.num_parameters,
            weights_bytes=self.num_parameters * num_bytes,
            # Configs count layers wrongly, so that this is what it takes at most.
            kv_bytes=2 * layers * width * request.num_tokens * num_bytes,
            vocab_rows=self.num_drafted or 0,
            num_tokens=self.num_drafted or 0,
            context=None,
            missing_bytes=self.missing_bytes,
        )


class HeadSource(Protocol):
    """Where facts of heads come from."""

    def read_head(self, name: str) -> HeadFacts:
        """Read what is known of a head.

        Raises:
            ModelLoadError: It cannot be had, or its config cannot be read.
        """


class NamedHeads:
    """Facts of every head that a race can name; of a hub's, small files alone are downloaded."""

    def __init__(self, *, allow_hub: bool = True, door: "HubDoor | None" = None) -> None:
        """Read for a visitor whom `door` lets in, or for the host."""
        self._allow_hub, self._door = allow_hub, door

    def read_head(self, name: str) -> HeadFacts:
        """Read what is known of a head."""
        folder = find_folder(name, allow_hub=self._allow_hub)
        if folder is not None:
            sizes = {file.name: file.stat().st_size for file in folder.iterdir() if file.is_file()}
            return _facts(name, folder, sizes, 0, is_gated=False)
        listing = list_model(name, known_revision(name))
        key = None
        if self._door is not None and listing.is_gated:
            self._door.note_gated(name)
            key = self._door.let_in(name)
        sizes = dict(listing.file_bytes)
        small = [file for file in HEAD_SMALL_FILES if file in sizes]
        fetched = fetch_files(listing, small, key=key)
        wanted = [*small, *head_weight_files(sizes)]
        missing = sum(sizes[file] for file in wanted if listing.cached_file(file) is None)
        return _facts(name, fetched, sizes, missing, is_gated=listing.is_gated)


def _facts(
    name: str, folder: Any, sizes: Mapping[str, int], missing_bytes: int, *, is_gated: bool
) -> HeadFacts:
    config = read_head_config(name, folder)
    return HeadFacts(
        name=name,
        config=config,
        weight_bytes=sum(sizes[file] for file in head_weight_files(sizes)),
        missing_bytes=missing_bytes,
        is_gated=is_gated,
        is_quantised="quantization_config" in config or QUANTISER_FILE in sizes,
    )


def head_findings(head: HeadFacts, target: ModelFacts) -> Iterator[Finding]:
    """Hold a head against its target, as far as its config goes."""
    own = head.name.rstrip("/").rsplit("/", 1)[-1]
    if head.is_gated:
        yield Finding(Level.OK, message("pair.gated_open", model=own))
    if (kind := other_kind(head.config)) is not None:
        yield refusal(message("refusal.head_kind", head=head.name, kind=kind))
        return
    if head.is_quantised:
        yield refusal(message("refusal.head_quantised", head=head.name))
    if not head.weight_bytes:
        yield refusal(message("refusal.head_no_weights", head=head.name))
    num_layers, width = target.config.num_hidden_layers, target.config.hidden_size
    taps = _named_taps(head.config)
    if beyond := [tap for tap in taps if tap != FINAL and not 0 <= tap <= num_layers]:
        values = {"target": target.name, "layers": num_layers, "found": str(beyond[0])}
        yield refusal(message("refusal.head_taps", **values))
    if head.width is not None and head.width != width:
        values = {"found": head.width, "target": short_name(target), "width": width}
        yield Finding(Level.REFUSE, message("pair.head_width", head=own, **values))
        return
    text = message("pair.head_fits", head=own, target=short_name(target), width=width)
    yield Finding(Level.OK, text)
    drafted = head.num_drafted
    if drafted is not None:
        values = {"drafted": drafted, "rows": target.vocab_rows}
        yield Finding(Level.OK, message("pair.head_vocabulary", head=own, **values))
    yield Finding(Level.OK, message("pair.head_doctor", head=own))


def _named_taps(config: Mapping[str, Any]) -> tuple[int, ...]:
    eagle = config.get("eagle_config")
    inner = eagle.get("eagle_aux_hidden_state_layer_ids") if isinstance(eagle, dict) else None
    found = config.get("eagle_aux_hidden_state_layer_ids") or inner or ()
    return tuple(tap for tap in found if isinstance(tap, int))
