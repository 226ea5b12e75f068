"""The command `export`: a race as a page in one file, and its rounds as a table."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from rich.console import Console

from specviz.errors import RequestError
from specviz.texts import message
from specviz.trace.files import read_trace
from specviz.trace.rounds_csv import rounds_csv
from specviz.trace.values import Trace


def add_export_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    add = parser.add_argument
    add("race", metavar="RACE.json", help="a race that “Save race” or --trace has written")
    add("--html", metavar="OUT.html", help="write a page that shows it, without a network")
    add("--csv", metavar="OUT.csv", help="write a table with a row for each round")


def run_export(args: Namespace, console: Console) -> int:
    """Write what was asked for.

    Raises:
        RequestError: nothing was asked for, the file is no race that the page shows, or a file
            cannot be written.
    """
    if args.html is None and args.csv is None:
        raise RequestError("export writes nothing without --html OUT.html or --csv OUT.csv")
    trace = read_trace(args.race)
    if args.html is not None:
        _write(args.html, _page_of(trace), console)
    if args.csv is not None:
        _write(args.csv, rounds_csv(trace), console)
    return 0


def _page_of(trace: Trace) -> str:
    # Imported here: the page's modules load Gradio, which no other command needs.
    from specviz.models.catalogue import shipped_folder
    from specviz.trace.reading import read_reading
    from specviz.ui.assets import read_examples
    from specviz.ui.prompt_guide import PromptGuide
    from specviz.ui.race_file import race_html

    target = trace.lanes[0].spec.target
    folder = shipped_folder(target)
    reading = read_reading(folder) if folder else None
    examples = [example for group in read_examples() for example in group.examples]
    return race_html(trace, PromptGuide({target: reading} if reading else {}, examples))


def _write(path: str, text: str, console: Console) -> None:
    content = text.encode()
    try:
        Path(path).write_bytes(content)
    except OSError as error:
        values = {"path": path, "reason": str(error.strerror)}
        raise RequestError(message("refusal.not_written", **values)) from error
    console.print(f"{path}: {len(content) / 1000:,.0f} kB", markup=False)
