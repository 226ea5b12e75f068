"""Pairs of models on the hub that are worth a race, read from `assets/catalogue.json`.

An entry that nobody has held against the model's page on the hub has `checked: false`, and a report
(`pair_report.py`) says what is really the case. What somebody published stands there only with its
source.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from specviz.errors import FormatError
from specviz.texts import message
from specviz.trace.typed_json import decode, read_json, refusal

CATALOGUE_FILE = Path(__file__).resolve().parents[2] / "assets" / "catalogue.json"
LANGUAGES = ("en", "es")
MAX_BYTES = 10**6
DTYPE_BYTES = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2}
WEIGHTS_MARGIN = 1.3
"""What weights take while they are loaded and run, in their own size."""
BEST_RATIO = 10.0
"""How many times smaller than its target a draft usually is where it pays."""


class Architecture(StrEnum):
    """How a model keeps what it has read, and whether all of it works on every token."""

    DENSE = "dense"
    MIXTURE = "mixture"
    HYBRID = "hybrid"


class Figure(StrEnum):
    """What a published number is about."""

    ALPHA = "alpha"
    SPEEDUP = "speedup"
    TAU = "tau"


@dataclass(frozen=True, slots=True)
class HubModel:
    """One model of the hub, as far as a table can know it."""

    revision: str
    num_parameters: int
    dtype: str
    """The one that its files are stored in."""
    kind: Architecture
    licence: str
    is_gated: bool
    vocab_rows: int
    """Rows of the output layer, padding included."""
    num_layers: int
    num_kv_layers: int
    """Layers that keep keys and values of every token."""
    num_kv_heads: int
    head_size: int
    context: int
    checked: bool
    """Whether the entry was held against the model's card."""
    num_mtp_layers: int = 0
    """Layers that it brings for multi-token prediction."""

    def weights_bytes(self, dtype: str | None = None) -> int:
        """Size of the weights in a dtype, by default the one that they are stored in."""
        return self.num_parameters * DTYPE_BYTES[dtype or self.dtype]

    def kv_bytes(self, num_tokens: int, dtype: str | None = None) -> int:
        """Size of the keys and values of `num_tokens` tokens."""
        per_token = 2 * self.num_kv_layers * self.num_kv_heads * self.head_size
        return num_tokens * per_token * DTYPE_BYTES[dtype or self.dtype]


@dataclass(frozen=True, slots=True)
class HubHead:
    """One EAGLE-3 head of the hub, as far as a table can know it."""

    revision: str
    num_parameters: int | None
    """None where nobody has counted them."""
    dtype: str
    licence: str
    is_gated: bool
    checked: bool
    """Whether the entry was held against the head's card."""

    @property
    def weights_bytes(self) -> int:
        """Size of the weights as they are stored; 0 where it is not known."""
        return (self.num_parameters or 0) * DTYPE_BYTES[self.dtype]


@dataclass(frozen=True, slots=True)
class Published:
    """A number that somebody published about a pair, or about one like it."""

    figure: Figure
    value: float
    setting: str
    source: str


@dataclass(frozen=True, slots=True)
class HubPair:
    """A target and what drafts for it: a second model, a head, or its own first layers."""

    target: str
    draft: str | None
    """None for a target with a head, one that exits early, or one that brings layers that draft."""
    exit_layers: tuple[int, ...]
    story: dict[str, str]
    """What is worth knowing of the pair, by language."""
    published: tuple[Published, ...]
    checked: bool
    head: str | None = None
    """An EAGLE-3 head in the place of a draft."""


@dataclass(frozen=True, slots=True)
class HubCatalogue:
    """All models and heads by their hub ids, and the pairs among them."""

    models: dict[str, HubModel]
    pairs: tuple[HubPair, ...]
    heads: dict[str, HubHead] = field(default_factory=dict)

    def memory_bytes(self, pair: HubPair, num_tokens: int, dtype: str | None = None) -> float:
        """Memory that a pair takes for texts of `num_tokens` tokens, with room to load it."""
        names = [name for name in (pair.target, pair.draft) if name is not None]
        models = [self.models[name] for name in names]
        weights = sum(model.weights_bytes(dtype) for model in models)
        return weights * WEIGHTS_MARGIN + sum(model.kv_bytes(num_tokens, dtype) for model in models)

    def stored_bytes(self, pair: HubPair) -> int:
        """Size of a pair's weights as the hub stores them, as far as it is known."""
        names = [name for name in (pair.target, pair.draft) if name is not None]
        size = sum(self.models[name].weights_bytes() for name in names)
        return size + (0 if pair.head is None else self.heads[pair.head].weights_bytes)

    def ratio(self, pair: HubPair) -> float | None:
        """How many times smaller than the target the draft is; None without a draft."""
        if pair.draft is None:
            return None
        return self.models[pair.target].num_parameters / self.models[pair.draft].num_parameters


