"""Exports of a released version, one module per format."""

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
    """Write the version in one of ``FORMATS`` into the folder ``out``, which is created if needed; return the paths.

    An existing file with the same content is kept. Raises CounterpartError, and writes nothing, for an unknown
    format, an existing file with other content, or if ``out`` is not a folder.
    """
    if format not in FORMATS:
        raise CounterpartError(f"Unknown format {format!r}: use {', '.join(FORMATS)}.")
    if out.exists() and not out.is_dir():
        raise CounterpartError(f"{out} is a file. Give a folder to export into.")
    out.mkdir(parents=True, exist_ok=True)
    # Written to a temporary folder and then moved, so that an export is complete or absent.
    with tempfile.TemporaryDirectory(dir=out, prefix=".export-") as folder:
        written = FORMATS[format](version, Path(folder), progress)
        targets = {file: out / file.name for file in written}
        differing = [target for file, target in targets.items() if target.exists() and not _equal(file, target)]
        if differing:
            raise CounterpartError(
                f"{len(differing)} files exist with other content: {some_of(differing)}. Choose another folder."
            )
        return [file.replace(target) for file, target in targets.items()]


def _equal(one: Path, other: Path) -> bool:
    return one.stat().st_size == other.stat().st_size and one.read_bytes() == other.read_bytes()
