"""Exports of a released version, one module per format."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import time

from core.errors import CounterpartError, some_of
from core.extensions import EXPORT_FORMATS, load
from core.progress import Progress, silent
from core.text import counted
from dataset.exports.card import card, files_in
from dataset.exports.citing import write_citation_file
from dataset.exports.specification import Export, Format, Labels
from dataset.models import Version
from dataset.versions.version_files import FORM, MANIFEST, manifest_in_storage, sha256_of

SUMS = "SHA256SUMS"
CARD = "README.md"
TEMPORARY = ".export-"
ABANDONED = 24 * 3600  # seconds; a folder this old is not being written any more


FORMATS: dict[str, Format] = load(EXPORT_FORMATS)


def export_version(
    version: Version,
    *,
    format: str,
    out: Path,
    labels: Labels | None = None,
    pictures: bool = False,
    progress: Progress = silent,
) -> list[Path]:
    """Write the version in one of ``FORMATS`` into the folder ``out``, which is created if needed; return the paths.

    The folder ``<version>_about`` gets the version's card, manifest and, if it has authors, ``CITATION.cff``. The
    card and ``SHA256SUMS`` list the files of all exports in the folder. An existing file with the same content is
    kept. ``labels`` None means lenient; ``pictures`` go along where the format has room for them.
    Raises CounterpartError, and writes nothing, for an unknown format, labels or pictures that it does not take, an
    existing file with other content, a version of an earlier program, or if ``out`` is not a folder.
    """
    if format not in FORMATS:
        raise CounterpartError(f"Unknown format {format!r}: use {', '.join(FORMATS)}.")
    if labels is not None and labels not in FORMATS[format].labels:
        raise CounterpartError(_foreign_labels(format, labels))
    if pictures and not FORMATS[format].pictures:
        takes = ", ".join(name for name, one in FORMATS.items() if one.pictures)
        raise CounterpartError(f"{format} takes no --pictures: only {takes} does, and mteb always has them.")
    if version.manifest.get("form") != FORM:
        raise CounterpartError(f"Version {version} is in the form of an earlier program; export it with that.")
    if out.exists() and not out.is_dir():
        raise CounterpartError(f"{out} is a file. Give a folder to export into.")
    # Written to a temporary folder and then moved, so that an export is complete or absent.
    with _folder(out), tempfile.TemporaryDirectory(dir=out, prefix=TEMPORARY) as temporary:
        folder = Path(temporary)
        FORMATS[format].write(Export(version, folder, labels or "lenient", pictures, progress))
        exported = list(files_in(folder))
        about = folder / f"{version.name}_about"
        about.mkdir()
        (about / MANIFEST).write_bytes(manifest_in_storage(version))
        write_citation_file(version, about)
        described = f"{about.name}/{CARD}"
        listed = {name: out / name for name in _listed(out) if name != described and (out / name).exists()}
        files = {**listed, **files_in(folder)}
        (about / CARD).write_text(card(version, dict(sorted(files.items()))), encoding="utf-8")
        _put(folder, out, renewed=described)
    return [out / name for name in exported]


@contextmanager
def _folder(out: Path) -> Iterator[None]:
    """Make the folder, without what an export that was killed has left in it; if the body fails, take it back."""
    made = [folder for folder in (out, *out.parents) if not folder.exists()]
    try:
        out.mkdir(parents=True, exist_ok=True)
        for left in out.glob(f"{TEMPORARY}*"):
            if time() - left.stat().st_mtime > ABANDONED:
                shutil.rmtree(left)
        yield
    except BaseException:
        for folder in made:
            with suppress(OSError):
                folder.rmdir()
        raise


def _foreign_labels(format_name: str, labels: str) -> str:
    taken = FORMATS[format_name].labels
    if not taken:
        return f"{format_name} has strict, lenient and graded labels as columns, or none. Leave out --labels {labels}."
    return f"{format_name} has no room for {labels} labels: use {' or '.join(taken)}."


def _put(folder: Path, out: Path, *, renewed: str) -> None:
    """Move the files of ``folder`` to ``out`` and list them there; replace ``renewed`` unless a person changed it."""
    written = list(files_in(folder))
    listed = _listed(out)
    differing = [out / name for name in written if (out / name).exists() and not _equal(folder / name, out / name)]
    if out / renewed in differing and listed.get(renewed) == sha256_of(out / renewed):
        differing.remove(out / renewed)
    if differing:
        raise CounterpartError(
            f"{counted(len(differing), 'file exists', 'files exist')} with other content: {some_of(differing)}. "
            "Choose another folder."
        )
    sums = listed | {name: sha256_of(folder / name) for name in written}
    for name in written:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).replace(out / name)
    (out / SUMS).write_text("".join(f"{sums[name]}  {name}\n" for name in sorted(sums)), encoding="utf-8")


def _listed(out: Path) -> dict[str, str]:
    """Return the SHA-256 of each file that earlier exports into the folder have listed."""
    listed = out / SUMS
    lines = listed.read_text(encoding="utf-8").splitlines() if listed.exists() else []
    return {name: digest for digest, name in (line.split("  ", 1) for line in lines)}


def _equal(one: Path, other: Path) -> bool:
    return one.stat().st_size == other.stat().st_size and sha256_of(one) == sha256_of(other)
