"""What can be asked for on the command line, and how it becomes a race request.

Ranges are checked once, where a race starts, so that page and command line refuse alike.
"""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from typing import Any, NoReturn

import specviz
from specviz.bench.plan import DEFAULT_GAMMAS, DEFAULT_MAX_NEW_TOKENS
from specviz.cli.distill import add_distill_options
from specviz.cli.export import add_export_options
from specviz.cli.head_doctor import add_doctor_options
from specviz.cli.hub_models import add_hub_options
from specviz.cli.lane_text import (
    DRAFTING,
    LANE_KEYS,
    lane_method,
    read_coins,
    read_gamma,
    read_gammas,
    read_lane,
    read_translation,
    read_tree,
    whole_numbers,
)
from specviz.cli.prove import add_prove_options
from specviz.cli.record import add_record_options
from specviz.cli.sweep_options import add_sweep_options
from specviz.errors import RequestError
from specviz.models.catalogue import DEFAULT_DRAFT, DEFAULT_TARGET
from specviz.models.devices import pick_device
from specviz.models.dtype_choice import AUTO
from specviz.models.dtypes import QUANTIZED_BYTES
from specviz.trace.values import LaneSpec, Method, RaceRequest, Rule, Sampling

DEFAULT_GAMMA = 4
DEFAULT_PROMPT = "Once upon a time"


class _Parser(ArgumentParser):
    """An argument parser that says what is wrong in one sentence."""

    def error(self, message: str) -> NoReturn:
        sys.stderr.write(f"{self.prog}: {message}\n")
        sys.exit(2)


