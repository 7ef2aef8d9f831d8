"""The embeddings of a gallery beyond rows: kept with its items, one file a part, by what made them.

A search makes those that are missing, and keeps them as the results of its plans (``mitl.search.plans``);
``import_embeddings`` stores what was made elsewhere in the same place.
"""

import hashlib
import json
from pathlib import Path

from django.db import transaction

from core.errors import CounterpartError
from core.events import record
from core.files.stored_files import StoredFile, folders_in, remove_file
from core.progress import Progress, silent
from corpus.galleries.item_parts import CAPTIONS, IMAGES, parts_of
from corpus.models import Gallery
from counterpart_annotators.encoding import CHUNK
from mitl.models import Annotator
from mitl.search.embedding_files import EmbeddingFiles, open_embedding_files
from mitl.search.plans import SearchPlan, store_array
from mitl.search.retrieval import errors_of
from mitl.search.units import encoder_of, encoding_threads

SIDES = (IMAGES, CAPTIONS)


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
