from pathlib import Path
from typing import Any

from annotation.platforms import Hold
from console.inventory import find, shown, singular
from console.inventory_rows import THINGS
from core.commands import ActCommand, argument
from core.errors import CounterpartError
from core.text import text_table
from corpus.id_lists import COLUMNS, write_ids
from corpus.models import Collection
from mitl.search.search_report import HEADS, notes_on, rows_of


class Command(ActCommand):
    step = "collection"
    help = "Show one thing as the API does: its state, its counts, and what a round waits for."
    arguments = (
        argument("thing", metavar="THING", help=", ".join(map(singular, THINGS))),
        argument("name", metavar="NAME", help="its name; of a retrieval or job its number, as list shows it"),
        argument("--ids", choices=COLUMNS, help="of a collection: write the ids of these to --out"),
        argument("--out", type=Path, metavar="FILE", help=".txt: an id a line; .csv, .parquet: a table"),
    )

    def act(self, **options: Any) -> dict[str, Any]:
        if options["ids"] or options["out"]:
            return _written(**options)
        figures = shown(options["thing"], options["name"])
        if options["json"]:
            return figures
        if "waits_for" in figures:
            figures["waits_for"] = " ".join(str(Hold(**one)) for one in figures["waits_for"]) or "nothing"
        if report := figures.get("report"):
            table = text_table(("direction", *HEADS), rows_of(report))
            figures["report"] = "\n".join(["", table, *notes_on(report)])
        return {name: _plain(value) for name, value in figures.items()}


def _written(*, thing: str, name: str, ids: str | None, out: Path | None, **_: Any) -> dict[str, Any]:
    kind, row = find(thing, name)
    if not isinstance(row, Collection) or not ids or not out:
        raise CounterpartError("A collection alone has ids: pass both --ids images|captions and --out FILE.")
    return {ids: write_ids(row, ids, out), "file": str(out)}


def _plain(value: Any) -> Any:
    """Names in one line; rows stay rows; "none" where there are none."""
    if isinstance(value, list) and not (value and isinstance(value[0], dict)):
        return ", ".join(map(str, value)) or "none"
    return "none" if value in ("", None) else value
