"""Embeddings: computed in chunks, kept so that no search computes them twice, and searched exactly."""

import hashlib
import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from core.errors import CounterpartError
from core.files import remove_stale
from core.progress import Progress, silent
from corpus.models import Caption, Image
from mitl.checkpoints import Checkpoints
from mitl.models import Annotator, Direction
from mitl.search.gallery import BothFound, Found, Gallery, Places

CHUNK = 128  # rows given to an encoder at once
PART = 1024  # rows: the most that an interruption loses

Embeddings = NDArray[np.float32]
Row = TypeVar("Row", Image, Caption)
Encode = Callable[[Sequence[Row]], Embeddings]


class EmbeddingCache:
    """The embeddings that one annotator computed before, by its weights, settings and preprocessing, and by row.

    Without ``preprocessing`` nothing is kept. Folders to which nothing was added for two weeks are removed.
    """

    def __init__(self, annotator: Annotator, preprocessing: str | None) -> None:
        self._keeps = preprocessing is not None
        self._made_by = json.dumps(
            [annotator.kind, annotator.options, annotator.checksum, preprocessing], sort_keys=True
        )

    def part(self, rows: Sequence[Row], encode: Encode[Row]) -> Embeddings:
        """Return the embeddings of at most ``PART`` rows: kept ones, or those that ``encode`` computes, kept now."""
        if not self._keeps:
            return encode(rows)
        root = settings.VAR_DIR / "embeddings"
        remove_stale(root)
        kept = Checkpoints(root / hashlib.sha256(self._made_by.encode()).hexdigest())
        name = self._name(rows)
        found = kept.load(name)
        if found is None:
            found = {"embeddings": np.ascontiguousarray(encode(rows))}
            kept.save(name, **found)
        return found["embeddings"]

    def _name(self, rows: Sequence[Row]) -> str:
        """SHA-256 of the input: keys with the checksums of pictures, or with the texts of captions."""
        read = [[row.key, row.sha256] if isinstance(row, Image) else [row.key, row.text] for row in rows]
        return hashlib.sha256(json.dumps([type(rows[0]).__name__, read]).encode()).hexdigest()


def encode_rows(
    encode: Encode[Row], rows: Sequence[Row], cache: EmbeddingCache | None, step: str, progress: Progress
) -> Embeddings:
    """Return the embeddings of all rows; an interrupted encoding resumes after the last part in ``cache``."""
    done = 0
    parts = []

    def in_chunks(part: Sequence[Row]) -> Embeddings:
        chunks = []
        for start in range(0, len(part), CHUNK):
            if start:
                progress(step, done + start, len(rows))
            chunks.append(encode(part[start : start + CHUNK]))
        return np.concatenate(chunks)

    while done < len(rows):
        part = rows[done : done + PART]
        parts.append(cache.part(part, in_chunks) if cache else in_chunks(part))
        done += len(part)
        progress(step, done, len(rows))
    return np.concatenate(parts)


MEMORY = 256 * 2**20  # bytes of scores
FAISS_SPARE = 16  # places beyond the wanted ones, so that few lists end among near ties
BOTH_WAYS = (Direction.IMAGE_TO_CAPTION, Direction.CAPTION_TO_IMAGE)


def check_device(device: str) -> None:
    """Raise CounterpartError unless torch can compute on ``device``, ``cpu`` or ``cuda``."""
    if device == "cpu":
        return
    import torch

    if device != "cuda":
        raise CounterpartError(f"Unknown device {device!r}; choose cpu or cuda.")
    if not torch.cuda.is_available():
        raise CounterpartError("torch finds no CUDA device here; use --device cpu.")


def refuse_faiss(engine: str, reason: str = "FAISS searches embeddings and this annotator has none") -> None:
    """Raise CounterpartError with the reason where FAISS was chosen."""
    if engine == "faiss":
        raise CounterpartError(f"{reason}; use --engine blocked.")


