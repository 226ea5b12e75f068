"""Tables as every command prints them: a first column of names, numbers to its right."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

MIN_NAME_WIDTH = 14


def make_table(first: str, *others: str) -> Table:
    """Make a table whose first column holds names, which may fold; the others are numbers."""
    table = Table(box=None, padding=(0, 1))
    table.add_column(first, overflow="fold", min_width=MIN_NAME_WIDTH)
    for name in others:
        table.add_column(Text(name), justify="right", no_wrap=True)
    return table


def print_titled(console: Console, title: str, table: Table) -> None:
    """Print a table below an empty line and its title."""
    console.print()
    console.print(Text(title, style="bold"))
    console.print(table)
