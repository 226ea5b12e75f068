"""What a pair takes in memory and on disk, against what is free."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from specviz.models.free_space import gigabytes
from specviz.models.hub_catalogue import DTYPE_BYTES, WEIGHTS_MARGIN
from specviz.models.model_facts import ModelFacts
from specviz.models.pair_findings import Finding, Level, PairRequest
from specviz.texts import message


@dataclass(frozen=True, slots=True)
class ModelNumbers:
    """Sizes of one model of the pair."""

    num_parameters: int
    weights_bytes: int
    kv_bytes: int
    """Keys and values of the longest text of the request."""
    vocab_rows: int
    num_tokens: int
    """Entries of the tokenizer."""
    context: int | None
    missing_bytes: int
    """What would have to be downloaded."""


def model_numbers(model: ModelFacts, request: PairRequest) -> ModelNumbers:
    """Compute the sizes of a model for a request."""
    num_bytes = DTYPE_BYTES[request.dtype]
    return ModelNumbers(
        num_parameters=model.num_parameters,
        weights_bytes=model.num_parameters * num_bytes,
        kv_bytes=model.kv_elements(request.num_tokens) * num_bytes,
        vocab_rows=model.vocab_rows,
        num_tokens=len(model.tokenizer),
        context=model.context,
        missing_bytes=model.missing_bytes,
    )


def size_findings(models: Sequence[ModelNumbers], request: PairRequest) -> Iterator[Finding]:
    """Hold what the models of a pair take against what is free."""
    yield _memory(models, request)
    needed, free = sum(model.missing_bytes for model in models), request.free_disk_bytes
    if not needed:
        yield Finding(Level.OK, message("pair.disk_none"))
    elif free is not None:
        values = {"download": gigabytes(needed), "free": gigabytes(free)}
        if needed > free:
            folder = str(request.disk_folder or "HF_HOME")
            text = message("pair.disk_lacks", **values, folder=folder)
            yield Finding(Level.REFUSE, text)
        else:
            yield Finding(Level.OK, message("pair.disk_fits", **values))


def _memory(models: Sequence[ModelNumbers], request: PairRequest) -> Finding:
    weights = sum(model.weights_bytes for model in models)
    caches, free = sum(model.kv_bytes for model in models), request.free_memory_bytes
    values = {"weights": gigabytes(weights), "kv": gigabytes(caches), "tokens": request.num_tokens}
    if free is None:
        return Finding(Level.WARN, message("pair.memory_unknown", **values))
    values["free"] = gigabytes(free)
    if weights + caches > free:
        text = message("pair.memory_lacks", **values, dtype=request.dtype)
        return Finding(Level.REFUSE, text)
    if weights * WEIGHTS_MARGIN + caches > free:
        return Finding(Level.WARN, message("pair.memory_tight", **values))
    return Finding(Level.OK, message("pair.memory_fits", **values))
