"""The embeddings of a gallery beyond rows: kept with its items, one file a part, by what made them.

A search makes those that are missing, and keeps them as the results of its plans (``mitl.search.plans``);
``import_embeddings`` stores what was made elsewhere in the same place.
"""

import hashlib
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from django.db import transaction
from numpy.typing import NDArray

from core.errors import CounterpartError
from core.events import record
from core.files.stored_files import StoredFile, folders_in, remove_file
from core.progress import Progress, silent
from core.text import counted
from corpus.galleries.item_parts import CAPTIONS, IMAGES, parts_of
from corpus.models import Gallery
from counterpart_annotators.encoding import CHUNK
from mitl.models import Annotator
from mitl.search.plans import SearchPlan, encoder_of, encoding_threads, store_array
from mitl.search.retrieval import errors_of

SIDES = (IMAGES, CAPTIONS)


@dataclass(frozen=True)
class _File:
    """One .npy: the rows ``first`` to ``first + rows`` (exclusive) of a side, at ``offset`` bytes."""

    path: Path
    first: int
    rows: int
    shape: tuple[int, ...]  # of a row
    dtype: np.dtype
    offset: int

    def read(self, start: int, stop: int) -> NDArray:
        """Return some rows, counted from those of the side, as float16 or float32."""
        width = math.prod(self.shape)
        offset = self.offset + (start - self.first) * width * self.dtype.itemsize
        # Read and not mapped: the pages of a map would count as the memory of this process.
        numbers = np.fromfile(self.path, self.dtype, (stop - start) * width, offset=offset)
        kept = np.float16 if self.dtype == np.float16 else np.float32
        with np.errstate(over="ignore"):
            rows = numbers.astype(kept, copy=False).reshape(stop - start, *self.shape)
        if not np.isfinite(rows).all():
            bad = np.flatnonzero(~np.isfinite(rows).reshape(len(rows), -1).all(axis=1))
            raise CounterpartError(
                f"{self.path.name} holds NaN or infinity in row {start - self.first + bad[0] + 1:,} and"
                f" {counted(len(bad) - 1, 'other')}. Correct the file."
            )
        return rows


@dataclass(frozen=True)
class EmbeddingFiles:
    """The embeddings of all items of a side; ``shape`` is that of one item: (D,) or (K, D)."""

    files: tuple[_File, ...]

    @property
    def rows(self) -> int:
        return self.files[-1].first + self.files[-1].rows

    @property
    def shape(self) -> tuple[int, ...]:
        return self.files[0].shape

    def read(self, first: int, rows: int) -> NDArray:
        """Return some rows, (rows, D) or (rows, K, D). Raises CounterpartError for NaN and infinity."""
        stop = first + rows
        spans = ((file, max(first, file.first), min(stop, file.first + file.rows)) for file in self.files)
        return np.concatenate([file.read(begin, end) for file, begin, end in spans if begin < end])


def open_embedding_files(folder: Path, side: str, size: int) -> EmbeddingFiles:
    """Open ``side``-*.npy, in the order of their names.

    Raises CounterpartError unless they are real numbers of one shape an item, with ``size`` rows in all.
    """
    files = tuple(_opened(sorted(folder.glob(f"{side}-*.npy"))))
    if not files:
        raise CounterpartError(f"{folder} has no files {side}-*.npy. Pass the folder with the embeddings.")
    arrays = EmbeddingFiles(files)
    if other := [file for file in files if file.shape != arrays.shape]:
        raise CounterpartError(
            f"{other[0].path.name} has embeddings of shape {other[0].shape} and {files[0].path.name} of {arrays.shape};"
            " they must agree."
        )
    if arrays.rows != size:
        raise CounterpartError(f"{folder} has {arrays.rows:,} embeddings of {side}, and the gallery {size:,} {side}.")
    return arrays


def _opened(paths: list[Path]) -> Iterator[_File]:
    first = 0
    for path in paths:
        try:
            file = _header(path, first)
        except (OSError, ValueError, EOFError) as error:
            raise CounterpartError(f"{path.name} cannot be read as an .npy of embeddings: {error}.") from error
        yield file
        first += file.rows


