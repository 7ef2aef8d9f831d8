"""Judgments from files of other installations and other tools: one module a format, recognised by how a file begins.

Those of ``READERS`` yield an ``OutsideAnswer`` for each judgment; the two forms of our own releases have columns of
their own, which ``released_forms`` reads.
"""

from pathlib import Path

from core.errors import CounterpartError, some_of
from core.extensions import JUDGMENT_READERS, load
from dataset.outside_judgments.outside_answer import Opening, Reader, opening_of
from dataset.outside_judgments.released_forms import LONG, RAW

DETECT = "detect"
LONG_FORM = "judgments-long"
RAW_FORM = "judgments-csv"


READERS: dict[str, Reader] = load(JUDGMENT_READERS)
_RELEASED = {LONG_FORM: LONG, RAW_FORM: RAW}
FORMATS = (*_RELEASED, *READERS)


def format_of(path: Path, opening: Opening, wanted: str = DETECT) -> str:
    """Return the format of a file with this beginning. Raises CounterpartError if it is unknown, or not the wanted
    one."""
    found = [name for name, columns in _RELEASED.items() if opening.kind == "csv" and opening.has(*columns)]
    found += [name for name, reader in READERS.items() if reader.recognises(opening)]
    if wanted in found or (wanted == DETECT and len(found) == 1):
        return found[0] if wanted == DETECT else wanted
    if wanted == DETECT and found:
        raise CounterpartError(f"{path.name} could be {' or '.join(found)}. Choose one with --format.")
    formats = f"the format {wanted}" if wanted != DETECT else f"one of the formats {', '.join(FORMATS)}"
    missing = [column for column in _RELEASED.get(wanted, LONG) if column not in opening.names]
    if len(missing) < len(LONG) / 2:
        raise CounterpartError(f"Columns missing from {path.name}: {', '.join(missing)}. Export it again.")
    begins = some_of(sorted(opening.names), at_most=8) or "nothing"
    raise CounterpartError(f"{path.name} begins with {begins}, not as a file of {formats}. Export it again.")


__all__ = ["DETECT", "FORMATS", "LONG_FORM", "RAW_FORM", "READERS", "format_of", "opening_of"]
