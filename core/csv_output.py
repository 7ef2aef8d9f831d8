"""The option ``--csv`` of the commands that print figures: in place of the text, or in a file and the text too."""

from argparse import _ActionsContainer
from pathlib import Path

from core.errors import CounterpartError
from core.files.stored_files import whole_file

PRINTED = Path("-")


def add_csv(parser: _ActionsContainer, what: str) -> None:
    parser.add_argument(
        "--csv",
        nargs="?",
        type=Path,
        const=PRINTED,
        metavar="FILE",
        help=f"print {what} as CSV, or write them into FILE",
    )


def check_csv(place: Path | None, *, as_json: bool = False) -> None:
    """Raise CounterpartError for a file that is not .csv or whose folder is missing, and for two forms printed."""
    if place == PRINTED and as_json:
        raise CounterpartError("--json and --csv are printed alike. Leave one out, or name a file: --csv FILE.")
    if place in (None, PRINTED):
        return
    if place.suffix != ".csv":
        raise CounterpartError(f"Tables are .csv files, not {place.name!r}; change the suffix.")
    if not place.parent.is_dir():
        raise CounterpartError(f"The folder {place.parent} of the table {place.name} does not exist; create it first.")


def put_csv(place: Path, table: str) -> str:
    """Write a table into its file; return what of it is to be printed: all, or nothing."""
    if place == PRINTED:
        return table.rstrip("\n")
    with whole_file(place) as part:
        part.write_text(table, encoding="utf-8", newline="")
    return ""
