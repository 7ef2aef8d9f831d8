"""Embeddings, searched exactly."""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from core.errors import CounterpartError
from core.progress import Progress, silent
from counterpart_annotators.checkpoints import Checkpoints
from counterpart_annotators.encoding import Embeddings
from mitl.models import Direction
from mitl.search.flat_index import flat_topk
from mitl.search.gallery import BothFound, Places, SearchGallery

MEMORY = 256 * 2**20  # bytes of scores
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
    gallery: SearchGallery,
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
    from counterpart_topk import bidirectional_topk, topk_of_products

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
        return {direction: flat_topk(*sides[direction], k, device) for direction in gallery.directions}
    return {
        direction: topk_of_products(*sides[direction], k, device=device, progress=progress)
        for direction in gallery.directions
    }


def topk_of_blocks(
    block: Callable[[Places, Places], NDArray],
    gallery: SearchGallery,
    k: int,
    *,
    memory: int = MEMORY,
    progress: Progress = silent,
) -> BothFound:
    """Search scores that are computed in blocks, from the places of images and of captions in the gallery."""
    from counterpart_topk import bidirectional_topk_of_scores, topk_of_scores

    images = np.arange(len(gallery.image_ids))
    captions = np.arange(len(gallery.caption_ids))
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
    lists = {}
    if len(asking := gallery.image_queries):
        lists[Direction.IMAGE_TO_CAPTION] = search_side(
            lambda rows, columns: block(gallery.image_queries[rows], captions[columns]), (len(asking), len(captions))
        )
    if len(asking := gallery.caption_queries):
        lists[Direction.CAPTION_TO_IMAGE] = search_side(
            lambda rows, columns: block(images[columns], gallery.caption_queries[rows]).T, (len(asking), len(images))
        )
    return lists
