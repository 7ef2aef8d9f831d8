"""Unpack foreign zip and tar files safely: only files of the wanted kinds, inside the folder, of a bounded size."""

import shutil
import stat
import tarfile
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from lzma import LZMAError
from pathlib import Path, PurePosixPath
from typing import IO, cast
from zipfile import BadZipFile, ZipFile, ZipInfo, is_zipfile

from core.errors import CounterpartError, some_of
from core.progress import Progress, silent, tracked
from core.text import counted

MOST_FILES = 1_000_000
LARGEST_UNPACKED = 64 * 1024**3  # bytes of all files
MOST_TIMES = 100  # pictures shrink by nothing and captions by ten; a zip bomb by a thousand
DEEPEST = 50  # folders in each other; making thousands of them ends in a RecursionError
LONGEST_SHOWN = 200  # characters of a name
SMALL = 64 * 1024**2  # bytes that may be unpacked whatever they are packed in
SYSTEM_FILES = ("__MACOSX", "Thumbs.db", "desktop.ini")  # added by operating systems, as hidden files are
ENCRYPTED = 0x1
DAMAGED = (BadZipFile, tarfile.TarError, zlib.error, LZMAError, EOFError)


def is_archive(path: Path) -> bool:
    """Whether the file is a zip or tar file, by its content; False for a gzipped file that was cut off."""
    try:
        return path.is_file() and (is_zipfile(path) or tarfile.is_tarfile(path))
    except DAMAGED:
        return False


def unpack(
    path: Path,
    folder: Path,
    *,
    suffixes: Collection[str],
    left_out: list[str] | None = None,
    progress: Progress = silent,
) -> Path:
    """Unpack a zip or tar file into a new ``folder``; return the folder of its files: the only one at the top, if they
    are all in it.

    Hidden files and those that systems add are left out. Files without one of ``suffixes`` are refused, or their names
    added to ``left_out``. Raises CounterpartError for an invalid or damaged file, for names that lead out of the folder
    or very deep into it, links, encrypted files, too many files, and more bytes than are allowed, plausible or free.
    What was unpacked until then is left to the caller.
    """
    try:
        with _opened(path) as (members, open_member):
            wanted = _checked(path, members, suffixes, left_out)
            folder.mkdir(parents=True)
            _check_room(path, wanted, shutil.disk_usage(folder).free)
            for info in tracked(wanted, f"unpacking {path.name}", progress, total=len(wanted), every=50):
                target = folder / info.filename
                target.parent.mkdir(parents=True, exist_ok=True)
                # No more is read of a member than it announces, so the check of the room holds.
                with open_member(info) as packed, target.open("xb") as unpacked:
                    shutil.copyfileobj(packed, unpacked, 1 << 20)
    except (
        BadZipFile,
        tarfile.TarError,
        zlib.error,
        LZMAError,
        EOFError,
        NotImplementedError,
        OSError,
        ValueError,
    ) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise CounterpartError(f"{path.name} cannot be unpacked ({reason}). Pack the files again, as .zip.") from error
    entries = list(folder.iterdir())
    return entries[0] if len(entries) == 1 and entries[0].is_dir() else folder


@contextmanager
def _opened(path: Path) -> Iterator[tuple[list[ZipInfo], Callable[[ZipInfo], IO[bytes]]]]:
    """Give the members of an archive, those of a tar file as a zip file describes them, and how to open one."""
    if is_zipfile(path) or not tarfile.is_tarfile(path):
        with ZipFile(path) as archive:
            yield archive.infolist(), archive.open
        return
    with tarfile.open(path) as tar:
        packed = dict[ZipInfo, tarfile.TarInfo]()
        for member in tar:
            if len(packed) > MOST_FILES:
                break
            info = ZipInfo(f"{member.name}/" if member.isdir() else member.name)
            info.file_size = member.size
            info.external_attr = (stat.S_IFREG if member.isfile() or member.isdir() else stat.S_IFLNK) << 16
            packed[info] = member
        yield list(packed), lambda info: cast(IO[bytes], tar.extractfile(packed[info]))


def _checked(
    path: Path, members: list[ZipInfo], suffixes: Collection[str], left_out: list[str] | None
) -> list[ZipInfo]:
    """Return the files to unpack."""
    if len(members) > MOST_FILES:
        raise CounterpartError(f"{path.name} has {len(members):,} files, more than {MOST_FILES:,}. Divide it.")
    _refuse(path, [info for info in members if _leads_out(info.filename)], "a name that leads out of the folder")
    files = [info for info in members if not info.is_dir() and not _is_system_file(info.filename)]
    deep = [info for info in files if info.filename.count("/") > DEEPEST]
    _refuse(path, deep, f"more than {DEEPEST} folders above it")
    _refuse(path, [info for info in files if _is_special(info)], "a link or a device instead of a file")
    _refuse(path, [info for info in files if info.flag_bits & ENCRYPTED], "a password")
    other = [info for info in files if PurePosixPath(info.filename).suffix.lower() not in suffixes]
    if left_out is None:
        _refuse(path, other, f"another kind than {', '.join(sorted(suffixes))}")
    else:
        left_out += [info.filename for info in other]
        files = [info for info in files if PurePosixPath(info.filename).suffix.lower() in suffixes]
    names = Counter(info.filename for info in files)
    _refuse(path, [info for info in files if names[info.filename] > 1], "a repeated name")
    if not files:
        raise CounterpartError(f"{path.name} contains no files. Pack them again.")
    return files


def _refuse(path: Path, wrong: list[ZipInfo], why: str) -> None:
    if wrong:
        has = counted(len(wrong), "file has", "files have")
        names = some_of([info.filename[:LONGEST_SHOWN] for info in wrong])
        raise CounterpartError(f"In {path.name}, {has} {why}: {names}. Remove them and pack it again.")


def _leads_out(name: str) -> bool:
    return name.startswith("/") or "\\" in name or ":" in name.split("/")[0] or ".." in name.split("/")


def _is_system_file(name: str) -> bool:
    return any(part.startswith(".") or part in SYSTEM_FILES for part in PurePosixPath(name).parts)


def _is_special(info: ZipInfo) -> bool:
    kind = stat.S_IFMT(info.external_attr >> 16)
    return kind not in (0, stat.S_IFREG)


def _check_room(path: Path, files: list[ZipInfo], free: int) -> None:
    total = sum(info.file_size for info in files)
    if total > LARGEST_UNPACKED:
        raise CounterpartError(
            f"{path.name} would be {total:,} bytes unpacked, more than {LARGEST_UNPACKED:,}. Divide it."
        )
    if total > max(SMALL, MOST_TIMES * path.stat().st_size):
        raise CounterpartError(
            f"{path.name} would become more than {MOST_TIMES} times as large unpacked, like a zip bomb. "
            "Pack them again."
        )
    if total > free:
        raise CounterpartError(f"{path.name} needs {total:,} bytes unpacked, and {free:,} are free. Make room first.")
