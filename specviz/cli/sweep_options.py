"""What the command `sweep` can be asked for, and how it becomes a plan."""

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from dataclasses import replace
from pathlib import Path
from typing import Any

from specviz.bench.plan import read_gallery
from specviz.bench.suites import read_suite
from specviz.bench.sweep_plan import DEFAULT_MAX_NEW_TOKENS, SweepPlan, make_lanes
from specviz.cli.lane_text import (
    LANE_KEYS,
    lane_method,
    read_gamma,
    read_gammas,
    read_lane,
    read_translation,
    read_tree,
    whole_numbers,
)
from specviz.errors import RequestError
from specviz.models.catalogue import DEFAULT_TARGET
from specviz.race.validation import check_request
from specviz.trace.values import LaneSpec, Method, RaceRequest

PROMPTS_FOLDER = Path(__file__).resolve().parents[2] / "assets" / "prompts"
DEFAULT_DRAFTS = ("specviz-tiny", "specviz-small", "specviz-large")
DEFAULT_GAMMAS = "1-10"
DEFAULT_MINUTES = 12.0


def add_sweep_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    add = parser.add_argument
    drafts = ",".join(DEFAULT_DRAFTS)
    add("--drafts", type=_names, metavar="A,B", help=f"draft models (default {drafts})")
    add(
        "--lane",
        action="append",
        default=[],
        metavar="KEY=VALUE,…",
        help=f"a way to draft, can be repeated; keys: {', '.join(LANE_KEYS)}; without gamma it "
        "runs at all of --gammas",
    )
    gammas = f"draft lengths, 1-10 or 2,4,8 (default {DEFAULT_GAMMAS})"
    add("--gammas", type=read_gammas, default=DEFAULT_GAMMAS, metavar="N-N", help=gammas)
    prompts = ".jsonl as of Spec-Bench, or a text with a prompt a line (default: the gallery)"
    add("--prompts", type=Path, metavar="FILE", help=prompts)
    add("--target", metavar="ID", help="hub id or local folder (default: the shipped target)")
    laws = "0, the default, is greedy; several are written 0,0.8"
    add("--temperatures", type=_numbers, default="0", metavar="T,T", help=laws)
    most = "default %(default)s"
    add("--max-new-tokens", type=int, default=DEFAULT_MAX_NEW_TOKENS, metavar="N", help=most)
    add("--seed", type=int, default=0, metavar="N", help="default 0")
    no_chat = "give a target with a chat template the bare prompts"
    add("--no-chat", action="store_true", help=no_chat)
    budget = "no race is begun after this, once every cell has one (default %(default)g)"
    add("--minutes", type=float, default=DEFAULT_MINUTES, metavar="M", help=budget)
    out = "write everything to this file; a file of the same sweep is gone on with"
    add("--out", type=Path, metavar="FILE.json", help=out)
    add("--csv", type=Path, metavar="FILE.csv", help="write the cells to this file")
    page = "write to this file what the page shows of it: small, without the races themselves"
    add("--page", type=Path, metavar="FILE.json", help=page)
    no_costs = "do not measure for --out what passes of many tokens and texts cost"
    add("--no-costs", action="store_true", help=no_costs)
    add("--json", action="store_true", help="print one JSON object")


def build_sweep_plan(args: Namespace) -> SweepPlan:
    """Decide what is measured. Raises: RequestError for what cannot be raced."""
    if not 0 < args.minutes < float("inf"):
        raise RequestError(f"--minutes must be above 0, got {args.minutes:g}")
    if args.lane and args.drafts:
        raise RequestError("name the ways to draft with --lane or with --drafts, not with both")
    given = [read_lane(text) for text in args.lane]
    target = args.target or next(
        (lane["target"] for lane in given if "target" in lane), DEFAULT_TARGET
    )
    if not given:
        given = [{"draft": name} for name in _drafts(args, target)]
    plan = SweepPlan(
        target=target,
        lanes=make_lanes(
            ((_spec(lane, target), _own_gammas(lane) or args.gammas) for lane in given),
            args.temperatures,
        ),
        prompts=read_suite(args.prompts) if args.prompts else read_gallery(PROMPTS_FOLDER),
        max_new_tokens=args.max_new_tokens,
        seed=args.seed,
        uses_chat=not args.no_chat,
    )
    _check(plan)
    return plan


def _drafts(args: Namespace, target: str) -> tuple[str, ...]:
    if args.drafts:
        return tuple(args.drafts)
    if target != DEFAULT_TARGET:
        raise RequestError("name draft models of this target with --drafts, or lanes with --lane")
    return DEFAULT_DRAFTS


def _spec(lane: dict[str, str], target: str) -> LaneSpec:
    if "rule" in lane:
        raise RequestError(
            "a sweep measures right lanes alone; race or prove one with a wrong rule"
        )
    if "flipped_coins" in lane:
        raise RequestError("a sweep throws its coins as they fall; leave flipped_coins out")
    chosen = read_gamma(lane["gamma"]) if "gamma" in lane else {}
    numbers: dict[str, Any] = whole_numbers(lane) | read_tree(lane) | chosen
    return LaneSpec(
        name=lane.get("name"),
        method=lane_method(lane, Method.DRAFT_MODEL),
        target=lane.get("target", target),
        draft=lane.get("draft"),
        head=lane.get("head"),
        head_reading=lane.get("head_reading"),
        translation=read_translation(lane),
        **{key: value for key, value in numbers.items() if key != "gamma"},
    )


def _own_gammas(lane: dict[str, str]) -> tuple[int, ...]:
    return (read_gamma(lane["gamma"])["gamma"],) if "gamma" in lane else ()


def _check(plan: SweepPlan) -> None:
    """Refuse now what the races would refuse, one after the other, later."""
    baseline = LaneSpec(None, Method.BASELINE, plan.target)
    for lane in plan.lanes:
        for gamma in lane.gammas:
            request = RaceRequest(
                plan.prompts[0].text,
                (baseline, replace(lane.spec, name=lane.draft, gamma=gamma)),
                plan.sampling(lane.temperature),
                plan.max_new_tokens,
            )
            check_request(request)


def _names(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    if not names:
        raise ArgumentTypeError("name at least one draft model")
    return names


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(dict.fromkeys(float(part) for part in text.split(",")))
    except ValueError:
        raise ArgumentTypeError(f"must be numbers with commas between, got {text!r}") from None
