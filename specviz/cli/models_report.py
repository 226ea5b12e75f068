"""The command `models`: which models there are, what a report of them is to measure, its JSON."""

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from specviz.bench.family_report import FamilyReport
from specviz.bench.plan import DEFAULT_MAX_NEW_TOKENS, Contender, ReportPlan, read_gallery
from specviz.cli.family_questions import Question
from specviz.errors import RequestError
from specviz.models.catalogue import DEFAULT_TARGET, known_heads, listed_models
from specviz.models.description import ModelDescription, describe_model
from specviz.trace.fits import find_fitted
from specviz.trace.values import Method, Sampling

PROMPTS_FOLDER = Path(__file__).resolve().parents[2] / "assets" / "prompts"


@dataclass(frozen=True, slots=True)
class ListedModel:
    """A model folder, and where it comes from if it was fitted."""

    description: ModelDescription
    fitted_from: str | None = None
    """In words, or None where the model was not fitted."""


def list_models(drafts: Sequence[str] = (), heads: Sequence[str] = ()) -> tuple[ListedModel, ...]:
    """Describe the listed models, the shipped target's EAGLE-3 heads, and those of `drafts` and
    `heads` that are other folders.

    Raises: ModelLoadError or RequestError for a folder with a file that cannot be read.
    """
    shipped = {model.name: (model.role, model.folder) for model in listed_models()}
    shipped |= {
        head.name: ("head", head.folder) for head in known_heads() if head.target == DEFAULT_TARGET
    }
    others = {
        name: (role, Path(name).expanduser())
        for role, names in (("draft", drafts), ("head", heads))
        for name in names
        if name not in shipped and (Path(name).expanduser() / "config.json").is_file()
    }
    found = shipped | others
    fitted, problems = find_fitted({name: folder for name, (_, folder) in found.items()})
    if problems:
        raise RequestError(problems[0])
    origins = {
        draft.name: f"{draft.fit.draft_before or 'new'}, for {draft.fit.target}" for draft in fitted
    }
    return tuple(
        ListedModel(describe_model(name, role, folder), origins.get(name))
        for name, (role, folder) in found.items()
    )


def build_plan(args: Namespace, models: Sequence[ListedModel]) -> ReportPlan:
    """Decide what `models --report` measures: all of the family, or what the options name.

    Raises: RequestError for a group that the gallery lacks, and where nothing is left to measure.
    """
    if args.repeat < 1:
        raise RequestError(f"--repeat must be 1 or more, got {args.repeat}")
    gallery = read_gallery(PROMPTS_FOLDER)
    groups = list(dict.fromkeys(prompt.group for prompt in gallery))
    if unknown := [group for group in args.group or () if group not in groups]:
        raise RequestError(f"--group must be one of {', '.join(groups)}, got {unknown[0]!r}")
    contenders = _contenders(args, models)
    if not contenders:
        raise RequestError("there is nothing to measure; leave out --method or --draft")
    return ReportPlan(
        target=DEFAULT_TARGET,
        contenders=contenders,
        prompts=tuple(prompt for prompt in gallery if prompt.group in (args.group or groups)),
        gammas=args.gammas,
        sampling=Sampling(args.temperature),
        max_new_tokens=DEFAULT_MAX_NEW_TOKENS
        if args.max_new_tokens is None
        else args.max_new_tokens,
        num_repeats=args.repeat,
    )


def _contenders(args: Namespace, models: Sequence[ListedModel]) -> tuple[Contender, ...]:
    """List the draft models by size, then the heads and exits of the target, then prompt lookup."""
    described = {model.description.name: model.description for model in models}
    named = [Method.DRAFT_MODEL] * bool(args.draft) + [Method.EAGLE3] * bool(args.head)
    default = named or list(Method)
    methods = [Method(name) for name in args.method] if args.method else default
    if args.draft and Method.DRAFT_MODEL not in methods:
        raise RequestError(f"--draft needs --method {Method.DRAFT_MODEL} too, or no --method")
    if args.head and Method.EAGLE3 not in methods:
        raise RequestError(f"--head needs --method {Method.EAGLE3} too, or no --method")
    found: list[Contender] = []
    if Method.DRAFT_MODEL in methods:
        drafts = [x for x in described.values() if x.role == "draft"]
        by_size = [x.name for x in sorted(drafts, key=lambda x: (x.num_parameters, x.name))]
        names = dict.fromkeys(args.draft or by_size)
        found += [Contender(name, Method.DRAFT_MODEL, draft=name) for name in names]
    if Method.EAGLE3 in methods:
        heads = args.head or [x.name for x in described.values() if x.role == "head"]
        found += [Contender(name, Method.EAGLE3, head=name) for name in dict.fromkeys(heads)]
    if Method.EARLY_EXIT in methods and DEFAULT_TARGET in described:
        found += [
            Contender(f"{Method.EARLY_EXIT} {layer}", Method.EARLY_EXIT, exit_layer=layer)
            for layer in described[DEFAULT_TARGET].exit_layers
        ]
    if Method.PROMPT_LOOKUP in methods:
        found.append(Contender(str(Method.PROMPT_LOOKUP), Method.PROMPT_LOOKUP))
    return tuple(found)


def models_json(models: Sequence[ListedModel]) -> dict[str, Any]:
    """Return what `models --json` prints."""
    return {
        "models": [
            asdict(model.description) | {"fitted_from": model.fitted_from} for model in models
        ]
    }


def family_json(
    report: FamilyReport, models: Sequence[ListedModel], questions: Sequence[Question]
) -> dict[str, Any]:
    """Return what `models --report --json` prints."""
    plan = report.plan
    return models_json(models) | {
        "environment": asdict(report.environment),
        "temperature": plan.sampling.temperature,
        "max_new_tokens": plan.max_new_tokens,
        "gammas": list(plan.gammas),
        "num_repeats": plan.num_repeats,
        "baseline_tokens_per_second": asdict(report.baseline_tokens_per_second),
        "rows": [asdict(row) for row in report.rows],
        "questions": [asdict(question) for question in questions],
        "failures": list(report.failures),
        "num_races": report.num_races,
        "seconds": report.seconds,
    }