def topk_of_embeddings(
    images: Embeddings,
    captions: Embeddings,
    gallery: Gallery,
    k: int,
    *,
    engine: str = "blocked",
    device: str = "cpu",
    kept: Checkpoints | None = None,
    progress: Progress = silent,
) -> BothFound:
    """Search by inner product; both engines find the same lists.

    ``kept``: finished strips of a search by the whole gallery, which it resumes from.

    Raises ValueError for embeddings that are not finite, or do not fit together.
    """
    # Importing torch takes seconds, which only a search should cost.
    from mitl.topk import bidirectional_topk, topk_of_products

    if engine == "blocked" and gallery.asks_all:
        both = bidirectional_topk(images, captions, k, device=device, progress=progress, store=kept)
        return {
            Direction.IMAGE_TO_CAPTION: (both.i2t_indices, both.i2t_scores),
            Direction.CAPTION_TO_IMAGE: (both.t2i_indices, both.t2i_scores),
        }
    sides = {
        Direction.IMAGE_TO_CAPTION: (images[gallery.image_queries], captions),
        Direction.CAPTION_TO_IMAGE: (captions[gallery.caption_queries], images),
    }
    if engine == "faiss":
        return {direction: _faiss_topk(*sides[direction], k) for direction in gallery.directions}
    return {
        direction: topk_of_products(*sides[direction], k, device=device, progress=progress)
        for direction in gallery.directions
    }


def _faiss_topk(queries: Embeddings, items: Embeddings, k: int) -> Found:
    """Search a flat index a little deeper than asked, and rank what it finds by float64 products.

    Queries whose list float32 scores cannot decide are searched exactly, so the lists are those of the other engine.
    """
    # Imported here as torch is; loading both where one is used would cost each command a second.
    import faiss

    from mitl.topk import topk_of_products
    from mitl.topk.products import Float32Products
    from mitl.topk.ranking import Candidates, rank_candidates
    from mitl.topk.sides import open_side

    index: faiss.Index = faiss.IndexFlatIP(items.shape[1])
    asking, asked = open_side(queries, "queries"), open_side(items, "items")
    index.add(asked.values.astype(np.float32, copy=False))
    depth = min(k + FAISS_SPARE, len(asked))
    scores, places = index.search(asking.values.astype(np.float32, copy=False), depth)
    candidates = Candidates(np.full(len(asking), depth), places.ravel().astype(np.int32), 0)
    found = rank_candidates(asking, asked, candidates, k)
    if depth < len(asked):
        # An item that FAISS left out scores no more than its last one, but for the rounding errors of float32.
        unsure = found.scores[:, -1] <= scores[:, -1] + Float32Products().margins(asking, asked)
        if unsure.any():
            found.places[unsure], found.scores[unsure] = topk_of_products(queries[unsure], items, k)
    return found.places, found.scores


def topk_of_blocks(
    block: Callable[[Places, Places], NDArray],
    gallery: Gallery,
    k: int,
    *,
    memory: int = MEMORY,
    progress: Progress = silent,
) -> BothFound:
    """Search scores that are computed in blocks, from the places of images and of captions in the gallery."""
    from mitl.topk import bidirectional_topk_of_scores, topk_of_scores

    images, captions = np.arange(len(gallery.image_ids)), np.arange(len(gallery.caption_ids))
    if gallery.asks_all:
        both = bidirectional_topk_of_scores(
            lambda rows, columns: block(images[rows], captions[columns]),
            (len(images), len(captions)),
            k,
            memory=memory,
            progress=progress,
        )
        return {direction: (side.places, side.scores) for direction, side in zip(BOTH_WAYS, both, strict=True)}
    search_side = partial(topk_of_scores, k=k, memory=memory, progress=progress)
    found = {}
    if len(asking := gallery.image_queries):
        found[Direction.IMAGE_TO_CAPTION] = search_side(
            lambda rows, columns: block(gallery.image_queries[rows], captions[columns]), (len(asking), len(captions))
        )
    if len(asking := gallery.caption_queries):
        found[Direction.CAPTION_TO_IMAGE] = search_side(
            lambda rows, columns: block(images[columns], gallery.caption_queries[rows]).T, (len(asking), len(images))
        )
    return found
