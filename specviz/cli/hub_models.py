"""The command `models --hub` and `models --check`: hub pairs, and whether one fits this machine."""

from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from specviz.errors import RequestError
from specviz.models.dtype_choice import pick_dtype
from specviz.models.hub_catalogue import (
    DTYPE_BYTES,
    HubCatalogue,
    HubHead,
    HubModel,
    HubPair,
    best_fit,
)
from specviz.texts import in_english
from specviz.trace.limits import MAX_GAMMA, MAX_NEW_TOKENS
from specviz.trace.values import Method

if TYPE_CHECKING:
    from specviz.models.pair_findings import PairRequest

MIN_WIDTH = 130
"""Columns that the list takes where it is written to a file or a pipe, which have no width."""
DEFAULT_MAX_NEW_TOKENS = 128
DEFAULT_GAMMA = 4
MARKS = {"ok": ("✓", ""), "warn": ("!", "yellow"), "refuse": ("✗", "bold red")}


def add_hub_options(parser: ArgumentParser) -> None:
    """Add the options of hub pairs to the command `models`."""
    add = parser.add_argument
    add("--hub", action="store_true", help="list pairs of models on the hub that are worth a race")
    add(
        "--check",
        nargs="+",
        metavar=("TARGET", "DRAFT"),
        help="say whether a draft fits a target and the pair this machine, without downloading "
        "weights; a target alone guesses by its own first layers (early exit), by an EAGLE-3 "
        "--head, or with --method mtp by extra layers that it brings; exit status 1 where it does "
        "not fit",
    )
    add("--exit-layer", type=int, metavar="N", help="with --check TARGET: after which layer")
    add("--gamma", type=int, metavar="N", help=f"with --check: default {DEFAULT_GAMMA}")


def catalogue_json(catalogue: HubCatalogue) -> dict[str, Any]:
    """Return what `models --hub --json` prints."""
    return asdict(catalogue)


def print_catalogue(console: Console, catalogue: HubCatalogue) -> None:
    """Print one row a pair, and what of it nobody has checked."""
    if not console.is_terminal:
        console.width = max(console.width, MIN_WIDTH)
    table = Table(box=None, padding=(0, 1))
    for name in ("target", "draft"):
        table.add_column(name, overflow="fold", min_width=14)
    for name in ("parameters", "ratio", "GB", "gated", "licence of the target"):
        table.add_column(name, justify="right")
    for pair in catalogue.pairs:
        table.add_row(*_row(catalogue, pair))
    console.print(table)
    best = _best_here(catalogue)
    if best is not None:
        console.print(Text(f"The best open pair for this machine: {best.target} with {best.draft}"))
    notes = (
        "GB: weights in the dtype that they are stored in. Most of this was not read from the hub; "
        "figures and licences are to be checked on the models' pages (--json says which)."
    )
    console.print(Text(notes, style="dim"))


def _row(catalogue: HubCatalogue, pair: HubPair) -> list[Text]:
    target = catalogue.models[pair.target]
    models: list[HubModel | HubHead] = [target]
    models += [] if pair.draft is None else [catalogue.models[pair.draft]]
    models += [] if pair.head is None else [catalogue.heads[pair.head]]
    ratio = catalogue.ratio(pair)
    exits = ", ".join(map(str, pair.exit_layers))
    alone = f"exits after layer {exits}" if exits else "its own extra layers (mtp)"
    cells = [
        pair.target,
        pair.draft or pair.head or alone,
        " + ".join(_size(model.num_parameters) for model in models),
        "–" if ratio is None else f"{ratio:.0f}×" if ratio >= 10 else f"{ratio:.1f}×",
        f"{catalogue.stored_bytes(pair) / 1e9:.1f}",
        "yes" if any(model.is_gated for model in models) else "no",
        target.licence,
    ]
    return [Text(cell) for cell in cells]


def _best_here(catalogue: HubCatalogue) -> HubPair | None:
    from specviz.models.free_space import free_memory

    free = free_memory()
    return None if free is None else best_fit(free, dtype="float32", catalogue=catalogue)


