"""Says before weights are downloaded whether a target can guess by its own first layers here."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from transformers import PreTrainedModel

from specviz.errors import IncompatibleModelError, ModelLoadError
from specviz.models.exits import declared_exits, default_exit
from specviz.models.hub_catalogue import known_exits
from specviz.models.model_facts import ModelFacts, ModelSource
from specviz.models.pair_findings import (
    Finding,
    Level,
    PairRequest,
    mixture_findings,
    model_findings,
    own_context,
    refusal,
    short_name,
)
from specviz.models.pair_report import PairReport
from specviz.models.pair_sizes import model_numbers, size_findings
from specviz.texts import message

LayersOf = Callable[[PreTrainedModel], Iterable[Any]]
"""Gives the layers of a model; raises IncompatibleModelError for one that cannot run in part."""


def report_exit(
    source: ModelSource,
    target: str,
    request: PairRequest,
    layers_of: LayersOf,
    exit_layer: int | None = None,
) -> PairReport:
    """Look at a target that leaves early, before it is downloaded.

    Args:
        exit_layer: After which layer; None: the first that its config or the catalogue names, else
            a quarter of its layers.
    """
    try:
        model = source.read(target)
    except ModelLoadError as error:
        return PairReport(target, None, request, (refusal(error.text),), None, None, exit_layer)
    named = declared_exits(model.config) or known_exits(target)
    if exit_layer is None:
        exit_layer = named[0] if named else default_exit(model.config)
    numbers = model_numbers(model, request)
    findings = (
        *model_findings(model),
        *_exit_findings(model, layers_of, exit_layer),
        *own_context(model, request),
        *mixture_findings(model),
        *size_findings((numbers,), request),
    )
    return PairReport(target, None, request, findings, numbers, None, exit_layer)


def _exit_findings(model: ModelFacts, layers_of: LayersOf, exit_layer: int) -> Iterator[Finding]:
    try:
        layers = list(layers_of(model.shapes))
    except IncompatibleModelError as error:
        yield refusal(error.text)
        return
    name, last = short_name(model), len(layers) - 1
    declared, listed = declared_exits(model.config), known_exits(model.name)
    exits = ", ".join(map(str, declared or listed))
    if declared:
        text = message("pair.exit_layers", target=name, last=last, exits=exits)
        yield Finding(Level.OK, text)
    elif listed:
        text = message("pair.exit_listed", target=name, last=last, exits=exits)
        yield Finding(Level.OK, text)
    else:
        yield Finding(Level.WARN, message("pair.exit_unnamed", target=name, last=last))
    if not 1 <= exit_layer <= last:
        values = {"layers": len(layers), "last": last, "found": exit_layer}
        yield Finding(Level.REFUSE, message("pair.exit_outside", target=name, **values))
        return
    percent = round(100 * _share_read(model, layers, exit_layer))
    values = {"exit": exit_layer, "layers": len(layers), "percent": percent}
    yield Finding(Level.OK, message("pair.exit_cost", **values))
    if exits and exit_layer not in (declared or listed):
        text = message("pair.exit_untrained", target=name, exit=exit_layer, exits=exits)
        yield Finding(Level.WARN, text)


def _share_read(model: ModelFacts, layers: Sequence[Any], exit_layer: int) -> float:
    """Part of a pass's weights that a guess reads: its layers and the output layer."""
    sizes = [sum(weight.numel() for weight in layer.parameters()) for layer in layers]
    head = model.vocab_rows * int(model.config.hidden_size)
    return float((sum(sizes[:exit_layer]) + head) / (sum(sizes) + head))
