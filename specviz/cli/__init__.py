"""The command line: wires models, races and reports, and turns every failure into one sentence.

Exit status: 0 done, 1 a lane failed while it ran or was found different, 2 bad input, 130
interrupted.
"""

import json
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from functools import partial

from rich.console import Console

from specviz.bench.against import compare_with_transformers
from specviz.bench.family_report import measure_family
from specviz.bench.repeats import LaneSummary, median_summary, repeat_race, summarise
from specviz.cli.arguments import build_parser, build_request
from specviz.cli.device_report import run_device_report
from specviz.cli.distill import run_distill
from specviz.cli.export import run_export
from specviz.cli.family_questions import answer_questions
from specviz.cli.family_tables import print_models, print_report
from specviz.cli.head_doctor import run_doctor
from specviz.cli.hub_models import catalogue_json, print_catalogue, run_check
from specviz.cli.models_report import build_plan, family_json, list_models, models_json
from specviz.cli.prove import run_prove
from specviz.cli.race_report import print_race
from specviz.cli.record import run_record
from specviz.cli.summary_report import (
    bench_json,
    comparisons_json,
    print_comparisons,
    print_summary,
    race_json,
)
from specviz.cli.sweep import run_sweep_command
from specviz.errors import RequestError, SpecvizError
from specviz.models.dtype_choice import pick_dtype
from specviz.models.hub_catalogue import read_catalogue
from specviz.trace import files
from specviz.trace.proofs import StartProof
from specviz.trace.values import RaceRequest, StartRace, StopReason, Trace

StartRaceFactory = Callable[[str, str], StartRace]
"""From device and dtype to the race that runs there."""


def main(
    argv: Sequence[str] | None = None, start_race_factory: StartRaceFactory | None = None
) -> int:
    """Run one command and return the exit status. Tests pass a factory of made-up races."""
    console = Console(highlight=False)
    errors = Console(stderr=True, highlight=False, soft_wrap=True)
    try:
        args = build_parser().parse_args(argv)
        own_factory = partial(
            _start_race_on,
            wish=getattr(args, "compile", "auto"),
            quantize=getattr(args, "quantize", None),
        )
        return _COMMANDS[args.command](args, start_race_factory or own_factory, console)
    except SpecvizError as error:
        errors.print(f"specviz: {error}", markup=False)
        return 2
    except (MemoryError, RuntimeError) as error:
        problem = _full_memory(error)
        if problem is None:
            raise
        errors.print(f"specviz: {problem}", markup=False)
        return 2
    except KeyboardInterrupt:
        errors.print("specviz: interrupted")
        return 130


def _start_race_on(device: str, dtype: str, wish: str, quantize: str | None) -> StartRace:
    # Imported here, so that help and refusals do not wait for torch.
    from transformers.utils import logging

    from specviz.decoding.forms import Compile
    from specviz.models.loading import ModelPool
    from specviz.race.wiring import make_start_race

    if not sys.stderr.isatty():
        logging.disable_progress_bar()
    return make_start_race(ModelPool(device, dtype, quantize=quantize), Compile(wish))


def _full_memory(error: BaseException) -> str | None:
    """What is said where memory ran out outside of any race (measuring, fitting); else None."""
    from specviz.models.full_memory import is_full_memory
    from specviz.models.location import one_line

    if not is_full_memory(error):
        return None
    todo = "take a dtype with fewer bytes, a smaller model or shorter texts"
    return f"memory is full ({one_line(error)}); {todo}"


def _race(args: Namespace, factory: StartRaceFactory, console: Console) -> int:
    request = build_request(args)
    start_race = factory(args.device, _dtype(args, request))
    traces = list(repeat_race(start_race, request, args.repeat))
    if args.trace is not None:
        files.write_trace(traces[-1], args.trace)
    summaries = _medians(traces)
    if args.json:
        _print_json(console, race_json(traces[-1].environment, summaries))
    else:
        print_race(console, traces[-1])
        print_summary(console, traces, summaries)
    return _status(summaries)