def _header(path: Path, first: int) -> _File:
    with path.open("rb") as file:
        old = np.lib.format.read_magic(file) == (1, 0)
        read = np.lib.format.read_array_header_1_0 if old else np.lib.format.read_array_header_2_0
        shape, by_columns, dtype = read(file)
        offset = file.tell()
    if dtype.kind not in "iuf" or len(shape) not in (2, 3) or by_columns or not all(shape[1:]):
        raise ValueError(f"it holds {dtype} of shape {shape}, and not numbers of shape (n, D) or (n, K, D) row by row")
    claimed = math.prod(shape) * dtype.itemsize
    there = path.stat().st_size - offset
    if claimed != there:
        raise ValueError(f"it claims {claimed:,} bytes and has {there:,}")
    return _File(path, first, shape[0], shape[1:], dtype, offset)


def kept_in(gallery: Gallery, annotator: Annotator, side: str) -> str:
    """Return the folder of the storage for the embeddings of a side by the annotator as it is now: what was imported,
    or else what a search encodes here, in batches and by a number of threads that may change the last bits."""
    imported = _folder(gallery, annotator, side)
    encoded = _folder(gallery, annotator, side, CHUNK, encoding_threads())
    return imported if SearchPlan(imported, []).results() else encoded


def kept_embeddings(gallery: Gallery) -> list[StoredFile]:
    """Return the stored embeddings of a gallery, by all annotators."""
    made = folders_in(_root(gallery))
    return [file for folder in made for side in SIDES for file in SearchPlan(f"{folder}/{side}", []).results().values()]


def import_embeddings(
    gallery: Gallery, annotator: Annotator, path: Path, *, actor: str = "command", progress: Progress = silent
) -> tuple[int, ...]:
    """Store embeddings of all items that were made elsewhere: images-*.npy and captions-*.npy in ``path``, (n, D) or
    (n, K, D), whose rows, over the files in the order of their names, are the gallery's items in their order.

    The annotator itself encodes the queries. float16 stays, other numbers become float32. Returns the shape of an
    item's embedding. The same again changes nothing. Memory: one part.

    Raises CounterpartError for an annotator that does not search by inner products, for files that do not fit the
    gallery or hold NaN or infinity, and where the annotator has other embeddings of the gallery. Then nothing is kept.
    """
    with errors_of(annotator):
        encoder_of(annotator)
    sizes = {IMAGES: gallery.n_images, CAPTIONS: gallery.n_captions}
    files = {side: open_embedding_files(path, side, size) for side, size in sizes.items()}
    if files[IMAGES].shape != files[CAPTIONS].shape:
        raise CounterpartError(
            f"An image of {path} has an embedding of shape {files[IMAGES].shape} and a caption of"
            f" {files[CAPTIONS].shape}; they must agree."
        )
    written: list[StoredFile] = []
    try:
        for side in SIDES:
            _store_side(gallery, annotator, side, files[side], written, progress)
        if written:
            with transaction.atomic():
                record("embeddings imported", annotator, actor=actor, gallery=gallery.name, parts=len(written))
    except BaseException:
        for file in written:
            remove_file(file)
        raise
    return files[IMAGES].shape


def _store_side(
    gallery: Gallery,
    annotator: Annotator,
    side: str,
    files: EmbeddingFiles,
    written: list[StoredFile],
    progress: Progress,
) -> None:
    """Store the parts of a side that are not there, and note them in ``written``."""
    folder = _folder(gallery, annotator, side)
    before = SearchPlan(folder, []).results()
    for number, part in enumerate(parts_of(gallery)[side]):
        stored = store_array(f"{folder}/{number}", files.read(part.first, part.rows))
        if before.get(number) != stored:
            written.append(stored)
        if before.get(number, stored) != stored:
            raise CounterpartError(
                f"{annotator} has other embeddings of the {side} of {gallery}. Add it with these weights under another"
                " name, or import the gallery under another name."
            )
        progress(f"importing embeddings of {side}", part.first + part.rows, files.rows)


def _folder(gallery: Gallery, annotator: Annotator, side: str, *how: int) -> str:
    made_by = json.dumps([annotator.kind, annotator.options, annotator.checksum, *how], sort_keys=True)
    return f"{_root(gallery)}/{hashlib.sha256(made_by.encode()).hexdigest()[:32]}/{side}"


def _root(gallery: Gallery) -> str:
    return f"{gallery.file.rpartition('/')[0]}/embeddings"
