"""list [THINGS]: what there is."""

from typing import Any

from django.core.management.base import CommandParser

from console.inventory import counts, listed
from console.inventory_rows import THINGS
from core.commands import ActCommand
from core.progress import TerminalBar


class Command(ActCommand):
    help = "List what there is: all things of a kind with their states, or how many there are of each kind."
    figures = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("things", nargs="?", choices=THINGS, metavar="THINGS", help=", ".join(THINGS))

    def act(self, progress: TerminalBar, **options: Any) -> str | dict[str, Any]:
        things = options["things"]
        if not things:
            return counts()
        rows = listed(things)
        if options["json"]:
            return {things: rows}
        return table(rows) if rows else f"There are no {things} yet. Make one with {THINGS[things].made_by}."


def table(rows: list[dict[str, Any]]) -> str:
    """Return rows of the same names as aligned columns, numbers to the right."""
    names = list(rows[0])
    cells = [[f"{row[name]:,}" if isinstance(row[name], int) else str(row[name]) for name in names] for row in rows]
    widths = [max(map(len, column)) for column in zip(names, *cells, strict=True)]
    right = [all(isinstance(row[name], int) for row in rows) for name in names]
    lines = (
        "  ".join(
            cell.rjust(width) if numbers else cell.ljust(width)
            for cell, width, numbers in zip(line, widths, right, strict=True)
        )
        for line in (names, *cells)
    )
    return "\n".join(line.rstrip() for line in lines)
