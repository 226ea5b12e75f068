"""Checks a race request before anything is loaded."""

import math

from specviz.errors import RequestError
from specviz.trace.names import lane_names
from specviz.trace.values import MAX_GAMMA, MAX_LANES, LaneSpec, Method, RaceRequest, Sampling

MAX_NEW_TOKENS = 4096
MAX_SEED = 2**63 - 1
MAX_NGRAM = 16


def check_request(request: RaceRequest) -> None:
    """Refuse what cannot be raced.

    Raises:
        RequestError: Names the first field that is off, what it holds and what is allowed.
    """
    if not request.prompt.strip():
        raise RequestError("the prompt is empty; write at least one word")
    _check_range("max_new_tokens", request.max_new_tokens, 1, MAX_NEW_TOKENS)
    _check_sampling(request.sampling)
    _check_range("number of lanes", len(request.lanes), 2, MAX_LANES)
    names = lane_names(request.lanes)
    for name, spec in zip(names, request.lanes, strict=True):
        _check_lane(name, spec)
    methods = [spec.method for spec in request.lanes]
    if methods[0] is not Method.BASELINE or methods.count(Method.BASELINE) > 1:
        raise RequestError(
            "the first lane, and only it, must be the baseline: everything is measured against it"
        )
    targets = {spec.target for spec in request.lanes}
    if len(targets) > 1:
        raise RequestError(
            f"all lanes of a race share one target, got {', '.join(sorted(targets))}; "
            "run a race for each"
        )
    if len(set(names)) < len(names):
        raise RequestError(f"lanes need different names, got {', '.join(names)}")


def _check_sampling(sampling: Sampling) -> None:
    if not (math.isfinite(sampling.temperature) and 0 <= sampling.temperature <= 5):
        raise RequestError(f"temperature must be 0 to 5, got {sampling.temperature}")
    if sampling.temperature and sampling.temperature < 0.01:
        raise RequestError(
            f"temperature must be 0 (greedy) or at least 0.01, got {sampling.temperature}"
        )
    _check_range("top_k (0 switches it off)", sampling.top_k, 0, 1_000_000)
    if not 0 < sampling.top_p <= 1:
        raise RequestError(f"top_p must be above 0 and at most 1, got {sampling.top_p}")
    _check_range("seed", sampling.seed, 0, MAX_SEED)


def _check_lane(name: str, spec: LaneSpec) -> None:
    if spec.method is Method.BASELINE:
        if spec.gamma != 0 or spec.draft is not None:
            raise RequestError("the baseline drafts nothing: leave out draft and gamma")
        return
    _check_range(f"gamma of lane {name!r}", spec.gamma, 1, MAX_GAMMA)
    if spec.method is Method.DRAFT_MODEL and not spec.draft:
        raise RequestError(f"lane {name!r} needs a draft model; give one with draft=NAME")
    if spec.method is not Method.DRAFT_MODEL and spec.draft:
        raise RequestError(f"lane {name!r}: the method {spec.method} takes no draft model")
    if spec.method is Method.PROMPT_LOOKUP:
        _check_range(f"max_ngram of lane {name!r}", spec.max_ngram, 2, MAX_NGRAM)
    if spec.exit_layer is not None and spec.exit_layer < 1:
        raise RequestError(f"exit_layer of lane {name!r} must be at least 1, got {spec.exit_layer}")


def _check_range(name: str, value: int, low: int, high: int) -> None:
    if type(value) is not int:
        raise RequestError(f"{name} must be a whole number, got {value!r}")
    if not low <= value <= high:
        raise RequestError(f"{name} must be {low} to {high}, got {value}")