def read_catalogue(path: Path = CATALOGUE_FILE) -> HubCatalogue:
    """Read the catalogue.

    Raises:
        FormatError: Names the file and the first entry in it that cannot be right.
    """
    try:
        catalogue: HubCatalogue = decode(
            HubCatalogue,
            read_json(path, MAX_BYTES),
            may_be_absent={"heads", "head", "num_mtp_layers"},
        )
        for name, model in catalogue.models.items():
            _check_model(f"models.{name}", model)
        for name, head in catalogue.heads.items():
            _check_stored(f"heads.{name}", head)
        for index, pair in enumerate(catalogue.pairs):
            _check_pair(f"pairs[{index}]", pair, catalogue, catalogue.pairs[:index])
    except FormatError as error:
        raise FormatError(message("format.in_file", path=str(path), problem=error.text)) from error
    return catalogue


def known_revision(name: str) -> str:
    """The revision of a hub model or head that is known to work; `main` for one that the table
    lacks."""
    catalogue = read_catalogue()
    found = catalogue.models.get(name) or catalogue.heads.get(name)
    return "main" if found is None else found.revision


def known_exits(name: str) -> tuple[int, ...]:
    """The layers after which a hub model was trained to guess; none of one that the table lacks."""
    pairs = (pair for pair in read_catalogue().pairs if pair.target == name)
    return next((pair.exit_layers for pair in pairs if pair.exit_layers), ())


def best_fit(
    free_bytes: float,
    *,
    num_tokens: int = 512,
    dtype: str | None = None,
    allow_gated: bool = False,
    catalogue: HubCatalogue | None = None,
) -> HubPair | None:
    """Choose the pair with the largest target that fits; of its drafts, the one nearest to a tenth.

    Hybrids and mixtures of experts, which may lose, and pairs without a draft are left out. None
    where nothing fits.

    Args:
        num_tokens: Longest text that both models are to hold.
        dtype: What the weights are run in; by default what they are stored in.
    """
    catalogue = catalogue or read_catalogue()

    def is_offered(pair: HubPair) -> bool:
        models = [catalogue.models[name] for name in (pair.target, pair.draft) if name is not None]
        return (
            len(models) == 2
            and all(model.kind is Architecture.DENSE for model in models)
            and (allow_gated or not any(model.is_gated for model in models))
            and catalogue.memory_bytes(pair, num_tokens, dtype) <= free_bytes
        )

    def rank(pair: HubPair) -> tuple[int, float]:
        ratio = catalogue.ratio(pair) or 1.0
        distance = max(ratio / BEST_RATIO, BEST_RATIO / ratio)
        return catalogue.models[pair.target].num_parameters, -distance

    return max(filter(is_offered, catalogue.pairs), key=rank, default=None)


def _check_stored(path: str, model: HubModel | HubHead) -> None:
    for name in ("revision", "licence"):
        if not getattr(model, name).strip():
            raise refusal(f"{path}.{name}", message("format.empty"))
    if model.dtype not in DTYPE_BYTES:
        raise refusal(
            f"{path}.dtype",
            message("format.choice", allowed=", ".join(DTYPE_BYTES), found=model.dtype),
        )


def _check_model(path: str, model: HubModel) -> None:
    _check_stored(path, model)
    for name in ("num_parameters", "vocab_rows", "num_layers", "context"):
        if getattr(model, name) < 1:
            raise refusal(f"{path}.{name}", message("format.least", low="1", found="0"))


def _check_pair(
    path: str, pair: HubPair, catalogue: HubCatalogue, before: Sequence[HubPair]
) -> None:
    for role in ("target", "draft"):
        name = getattr(pair, role)
        if name is not None and name not in catalogue.models:
            raise refusal(f"{path}.{role}", message("format.unknown_model", model=name))
    if pair.head is not None and pair.head not in catalogue.heads:
        raise refusal(f"{path}.head", message("format.unknown_model", model=pair.head))
    ways = (pair.draft is not None, pair.head is not None, bool(pair.exit_layers))
    by_itself = bool(catalogue.models[pair.target].num_mtp_layers)
    if sum(ways) > 1 or not (any(ways) or by_itself):
        raise refusal(path, message("format.draft_or_exits"))
    if _names(pair) in map(_names, before):
        raise refusal(path, message("format.pair_twice"))
    ratio, num_layers = catalogue.ratio(pair), catalogue.models[pair.target].num_layers
    if ratio is not None and ratio <= 1:
        raise refusal(f"{path}.draft", message("format.draft_too_large", target=pair.target))
    for index, layer in enumerate(pair.exit_layers):
        if not 1 <= layer < num_layers:
            raise refusal(
                f"{path}.exit_layers[{index}]",
                message(
                    "format.exit_outside", highest=num_layers - 1, target=pair.target, found=layer
                ),
            )
    _check_words(path, pair)


def _names(pair: HubPair) -> tuple[str | None, ...]:
    return pair.target, pair.draft, pair.head


def _check_words(path: str, pair: HubPair) -> None:
    told = [language for language in LANGUAGES if pair.story.get(language, "").strip()]
    if told != list(LANGUAGES) or len(pair.story) != len(LANGUAGES):
        found = ", ".join(pair.story) or "–"
        raise refusal(
            f"{path}.story",
            message("format.languages", languages=", ".join(LANGUAGES), found=found),
        )
    for index, published in enumerate(pair.published):
        if not published.source.strip():
            raise refusal(f"{path}.published[{index}].source", message("format.empty"))
        if published.value <= 0:
            raise refusal(
                f"{path}.published[{index}].value",
                message("format.least", low="0.001", found=str(published.value)),
            )
