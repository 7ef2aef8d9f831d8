"""Rank by the scores of single pairs, which a cross-encoder computes batch by batch.

Either the whole gallery is ranked for the queries, or the lists of another annotator are ranked again (a cascade).
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.errors import CounterpartError
from core.progress import Progress, silent
from core.text import counted
from counterpart_annotators.base import JointScores
from counterpart_annotators.checkpoints import Checkpoints
from counterpart_topk.scored_pairs import BestSoFar, ListedPairs, SampledPairs, Scores
from mitl.models import Direction
from mitl.search.gallery import BothFound, BothLists, Places, RankedLists, SearchGallery

GROUP = 16  # batches: the most that an interruption loses


@dataclass(frozen=True)
class Scoring:
    """The pairs of a gallery to be scored, ``batch_size`` at a time, and where the finished ones are kept."""

    gallery: SearchGallery
    scores: JointScores
    pairs: SampledPairs | ListedPairs
    batch_size: int
    kept: Checkpoints

    @property
    def groups(self) -> list[tuple[int, int]]:
        """Where each group of batches starts and ends."""
        step = GROUP * self.batch_size
        return [(start, min(start + step, len(self.pairs))) for start in range(0, len(self.pairs), step)]

    def count_kept(self) -> int:
        """Count the pairs that were scored before an interruption."""
        return sum(stop - start for start, stop in self.groups if _name(start) in self.kept)

    def score(self, images: Places, captions: Places) -> Scores:
        """Score one batch. Raises CounterpartError for NaN or infinity, ValueError for scores of another shape."""
        scores = np.asarray(self.scores.pairs(images, captions), dtype=np.float32)
        if scores.shape != images.shape:
            raise ValueError(f"For {counted(len(images), 'pair')} it returned scores of shape {scores.shape}.")
        wrong = np.flatnonzero(~np.isfinite(scores))
        if len(wrong):
            image = self.gallery.images[images[wrong[0]]].key
            caption = self.gallery.captions[captions[wrong[0]]].key
            raise CounterpartError(
                f"{len(wrong)} of {len(images)} scores of a batch are NaN or infinite; the first is for image {image}"
                f" with caption {caption}. Check this pair and the annotator's weights."
            )
        return scores


def score_pairs(scoring: Scoring, *, progress: Progress = silent) -> Iterator[tuple[Places, Places, Scores]]:
    """Yield the images, captions and scores of all pairs in their order, a group of batches at a time.

    Finished groups are kept, and read again after an interruption. Memory: one group.

    Raises CounterpartError for NaN or infinity, ValueError for scores of another shape.
    """
    for start, stop in scoring.groups:
        images, captions = scoring.pairs.part(start, stop)
        pairs = _digest(images, captions)
        part = scoring.kept.load(_name(start))
        if part is not None and np.array_equal(part["pairs"], pairs):
            scores = part["scores"]
            progress("scoring pairs", stop, len(scoring.pairs))
        else:
            scores = np.concatenate(list(_batches(scoring, images, captions, start, progress)))
            scoring.kept.save(_name(start), scores=scores, pairs=pairs)
        yield images, captions, scores


def _name(start: int) -> str:
    return f"pairs-{start}"


def _digest(images: Places, captions: Places) -> NDArray[np.uint8]:
    """SHA-256 of a group's pairs: kept scores are used for exactly the same pairs only."""
    return np.frombuffer(hashlib.sha256(images.tobytes() + captions.tobytes()).digest(), dtype=np.uint8)


def _batches(scoring: Scoring, images: Places, captions: Places, start: int, progress: Progress) -> Iterator[Scores]:
    for first in range(0, len(images), scoring.batch_size):
        batch = slice(first, first + scoring.batch_size)
        yield scoring.score(images[batch], captions[batch])
        progress("scoring pairs", start + min(batch.stop, len(images)), len(scoring.pairs))


def pairs_to_score(gallery: SearchGallery, first: BothLists | None) -> SampledPairs | ListedPairs:
    """Return each query's pairs with the items of its list in ``first``, or with the whole gallery where it is None.

    Raises CounterpartError where there are no queries.
    """
    if not gallery.directions:
        raise CounterpartError("The sample has no queries, so there are no pairs to score; add some to it.")
    shape = len(gallery.image_ids), len(gallery.caption_ids)
    if first is None:
        return SampledPairs(shape, gallery.image_queries, gallery.caption_queries)
    return ListedPairs(shape[1], [_as_pairs(gallery, direction, ranked) for direction, ranked in first.items()])


def rank(scoring: Scoring, first: BothLists | None, depth: int, *, progress: Progress) -> BothFound:
    """Return the ``depth`` best items of every query, among its list in ``first`` or, without lists, the gallery.

    Of equal scores the lower place in the gallery comes first. ``first`` is the same as for ``pairs_to_score``.
    """
    return _rank_gallery(scoring, depth, progress) if first is None else _rank_lists(scoring, first, depth, progress)


def _rank_gallery(scoring: Scoring, depth: int, progress: Progress) -> BothFound:
    """Memory: 12 bytes a place of the lists, and one group of pairs."""
    gallery = scoring.gallery
    best = {
        direction: BestSoFar(len(gallery.ids_of_queries(direction)), gallery.asks(direction), depth)
        for direction in gallery.directions
    }
    for images, captions, scores in score_pairs(scoring, progress=progress):
        for direction, lists in best.items():
            from_images = direction == Direction.IMAGE_TO_CAPTION
            lists.feed(*((images, captions) if from_images else (captions, images)), scores)
    return {direction: lists.found for direction, lists in best.items()}


def _rank_lists(scoring: Scoring, lists: BothLists, depth: int, progress: Progress) -> BothFound:
    """Memory: about 40 bytes a pair, and as much a place of the lists."""
    gallery = scoring.gallery
    images, captions, scores = map(np.concatenate, zip(*score_pairs(scoring, progress=progress), strict=True))
    codes = images * len(gallery.caption_ids) + captions  # rising, as the pairs come by image, then caption
    found = {}
    for direction, ranked in lists.items():
        rows, columns = _as_pairs(gallery, direction, ranked)
        items = columns if direction == Direction.IMAGE_TO_CAPTION else rows
        places = np.searchsorted(codes, rows * len(gallery.caption_ids) + columns)
        of_items = np.where(items < 0, -np.inf, scores[np.minimum(places, len(codes) - 1)])
        order = np.lexsort((items, -of_items), axis=1)[:, :depth]
        found[direction] = np.take_along_axis(items, order, 1), np.take_along_axis(of_items, order, 1)
    return found


def _as_pairs(gallery: SearchGallery, direction: Direction, ranked: RankedLists) -> tuple[Places, Places]:
    """Return the images and captions of lists, as places that broadcast to (Q, k); -1 pads shorter lists."""
    items = np.where(ranked.items == 0, -1, np.searchsorted(gallery.ids_of_items(direction), ranked.items))
    queries = gallery.asks(direction)[:, None]
    return (queries, items) if direction == Direction.IMAGE_TO_CAPTION else (items, queries)
