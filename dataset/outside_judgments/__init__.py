"""Judgments from files of other installations and other tools, recognised by how a file begins: a module for each tool
with files of its own form, and a row of ``table_layouts`` for each form of a table.

Those of ``READERS`` yield an ``OutsideAnswer`` for each judgment; the two forms of our own releases have columns of
their own, which ``released_forms`` reads.
"""

from pathlib import Path

from core.errors import CounterpartError, some_of
from core.extensions import JUDGMENT_READERS, load
from dataset.outside_judgments.outside_answer import Opening, Reader, opening_of
from dataset.outside_judgments.released_forms import LONG, RAW
from dataset.outside_judgments.table_layouts import LAYOUTS, reader_of

DETECT = "detect"
LONG_FORM = "judgments-long"
RAW_FORM = "judgments-csv"
TABLE = "table"

READERS: dict[str, Reader] = load(JUDGMENT_READERS) | {name: reader_of(name) for name in LAYOUTS}
_RELEASED = {LONG_FORM: LONG, RAW_FORM: RAW}
FORMATS: dict[str, str] = {
    LONG_FORM: "an export of a version, a row for each judgment with its worker",
    RAW_FORM: "an export, or ECCV Caption's raw annotations; the first answers of all pairs become those of one "
    "worker, the second those of another",
    **{name: reader.says for name, reader in READERS.items()},
}
"""What each format is."""


def format_of(path: Path, opening: Opening, wanted: str = DETECT) -> str:
    """Return the format of a file with this beginning: of an unknown one, a table. Raises CounterpartError if it is not
    the wanted one."""
    names = {name.removesuffix("_id") for name in opening.names}
    found = [name for name, columns in _RELEASED.items() if opening.kind != "folder" and names.issuperset(columns)]
    found += [name for name, reader in READERS.items() if reader.recognises(opening)]
    if wanted in found or (wanted == DETECT and len(found) == 1):
        return found[0] if wanted == DETECT else wanted
    if wanted == DETECT and found:
        raise CounterpartError(f"{path.name} could be {' or '.join(found)}. Choose one with --format.")
    missing = [column for column in LONG if column not in names]
    if wanted in (DETECT, LONG_FORM) and {"hit", "control"} <= names:
        raise CounterpartError(f"Columns missing from {path.name}: {', '.join(missing)}. Export it again.")
    if wanted in (DETECT, TABLE) and opening.kind != "folder":
        return TABLE
    formats = f"the format {wanted}" if wanted != DETECT else f"one of the formats {', '.join(FORMATS)}"
    begins = some_of(sorted(opening.names), at_most=8) or "nothing"
    raise CounterpartError(f"{path.name} begins with {begins}, not as a file of {formats}. Export it again.")


__all__ = ["DETECT", "FORMATS", "LONG_FORM", "RAW_FORM", "READERS", "format_of", "opening_of"]
