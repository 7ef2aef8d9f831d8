"""The best items of every query, by whatever an annotator gives: embeddings, scores of pairs, or finished lists."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from core.errors import CounterpartError
from core.progress import Progress, silent
from core.text import counted
from counterpart_annotators.base import (
    ComparingAnnotator,
    CrossEncoder,
    EmbeddingAnnotator,
    ListAnnotator,
    OpenAnnotator,
    PairScorer,
)
from counterpart_annotators.checkpoints import Checkpoints
from counterpart_annotators.encoding import Embeddings
from counterpart_annotators.plain import PlainCaption, PlainImage
from counterpart_topk.hubness.reranking import Steps, rerank
from counterpart_topk.hubness.score_blocks import Blocks, Transposed
from counterpart_topk.list_figures import report_vectors
from mitl.hosting.plain_rows import EmbeddingCache
from mitl.models import Direction
from mitl.search.flat_index import flat_topk
from mitl.search.gallery import BothFound, BothLists, Places, SearchGallery
from mitl.search.pair_scores import Scoring, pairs_to_score, rank

Device = Literal["cpu", "cuda"]
MEMORY = 256 * 2**20  # bytes of scores


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


def topk_of_blocks(
    block: Callable[[Places, Places], NDArray],
    gallery: SearchGallery,
    k: int,
    progress: Progress,
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
            memory=MEMORY,
            progress=progress,
        )
        return {direction: (side.places, side.scores) for direction, side in zip(Direction, both, strict=True)}
    search_side = partial(topk_of_scores, k=k, memory=MEMORY, progress=progress)
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


def topk_reranked(blocks: Blocks, gallery: SearchGallery, k: int, steps: Steps, progress: Progress) -> BothFound:
    """Re-rank the scores of a gallery, and return the lists of its queries. Raises ValueError as ``rerank`` does."""
    sides = {Direction.IMAGE_TO_CAPTION: blocks, Direction.CAPTION_TO_IMAGE: Transposed(blocks)}
    return {
        direction: rerank(sides[direction], steps, k, rows=gallery.asks(direction), progress=progress)
        for direction in gallery.directions
    }


OWN_COMPARISON = "FAISS compares by one inner product and this annotator does not"


@dataclass(frozen=True)
class SearchContext:
    """How a search is run. Nothing of this changes what is found, except ``first``.

    ``kept`` holds finished parts of the same search, if it was interrupted; ``cache`` the embeddings computed before.
    ``first`` are the lists of a cascade, whose pairs a cross-encoder scores instead of all. ``confirm`` is called
    before a cross-encoder starts, and stops it by raising. ``vectors`` takes the figures of the embeddings.
    """

    kept: Checkpoints
    engine: str = "blocked"
    device: str = "cpu"
    cache: EmbeddingCache | None = None
    first: BothLists | None = None
    confirm: Callable[[Scoring], None] | None = None
    progress: Progress = silent
    vectors: dict[str, dict[str, Any]] = field(default_factory=dict)


def find_top(opened: OpenAnnotator, gallery: SearchGallery, k: int, context: SearchContext) -> BothFound:
    """Return every query's ``k`` best items: by direction, places in the gallery and scores, (queries, k).

    Raises CounterpartError where the gallery or the engine is unsuitable, or the lists are too short; ValueError where
    embeddings or scores are not finite numbers; TypeError for an annotator of no known class.
    """
    if isinstance(opened, EmbeddingAnnotator):
        return _by_embeddings(opened, gallery, k, context)
    if isinstance(opened, PairScorer):
        refuse_faiss(context.engine)
        block = opened.over(gallery.images, gallery.captions).block
        return topk_of_blocks(block, gallery, k, context.progress)
    if isinstance(opened, CrossEncoder):
        scoring = scoring_of(opened, gallery, context)
        if context.confirm:
            context.confirm(scoring)
        return rank(scoring, context.first, k, progress=context.progress)
    if isinstance(opened, ListAnnotator):
        return _by_lists(opened, gallery, k, context)
    raise TypeError(f"{type(opened).__name__} is of no class that can be searched.")


def scoring_of(opened: CrossEncoder, gallery: SearchGallery, context: SearchContext) -> Scoring:
    """Return the pairs that a search scores, prepared. Raises CounterpartError as ``find_top`` does."""
    opened.check_pictures(gallery.images)
    pairs = pairs_to_score(gallery, context.first)
    refuse_faiss(context.engine)
    scores = opened.ready(gallery.images, gallery.captions)
    return Scoring(gallery, scores, pairs, opened.batch_size, context.kept)


def _by_embeddings(opened: EmbeddingAnnotator, gallery: SearchGallery, k: int, context: SearchContext) -> BothFound:
    if isinstance(opened, ComparingAnnotator):
        refuse_faiss(context.engine, OWN_COMPARISON)
    images, captions = opened.encode(gallery.images, gallery.captions, cache=context.cache, progress=context.progress)
    context.vectors.update(images=report_vectors(images), captions=report_vectors(captions))
    if isinstance(opened, ComparingAnnotator):
        compare = opened.compare
        return topk_of_blocks(lambda i, c: compare(images[i], captions[c]), gallery, k, context.progress)
    if images.ndim == 3:
        refuse_faiss(context.engine, OWN_COMPARISON)
    return _by_products(images, captions, gallery, k, context)


def _by_products(
    images: Embeddings, captions: Embeddings, gallery: SearchGallery, k: int, context: SearchContext
) -> BothFound:
    """Search by inner product; both engines find the same lists. A search by the whole gallery resumes from its strips.

    Raises ValueError for embeddings that are not finite, or do not fit together.
    """
    # Importing torch takes seconds, which only a search should cost.
    from counterpart_topk import bidirectional_topk, topk_of_products

    device = context.device
    if context.engine == "blocked" and gallery.asks_all:
        both = bidirectional_topk(images, captions, k, device=device, progress=context.progress, store=context.kept)
        return {
            Direction.IMAGE_TO_CAPTION: (both.i2t_indices, both.i2t_scores),
            Direction.CAPTION_TO_IMAGE: (both.t2i_indices, both.t2i_scores),
        }
    sides = {
        Direction.IMAGE_TO_CAPTION: (images[gallery.image_queries], captions),
        Direction.CAPTION_TO_IMAGE: (captions[gallery.caption_queries], images),
    }
    if context.engine == "faiss":
        return {direction: flat_topk(*sides[direction], k, device) for direction in gallery.directions}
    search = partial(topk_of_products, k=k, device=device, progress=context.progress)
    return {direction: search(*sides[direction]) for direction in gallery.directions}


def _by_lists(opened: ListAnnotator, gallery: SearchGallery, k: int, context: SearchContext) -> BothFound:
    refuse_faiss(context.engine)
    lists = {}
    for direction in gallery.directions:
        from_images = direction == Direction.IMAGE_TO_CAPTION
        asking: Sequence[PlainImage | PlainCaption] = gallery.images if from_images else gallery.captions
        items: Sequence[PlainImage | PlainCaption] = gallery.captions if from_images else gallery.images
        queries = [asking[place] for place in gallery.asks(direction)]
        places, scores = opened.lists_of(direction.value, queries, items)
        if places.shape[1] < k:
            raise CounterpartError(
                f"The longest {direction.value} list has {counted(places.shape[1], 'place')}, fewer than the {k} "
                f"asked for; pass --depth {places.shape[1]} (or --cascade-depth), or add the annotator with "
                "longer lists."
            )
        lists[direction] = places[:, :k], scores[:, :k]
    return lists
