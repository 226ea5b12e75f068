"""Says, before weights are downloaded, whether a target can draft by extra layers of its own."""

from collections.abc import Iterator
from dataclasses import replace

from specviz.errors import ModelLoadError
from specviz.models.hub_catalogue import DTYPE_BYTES
from specviz.models.model_facts import ModelFacts, ModelSource
from specviz.models.mtp_form import declared_layers, mtp_problem, stored_layers
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
from specviz.texts import Message, message


def report_mtp(source: ModelSource, target: str, request: PairRequest) -> PairReport:
    """Look at a target that drafts by its own extra layers, before it is downloaded."""
    try:
        model = source.read(target)
    except ModelLoadError as error:
        return PairReport(target, None, request, (refusal(error.text),), None, None)
    numbers = model_numbers(model, request)
    extra = num_layers(model) * _layer_size(model) * DTYPE_BYTES[request.dtype]
    numbers = replace(numbers, weights_bytes=numbers.weights_bytes + extra)
    findings = (
        *model_findings(model),
        *own_findings(model, request),
        *own_context(model, request),
        *mixture_findings(model),
        *size_findings((numbers,), request),
    )
    return PairReport(target, None, request, findings, numbers, None)


def own_layers_problem(model: ModelFacts, request: PairRequest) -> Message | None:
    """Why a target cannot draft by layers of its own here; None where it can."""
    problem = mtp_problem(model.name, model.shapes.config.to_dict(), model.tensor_names)
    if problem is None and request.quantize is not None:
        return message("refusal.mtp_quantised", target=model.name)
    return problem


def num_layers(model: ModelFacts) -> int:
    """How many layers draft: those that its files list, else those that its config declares."""
    config = model.shapes.config.to_dict()
    if model.tensor_names is None:
        return declared_layers(config)
    return stored_layers(config, model.tensor_names)


def own_findings(model: ModelFacts, request: PairRequest) -> Iterator[Finding]:
    """Look at a target's drafting layers alone: whether it has any, and what a guess costs."""
    problem = own_layers_problem(model, request)
    if problem is not None:
        yield refusal(problem)
        return
    names = {"target": short_name(model), "n": num_layers(model)}
    if model.tensor_names is None:
        yield Finding(Level.WARN, message("pair.mtp_declared", **names))
    else:
        yield Finding(Level.OK, message("pair.mtp_layers", **names))
    own, output = _layer_size(model), model.vocab_rows * int(model.config.hidden_size)
    whole = int(model.config.num_hidden_layers) * own + output
    yield Finding(Level.OK, message("pair.mtp_cost", percent=round(100 * (own + output) / whole)))


def _layer_size(model: ModelFacts) -> int:
    """Weights of one drafting layer: one like the target's last, and what joins its two inputs."""
    layers = model.shapes.get_decoder().layers
    width = int(model.config.hidden_size)
    return sum(int(weight.numel()) for weight in layers[-1].parameters()) + 2 * width * width
