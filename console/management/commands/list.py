from collections.abc import Sequence
from functools import reduce
from operator import getitem
from typing import Any

from console.inventory import listed
from console.inventory_rows import THINGS
from console.things import Figures
from core.commands import ActCommand, argument, rows_table


class Command(ActCommand):
    step = "collection"
    help = "List what there is: all things of a kind with their states, or how many there are of each kind."
    arguments = (argument("things", nargs="?", choices=THINGS, metavar="THINGS", help=", ".join(THINGS)),)

    def act(self, **options: Any) -> str | dict[str, Any]:
        things = options["things"]
        if not things:
            return {word: thing.rows.count() for word, thing in THINGS.items()}
        rows = listed(things)
        if options["json"]:
            return {things: rows}
        thing = THINGS[things]
        return table(rows, thing.columns) if rows else f"There are no {things} yet. Make one with {thing.made_by}."


def table(rows: list[Figures], columns: Sequence[str]) -> str:
    """Return columns of rows, such as ``state`` or ``progress.open``, aligned, numbers to the right."""
    names = {column.rpartition(".")[2]: column.split(".") for column in columns}
    read = [{name: reduce(getitem, path, row) for name, path in names.items()} for row in rows]
    return rows_table([{name: "none" if one in (None, "") else one for name, one in row.items()} for row in read])
