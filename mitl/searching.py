"""Let one machine rank a gallery for its queries, unless every pair costs it a pass (``mitl.pair_ranking``)."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from core.errors import CounterpartError
from core.progress import Progress
from corpus.models import Caption, Image
from mitl.annotators.base import EmbeddingAnnotator, Embeddings, ListAnnotator, Machine, PairScorer, QuickMachine
from mitl.checkpoints import Checkpoints
from mitl.comparing import comparison, embeddings_an_item
from mitl.embedding_cache import EmbeddingCache
from mitl.encoding import check_pictures, encode_both
from mitl.gallery import Gallery, Places
from mitl.hubness.blocks import Transposed
from mitl.lists import BothLists, RankedLists
from mitl.machine_scores import machine_scores
from mitl.models import Direction
from mitl.reranking import Steps, rerank

ENGINES = ("blocked", "faiss")
MEMORY = 256 * 2**20  # bytes of scores
BOTH_WAYS = (Direction.IMAGE_TO_CAPTION, Direction.CAPTION_TO_IMAGE)
# Places in the gallery, best first, and their scores: both (queries, depth).
Found = tuple[NDArray[np.int64], NDArray[np.floating]]


def search(
    machine: QuickMachine,
    gallery: Gallery,
    *,
    depth: int,
    engine: str,
    device: str,
    kept: Checkpoints,
    cache: EmbeddingCache,
    progress: Progress,
) -> BothLists:
    """Return the machine's ``depth`` best items of every query, in each direction that has queries.

    ``kept`` holds what an interrupted search of embeddings, everything asking, has finished: it goes on from there.
    ``cache`` holds the embeddings that the machine has made before.

    Raises CounterpartError where the machine needs pictures that are not there, the engine does not suit it,
    or its lists are too short; ValueError where its embeddings or scores are not finite numbers.
    """
    check_pictures(machine, gallery.images)
    if isinstance(machine, EmbeddingAnnotator):
        embeddings = encode_both(machine, gallery.images, gallery.captions, cache=cache, progress=progress)
        found = _by_embeddings(machine, embeddings, gallery, depth, engine, device, kept, progress)
    elif engine == "faiss":
        raise CounterpartError("FAISS searches embeddings and this machine has none; use --engine blocked.")
    elif isinstance(machine, PairScorer):
        scores = machine.over(gallery.images, gallery.captions)
        found = _by_blocks(scores.block, gallery, depth, MEMORY, progress)
    else:
        found = _by_lists(machine, gallery, depth)
    return {direction: with_ids(gallery, direction, *found[direction]) for direction in gallery.directions}


def search_reranked(
    machine: Machine, gallery: Gallery, steps: Steps, *, depth: int, cache: EmbeddingCache, progress: Progress
) -> BothLists:
    """Return every query's ``depth`` best items after a re-ranking, over all that may ask on its side.

    Raises CounterpartError and ValueError as ``mitl.machine_scores.machine_scores`` and ``mitl.reranking.rerank`` do.
    """
    blocks = machine_scores(machine, gallery.images, gallery.captions, cache=cache, progress=progress)
    sides = {Direction.IMAGE_TO_CAPTION: blocks, Direction.CAPTION_TO_IMAGE: Transposed(blocks)}
    lists = {}
    for direction in gallery.directions:
        found = rerank(sides[direction], steps, depth, rows=gallery.asks(direction), progress=progress)
        lists[direction] = with_ids(gallery, direction, *found)
    return lists


def check_device(device: str) -> None:
    """Raise CounterpartError unless torch can compute on ``device``, ``cpu`` or ``cuda``."""
    if device == "cpu":
        return
    import torch

    if device != "cuda":
        raise CounterpartError(f"There is no device {device!r}; choose cpu or cuda.")
    if not torch.cuda.is_available():
        raise CounterpartError("torch finds no CUDA device here; use --device cpu.")


def _by_embeddings(
    machine: EmbeddingAnnotator,
    embeddings: tuple[Embeddings, Embeddings],
    gallery: Gallery,
    k: int,
    engine: str,
    device: str,
    kept: Checkpoints,
    progress: Progress,
) -> dict[Direction, Found]:
    images, captions = embeddings
    compare = comparison(machine, images, captions)
    if compare is not None and engine == "faiss":
        raise CounterpartError("FAISS compares by one inner product and this machine does not; use --engine blocked.")
    if compare is not None:
        # A block of scores is made from so many numbers a score.
        memory = MEMORY // (embeddings_an_item(images) * embeddings_an_item(captions))
        return _by_blocks(lambda i, c: compare(images[i], captions[c]), gallery, k, memory, progress)
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
        return {direction: _faiss_topk(*sides[direction], k, device) for direction in gallery.directions}
    return {
        direction: topk_of_products(*sides[direction], k, device=device, progress=progress)
        for direction in gallery.directions
    }


def _faiss_topk(queries: Embeddings, items: Embeddings, k: int, device: str) -> Found:
    """Search a flat index. FAISS leaves equal scores in any order; those within a list are put in order here."""
    # Imported here as torch is; loading both where one is used would cost each command a second.
    import faiss

    from mitl.topk.sides import open_side

    index: faiss.Index = faiss.IndexFlatIP(items.shape[1])
    if device == "cuda":
        if not hasattr(faiss, "StandardGpuResources"):
            raise CounterpartError(
                "This FAISS is built for the CPU; install requirements-gpu.txt in place of requirements.txt, or drop"
                " --device cuda."
            )
        index = faiss.index_cpu_to_gpu(faiss.StandardGpuResources(), 0, index)
    index.add(open_side(items, "items").values.astype(np.float32, copy=False))
    scores, places = index.search(open_side(queries, "queries").values.astype(np.float32, copy=False), k)
    order = np.lexsort((places, -scores), axis=1)
    return np.take_along_axis(places, order, 1), np.take_along_axis(scores, order, 1)


def _by_blocks(
    block: Callable[[Places, Places], NDArray], gallery: Gallery, k: int, memory: int, progress: Progress
) -> dict[Direction, Found]:
    """Search scores that are asked for in blocks, by places of images and of captions in the gallery."""
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


def _by_lists(machine: ListAnnotator, gallery: Gallery, k: int) -> dict[Direction, Found]:
    found = {}
    for direction in gallery.directions:
        from_images = direction == Direction.IMAGE_TO_CAPTION
        asking: Sequence[Image | Caption] = gallery.images if from_images else gallery.captions
        items: Sequence[Image | Caption] = gallery.captions if from_images else gallery.images
        places, scores = machine.lists_of(direction, [asking[place] for place in gallery.asks(direction)], items)
        if places.shape[1] < k:
            raise CounterpartError(
                f"The longest {direction.value} list has {places.shape[1]} places, fewer than the {k} asked for;"
                f" pass --depth {places.shape[1]} (or --cascade-depth), or give the machine longer lists."
            )
        found[direction] = places[:, :k], scores[:, :k]
    return found


def with_ids(gallery: Gallery, direction: Direction, places: NDArray[np.int64], scores: NDArray) -> RankedLists:
    """Return lists of places in the gallery as lists of ids; place -1 becomes item 0, which is none."""
    from_images = direction == Direction.IMAGE_TO_CAPTION
    queries, items = (
        (gallery.image_ids, gallery.caption_ids) if from_images else (gallery.caption_ids, gallery.image_ids)
    )
    return RankedLists(
        queries[gallery.asks(direction)], np.where(places < 0, 0, items[places]), scores.astype(np.float32)
    )
