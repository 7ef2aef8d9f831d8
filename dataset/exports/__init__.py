"""Hand a released version out in a format that others read; a module a format."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from core.errors import CounterpartError, some_of
from core.progress import Progress, silent
from dataset.exports.eccv_json import write_eccv_json
from dataset.exports.judgments_csv import write_judgments_csv
from dataset.models import Version

FORMATS: dict[str, Callable[[Version, Path, Progress], list[Path]]] = {
    "eccv-json": write_eccv_json,
    "judgments-csv": write_judgments_csv,
}


def export_version(version: Version, *, format: str, out: Path, progress: Progress = silent) -> list[Path]:
    """Write the version in one of ``FORMATS`` into the folder ``out``, made if need be; return the files' paths.

    A file that is there already stays as it is if it holds the same. Raises CounterpartError, with no file
    written, for an unknown format, a file of that name with other content, or where ``out`` is no folder.
    """
    if format not in FORMATS:
        raise CounterpartError(f"No format {format!r}; there are {', '.join(FORMATS)}.")
    if out.exists() and not out.is_dir():
        raise CounterpartError(f"{out} is a file; name a folder to export into.")
    out.mkdir(parents=True, exist_ok=True)
    # Written whole beside their places first, so that an export is all there or not at all.
    with tempfile.TemporaryDirectory(dir=out, prefix=".export-") as folder:
        written = FORMATS[format](version, Path(folder), progress)
        places = {file: out / file.name for file in written}
        differing = [place for file, place in places.items() if place.exists() and not _equal(file, place)]
        if differing:
            raise CounterpartError(
                f"{len(differing)} files are there with other content: {some_of(differing)}. Choose another folder."
            )
        return [file.replace(place) for file, place in places.items()]


def _equal(one: Path, other: Path) -> bool:
    return one.stat().st_size == other.stat().st_size and one.read_bytes() == other.read_bytes()
