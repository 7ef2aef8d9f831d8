"""show THING NAME: what the API says of one thing: its state, its counts, and what a round waits for."""

from typing import Any

from django.core.management.base import CommandParser

from annotation.platforms import Hold
from console.inventory import shown, singular
from console.inventory_rows import THINGS
from core.commands import ActCommand
from core.progress import TerminalBar
from core.text import text_table
from mitl.search.search_report import HEADS, notes_on, rows_of


class Command(ActCommand):
    step = "collection"
    help = "Show one thing as the API does: its state, its counts, and what a round waits for."
    figures = True

    def add_arguments(self, parser: CommandParser) -> None:
        words = ", ".join(singular(word) for word in THINGS)
        parser.add_argument("thing", metavar="THING", help=words)
        parser.add_argument("name", metavar="NAME", help="its name; of a retrieval or job its number, as list shows it")

    def act(self, progress: TerminalBar, **options: Any) -> dict[str, Any]:
        figures = shown(options["thing"], options["name"])
        if options["json"]:
            return figures
        if "waits_for" in figures:
            figures["waits_for"] = " ".join(str(Hold(**one)) for one in figures["waits_for"]) or "nothing"
        if report := figures.get("report"):
            table = text_table(("direction", *HEADS), rows_of(report))
            figures["report"] = "\n".join(["", table, *notes_on(report)])
        return {name: _plain(value) for name, value in figures.items()}


def _plain(value: Any) -> Any:
    """Names in one line; rows stay rows; "none" where there are none."""
    if isinstance(value, list) and not (value and isinstance(value[0], dict)):
        return ", ".join(map(str, value)) or "none"
    return "none" if value in ("", None) else value