def _bench(args: Namespace, factory: StartRaceFactory, console: Console) -> int:
    if args.out is not None:
        return run_device_report(args, console)
    request = build_request(args)
    if args.against is not None:
        comparisons = compare_with_transformers(
            request, args.device, _dtype(args, request), args.repeat, args.quantize
        )
        if args.json:
            _print_json(console, comparisons_json(comparisons))
        else:
            print_comparisons(console, comparisons)
        return 0
    start_race = factory(args.device, _dtype(args, request))
    traces = list(repeat_race(start_race, request, args.repeat))
    summaries = _medians(traces)
    if args.json:
        _print_json(console, bench_json(traces, summaries))
    else:
        print_summary(console, traces, summaries)
    return _status(summaries)


def _dtype(args: Namespace, request: RaceRequest) -> str:
    """What the models of a race are computed in."""
    return pick_dtype(args.dtype, args.device, request.lanes[0].target)


def _models(args: Namespace, factory: StartRaceFactory, console: Console) -> int:
    if args.doctor is not None:
        found = run_doctor(args, console)
        if args.json:
            _print_json(console, found)
        return 0
    if args.target is not None:
        raise RequestError("--target belongs to --doctor; name the head")
    if args.check is not None:
        status, content = run_check(args, console)
        if args.json:
            _print_json(console, content)
        return status
    if args.hub:
        if args.json:
            _print_json(console, catalogue_json(read_catalogue()))
        else:
            print_catalogue(console, read_catalogue())
        return 0
    models = list_models(args.draft or (), args.head or ())
    if not args.report:
        if args.json:
            _print_json(console, models_json(models))
        else:
            print_models(console, models)
        return 0
    plan = build_plan(args, models)
    start_race = factory(args.device, pick_dtype(args.dtype, args.device, plan.target))
    report = measure_family(start_race, plan, _tell)
    questions = answer_questions(report)
    if args.json:
        _print_json(console, family_json(report, models, questions))
    else:
        print_report(console, report, models, questions)
    return int(bool(report.failures))


def _distill(args: Namespace, factory: StartRaceFactory, console: Console) -> int:
    return run_distill(args, console)


def _export(args: Namespace, factory: StartRaceFactory, console: Console) -> int:
    return run_export(args, console)


def _prove(args: Namespace, factory: StartRaceFactory, console: Console) -> int:
    request = build_request(args)
    dtype = _dtype(args, request)
    status, content = run_prove(
        args,
        request,
        lambda: factory(args.device, dtype),
        lambda: _start_proof_on(args.device, dtype, args.quantize),
        console,
    )
    if args.json:
        _print_json(console, content)
    return status


def _start_proof_on(device: str, dtype: str, quantize: str | None) -> StartProof:
    from transformers.utils import logging

    from specviz.models.loading import ModelPool
    from specviz.proof.proving import make_start_proof

    if not sys.stderr.isatty():
        logging.disable_progress_bar()
    return make_start_proof(ModelPool(device, dtype, quantize=quantize))


def _tell(phase: str, num_done: int, num_all: int) -> None:
    """Say how far a report is; one line that is written over, between races and so in no clock."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{phase}: race {num_done + 1} of {num_all}")
        if num_done + 1 == num_all:
            sys.stderr.write("\n")
        sys.stderr.flush()


_COMMANDS: dict[str, Callable[[Namespace, StartRaceFactory, Console], int]] = {
    "race": _race,
    "bench": _bench,
    "models": _models,
    "distill": _distill,
    "prove": _prove,
    "sweep": run_sweep_command,
    "record": run_record,
    "export": _export,
}


def _medians(traces: Sequence[Trace]) -> tuple[LaneSummary, ...]:
    return tuple(
        median_summary(lane) for lane in zip(*(summarise(trace) for trace in traces), strict=True)
    )


def _status(summaries: Sequence[LaneSummary]) -> int:
    return int(any(summary.stop_reason == StopReason.ERROR for summary in summaries))


def _print_json(console: Console, content: object) -> None:
    console.out(json.dumps(content, indent=2, allow_nan=False))
