"""Exports as files to download: one archive in the storage for a format of a version, made once."""

import shutil
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from django.contrib.auth.models import AnonymousUser, User
from django.core.files.storage import default_storage

from core.errors import CounterpartError
from core.files.stored_files import StoredFile, copy_file
from core.progress import Progress, silent
from core.work.authority import check_authority
from dataset.exports import FORMATS, export_version
from dataset.exports.card import files_in
from dataset.exports.specification import Labels
from dataset.models import Version
from dataset.secret_controls import check_file
from dataset.versions.version_files import JUDGMENTS, PAIRS, sha256_of

_EPOCH = (1980, 1, 1, 0, 0, 0)  # the same for every member, so that equal exports are equal files


@dataclass(frozen=True)
class Download:
    """An archive of an export, and its checksum. ``what`` is a name of ``choices``; ``manifest`` the checksum of the
    version's manifest, so that another release of the same name has archives of its own."""

    version: str
    manifest: str
    what: str
    sha256: str

    @property
    def file_name(self) -> str:
        return f"{self.version}_{self.what}.zip"

    @property
    def stored(self) -> StoredFile:
        """The archive in the storage. Its name has the checksum, so an archive that is there is whole."""
        return StoredFile(f"{_folder(self.version)}/{self.manifest}.{self.what}.{self.sha256}.zip", self.sha256)


class ExportChoice(NamedTuple):
    """What can be downloaded: the arguments of ``export_version``."""

    format: str
    labels: Labels | None = None
    pictures: bool = False


def choices() -> dict[str, ExportChoice]:
    """Return what can be downloaded, by its name."""
    plain = {
        name if labels is None else f"{name}_{labels}": ExportChoice(name, labels)
        for name, one in FORMATS.items()
        for labels in (one.labels or (None,))
    }
    pictured = {f"{name}_pictures": ExportChoice(name, pictures=True) for name, one in FORMATS.items() if one.pictures}
    return plain | pictured


def check_choice(what: str) -> None:
    """Raise CounterpartError for what cannot be downloaded."""
    if what not in choices():
        raise CounterpartError(f"Unknown export {what!r}: use {', '.join(choices())}.")


def check_download(version: Version, what: str, user: User | AnonymousUser) -> None:
    """Raise SecretControls for an export that the user may not have: it reveals as much as the file it is made from."""
    check_file(version, JUDGMENTS if FORMATS[choices()[what].format].controls else PAIRS, user)


def downloads_of(version: Version) -> list[Download]:
    """Return the archives that were made of the version, by name."""
    if not default_storage.exists(_folder(version.name)):
        return []
    names = [name.split(".") for name in default_storage.listdir(_folder(version.name))[1]]
    of_it = [parts for parts in names if len(parts) == 4 and parts[0] == _manifest(version) and parts[1] in choices()]
    return sorted((Download(version.name, *parts[:3]) for parts in of_it), key=lambda download: download.what)


def make_download(version: Version, what: str, *, progress: Progress = silent) -> Download:
    """Export the version and store the files as one archive, unless that was done before.

    Made again after a crash it has the same bytes. Raises what ``export_version`` raises, and CounterpartError for an
    unknown ``what``; nothing is stored then.
    """
    check_choice(what)
    for made in downloads_of(version):
        if made.what == what:
            return made
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "files"
        archive = Path(temporary) / "archive.zip"
        export_version(version, **choices()[what]._asdict(), out=folder, progress=progress)
        _pack(folder, archive, progress)
        check_authority()
        made = Download(version.name, _manifest(version), what, sha256_of(archive))
        copy_file(archive, made.stored.path)
    return made


def _manifest(version: Version) -> str:
    return version.manifest_sha256[:16] or "unknown"  # before 0.2.0


def _folder(version: str) -> str:
    return f"exports/{version}"


def _pack(folder: Path, archive: Path, progress: Progress) -> None:
    files = files_in(folder)
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for done, (name, file) in enumerate(files.items(), 1):
            member = zipfile.ZipInfo(name, _EPOCH)
            member.compress_type = zipfile.ZIP_DEFLATED
            with file.open("rb") as content, packed.open(member, "w", force_zip64=True) as target:
                shutil.copyfileobj(content, target, 1 << 20)
            progress("archive", done, len(files))