def build_parser() -> ArgumentParser:
    """Build the parser of all commands."""
    parser = _Parser(prog="specviz", description="Real speculative decoding, measured.")
    parser.add_argument("--version", action="version", version=f"specviz {specviz.__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    race = commands.add_parser("race", help="race plain against speculative decoding, once")
    _add_race_options(race)
    race.add_argument("--prompt", required=True, metavar="TEXT", help="text to go on from")
    race.add_argument("--trace", metavar="FILE.json", help="write the (last) race to this file")
    _add_repeat(race, 1, "race N times and print medians")
    bench = commands.add_parser("bench", help="repeat a race: medians and quartiles")
    _add_race_options(bench)
    bench.add_argument("--prompt", default=DEFAULT_PROMPT, metavar="TEXT", help="%(default)r")
    bench.add_argument(
        "--against",
        choices=["transformers"],
        help="compare the first two lanes with transformers' generate()",
    )
    _add_device_options(bench)
    _add_repeat(bench, 5, "number of repetitions (default 5)")
    _add_models_options(commands.add_parser("models", help="list the shipped models, or measure"))
    add_distill_options(commands.add_parser("distill", help="fit a draft to a target"))
    prove = commands.add_parser("prove", help="test that a lane writes what its target would")
    _add_race_options(prove, temperature=1.0, max_new_tokens=64)
    add_prove_options(prove)
    sweep = commands.add_parser("sweep", help="which draft, which γ: many races over many prompts")
    add_sweep_options(sweep)
    _add_place(sweep.add_argument)
    add_record_options(commands.add_parser("record", help="race the recorded races again"))
    add_export_options(commands.add_parser("export", help="write a race as a page in one file"))
    return parser


def _add_race_options(
    parser: ArgumentParser, *, temperature: float = 0.0, max_new_tokens: int = 128
) -> None:
    add = parser.add_argument
    add("--method", choices=DRAFTING, help=f"how drafts are made (default {Method.DRAFT_MODEL})")
    chosen = "or auto, heuristic, confidence:0.4 (at most ten; auto<=6: at most six)"
    gamma = f"tokens drafted a round, {chosen} (default {DEFAULT_GAMMA})"
    add("--gamma", metavar="N", help=gamma)
    greedy = "0 is greedy (default %(default)s)"
    add("--temperature", type=float, default=temperature, metavar="T", help=greedy)
    add("--top-k", type=int, default=0, metavar="K", help="0, the default, switches it off")
    add("--top-p", type=float, default=1.0, metavar="P", help="1, the default, switches it off")
    add("--seed", type=int, default=0, metavar="N", help="default 0")
    add(
        "--max-new-tokens",
        type=int,
        default=max_new_tokens,
        metavar="N",
        help="default %(default)s",
    )
    add("--target", metavar="ID", help="hub id or local folder (default: the shipped target)")
    add("--draft", metavar="ID", help="hub id or local folder (default: the shipped draft)")
    add(
        "--lane",
        action="append",
        default=[],
        metavar="KEY=VALUE,…",
        help=f"a lane beside the baseline, can be repeated; keys: {', '.join(LANE_KEYS)}; "
        "what is left out comes from the options above",
    )
    no_chat = "give a target with a chat template the bare prompt"
    add("--no-chat", action="store_true", help=no_chat)
    _add_place(add)
    add(
        "--compile",
        choices=("auto", "on", "off"),
        default="auto",
        help="steps that the device records and replays: where they are right and faster (auto, "
        "the default), wherever they are right, or never",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _add_models_options(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--report",
        action="store_true",
        help="measure every way to draft for the shipped target, here and now (some minutes)",
    )
    add_hub_options(parser)
    add_doctor_options(parser)
    everything = "Without --draft, --head, --group and --method everything is measured."
    add = parser.add_argument_group("with --report", everything).add_argument
    repeated: dict[str, Any] = {"action": "append", "metavar": "NAME"}
    add("--draft", **repeated, help="a draft: shipped, a folder or a hub id; can be repeated")
    head = "an EAGLE-3 head: shipped, a folder or a hub id; can be repeated"
    add("--head", **repeated, help=head)
    add("--group", **repeated, help="a group of the prompt gallery; can be repeated")
    add("--method", action="append", choices=DRAFTING, help="can be repeated")
    gammas, most = ",".join(map(str, DEFAULT_GAMMAS)), DEFAULT_MAX_NEW_TOKENS
    add("--gammas", type=read_gammas, default=gammas, metavar="N,N,…", help="default %(default)s")
    add("--temperature", type=float, default=0.0, metavar="T", help="0, the default, is greedy")
    add("--max-new-tokens", type=int, metavar="N", help=f"default {most}, with --check 128")
    add("--repeat", type=int, default=1, metavar="N", help="races of each prompt (default 1)")
    _add_place(add)


def _add_place(add: Callable[..., Any]) -> None:
    help_ = "cpu, cuda, cuda:1, mps, … or auto, the default: the fastest there is"
    add("--device", type=pick_device, default="auto", metavar="D", help=help_)
    dtypes = "float32, float64, bfloat16, float16 or auto, the default: by size and device"
    add("--dtype", default=AUTO, metavar="D", help=dtypes)
    bits = "hold weights in so many bits (needs the library bitsandbytes); --dtype computes"
    add("--quantize", choices=tuple(QUANTIZED_BYTES), help=bits)


def _add_device_options(parser: ArgumentParser) -> None:
    note = "With --out the device is measured instead, with synthetic pairs and no network."
    add = parser.add_argument_group("a device report", note).add_argument
    add("--out", metavar="FILE.json", help="where to write it")
    add("--shapes", metavar="S,S,…", help="of tiny, 1B, 3B, 8B (default: by the device)")
    add("--minutes", type=float, default=10.0, metavar="M", help="budget (default %(default)s)")


def _add_repeat(parser: ArgumentParser, default: int, text: str) -> None:
    parser.add_argument("--repeat", type=int, default=default, metavar="N", help=text)


def build_request(args: Namespace) -> RaceRequest:
    """Build the race: the baseline, the lane of the options, the lanes of `--lane`.

    The options make a lane of their own if `--method` is given or there is no `--lane`.

    Raises: RequestError for a lane that cannot be read.
    """
    if getattr(args, "repeat", 1) < 1:
        raise RequestError(f"--repeat must be 1 or more, got {args.repeat}")
    method = Method(args.method or Method.DRAFT_MODEL)
    given = [read_lane(text) for text in args.lane]
    if args.method is not None or not given:
        given.insert(0, {})
    target = args.target or next(
        (lane["target"] for lane in given if "target" in lane), DEFAULT_TARGET
    )
    baseline = LaneSpec(name=None, method=Method.BASELINE, target=target)
    lanes = [baseline, *(_lane_spec(lane, args, method, target) for lane in given)]
    return RaceRequest(
        prompt=args.prompt or DEFAULT_PROMPT,
        lanes=tuple(lanes),
        sampling=Sampling(args.temperature, args.top_k, args.top_p, args.seed),
        max_new_tokens=args.max_new_tokens,
        uses_chat=not args.no_chat,
    )


def _lane_spec(lane: dict[str, str], args: Namespace, method: Method, target: str) -> LaneSpec:
    """Build one drafting lane; what it leaves out comes from the options."""
    method = lane_method(lane, method)
    numbers: dict[str, Any] = {"gamma": DEFAULT_GAMMA}
    if "gamma" in lane:
        numbers = read_gamma(lane["gamma"])
    elif args.gamma is not None:
        numbers = read_gamma(args.gamma, "--gamma")
    numbers |= whole_numbers(lane) | read_tree(lane)
    target = lane.get("target", target)
    # A draft that the method cannot use is refused where the options speak of this one lane only.
    draft = lane.get("draft", None if lane else args.draft)
    if draft is None and method is Method.DRAFT_MODEL:
        draft = args.draft or (DEFAULT_DRAFT if target == DEFAULT_TARGET else None)
    rule = lane.get("rule", Rule.RIGHT.value)
    if rule not in tuple(Rule):
        raise RequestError(f"--lane rule must be one of {', '.join(Rule)}, got {rule!r}")
    name = lane.get("name")
    return LaneSpec(
        name,
        method,
        target,
        draft,
        **numbers,
        rule=Rule(rule),
        flipped_coins=read_coins(lane),
        head=lane.get("head"),
        head_reading=lane.get("head_reading"),
        translation=read_translation(lane),
    )
