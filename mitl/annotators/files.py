"""Embeddings or ranked lists computed elsewhere, read from files and stored by checksum.

Embeddings: an ``.npz``, or a folder of ``.npy`` files, with ``image_ids`` (N,), ``images`` (N, D), ``caption_ids``
(M,) and ``captions`` (M, D). Ranked lists: JSON, ``{"i2t": {image id: [caption id, ...]}, "t2i": {caption id:
[image id, ...]}}``, best first. Ids are the collection's own; they are compared as text.
"""

from collections.abc import Sequence
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from core.errors import CounterpartError, some_of
from core.text import counted
from core.untrusted import read_json
from counterpart_annotators.base import Adopted, Arrays, EmbeddingAnnotator, ListAnnotator, StoredAnnotator
from counterpart_annotators.encoding import Embeddings
from counterpart_annotators.options import Settings
from counterpart_annotators.plain import TO_CAPTIONS, TO_IMAGES, PlainCaption, PlainImage
from counterpart_metrics.array_lists import read_foreign_arrays

CHECKPOINT = "required"
EMBEDDING_PARTS = ("image_ids", "images", "caption_ids", "captions")


def adopt(path: Path, settings: Settings) -> Adopted:
    """Read and check a file of embeddings or lists. Raises CounterpartError naming what is wrong with it."""
    if path.suffix == ".json":
        return Adopted(_read_lists(path))
    arrays = _read_embedding_files(path)
    for ids, vectors in (("image_ids", "images"), ("caption_ids", "captions")):
        arrays[ids] = _checked_ids(arrays[ids], f"{path}: {ids}")
        arrays[vectors] = _checked_vectors(arrays[vectors], len(arrays[ids]), f"{path}: {vectors}")
    widths = arrays["images"].shape[1], arrays["captions"].shape[1]
    if widths[0] != widths[1]:
        raise CounterpartError(f"{path}: images have {widths[0]} dimensions and captions {widths[1]}; they must agree.")
    return Adopted(arrays)


def open_annotator(stored: StoredAnnotator, device: str) -> "KeyedEmbeddings | KeyedLists":
    """Return the annotator over the arrays of ``adopt``."""
    kind = KeyedEmbeddings if "images" in stored.arrays else KeyedLists
    return kind(stored.name, stored.arrays)


class KeyedEmbeddings(EmbeddingAnnotator):
    """Embeddings computed elsewhere."""

    looks_at_pictures = False

    def __init__(self, name: str, arrays: Arrays) -> None:
        self._name = name
        self._arrays = arrays
        self._rows = {part: _places(arrays[part]) for part in ("image_ids", "caption_ids")}

    def encode_images(self, images: Sequence[PlainImage]) -> Embeddings:
        """Raises CounterpartError for images that are not in the file."""
        return self._arrays["images"][self._rows_of("image", [image.key for image in images])]

    def encode_captions(self, captions: Sequence[PlainCaption]) -> Embeddings:
        """Raises CounterpartError for captions that are not in the file."""
        return self._arrays["captions"][self._rows_of("caption", [caption.key for caption in captions])]

    def check_ids(self, images: Sequence[PlainImage], captions: Sequence[PlainCaption]) -> None:
        """Raise CounterpartError for images or captions that are not in the file."""
        self._rows_of("image", [image.key for image in images])
        self._rows_of("caption", [caption.key for caption in captions])

    def _rows_of(self, what: str, keys: list[str]) -> list[int]:
        rows = self._rows[f"{what}_ids"]
        missing = [key for key in keys if key not in rows]
        if missing:
            raise CounterpartError(
                f"{self._name} has no embedding of {len(missing)} {what}s that are needed: {some_of(missing)}. Add the"
                " annotator again, under another name, with a file that has them all: manage.py show collection NAME"
                f" --ids {what}s --out FILE writes the ids."
            )
        return [rows[key] for key in keys]


