"""Pictures: found in a folder, verified and stored whole, and opened as browsers show them."""

import hashlib
import os
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from typing import Protocol

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils import timezone
from PIL import Image as Pillow
from PIL import UnidentifiedImageError

from core.errors import CounterpartError, some_of
from core.files.stored_files import files_in, read_file
from core.progress import Progress, tracked
from core.text import counted
from corpus.models import Image
from corpus.pictures.appearance import SIDEWAYS, appearance, orientation
from counterpart_metrics.text_files import comparable

# Decoded by Pillow alone, without an interpreter as EPS and PDF need. Pillow calls the JPEGs of many phones MPO.
SUFFIXES = {
    **{"JPEG": ".jpg", "MPO": ".jpg", "PNG": ".png", "WEBP": ".webp", "GIF": ".gif", "BMP": ".bmp", "AVIF": ".avif"},
    **{"TIFF": ".tif", "JPEG2000": ".jp2", "PPM": ".ppm", "QOI": ".qoi", "SGI": ".sgi", "PCX": ".pcx", "ICO": ".ico"},
    **{"DDS": ".dds", "PSD": ".psd", "TGA": ".tga"},  # the last has no mark of its own
}
FORMATS = tuple(name for name in SUFFIXES if name != "MPO")
SHOWN = (".jpg", ".png", ".webp", ".gif", ".bmp", ".avif")
"""The suffixes of stored pictures that every browser shows."""
NAMED = (
    *(".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".webp", ".gif", ".bmp", ".avif", ".tif", ".tiff"),
    *(".jp2", ".j2k", ".ppm", ".pgm", ".pbm", ".pnm"),
)
"""The suffixes by which pictures are known in a folder."""
# How other files begin that are called pictures.
OTHERS = {
    rb"\s*<(!doctype html|html|head|body)": "it is a web page; download the picture again",
    rb"%(PDF|!PS)|\xc5\xd0\xd3\xc6": "PDF and PostScript are not read; convert it to PNG",
    rb"\s*(<\?xml|<svg)": "SVG is not read; convert it to PNG",
    rb"....ftyp(hei|hev|mif|msf)": "HEIC is not read; convert it to JPEG",
    rb"\s*\Z": "it is empty",
}
# Pillow only warns about decompression bombs of this size. We refuse them, so the warning is not needed.
MAX_PIXELS = 89_478_485
warnings.simplefilter("ignore", Pillow.DecompressionBombWarning)
CHECKSUM = re.compile(r"[0-9a-f]{32}")  # the first half of a SHA-256, the name of a stored picture
ABANDONED = timedelta(days=1)  # after which a file that no row uses was left by an import that was killed


class BrokenPictureError(CounterpartError):
    """Bytes that are not a complete picture; ``reason`` is a short explanation."""

    def __init__(self, key: str, file_name: str, reason: str) -> None:
        super().__init__(f"{file_name} (image {key}) is not a complete picture: {reason}. Replace it and try again.")
        self.reason = reason


@dataclass(frozen=True)
class StoredPicture:
    """A picture's path in the storage, its size in pixels as shown (EXIF orientation applied), and its SHA-256."""

    file: str
    width: int
    height: int
    sha256: str


def store_picture(collection_name: str, key: str, file_name: str, content: bytes) -> StoredPicture:
    """Verify that ``content`` is a complete picture and store its bytes under their checksum.

    Equal pictures of a collection share one file, so storing twice changes nothing. ``key`` is the image's, for the
    error. Raises BrokenPictureError if Pillow cannot decode all of it, or if it has too many pixels.
    """
    try:
        picture = _decoded(content)
    except Exception as error:  # Pillow's decoders raise many kinds of errors for broken bytes
        raise BrokenPictureError(key, file_name, _reason(error)) from error
    sha256 = hashlib.sha256(content).hexdigest()
    path = f"images/{collection_name}/{sha256[:32]}{SUFFIXES[str(picture.format)]}"
    width, height = picture.size
    if orientation(picture) in SIDEWAYS:
        width, height = height, width
    return StoredPicture(_stored(path, content), width, height, sha256)


def picture_faults(files: Mapping[str, Path], progress: Progress) -> dict[str, str]:
    """Decode pictures, and return why those are broken that are, by the keys of ``files``."""
    faults: dict[str, str] = {}

    def check(key: str) -> None:
        try:
            _decoded(files[key].read_bytes())
        except Exception as error:  # of many kinds, as above
            faults[key] = _reason(error)

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        for _ in tracked(threads.map(check, files), "checking pictures", progress, total=len(files), every=50):
            pass
    return {key: faults[key] for key in files if key in faults}


class Pictured(Protocol):
    """An object with a key and an optional path of a stored picture, such as an Image."""

    @property
    def key(self) -> str: ...

    @property
    def file(self) -> str: ...


def open_picture(image: Pictured) -> Pillow.Image:
    """Open an image's picture as a browser shows it: upright, in sRGB, with transparent parts on white.

    Raises CounterpartError if the image has no file or the storage has lost it.
    """
    if not image.file:
        raise CounterpartError(f"Image {image.key} has no picture file. Import the collection again with --images.")
    try:
        return shown(picture_bytes(image.file))
    except Exception as error:
        raise CounterpartError(
            f"The picture of image {image.key} cannot be read ({_reason(error)}). Import it again with --images."
        ) from error


def shown(content: bytes) -> Pillow.Image:
    """Decode a picture as a browser shows it. Raises what Pillow's decoders raise for one that is not complete."""
    return appearance(_decoded(content))


def picture_bytes(file: str) -> bytes:
    """Read a stored picture. Raises CounterpartError if it is missing, or not the one that its name, a checksum, says.

    Checked each time: 160 kB take a few tenths of a millisecond, a fraction of what a request takes.
    """
    try:
        content = read_file(file)
    except FileNotFoundError as error:
        raise CounterpartError(f"The picture {file} is missing from the storage. Import it again.") from error
    named = Path(file).stem
    if CHECKSUM.fullmatch(named) and not hashlib.sha256(content).hexdigest().startswith(named):
        raise CounterpartError(f"The picture {file} was changed after it was stored. Import it again.")
    return content


def _decoded(content: bytes) -> Pillow.Image:
    try:
        picture = Pillow.open(BytesIO(content), formats=FORMATS)
    except UnidentifiedImageError:
        said = (says for begins, says in OTHERS.items() if re.match(begins, content[:256], re.IGNORECASE | re.DOTALL))
        raise ValueError(next(said, "not a picture of a known format")) from None
    if picture.width * picture.height > MAX_PIXELS:
        raise ValueError(f"{picture.width} x {picture.height} pixels are too many")
    picture.load()
    return picture


def _reason(error: Exception) -> str:
    return str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__


def _stored(path: str, content: bytes) -> str:
    """Write the file unless it is there, over another one under its name, which was damaged."""
    return path if _holds(path, content) else default_storage.save(path, ContentFile(content))


def _holds(path: str, content: bytes) -> bool:
    if not path or not default_storage.exists(path) or default_storage.size(path) != len(content):
        return False
    return read_file(path) == content


def find_pictures(folder: Path, file_names: Mapping[str, str]) -> dict[str, Path | None]:
    """Find each image's file in ``folder``: at the path that its name is, else the only file of that name anywhere
    below that no other image's path is, whose folders agree best, as paths of another machine do; None where it is
    missing. Letter case counts unless nothing else differs.

    Raises CounterpartError if ``folder`` is not a folder, for a name that is found twice or points outside, and for
    different names that find the same file.
    """
    if not folder.is_dir():
        raise CounterpartError(f"{folder} is not a folder. Pass the folder of pictures to --images.")
    # os.path rather than Path: it returns False for a name that the file system cannot represent
    paths = ((key, folder / name.lstrip("/")) for key, name in file_names.items())
    found = {key: path if os.path.isfile(path) else None for key, path in paths}
    missing = {key: name for key, name in file_names.items() if found[key] is None}
    if missing:
        found |= _found_below(folder, missing, taken={path for path in found.values() if path})
    _check_inside(folder, file_names, found)
    return found


def _found_below(folder: Path, missing: Mapping[str, str], *, taken: set[Path]) -> dict[str, Path]:
    """Return the files of names that are not paths in the folder."""
    exact: dict[str, list[Path]] = {}
    folded: dict[str, list[Path]] = {}
    for place, _, files in os.walk(folder):
        for path in (Path(place, file) for file in sorted(files) if not file.startswith(".")):
            if path not in taken:
                exact.setdefault(comparable(path.name), []).append(path)
                folded.setdefault(comparable(path.name).casefold(), []).append(path)
    found: dict[str, Path] = {}
    names_of: dict[Path, set[str]] = {}
    doubtful: dict[str, str] = {}
    for key, name in missing.items():
        asked = comparable(name.replace("\\", "/"))
        last = asked.rpartition("/")[2]
        places = exact.get(last) or folded.get(last.casefold(), [])
        agree = [len(_shared_end(asked, comparable(path.as_posix()))) for path in places]
        places = [path for path, parts in zip(places, agree, strict=True) if parts == max(agree)]
        if places:
            found[key] = places[0]
            names_of.setdefault(places[0], set()).add(asked)
        if len(places) > 1:
            listed = some_of([path.relative_to(folder).as_posix() for path in places])
            doubtful[name] = f"{name} ({listed})"
    _check_clear("found in several places", list(doubtful.values()))
    shared = {path.relative_to(folder): sorted(names) for path, names in names_of.items() if len(names) > 1}
    _check_clear("found by several names", [f"{path} ({some_of(names)})" for path, names in shared.items()])
    return found


def _shared_end(path: str, other: str) -> Sequence[str]:
    """Return the last parts that two paths share, the last first."""
    return os.path.commonprefix([one.split("/")[::-1] for one in (path, other)])


def _check_clear(what: str, doubtful: list[str]) -> None:
    if doubtful:
        raise CounterpartError(
            f"{counted(len(doubtful), 'picture is', 'pictures are')} {what}: "
            f"{some_of(doubtful)}. Name each with its folder in the caption file."
        )


def _check_inside(folder: Path, names: Mapping[str, str], found: Mapping[str, Path | None]) -> None:
    root = folder.resolve()
    outside = [
        name
        for key, name in names.items()
        if ".." in Path(name).parts
        or (Path(name).is_absolute() and found[key] is None)
        or ((path := found[key]) and not path.resolve().is_relative_to(root))
    ]
    if outside:
        raise CounterpartError(
            f"{counted(len(outside), 'file name points', 'file names point')} outside {folder}: {some_of(outside)}. "
            "Correct them in the caption file."
        )


@contextmanager
def pictures_stored(
    collection_name: str,
    files: Mapping[str, Path],
    *,
    known: Mapping[str, tuple[str, str]],
    broken: list[str] | None = None,
    progress: Progress,
) -> Iterator[dict[str, StoredPicture]]:
    """Store the pictures while the body runs; if it raises, remove those that no row uses. First remove what an
    import that was killed has left.

    ``known`` maps image keys to (file, sha256) of existing pictures; equal ones are skipped. Yields
    the others by image key. Files that are not complete pictures are added to ``broken``; without it, raises
    CounterpartError that lists them.
    """
    stored: dict[str, StoredPicture] = {}
    refused = list[str]() if broken is None else broken

    def store(key: str) -> None:
        content = files[key].read_bytes()
        file, sha256 = known.get(key, ("", ""))
        if hashlib.sha256(content).hexdigest() == sha256 and _holds(file, content):
            return
        try:
            stored[key] = store_picture(collection_name, key, files[key].name, content)
        except BrokenPictureError as error:
            refused.append(f"{files[key].name} ({error.reason})")

    if files:
        _remove_unused(_left_behind(collection_name))
    try:
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            for _ in tracked(threads.map(store, files), "storing pictures", progress, total=len(files), every=50):
                pass
        refused.sort()
        if refused and broken is None:
            files_are = counted(len(refused), "file is not a complete picture", "files are not complete pictures")
            raise CounterpartError(f"{files_are}: {some_of(refused)}. Replace them, or pass --skip-broken.")
        yield {key: stored[key] for key in files if key in stored}
    except BaseException:
        _remove_unused({picture.file for picture in stored.values()})
        raise


def _remove_unused(files: set[str]) -> None:
    for file in files - used_pictures():
        default_storage.delete(file)


def used_pictures() -> set[str]:
    """Return the files of all images: those of a renamed collection are in the folder of its first name."""
    return set(Image.objects.exclude(file="").values_list("file", flat=True).iterator())


def _left_behind(collection_name: str) -> set[str]:
    """Return the files of the collection's folder that an import must have left: none that is at work is so old."""
    oldest = timezone.now() - ABANDONED
    files = files_in(f"images/{collection_name}")
    return {file for file in files if default_storage.get_modified_time(file) < oldest}