def run_check(args: Namespace, console: Console) -> tuple[int, dict[str, Any]]:
    """Look at one pair and print what was found, unless it is wanted as JSON.

    Returns:
        The exit status, and what `--json` prints.

    Raises:
        RequestError: A number cannot be asked for.
        ModelLoadError: The device is not there.
    """
    # Imported here, so that lists and refusals do not wait for torch.
    from specviz.decoding.model_parts import layers_of
    from specviz.models.exit_report import report_exit
    from specviz.models.head_facts import NamedHeads
    from specviz.models.model_facts import NamedSource
    from specviz.models.mtp_report import report_mtp
    from specviz.models.pair_report import report_head, report_pair

    head = _checked_head(args)
    draft = None if head is not None else _checked_draft(args)
    request, target = _request(args), args.check[0]
    if head is not None:
        report = report_head(NamedSource(), NamedHeads(), target, head, request)
        about = f"{head} on the states of {target}"
    elif draft is None and Method.MTP in (args.method or []):
        report = report_mtp(NamedSource(), target, request)
        about = f"{target} with its own extra layers"
    elif draft is None:
        report = report_exit(NamedSource(), target, request, layers_of, args.exit_layer)
        about = f"{target} with an exit after layer {report.exit_layer}"
    else:
        report = report_pair(NamedSource(), target, draft, request)
        about = f"{draft} beside {target}"
    findings = [
        {"level": str(each.level), "id": each.text["id"], "text": in_english(each.text)}
        for each in report.findings
    ]
    if not args.json:
        for finding in findings:
            mark, style = MARKS[finding["level"]]
            console.print(Text(f"{mark} {finding['text']}", style=style))
        verdict = "fits here" if report.fits else "does not fit here"
        console.print(Text(f"{about} {verdict}", style="bold"))
    content = asdict(report) | {"fits": report.fits, "findings": findings}
    content["request"]["disk_folder"] = str(request.disk_folder)
    return int(not report.fits), content


def _checked_head(args: Namespace) -> str | None:
    """The head of `--check TARGET --head HEAD`; None without one."""
    if not args.head:
        return None
    if len(args.check) > 1 or len(args.head) > 1 or args.exit_layer is not None:
        raise RequestError("--check TARGET --head HEAD looks at one head; leave out the rest")
    if any(method != Method.EAGLE3 for method in args.method or []):
        raise RequestError(f"--head guesses by {Method.EAGLE3}; leave out --method")
    head: str = args.head[0]
    return head


def _checked_draft(args: Namespace) -> str | None:
    """The draft of `--check`; None where the target guesses by layers of its own."""
    methods = args.method or []
    if len(args.check) == 1:
        if any(method not in (Method.EARLY_EXIT, Method.MTP) for method in methods):
            both = f"{Method.EARLY_EXIT} or {Method.MTP}"
            raise RequestError(f"--check TARGET looks at {both}; name a draft, too")
        if len(set(methods)) > 1 or (Method.MTP in methods and args.exit_layer is not None):
            raise RequestError(
                f"--check TARGET looks at one method; --exit-layer is no part of {Method.MTP}"
            )
        return None
    if len(args.check) > 2:
        raise RequestError(f"--check takes a target and a draft, got {len(args.check)} names")
    if args.exit_layer is not None or any(method != Method.DRAFT_MODEL for method in methods):
        raise RequestError("--check TARGET DRAFT looks at the draft; leave it out for early exit")
    draft: str = args.check[1]
    return draft


def _request(args: Namespace) -> "PairRequest":
    from huggingface_hub.constants import HF_HUB_CACHE

    from specviz.models.free_space import free_disk, free_memory
    from specviz.models.pair_findings import PairRequest
    from specviz.models.precision import Precision

    dtype = pick_dtype(args.dtype, args.device, args.check[0])
    if dtype not in DTYPE_BYTES:
        raise RequestError(f"--dtype must be one of {', '.join(DTYPE_BYTES)}, got {dtype!r}")
    Precision.checked(dtype, args.quantize, args.device)
    num_new = _within("--max-new-tokens", args.max_new_tokens, MAX_NEW_TOKENS)
    return PairRequest(
        max_new_tokens=num_new or DEFAULT_MAX_NEW_TOKENS,
        gamma=_within("--gamma", args.gamma, MAX_GAMMA) or DEFAULT_GAMMA,
        dtype=dtype,
        quantize=args.quantize,
        free_memory_bytes=free_memory(args.device),
        free_disk_bytes=free_disk(Path(HF_HUB_CACHE)),
        disk_folder=Path(HF_HUB_CACHE),
    )


def _within(option: str, found: int | None, highest: int) -> int | None:
    if found is not None and not 1 <= found <= highest:
        raise RequestError(f"{option} must be 1 to {highest}, got {found}")
    return found


def _size(num_parameters: int | None) -> str:
    if num_parameters is None:
        return "?"
    if num_parameters >= 10**9:
        return f"{num_parameters / 1e9:.1f}B"
    return f"{num_parameters / 1e6:.0f}M"