class KeyedLists(ListAnnotator):
    """Lists ranked elsewhere. The files contain no scores; place r gets 1 / r."""

    looks_at_pictures = False

    def __init__(self, name: str, arrays: Arrays) -> None:
        self._name = name
        self._arrays = arrays

    def lists_of(
        self, direction: str, queries: Sequence[PlainImage | PlainCaption], items: Sequence[PlainImage | PlainCaption]
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Raises CounterpartError for a query without a list, or a list with an item that is not in the gallery."""
        rows = _places(self._arrays[f"{direction}_queries"])
        missing = [query.key for query in queries if query.key not in rows]
        if missing:
            raise CounterpartError(
                f"{self._name} has no {direction} list for {counted(len(missing), 'query', 'queries')}:"
                f" {some_of(missing)}. Sample only queries that it has, or leave the annotator out."
            )
        lists = self._arrays[f"{direction}_items"][[rows[query.key] for query in queries]]
        places = self._places_in(items, lists, direction)
        ranks = np.arange(1, places.shape[1] + 1, dtype=np.float32)
        return places, np.where(places < 0, -np.inf, 1 / ranks).astype(np.float32)

    def _places_in(
        self, items: Sequence[PlainImage | PlainCaption], lists: NDArray[np.str_], direction: str
    ) -> NDArray[np.int64]:
        place = {item.key: number for number, item in enumerate(items)} | {"": -1}
        keys, inverse = np.unique(lists, return_inverse=True)
        unknown = [str(key) for key in keys if str(key) not in place]
        if unknown:
            raise CounterpartError(
                f"{self._name} ranks {len(unknown)} {direction} items that are not in the gallery:"
                f" {some_of(unknown)}. Remove them from its lists, or import them."
            )
        return np.array([place[str(key)] for key in keys], dtype=np.int64)[inverse].reshape(lists.shape)


def _places(ids: NDArray[np.str_]) -> dict[str, int]:
    return {str(key): row for row, key in enumerate(ids)}


def _read_embedding_files(path: Path) -> Arrays:
    try:
        if path.is_dir():
            # As a map, whose length is compared with the file's.
            return {part: np.load(path / f"{part}.npy", "r", allow_pickle=False) for part in EMBEDDING_PARTS}
        arrays = read_foreign_arrays(path)
        return {part: arrays[part] for part in EMBEDDING_PARTS}
    except (OSError, KeyError, ValueError, TypeError, EOFError, AttributeError, BadZipFile) as error:
        raise CounterpartError(
            f"{path} does not contain the arrays {', '.join(EMBEDDING_PARTS)} as .npz or as a folder of .npy: {error}."
        ) from error


def _checked_ids(ids: NDArray, where: str) -> NDArray[np.str_]:
    if ids.ndim != 1 or ids.dtype.kind not in "iuU" or not len(ids):
        raise CounterpartError(f"{where} must be one row of numbers or texts, not {ids.dtype} of shape {ids.shape}.")
    texts, counts = np.unique(ids.astype(np.str_), return_counts=True)
    doubled = texts[counts > 1].tolist()
    if doubled:
        raise CounterpartError(
            f"{where} contains {counted(len(doubled), 'id')} more than once: {some_of(doubled)}. Keep one of each."
        )
    return ids.astype(np.str_)


def _checked_vectors(vectors: NDArray, n: int, where: str) -> Embeddings:
    if vectors.ndim != 2 or len(vectors) != n or not vectors.shape[1] or vectors.dtype.kind not in "iuf":
        raise CounterpartError(
            f"{where} must be numbers of shape ({n}, D), a row per id, not {vectors.dtype} of shape {vectors.shape}."
        )
    with np.errstate(over="ignore"):
        floats = vectors.astype(np.float32)
    bad = np.flatnonzero(~np.isfinite(floats).all(1)).tolist()
    if bad:
        raise CounterpartError(
            f"{where} holds NaN or infinity in {counted(len(bad), 'row')}: {some_of(bad)}. Correct the file."
        )
    return floats


def _read_lists(path: Path) -> Arrays:
    try:
        rankings = read_json(path.read_bytes())
    except (OSError, ValueError) as error:
        raise CounterpartError(f"{path} cannot be read as JSON: {error}.") from error
    directions = [TO_CAPTIONS, TO_IMAGES]
    if not isinstance(rankings, dict) or not set(directions) <= set(rankings):
        raise CounterpartError(f"{path} must be a JSON object with {' and '.join(directions)}.")
    arrays: Arrays = {}
    for direction in directions:
        arrays |= _list_arrays(rankings[direction], direction, f"{path}: {direction}")
    return arrays


def _list_arrays(rankings: object, direction: str, where: str) -> Arrays:
    """Return the queries (Q,) and their items (Q, k) as text, shorter lists padded with empty texts."""
    if not isinstance(rankings, dict) or not rankings:
        raise CounterpartError(f"{where} must be an object of lists by query id, and not empty.")
    wrong = [query for query, items in rankings.items() if not _is_ranking(items)]
    if wrong:
        raise CounterpartError(
            f"{where}: {counted(len(wrong), 'query has', 'queries have')} no valid list of ids, each once:"
            f" {some_of(wrong)}. Correct the file."
        )
    longest = max(len(items) for items in rankings.values())
    rows = [[*map(str, items), *[""] * (longest - len(items))] for items in rankings.values()]
    return {f"{direction}_queries": np.array(list(rankings)), f"{direction}_items": np.array(rows)}


def _is_ranking(items: object) -> bool:
    if not isinstance(items, list) or not items:
        return False
    if not all(isinstance(item, str | int) and not isinstance(item, bool) and item != "" for item in items):
        return False
    return len({str(item) for item in items}) == len(items)
