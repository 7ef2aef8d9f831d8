"""Takes a collection's pictures from a folder: found safely, verified all, stored together or not at all."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from django.core.files.storage import default_storage

from core.errors import CounterpartError, some_of
from core.progress import Progress, tracked
from corpus.models import Image
from corpus.pictures import BrokenPictureError, StoredPicture, store_picture


def find_pictures(folder: Path, file_names: Mapping[str, str]) -> dict[str, Path | None]:
    """Find each image's file by name in ``folder`` or one of its direct subfolders; None where there is none.

    Raises CounterpartError if ``folder`` is none, or a name (or a link) leads out of it.
    """
    if not folder.is_dir():
        raise CounterpartError(f"{folder} is not a folder; pass the one that holds the pictures to --images.")
    places = [folder, *sorted(entry for entry in folder.iterdir() if entry.is_dir())]
    found = {key: _first(places, name) for key, name in file_names.items()}
    root = folder.resolve()
    outside = [
        name
        for key, name in file_names.items()
        if ".." in Path(name).parts
        or Path(name).is_absolute()
        or ((path := found[key]) and not path.resolve().is_relative_to(root))
    ]
    if outside:
        raise CounterpartError(
            f"{len(outside)} file names lead out of {folder}: {some_of(outside)}. Correct them in the caption file."
        )
    return found


def _first(places: list[Path], name: str) -> Path | None:
    # os.path, for it calls a name that the system cannot even spell absent
    return next((place / name for place in places if os.path.isfile(place / name)), None)


@contextmanager
def pictures_stored(
    collection_name: str, files: Mapping[str, Path], *, known: Mapping[str, tuple[str, str]], progress: Progress
) -> Iterator[dict[str, StoredPicture]]:
    """Store the pictures for the length of the body: if that raises, those that no row came to name are removed.

    ``known`` maps image keys to (file, sha256) of pictures already there; equal ones are passed over. Yields
    the others by image key. Raises CounterpartError naming all files that are not whole pictures.
    """
    stored: dict[str, StoredPicture] = {}
    broken: list[str] = []

    def store(key: str) -> None:
        content = files[key].read_bytes()
        if _is_there(content, *known.get(key, ("", ""))):
            return
        try:
            stored[key] = store_picture(collection_name, key, files[key].name, content)
        except BrokenPictureError as error:
            broken.append(f"{files[key].name} ({error.reason})")

    try:
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            for _ in tracked(threads.map(store, files), "storing pictures", progress, total=len(files), every=50):
                pass
        _refuse(sorted(broken))
        yield {key: stored[key] for key in files if key in stored}
    except BaseException:
        _remove_unnamed(collection_name, {picture.file for picture in stored.values()})
        raise


def _is_there(content: bytes, file: str, sha256: str) -> bool:
    return hashlib.sha256(content).hexdigest() == sha256 and default_storage.exists(file)


def _refuse(broken: list[str]) -> None:
    if broken:
        raise CounterpartError(
            f"{len(broken):,} files are not whole pictures: {some_of(broken)}. Replace them and import again."
        )


def _remove_unnamed(collection_name: str, files: set[str]) -> None:
    named = Image.objects.filter(collection__name=collection_name).values_list("file", flat=True)
    for file in files.difference(named):
        default_storage.delete(file)
