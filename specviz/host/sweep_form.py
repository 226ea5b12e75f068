"""Reads what the tab Compare asks to be measured; nothing that a browser sent is trusted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

from specviz.bench.plan import GalleryPrompt
from specviz.bench.suites import suite_of_text
from specviz.bench.sweep_plan import SweepPlan, make_lanes
from specviz.trace.values import RaceRequest
from specviz.ui.options import PageOptions
from specviz.ui.request_form import build_request
from specviz.ui.request_values import (
    read_integer,
    read_mapping,
    read_number,
    read_sequence,
    shown,
)
from specviz.ui.strings import PageError

_FIELDS = {"target", "lanes", "gammas", "temperature", "tokens", "minutes", "suite", "text", "name"}
_LANE_KEYS = {"method", "draft", "exit_layer", "max_ngram", "head", "head_reading"}
GALLERY, LINES, FILE = "gallery", "lines", "file"


@dataclass(frozen=True, slots=True)
class SweepAsked:
    """A sweep that a page asked for."""

    plan: SweepPlan
    minutes: float


def read_sweep_form(
    form: object, options: PageOptions, gallery: Sequence[GalleryPrompt]
) -> SweepAsked:
    """Read a form: `target`, `lanes`, `gammas` (lowest and highest), `temperature`, `tokens`,
    `minutes`, and of prompts `suite` (gallery, lines or file) with `text` and, of a file, `name`.

    Raises:
        RequestError: A value is missing, of the wrong kind, or beyond the limits of the page.
    """
    fields = read_mapping(form, "sweep", _FIELDS)
    limits = options.limits
    ends = [
        read_integer(each, "gamma", 1, limits.max_gamma)
        for each in read_sequence(fields.get("gammas"))
    ]
    if len(ends) != 2 or ends[0] > ends[1]:
        raise PageError("sweep_page.refused_gammas")
    lanes = read_sequence(fields.get("lanes"))
    if not 1 <= len(lanes) <= limits.max_sweep_lanes:
        raise PageError("sweep_page.refused_lanes", most=limits.max_sweep_lanes, found=len(lanes))
    requests = [_request(lane, fields, ends[1], options) for lane in lanes]
    gammas = range(ends[0], ends[1] + 1)
    asked = requests[0]
    plan = SweepPlan(
        target=asked.lanes[0].target,
        lanes=make_lanes(
            ((request.lanes[1], gammas) for request in requests), (asked.sampling.temperature,)
        ),
        prompts=_prompts(fields, options, gallery),
        max_new_tokens=asked.max_new_tokens,
        seed=asked.sampling.seed,
    )
    return SweepAsked(plan, read_minutes(fields.get("minutes"), options))


def read_minutes(value: object, options: PageOptions) -> float:
    """Take how long it may go on. Raises: RequestError beyond the limits of the page."""
    return read_number(value, "minutes", 0.1, options.limits.max_sweep_minutes)


def check_plan(plan: SweepPlan, options: PageOptions, gallery: Sequence[GalleryPrompt]) -> None:
    """Refuse a plan from a file that this page would not have taken from its form.

    Raises:
        RequestError: It names models that are not offered here, or goes beyond the limits.
    """
    limits = options.limits
    if len(plan.lanes) > limits.max_sweep_lanes:
        most, found = limits.max_sweep_lanes, len(plan.lanes)
        raise PageError("sweep_page.refused_lanes", most=most, found=found)
    for lane in plan.lanes:
        spec = {key: getattr(lane.spec, key) for key in _LANE_KEYS}
        own = {key: value for key, value in spec.items() if value is not None}
        for gamma in (min(lane.gammas, default=0), max(lane.gammas, default=0)):
            settings = {
                "target": plan.target,
                "temperature": lane.temperature,
                "tokens": plan.max_new_tokens,
            }
            asked = _request(own, settings, gamma, options).lanes[1]
            if replace(lane.spec, name=None, gamma=gamma) != asked:
                raise PageError("sweep_page.refused_plan")
    known = {(prompt.id, prompt.text) for prompt in gallery}
    is_own = any((prompt.id, prompt.text) not in known for prompt in plan.prompts)
    if len(plan.prompts) > limits.max_sweep_prompts or (is_own and not limits.takes_own_prompts):
        raise PageError("sweep_page.refused_plan")


def _request(
    lane: object, fields: Mapping[str, object], gamma: int, options: PageOptions
) -> RaceRequest:
    """Make a race of a lane, which is checked as every other race of the page."""
    own: dict[str, Any] = dict(read_mapping(lane, "lane", _LANE_KEYS))
    own |= {"target": fields.get("target"), "gamma": gamma}
    sampling = {"temperature": fields.get("temperature"), "seed": options.defaults.seed}
    return build_request(options.defaults.prompt, [own], sampling, fields.get("tokens"), options)


def _prompts(
    fields: Mapping[str, object], options: PageOptions, gallery: Sequence[GalleryPrompt]
) -> tuple[GalleryPrompt, ...]:
    suite, limits = fields.get("suite"), options.limits
    if suite == GALLERY:
        return tuple(gallery)
    if suite not in (LINES, FILE):
        raise PageError("sweep_page.refused_suite", found=shown(suite))
    if not limits.takes_own_prompts:
        raise PageError("sweep_page.refused_own")
    text, name = fields.get("text"), fields.get("name", "")
    if not isinstance(text, str) or not isinstance(name, str):
        raise PageError("sweep_page.refused_suite", found=shown(suite))
    if len(text) > limits.max_sweep_chars:
        raise PageError("error.trace_too_long", chars=len(text), allowed=limits.max_sweep_chars)
    is_questions = suite == FILE and PurePath(name).suffix == ".jsonl"
    prompts = suite_of_text(text.removeprefix("\ufeff"), name or LINES, is_questions=is_questions)
    if len(prompts) > limits.max_sweep_prompts:
        most, found = limits.max_sweep_prompts, len(prompts)
        raise PageError("sweep_page.refused_prompts", most=most, found=found)
    return prompts
