"""Rank by the scores of single pairs: the whole gallery for sampled queries, or another machine's lists anew."""

from typing import NamedTuple

import numpy as np

from core.errors import CounterpartError
from core.progress import Progress
from mitl.annotators.base import CrossEncoder
from mitl.checkpoints import Checkpoints
from mitl.encoding import check_pictures
from mitl.gallery import Gallery
from mitl.lists import BothLists, RankedLists
from mitl.models import Direction
from mitl.pairs import ListedPairs, Places, SampledPairs
from mitl.scoring import Scores, Scoring, score_pairs
from mitl.searching import Found, with_ids


def prepare(
    machine: CrossEncoder, gallery: Gallery, first: BothLists | None, *, engine: str, kept: Checkpoints
) -> Scoring:
    """Make ready to score the pairs of a query and an item of its list in ``first``; without lists, all pairs with
    a query on either side.

    Raises CounterpartError for pictures that are not there, no queries, or FAISS, which searches only embeddings.
    """
    check_pictures(machine, gallery.images)
    if not gallery.directions:
        raise CounterpartError("The sample asks nothing, so there are no pairs to score; sample some queries.")
    if engine == "faiss":
        raise CounterpartError("FAISS searches embeddings and this machine has none; use --engine blocked.")
    scores = machine.ready(gallery.images, gallery.captions)
    pairs = _sampled(gallery) if first is None else _listed(gallery, first)
    return Scoring(gallery, scores, pairs, machine.batch_size, kept)


def rank(scoring: Scoring, first: BothLists | None, depth: int, *, progress: Progress) -> BothLists:
    """Return the ``depth`` best items of every query: of its list in ``first``, or without lists of the gallery.

    Of equal scores the lower place in the gallery comes first. ``first`` is what ``prepare`` was given.
    """
    if first is None:
        return _rank_gallery(scoring, depth, progress)
    return _rank_lists(scoring, first, depth, progress)


def _sampled(gallery: Gallery) -> SampledPairs:
    shape = len(gallery.image_ids), len(gallery.caption_ids)
    return SampledPairs(shape, gallery.image_queries, gallery.caption_queries)


def _listed(gallery: Gallery, lists: BothLists) -> ListedPairs:
    return ListedPairs(
        len(gallery.caption_ids), [_as_pairs(gallery, direction, ranked) for direction, ranked in lists.items()]
    )


def _rank_gallery(scoring: Scoring, depth: int, progress: Progress) -> BothLists:
    """Memory: 12 bytes a place of the lists, and one group of pairs."""
    gallery = scoring.gallery
    best = {
        direction: BestSoFar(_n_asking(gallery, direction), gallery.asks(direction), depth)
        for direction in gallery.directions
    }
    for images, captions, scores in score_pairs(scoring, progress=progress):
        for direction, lists in best.items():
            from_images = direction == Direction.IMAGE_TO_CAPTION
            lists.feed(*((images, captions) if from_images else (captions, images)), scores)
    return {direction: with_ids(gallery, direction, *lists.found) for direction, lists in best.items()}


def _rank_lists(scoring: Scoring, lists: BothLists, depth: int, progress: Progress) -> BothLists:
    """Memory: some 40 bytes a pair, and as many a place of the lists."""
    gallery = scoring.gallery
    images, captions, scores = map(np.concatenate, zip(*score_pairs(scoring, progress=progress), strict=True))
    scored = _PairsAndScores(images * len(gallery.caption_ids) + captions, scores)
    return {
        direction: with_ids(gallery, direction, *_reordered(gallery, direction, ranked, scored, depth))
        for direction, ranked in lists.items()
    }


class _PairsAndScores(NamedTuple):
    """Pairs as rising numbers, image x captions + caption, and their scores."""

    pairs: Places
    scores: Scores


class BestSoFar:
    """The k best items of some queries, of pairs that stream by. A query's items must come by rising place."""

    def __init__(self, n: int, queries: Places, k: int) -> None:
        """``queries`` are places among ``n`` that could ask."""
        self._row = np.full(n, -1)
        self._row[queries] = np.arange(len(queries))
        self._items = np.full((len(queries), k), -1)
        self._scores = np.full((len(queries), k), -np.inf, dtype=np.float32)

    @property
    def found(self) -> Found:
        """Items and scores, (queries, k), best first; of equal scores the item that came first."""
        return self._items, self._scores

    def feed(self, asking: Places, items: Places, scores: Scores) -> None:
        """Take in pairs: who asks, the item and the score. Pairs of others than the queries are passed over."""
        rows = self._row[asking]
        # An item as good as the last of a full list came later, so it has no place there.
        enters = (rows >= 0) & (scores > self._scores[rows, -1])
        touched, rows = np.unique(rows[enters], return_inverse=True)
        self._merge(touched, rows, items[enters], scores[enters])

    def _merge(self, touched: Places, rows: Places, items: Places, scores: Scores) -> None:
        """Sort what the touched queries have together with what comes in, and keep the first k of each."""
        k = self._items.shape[1]
        rows = np.concatenate([np.repeat(np.arange(len(touched)), k), rows])
        items = np.concatenate([self._items[touched].ravel(), items])
        scores = np.concatenate([self._scores[touched].ravel(), scores])
        order = np.lexsort((-scores, rows))
        starts = np.searchsorted(rows[order], np.arange(len(touched)))
        kept = order[starts[:, None] + np.arange(k)]
        self._items[touched], self._scores[touched] = items[kept], scores[kept]


def _n_asking(gallery: Gallery, direction: Direction) -> int:
    return len(gallery.image_ids if direction == Direction.IMAGE_TO_CAPTION else gallery.caption_ids)


def _reordered(
    gallery: Gallery, direction: Direction, ranked: RankedLists, scored: _PairsAndScores, depth: int
) -> Found:
    images, captions = _as_pairs(gallery, direction, ranked)
    items = captions if direction == Direction.IMAGE_TO_CAPTION else images
    found = np.searchsorted(scored.pairs, images * len(gallery.caption_ids) + captions)
    scores = np.where(items < 0, -np.inf, scored.scores[np.minimum(found, len(scored.pairs) - 1)])
    order = np.lexsort((items, -scores), axis=1)[:, :depth]
    return np.take_along_axis(items, order, 1), np.take_along_axis(scores, order, 1)


def _as_pairs(gallery: Gallery, direction: Direction, ranked: RankedLists) -> tuple[Places, Places]:
    """Return the images and captions of lists, as places that broadcast to (Q, k); -1 fills up shorter lists."""
    from_images = direction == Direction.IMAGE_TO_CAPTION
    ids = gallery.caption_ids if from_images else gallery.image_ids
    items = np.where(ranked.items == 0, -1, np.searchsorted(ids, ranked.items))
    queries = gallery.asks(direction)[:, None]
    return (queries, items) if from_images else (items, queries)
