"""The command `models --doctor`: in which way an EAGLE-3 head is best read for its target."""

from argparse import ArgumentParser, Namespace
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from specviz.errors import RequestError
from specviz.models.catalogue import DEFAULT_TARGET
from specviz.models.dtype_choice import pick_dtype
from specviz.models.eagle_form import STATED


def add_doctor_options(parser: ArgumentParser) -> None:
    """Add what `models --doctor` takes."""
    doctor = "try out how an EAGLE-3 head (a folder or hub id) is best read for --target"
    parser.add_argument("--doctor", metavar="HEAD", help=doctor)
    target = "with --doctor: the head's target (default: the shipped one)"
    parser.add_argument("--target", metavar="ID", help=target)


def run_doctor(args: Namespace, console: Console) -> dict[str, Any]:
    """Try out all readings of a head and print how often each agrees with the target.

    Returns:
        What `--json` prints.

    Raises:
        RequestError: The command says more than the doctor looks at.
        ModelLoadError: The head or the target cannot be loaded.
        IncompatibleModelError: The head does not fit the target.
    """
    # Imported here, so that lists and refusals do not wait for torch.
    from specviz.models.loading import ModelPool
    from specviz.race.eagle_heads import head_facts, read_head

    if args.report or args.hub or args.check is not None:
        raise RequestError("--doctor looks at one head; leave out --report, --hub and --check")
    name = args.target or DEFAULT_TARGET
    dtype = pick_dtype(args.dtype, args.device, name)
    pool = ModelPool(args.device, dtype, quantize=args.quantize)
    loaded = pool.get_head(args.doctor)
    found = head_facts(read_head(loaded, pool.get(name)))
    if not args.json:
        rows: list[dict[str, Any]] = found["readings"]
        console.print(_table(rows, found["used"]))
        console.print(
            Text(
                f"{found['num_tokens']} tokens that {name} wrote; a reading agrees where the "
                f"head's first choice is the target's. Lanes read the head as {found['used']}."
            )
        )
        if not found["is_as_stated"]:
            stated = next(row["agreement"] for row in rows if row["reading"] == STATED)
            warning = (
                f"! That is not what the files of {args.doctor} state: read so, the two agree on "
                f"{stated:.0%} only."
            )
            console.print(Text(warning, style="yellow"))
    return {"head": args.doctor, "target": name, **found}


def _table(rows: list[dict[str, Any]], used: str) -> Table:
    table = Table(box=None, padding=(0, 1))
    table.add_column("read as")
    table.add_column("agrees", justify="right")
    table.add_column("")
    for row in rows:
        mark = "← used" if row["reading"] == used else ""
        table.add_row(row["reading"], f"{row['agreement']:.1%}", mark)
    return table
